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
--   change   since the snapshot of the source before: 'grown', 'shrunk' or 'same'; 'first': there is none before;
--            'unknown': some of these files could not be read for one of the two snapshots, or a hard link may have its
--            first name among what could not be read
--   source
--   name         the directory, the uid, or the extension; null: files of unknown owner
--   snapshot
--   files        number of files; null if some could not be read
--   size_bytes   sum; null values count as 0; null if some files could not be read
--   growth_files, growth_bytes   the difference to the snapshot of the source before; null if the change is 'first' or
--                'unknown'
WITH linked AS (
    SELECT
        snapshot, source, ancestor, uid, extension, size_bytes, nlink,
        ROW_NUMBER() OVER (
            PARTITION BY snapshot, COALESCE(fs, source), CASE WHEN fs IS NULL THEN dev END, ino
            ORDER BY source, path, path_b64
        ) AS name_number,
        COUNT(*) OVER (
            PARTITION BY snapshot, COALESCE(fs, source), CASE WHEN fs IS NULL THEN dev END, ino
        ) AS names
    FROM history
    WHERE type = 'file' AND nlink > 1 AND ino IS NOT NULL
),
files AS (
    SELECT snapshot, source, ancestor, uid, extension, size_bytes, 0 AS lacks_names
    FROM history
    WHERE type = 'file' AND (COALESCE(nlink, 1) <= 1 OR ino IS NULL)
    UNION ALL
    SELECT
        snapshot, source, ancestor, uid, extension, size_bytes, CASE WHEN names < nlink THEN 1 ELSE 0 END AS lacks_names
    FROM linked
    WHERE name_number = 1
),
named AS (
    SELECT f.snapshot, f.source, prefix(f.ancestor, l.level) AS name, f.size_bytes, f.lacks_names
    FROM files f
    CROSS JOIN levels l
    CROSS JOIN parameters p
    WHERE p.by_what = 'directory' AND l.level <= p.depth AND l.level <= depth(f.ancestor)
    UNION ALL
    SELECT
        f.snapshot, f.source,
        CASE WHEN p.by_what = 'owner' THEN CAST(f.uid AS VARCHAR(20)) ELSE f.extension END AS name,
        f.size_bytes, f.lacks_names
    FROM files f
    CROSS JOIN parameters p
    WHERE p.by_what <> 'directory'
),
sums AS (
    -- Sums of DECIMAL, because sums of BIGINT can overflow without an error.
    SELECT
        source, name, snapshot, COUNT(*) AS files,
        CAST(COALESCE(SUM(CAST(size_bytes AS DECIMAL(19, 0))), 0) AS BIGINT) AS size_bytes,
        MAX(lacks_names) AS lacks_names
    FROM named
    GROUP BY source, name, snapshot
),
names AS (
    SELECT source, name
    FROM sums
    GROUP BY source, name
),
failing AS (
    SELECT source, snapshot
    FROM history_failed
    GROUP BY source, snapshot
),
rows_and_failures AS (
    SELECT source, name, snapshot, files, size_bytes, 0 AS is_unknown
    FROM sums
    UNION ALL
    -- What could not be read is at, above or below the directory, or may be so.
    SELECT n.source, n.name, f.snapshot, 0 AS files, 0 AS size_bytes, 1 AS is_unknown
    FROM names n
    JOIN history_failed f ON f.source = n.source
    CROSS JOIN parameters p
    WHERE p.by_what <> 'directory' OR f.path_b64 <> ''
        OR prefix(n.name, depth(f.path)) = f.path OR prefix(f.path, depth(n.name)) = n.name
    UNION ALL
    SELECT s.source, s.name, s.snapshot, 0 AS files, 0 AS size_bytes, 1 AS is_unknown
    FROM sums s
    JOIN failing f ON f.source = s.source AND f.snapshot = s.snapshot
    WHERE s.lacks_names = 1
),
valued AS (
    SELECT
        source, name, snapshot, MAX(is_unknown) AS is_unknown, MAX(files) AS files, MAX(size_bytes) AS size_bytes
    FROM rows_and_failures
    GROUP BY source, name, snapshot
),
snapshots AS (
    SELECT source, snapshot, ROW_NUMBER() OVER (PARTITION BY source ORDER BY snapshot) AS number
    FROM history
    GROUP BY source, snapshot
),
numbered AS (
    SELECT v.source, v.name, v.snapshot, v.is_unknown, v.files, v.size_bytes, n.number
    FROM valued v
    JOIN snapshots n ON n.source = v.source AND n.snapshot = v.snapshot
),
compared AS (
    SELECT
        source, name, snapshot, is_unknown, files, size_bytes, number,
        LAG(number) OVER (PARTITION BY source, name ORDER BY number) AS last_number,
        LAG(is_unknown) OVER (PARTITION BY source, name ORDER BY number) AS last_is_unknown,
        LAG(files) OVER (PARTITION BY source, name ORDER BY number) AS last_files,
        LAG(size_bytes) OVER (PARTITION BY source, name ORDER BY number) AS last_size_bytes
    FROM numbered
),
grown AS (
    SELECT
        source, name, snapshot, is_unknown, files, size_bytes, number,
        CASE
            WHEN is_unknown = 1 OR (last_number = number - 1 AND last_is_unknown = 1) THEN 1 ELSE 0
        END AS is_change_unknown,
        files - CASE WHEN last_number = number - 1 THEN last_files ELSE 0 END AS growth_files,
        size_bytes - CASE WHEN last_number = number - 1 THEN last_size_bytes ELSE 0 END AS growth_bytes
    FROM compared
)
SELECT
    CASE
        WHEN is_change_unknown = 1 THEN 'unknown'
        WHEN number = 1 THEN 'first'
        WHEN growth_bytes > 0 OR (growth_bytes = 0 AND growth_files > 0) THEN 'grown'
        WHEN growth_bytes < 0 OR growth_files < 0 THEN 'shrunk'
        ELSE 'same'
    END AS change,
    source, name, snapshot,
    CASE WHEN is_unknown = 0 THEN files END AS files,
    CASE WHEN is_unknown = 0 THEN size_bytes END AS size_bytes,
    CASE WHEN is_change_unknown = 0 AND number > 1 THEN growth_files END AS growth_files,
    CASE WHEN is_change_unknown = 0 AND number > 1 THEN growth_bytes END AS growth_bytes
FROM grown
ORDER BY source, name NULLS LAST, snapshot
