-- Files of the first set whose content is in none of the others, at any path
--
-- Everything that is not listed has an intact copy in another set. So files without a digest are listed too: nothing
-- shows that another set has their content. Copies that are marked as damaged do not count, nor do those that could not
-- be read when the set was recorded.
--
-- Parameters: none
-- Columns:
--   reason   'missing'; 'no digest'; 'unknown': not found, but something in the other sets could not be read; or the
--            path is one of the first set that could not be read
--   size_bytes, algorithm, digest, source, path, path_b64
WITH copies AS (
    SELECT algorithm, digest
    FROM b_contents
    WHERE damaged_ns IS NULL AND NOT failed
    GROUP BY algorithm, digest
),
failures AS (
    SELECT COUNT(*) AS failures
    FROM b_failed
)
SELECT
    CASE WHEN f.failures > 0 THEN 'unknown' ELSE 'missing' END AS reason,
    a.size_bytes, a.algorithm, a.digest, a.source, a.path, a.path_b64
FROM a_contents a
LEFT JOIN copies b ON b.algorithm = a.algorithm AND b.digest = a.digest
CROSS JOIN failures f
WHERE b.digest IS NULL
UNION ALL
SELECT 'no digest' AS reason, size_bytes, algorithm, digest, source, path, path_b64
FROM a_entries
WHERE type = 'file' AND digest IS NULL
UNION ALL
SELECT 'unknown' AS reason, NULL, NULL, NULL, source, path, path_b64
FROM a_failed
ORDER BY source, path, path_b64, reason
