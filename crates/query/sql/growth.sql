-- Directories that grew or shrank between two sets, the largest growth first
--
-- The first set is the older one. Each set has to hold one source. Only regular files directly in a directory count. A
-- file with several hard links counts once, in the directory of its first name, so a new name can move its bytes from
-- one directory to another. Directories whose number of files and bytes are the same are skipped.
--
-- Parameters: none
-- Columns:
--   change   'grown'; 'shrunk'; or 'unknown': files in the directory could not be read for one of the sets, or the path
--            is one that could not be read and may be a directory, or a hard link in the directory may have its first
--            name among what could not be read
--   growth_bytes   new_size_bytes minus old_size_bytes
--   old_files, new_files, old_size_bytes, new_size_bytes   these and growth_bytes are null if the change is unknown
--   parent, parent_b64   the directory
WITH failures AS (
    SELECT 'old' AS side, path, path_b64
    FROM a_failed
    UNION ALL
    SELECT 'new' AS side, path, path_b64
    FROM b_failed
),
sides AS (
    SELECT
        'old' AS side, parent, parent_b64, path, path_b64, type, size_bytes, source, fs, dev, ino, nlink,
        failed OR other_failed AS is_unknown
    FROM a_entries
    UNION ALL
    SELECT
        'new' AS side, parent, parent_b64, path, path_b64, type, size_bytes, source, fs, dev, ino, nlink,
        failed OR other_failed AS is_unknown
    FROM b_entries
),
linked AS (
    SELECT
        side, parent, parent_b64, size_bytes, nlink, is_unknown,
        ROW_NUMBER() OVER (
            PARTITION BY side, COALESCE(fs, source), CASE WHEN fs IS NULL THEN dev END, ino
            ORDER BY source, path, path_b64
        ) AS name_number,
        COUNT(*) OVER (
            PARTITION BY side, COALESCE(fs, source), CASE WHEN fs IS NULL THEN dev END, ino
        ) AS names
    FROM sides
    WHERE type = 'file' AND nlink > 1 AND ino IS NOT NULL
),
failing AS (
    SELECT side, COUNT(*) AS failures
    FROM failures
    GROUP BY side
),
recorded AS (
    SELECT
        f.path, f.path_b64,
        MAX(CASE WHEN s.type = 'directory' THEN 1 ELSE 0 END) AS is_directory,
        MAX(CASE WHEN s.type <> 'directory' THEN 1 ELSE 0 END) AS is_other
    FROM failures f
    LEFT JOIN sides s ON s.path = f.path AND s.path_b64 = f.path_b64
    GROUP BY f.path, f.path_b64
),
files AS (
    SELECT side, parent, parent_b64, size_bytes, is_unknown
    FROM sides
    WHERE type = 'file' AND (COALESCE(nlink, 1) <= 1 OR ino IS NULL)
    UNION ALL
    SELECT l.side, l.parent, l.parent_b64, l.size_bytes, l.is_unknown OR (l.names < l.nlink AND f.side IS NOT NULL)
    FROM linked l
    LEFT JOIN failing f ON f.side = l.side
    WHERE l.name_number = 1
    UNION ALL
    SELECT 'failure' AS side, path AS parent, path_b64 AS parent_b64, 0 AS size_bytes, TRUE AS is_unknown
    FROM recorded
    WHERE is_directory = 1 OR is_other = 0
    UNION ALL
    -- The directory of a file that could not be read.
    SELECT
        'failure' AS side, prefix(path, depth(path) - 1) AS parent, '' AS parent_b64, 0 AS size_bytes,
        TRUE AS is_unknown
    FROM recorded
    WHERE is_directory = 0 AND path NOT IN ('', '.')
),
directories AS (
    -- Sums of DECIMAL, because sums of BIGINT can overflow without an error.
    SELECT
        parent, parent_b64,
        MAX(CASE WHEN is_unknown THEN 1 ELSE 0 END) AS is_unknown,
        SUM(CASE WHEN side = 'old' THEN 1 ELSE 0 END) AS old_files,
        SUM(CASE WHEN side = 'new' THEN 1 ELSE 0 END) AS new_files,
        SUM(CAST(CASE WHEN side = 'old' THEN COALESCE(size_bytes, 0) ELSE 0 END AS DECIMAL(19, 0))) AS old_size_bytes,
        SUM(CAST(CASE WHEN side = 'new' THEN COALESCE(size_bytes, 0) ELSE 0 END AS DECIMAL(19, 0))) AS new_size_bytes
    FROM files
    GROUP BY parent, parent_b64
)
SELECT
    CASE
        WHEN is_unknown = 1 THEN 'unknown'
        WHEN new_size_bytes > old_size_bytes THEN 'grown'
        WHEN new_size_bytes = old_size_bytes AND new_files > old_files THEN 'grown'
        ELSE 'shrunk'
    END AS change,
    CASE WHEN is_unknown = 0 THEN CAST(new_size_bytes - old_size_bytes AS BIGINT) END AS growth_bytes,
    CASE WHEN is_unknown = 0 THEN CAST(old_files AS BIGINT) END AS old_files,
    CASE WHEN is_unknown = 0 THEN CAST(new_files AS BIGINT) END AS new_files,
    CASE WHEN is_unknown = 0 THEN CAST(old_size_bytes AS BIGINT) END AS old_size_bytes,
    CASE WHEN is_unknown = 0 THEN CAST(new_size_bytes AS BIGINT) END AS new_size_bytes,
    parent, parent_b64
FROM directories
WHERE is_unknown = 1 OR old_size_bytes <> new_size_bytes OR old_files <> new_files
ORDER BY growth_bytes DESC NULLS LAST, parent, parent_b64
