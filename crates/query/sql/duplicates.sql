-- Files with equal content, the groups that waste most space first
--
-- One row per name. The files of a group have the same digest by the same algorithm. Empty files and files that are
-- marked as damaged are skipped. Hard links are in the group of their file but are not counted: a group has at least
-- two files.
--
-- Parameters: none
-- Columns:
--   waste_bytes   size_bytes times one less than files; null if the size is unknown
--   files         number of files in the group
--   size_bytes    size of each file
--   algorithm, digest, source, path, path_b64
WITH repeated AS (
    -- Most contents occur once: only the entries of the others are read. `digests` is in the order of these columns.
    SELECT algorithm, digest
    FROM digests
    WHERE damaged_ns IS NULL
    GROUP BY algorithm, digest
    HAVING COUNT(*) > 1
),
candidates AS (
    SELECT d.algorithm, d.digest, d.source, d.row_id
    FROM digests d
    JOIN repeated r ON d.algorithm = r.algorithm AND d.digest = r.digest
    WHERE d.damaged_ns IS NULL
),
names AS (
    SELECT
        c.algorithm, c.digest, e.size_bytes, e.source, e.path, e.path_b64,
        -- What identifies a file: names with equal values are hard links.
        CASE WHEN e.ino IS NULL OR e.fs IS NULL THEN e.source ELSE e.fs END AS key_source,
        CASE WHEN e.ino IS NOT NULL AND e.fs IS NULL THEN e.dev END AS key_dev,
        e.ino AS key_ino,
        CASE WHEN e.ino IS NULL THEN e.path END AS key_path,
        CASE WHEN e.ino IS NULL THEN e.path_b64 END AS key_path_b64
    FROM entries e
    JOIN candidates c ON e.source = c.source AND e.row_id = c.row_id
),
files AS (
    SELECT algorithm, digest, MAX(size_bytes) AS size_bytes
    FROM names
    GROUP BY algorithm, digest, key_source, key_dev, key_ino, key_path, key_path_b64
),
counted AS (
    SELECT algorithm, digest, MAX(size_bytes) AS size_bytes, COUNT(*) AS files
    FROM files
    GROUP BY algorithm, digest
    HAVING COUNT(*) > 1 AND COALESCE(MAX(size_bytes), 1) > 0
),
duplicates AS (
    -- DECIMAL, because a product of BIGINT can overflow without an error.
    SELECT
        algorithm, digest, size_bytes, files,
        CAST(CAST(files - 1 AS DECIMAL(18, 0)) * CAST(size_bytes AS DECIMAL(19, 0)) AS BIGINT) AS waste_bytes
    FROM counted
)
SELECT d.waste_bytes, d.files, d.size_bytes, d.algorithm, d.digest, n.source, n.path, n.path_b64
FROM names n
JOIN duplicates d ON n.algorithm = d.algorithm AND n.digest = d.digest
ORDER BY d.waste_bytes DESC NULLS LAST, d.algorithm, d.digest, n.source, n.path, n.path_b64
