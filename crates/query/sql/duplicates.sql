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
WITH files AS (
    -- The first two keys are a prefix of the order of `contents`. The others identify a file.
    SELECT algorithm, digest, MAX(size_bytes) AS size_bytes
    FROM contents
    WHERE damaged_ns IS NULL
    GROUP BY
        algorithm, digest,
        CASE WHEN ino IS NULL OR fs IS NULL THEN source ELSE fs END,
        CASE WHEN ino IS NOT NULL AND fs IS NULL THEN dev END,
        ino,
        CASE WHEN ino IS NULL THEN path END,
        CASE WHEN ino IS NULL THEN path_b64 END
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
SELECT d.waste_bytes, d.files, d.size_bytes, d.algorithm, d.digest, c.source, c.path, c.path_b64
FROM contents c
JOIN duplicates d ON c.algorithm = d.algorithm AND c.digest = d.digest
WHERE c.damaged_ns IS NULL
ORDER BY d.waste_bytes DESC NULLS LAST, d.algorithm, d.digest, c.source, c.path, c.path_b64
