-- Files and bytes of each owner, the largest first
--
-- Only regular files count. A file with several hard links counts once.
--
-- Parameters: none
-- Columns:
--   uid               null: files of unknown owner
--   files             number of files
--   size_bytes, allocated_bytes   sums; null values count as 0
WITH linked AS (
    SELECT
        uid, size_bytes, allocated_bytes,
        ROW_NUMBER() OVER (
            PARTITION BY COALESCE(fs, source), CASE WHEN fs IS NULL THEN dev END, ino
            ORDER BY source, path, path_b64
        ) AS name_number
    FROM entries
    WHERE type = 'file' AND nlink > 1 AND ino IS NOT NULL
),
files AS (
    SELECT uid, size_bytes, allocated_bytes
    FROM entries
    WHERE type = 'file' AND (COALESCE(nlink, 1) <= 1 OR ino IS NULL)
    UNION ALL
    SELECT uid, size_bytes, allocated_bytes
    FROM linked
    WHERE name_number = 1
)
-- Sums of DECIMAL, because sums of BIGINT can overflow without an error.
SELECT
    uid,
    COUNT(*) AS files,
    CAST(COALESCE(SUM(CAST(size_bytes AS DECIMAL(19, 0))), 0) AS BIGINT) AS size_bytes,
    CAST(COALESCE(SUM(CAST(allocated_bytes AS DECIMAL(19, 0))), 0) AS BIGINT) AS allocated_bytes
FROM files
GROUP BY uid
ORDER BY size_bytes DESC, uid NULLS LAST
