-- Directories that grew or shrank between two sets, the largest growth first
--
-- The first set is the older one. Each set has to hold one source. Only regular files directly in a directory count. A
-- file with several hard links counts once, in the directory of its first name, so a new name can move its bytes from
-- one directory to another. Directories whose number of files and bytes are the same are skipped.
--
-- Parameters: none
-- Columns:
--   growth_bytes   new_size_bytes minus old_size_bytes
--   old_files, new_files, old_size_bytes, new_size_bytes
--   parent, parent_b64   the directory
WITH sides AS (
    SELECT 'old' AS side, parent, parent_b64, path, path_b64, type, size_bytes, source, fs, dev, ino, nlink
    FROM a_entries
    UNION ALL
    SELECT 'new' AS side, parent, parent_b64, path, path_b64, type, size_bytes, source, fs, dev, ino, nlink
    FROM b_entries
),
linked AS (
    SELECT
        side, parent, parent_b64, size_bytes,
        ROW_NUMBER() OVER (
            PARTITION BY side, COALESCE(fs, source), CASE WHEN fs IS NULL THEN dev END, ino
            ORDER BY source, path, path_b64
        ) AS name_number
    FROM sides
    WHERE type = 'file' AND nlink > 1 AND ino IS NOT NULL
),
files AS (
    SELECT side, parent, parent_b64, size_bytes
    FROM sides
    WHERE type = 'file' AND (COALESCE(nlink, 1) <= 1 OR ino IS NULL)
    UNION ALL
    SELECT side, parent, parent_b64, size_bytes
    FROM linked
    WHERE name_number = 1
),
directories AS (
    -- Sums of DECIMAL, because sums of BIGINT can overflow without an error.
    SELECT
        parent, parent_b64,
        SUM(CASE WHEN side = 'old' THEN 1 ELSE 0 END) AS old_files,
        SUM(CASE WHEN side = 'new' THEN 1 ELSE 0 END) AS new_files,
        SUM(CAST(CASE WHEN side = 'old' THEN COALESCE(size_bytes, 0) ELSE 0 END AS DECIMAL(19, 0))) AS old_size_bytes,
        SUM(CAST(CASE WHEN side = 'new' THEN COALESCE(size_bytes, 0) ELSE 0 END AS DECIMAL(19, 0))) AS new_size_bytes
    FROM files
    GROUP BY parent, parent_b64
)
SELECT
    CAST(new_size_bytes - old_size_bytes AS BIGINT) AS growth_bytes,
    CAST(old_files AS BIGINT) AS old_files,
    CAST(new_files AS BIGINT) AS new_files,
    CAST(old_size_bytes AS BIGINT) AS old_size_bytes,
    CAST(new_size_bytes AS BIGINT) AS new_size_bytes,
    parent, parent_b64
FROM directories
WHERE old_size_bytes <> new_size_bytes OR old_files <> new_files
ORDER BY growth_bytes DESC, parent, parent_b64
