-- Files and bytes not modified since a given time, by owner and directory
--
-- The largest first. Only regular files count, each in its own directory. A file with several hard links counts once, in the
-- directory of its first name.
--
-- Parameters:
--   since_ns   BIGINT, nanoseconds since 1970-01-01 UTC; required
-- Columns:
--   uid          null: files of unknown owner
--   source, parent, parent_b64   the directory
--   files        number of files
--   size_bytes, allocated_bytes   sums; null values count as 0
--   last_mtime_ns   when the newest of them was modified
WITH linked AS (
    SELECT
        uid, source, parent, parent_b64, mtime_ns, size_bytes, allocated_bytes,
        ROW_NUMBER() OVER (
            PARTITION BY COALESCE(fs, source), CASE WHEN fs IS NULL THEN dev END, ino
            ORDER BY source, path, path_b64
        ) AS name_number
    FROM entries
    WHERE type = 'file' AND nlink > 1 AND ino IS NOT NULL
),
files AS (
    SELECT uid, source, parent, parent_b64, mtime_ns, size_bytes, allocated_bytes
    FROM entries
    WHERE type = 'file' AND (COALESCE(nlink, 1) <= 1 OR ino IS NULL)
    UNION ALL
    SELECT uid, source, parent, parent_b64, mtime_ns, size_bytes, allocated_bytes
    FROM linked
    WHERE name_number = 1
)
-- Sums of DECIMAL, because sums of BIGINT can overflow without an error.
SELECT
    f.uid, f.source, f.parent, f.parent_b64,
    COUNT(*) AS files,
    CAST(COALESCE(SUM(CAST(f.size_bytes AS DECIMAL(19, 0))), 0) AS BIGINT) AS size_bytes,
    CAST(COALESCE(SUM(CAST(f.allocated_bytes AS DECIMAL(19, 0))), 0) AS BIGINT) AS allocated_bytes,
    MAX(f.mtime_ns) AS last_mtime_ns
FROM files f
CROSS JOIN parameters p
WHERE f.mtime_ns < p.since_ns
GROUP BY f.uid, f.source, f.parent, f.parent_b64
ORDER BY size_bytes DESC, f.uid NULLS LAST, f.source, f.parent, f.parent_b64
