-- Files and bytes below each directory to a given depth, the largest first
--
-- Each row counts everything below the directory. Only regular files count. A file with several hard links counts once,
-- in the directory of its first name. A directory whose path is not UTF-8 has no row; what is below it counts in those
-- above.
--
-- Parameters:
--   depth   BIGINT, from 0, the root, to 99; required
-- Columns:
--   source, directory
--   depth        number of names in the path of the directory; 0 for the root
--   files        number of files
--   size_bytes, allocated_bytes   sums; null values count as 0
--   last_mtime_ns   when the newest of them was modified
WITH linked AS (
    SELECT
        source, ancestor, size_bytes, allocated_bytes, mtime_ns,
        ROW_NUMBER() OVER (
            PARTITION BY COALESCE(fs, source), CASE WHEN fs IS NULL THEN dev END, ino
            ORDER BY source, path, path_b64
        ) AS name_number
    FROM entries
    WHERE type = 'file' AND nlink > 1 AND ino IS NOT NULL
),
files AS (
    SELECT source, ancestor, size_bytes, allocated_bytes, mtime_ns
    FROM entries
    WHERE type = 'file' AND (COALESCE(nlink, 1) <= 1 OR ino IS NULL)
    UNION ALL
    SELECT source, ancestor, size_bytes, allocated_bytes, mtime_ns
    FROM linked
    WHERE name_number = 1
),
below AS (
    SELECT
        f.source, prefix(f.ancestor, l.level) AS directory, l.level AS depth,
        f.size_bytes, f.allocated_bytes, f.mtime_ns
    FROM files f
    CROSS JOIN levels l
    CROSS JOIN parameters p
    WHERE l.level <= p.depth AND l.level <= depth(f.ancestor)
)
-- Sums of DECIMAL, because sums of BIGINT can overflow without an error.
SELECT
    source, directory, depth,
    COUNT(*) AS files,
    CAST(COALESCE(SUM(CAST(size_bytes AS DECIMAL(19, 0))), 0) AS BIGINT) AS size_bytes,
    CAST(COALESCE(SUM(CAST(allocated_bytes AS DECIMAL(19, 0))), 0) AS BIGINT) AS allocated_bytes,
    MAX(mtime_ns) AS last_mtime_ns
FROM below
GROUP BY source, directory, depth
ORDER BY size_bytes DESC, source, directory
