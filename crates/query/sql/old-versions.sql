-- What old versions of objects use, by storage class, the most first
--
-- Old versions are what a bucket with versioning keeps of objects that were replaced or deleted. The last two columns
-- say how much of that belongs to objects that are deleted: their latest version is a delete marker.
--
-- Parameters: none
-- Columns:
--   source
--   storage_class   such as 'STANDARD'; null: the inventory does not say it
--   versions        number of old versions, without delete markers
--   size_bytes      sum of their sizes; null values count as 0
--   deleted_versions, deleted_size_bytes   the same of deleted objects
WITH current_objects AS (
    SELECT source, path, path_b64
    FROM versions
    WHERE version = 'current'
    GROUP BY source, path, path_b64
),
old AS (
    SELECT
        v.source, v.storage_class, COALESCE(v.size_bytes, 0) AS size_bytes,
        CASE WHEN c.path IS NULL THEN 1 ELSE 0 END AS deleted
    FROM versions v
    LEFT JOIN current_objects c ON c.source = v.source AND c.path = v.path AND c.path_b64 = v.path_b64
    WHERE v.version = 'old'
)
-- Sums of DECIMAL, because sums of BIGINT can overflow without an error.
SELECT
    source, storage_class,
    COUNT(*) AS versions,
    CAST(SUM(CAST(size_bytes AS DECIMAL(19, 0))) AS BIGINT) AS size_bytes,
    CAST(SUM(deleted) AS BIGINT) AS deleted_versions,
    CAST(SUM(CAST(CASE WHEN deleted = 1 THEN size_bytes ELSE 0 END AS DECIMAL(19, 0))) AS BIGINT) AS deleted_size_bytes
FROM old
GROUP BY source, storage_class
ORDER BY size_bytes DESC, source, storage_class NULLS LAST
