-- Files that are marked as damaged, with the number of intact copies elsewhere
--
-- `ftk manifest update` and `scrub` mark a file whose content changed while its size and mtime did not. The digest is
-- the recorded one, so a file with the same digest that is not marked is an intact copy, and `ftk manifest repair` can
-- use it.
--
-- Parameters: none
-- Columns:
--   intact_copies   number of names with the recorded content that are not marked as damaged
--   damaged_ns, size_bytes, algorithm, digest, source, path, path_b64
WITH damaged AS (
    SELECT algorithm, digest, size_bytes, damaged_ns, source, path, path_b64
    FROM contents
    WHERE damaged_ns IS NOT NULL
),
intact AS (
    SELECT c.algorithm, c.digest, COUNT(*) AS copies
    FROM digests c
    JOIN (SELECT algorithm, digest FROM damaged GROUP BY algorithm, digest) d
        ON c.algorithm = d.algorithm AND c.digest = d.digest
    WHERE c.damaged_ns IS NULL
    GROUP BY c.algorithm, c.digest
)
SELECT
    COALESCE(i.copies, 0) AS intact_copies,
    d.damaged_ns, d.size_bytes, d.algorithm, d.digest, d.source, d.path, d.path_b64
FROM damaged d
LEFT JOIN intact i ON i.algorithm = d.algorithm AND i.digest = d.digest
ORDER BY d.source, d.path, d.path_b64
