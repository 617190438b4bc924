-- Files and bytes by the time since their last modification, the newest first
--
-- Only regular files count. A file with several hard links counts once.
--
-- Parameters:
--   at_ns   BIGINT, the time from which ages are counted, in nanoseconds since 1970-01-01 UTC; required
-- Columns:
--   age_days     the least age of the row in days: 0, 1, 7, 30, 90, 365, 730, 1826 or 3652; -1: modified after `at_ns`;
--                null: files of unknown mtime
--   files        number of files
--   size_bytes, allocated_bytes   sums; null values count as 0
WITH linked AS (
    SELECT
        mtime_ns, size_bytes, allocated_bytes,
        ROW_NUMBER() OVER (
            PARTITION BY COALESCE(fs, source), CASE WHEN fs IS NULL THEN dev END, ino
            ORDER BY source, path, path_b64
        ) AS name_number
    FROM entries
    WHERE type = 'file' AND nlink > 1 AND ino IS NOT NULL
),
files AS (
    SELECT mtime_ns, size_bytes, allocated_bytes
    FROM entries
    WHERE type = 'file' AND (COALESCE(nlink, 1) <= 1 OR ino IS NULL)
    UNION ALL
    SELECT mtime_ns, size_bytes, allocated_bytes
    FROM linked
    WHERE name_number = 1
),
aged AS (
    -- DECIMAL, because a difference of BIGINT can overflow.
    SELECT
        CAST(p.at_ns AS DECIMAL(20, 0)) - CAST(f.mtime_ns AS DECIMAL(20, 0)) AS age_ns,
        f.size_bytes, f.allocated_bytes
    FROM files f
    CROSS JOIN parameters p
),
grouped AS (
    SELECT
        CAST(CASE
            WHEN age_ns < 0 THEN -1
            WHEN age_ns < 86400000000000 THEN 0
            WHEN age_ns < 604800000000000 THEN 1
            WHEN age_ns < 2592000000000000 THEN 7
            WHEN age_ns < 7776000000000000 THEN 30
            WHEN age_ns < 31536000000000000 THEN 90
            WHEN age_ns < 63072000000000000 THEN 365
            WHEN age_ns < 157766400000000000 THEN 730
            WHEN age_ns < 315532800000000000 THEN 1826
            WHEN age_ns IS NOT NULL THEN 3652
        END AS BIGINT) AS age_days,
        size_bytes, allocated_bytes
    FROM aged
)
-- Sums of DECIMAL, because sums of BIGINT can overflow without an error.
SELECT
    age_days,
    COUNT(*) AS files,
    CAST(COALESCE(SUM(CAST(size_bytes AS DECIMAL(19, 0))), 0) AS BIGINT) AS size_bytes,
    CAST(COALESCE(SUM(CAST(allocated_bytes AS DECIMAL(19, 0))), 0) AS BIGINT) AS allocated_bytes
FROM grouped
GROUP BY age_days
ORDER BY age_days NULLS LAST
