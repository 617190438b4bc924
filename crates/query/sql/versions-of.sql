-- Files with one name but different content, and old versions of objects, by name
--
-- One row per file. Only digests by the same algorithm are compared. Files without a digest are skipped. If a bucket
-- keeps old versions or a delete marker of an object, each of them has a row too.
--
-- Parameters:
--   name   STRING, the name to look for; null: all names
-- Columns:
--   versions   number of different contents under this name; in rows of old versions and delete markers, and in that of
--              an object that has these and no namesake: number of versions of the object, without delete markers
--   name, name_b64, algorithm, digest, size_bytes, mtime_ns
--   version   null; or of an object 'current', 'old' or 'delete_marker'
--   version_id, storage_class, source, path, path_b64
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
),
objects AS (
    SELECT v.source, v.path, v.path_b64, SUM(CASE WHEN v.version = 'delete_marker' THEN 0 ELSE 1 END) AS versions
    FROM versions v
    CROSS JOIN parameters p
    WHERE p.name IS NULL OR v.name = p.name
    GROUP BY v.source, v.path, v.path_b64
    HAVING COUNT(*) > 1 OR MAX(v.version) <> 'current'
)
SELECT
    n.versions, n.name, n.name_b64, n.algorithm, e.digest, e.size_bytes, e.mtime_ns, e.version, e.version_id,
    e.storage_class, e.source, e.path, e.path_b64
FROM entries e
JOIN names n ON e.name = n.name AND e.name_b64 = n.name_b64 AND e.algorithm = n.algorithm
WHERE e.type = 'file' AND e.digest IS NOT NULL
UNION ALL
SELECT
    CAST(o.versions AS BIGINT) AS versions, v.name, v.name_b64, v.algorithm, v.digest, v.size_bytes, v.mtime_ns,
    v.version, v.version_id, v.storage_class, v.source, v.path, v.path_b64
FROM versions v
JOIN objects o ON o.source = v.source AND o.path = v.path AND o.path_b64 = v.path_b64
LEFT JOIN names n ON v.name = n.name AND v.name_b64 = n.name_b64 AND v.algorithm = n.algorithm
WHERE v.version <> 'current' OR n.name IS NULL
ORDER BY
    name, name_b64, algorithm NULLS LAST, mtime_ns NULLS LAST, digest NULLS LAST, source, path, path_b64,
    version_id NULLS LAST
