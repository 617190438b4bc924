-- Files of the first set whose content is not in the second, at any path
--
-- Everything that is not listed has an intact copy in the second set. So files without a digest are listed too: nothing
-- shows that the second set has their content. Copies that are marked as damaged do not count.
--
-- Parameters: none
-- Columns:
--   reason   'missing', or 'no digest'
--   size_bytes, algorithm, digest, source, path, path_b64
SELECT 'missing' AS reason, a.size_bytes, a.algorithm, a.digest, a.source, a.path, a.path_b64
FROM a_contents a
LEFT JOIN (
    SELECT algorithm, digest
    FROM b_contents
    WHERE damaged_ns IS NULL
    GROUP BY algorithm, digest
) b ON b.algorithm = a.algorithm AND b.digest = a.digest
WHERE b.digest IS NULL
UNION ALL
SELECT 'no digest' AS reason, size_bytes, algorithm, digest, source, path, path_b64
FROM a_entries
WHERE type = 'file' AND digest IS NULL
ORDER BY source, path, path_b64
