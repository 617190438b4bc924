-- Files and bytes of each directory, owner or extension in each snapshot
--
-- A directory counts everything below it. Only regular files count. A file with several hard links counts once in each
-- snapshot, in the directory of its first name. A directory whose path is not UTF-8 has no row; what is below it counts
-- in those above. A snapshot in which there is none of these files has no row: the next one counts as growth from 0.
--
-- Parameters:
--   by_what   STRING, 'directory', 'owner' or 'extension'; required
--   depth     BIGINT, the depth of directories, from 0, the root, to 99; required
-- Columns:
--   source
--   name         the directory, the uid, or the extension; null: files of unknown owner
--   snapshot
--   files        number of files
--   size_bytes   sum; null values count as 0
--   growth_files, growth_bytes   the difference to the snapshot of the source before; null for its first snapshot
WITH linked AS (
    SELECT
        snapshot, source, ancestor, uid, extension, size_bytes,
        ROW_NUMBER() OVER (
            PARTITION BY snapshot, COALESCE(fs, source), CASE WHEN fs IS NULL THEN dev END, ino
            ORDER BY source, path, path_b64
        ) AS name_number
    FROM history
    WHERE type = 'file' AND nlink > 1 AND ino IS NOT NULL
),
files AS (
    SELECT snapshot, source, ancestor, uid, extension, size_bytes
    FROM history
    WHERE type = 'file' AND (COALESCE(nlink, 1) <= 1 OR ino IS NULL)
    UNION ALL
    SELECT snapshot, source, ancestor, uid, extension, size_bytes
    FROM linked
    WHERE name_number = 1
),
digits AS (
    SELECT 0 AS digit UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
    UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
),
levels AS (
    SELECT CAST(10 * tens.digit + ones.digit AS BIGINT) AS level
    FROM digits tens
    CROSS JOIN digits ones
    CROSS JOIN parameters p
    WHERE 10 * tens.digit + ones.digit <= p.depth
),
named AS (
    SELECT f.snapshot, f.source, prefix(f.ancestor, l.level) AS name, f.size_bytes
    FROM files f
    CROSS JOIN levels l
    CROSS JOIN parameters p
    WHERE p.by_what = 'directory' AND l.level <= depth(f.ancestor)
    UNION ALL
    SELECT
        f.snapshot, f.source,
        CASE WHEN p.by_what = 'owner' THEN CAST(f.uid AS VARCHAR(20)) ELSE f.extension END AS name,
        f.size_bytes
    FROM files f
    CROSS JOIN parameters p
    WHERE p.by_what <> 'directory'
),
sums AS (
    -- Sums of DECIMAL, because sums of BIGINT can overflow without an error.
    SELECT
        source, name, snapshot, COUNT(*) AS files,
        CAST(COALESCE(SUM(CAST(size_bytes AS DECIMAL(19, 0))), 0) AS BIGINT) AS size_bytes
    FROM named
    GROUP BY source, name, snapshot
),
snapshots AS (
    SELECT source, snapshot, ROW_NUMBER() OVER (PARTITION BY source ORDER BY snapshot) AS number
    FROM history
    GROUP BY source, snapshot
),
numbered AS (
    SELECT s.source, s.name, s.snapshot, s.files, s.size_bytes, n.number
    FROM sums s
    JOIN snapshots n ON n.source = s.source AND n.snapshot = s.snapshot
),
compared AS (
    SELECT
        source, name, snapshot, files, size_bytes, number,
        LAG(number) OVER (PARTITION BY source, name ORDER BY number) AS last_number,
        LAG(files) OVER (PARTITION BY source, name ORDER BY number) AS last_files,
        LAG(size_bytes) OVER (PARTITION BY source, name ORDER BY number) AS last_size_bytes
    FROM numbered
)
SELECT
    source, name, snapshot, files, size_bytes,
    CASE
        WHEN number = 1 THEN NULL
        WHEN last_number = number - 1 THEN files - last_files
        ELSE files
    END AS growth_files,
    CASE
        WHEN number = 1 THEN NULL
        WHEN last_number = number - 1 THEN size_bytes - last_size_bytes
        ELSE size_bytes
    END AS growth_bytes
FROM compared
ORDER BY source, name NULLS LAST, snapshot
