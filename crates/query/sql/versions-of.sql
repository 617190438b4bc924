-- Files with the same name but different content, by name
--
-- One row per file. Only digests by the same algorithm are compared. Files without a digest are skipped.
--
-- Parameters:
--   name   STRING, the name to look for; null: all names
-- Columns:
--   versions   number of different contents under this name
--   name, name_b64, algorithm, digest, size_bytes, mtime_ns, source, path, path_b64
WITH contents_of_names AS (
    SELECT e.name, e.name_b64, e.algorithm, e.digest
    FROM entries e
    CROSS JOIN parameters p
    WHERE e.type = 'file' AND e.digest IS NOT NULL AND (p.name IS NULL OR e.name = p.name)
    GROUP BY e.name, e.name_b64, e.algorithm, e.digest
),
names AS (
    SELECT name, name_b64, algorithm, COUNT(*) AS versions
    FROM contents_of_names
    GROUP BY name, name_b64, algorithm
    HAVING COUNT(*) > 1
)
SELECT
    n.versions, n.name, n.name_b64, n.algorithm, e.digest, e.size_bytes, e.mtime_ns, e.source, e.path, e.path_b64
FROM entries e
JOIN names n ON e.name = n.name AND e.name_b64 = n.name_b64 AND e.algorithm = n.algorithm
WHERE e.type = 'file' AND e.digest IS NOT NULL
ORDER BY n.name, n.name_b64, n.algorithm, e.mtime_ns NULLS LAST, e.digest, e.source, e.path, e.path_b64
