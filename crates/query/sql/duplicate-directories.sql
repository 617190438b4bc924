-- Directories with equal trees, the largest groups first
--
-- One row per directory. Equal tree digests mean the same names, types, contents, link targets and executable bits
-- everywhere below. Empty directories are skipped. A group is skipped if its directories are in the same place inside
-- the directories of another group of the same size: the parents say it all.
--
-- Parameters: none
-- Columns:
--   directories   number of directories in the group
--   entries       number of entries directly in each directory
--   algorithm, tree, source, path, path_b64
WITH trees AS (
    SELECT algorithm, tree, COUNT(*) AS directories
    FROM entries
    WHERE type = 'directory' AND tree IS NOT NULL
    GROUP BY algorithm, tree
    HAVING COUNT(*) > 1
),
members AS (
    SELECT
        t.algorithm, t.tree, t.directories,
        e.source, e.path, e.path_b64, e.parent, e.parent_b64
    FROM entries e
    JOIN trees t ON e.algorithm = t.algorithm AND e.tree = t.tree
    WHERE e.type = 'directory'
),
children AS (
    SELECT m.algorithm, m.tree, m.source, m.path, m.path_b64, COUNT(*) AS entries
    FROM members m
    JOIN entries e ON e.source = m.source AND e.parent = m.path AND e.parent_b64 = m.path_b64
    GROUP BY m.algorithm, m.tree, m.source, m.path, m.path_b64
),
explained AS (
    SELECT m.algorithm, m.tree
    FROM members m
    LEFT JOIN members p
        ON p.algorithm = m.algorithm AND p.source = m.source AND p.path = m.parent AND p.path_b64 = m.parent_b64
    GROUP BY m.algorithm, m.tree, m.directories
    HAVING COUNT(p.tree) = COUNT(*) AND MIN(p.tree) = MAX(p.tree) AND MIN(p.directories) = m.directories
)
SELECT m.directories, c.entries, m.algorithm, m.tree, m.source, m.path, m.path_b64
FROM members m
JOIN children c
    ON c.algorithm = m.algorithm AND c.tree = m.tree AND c.source = m.source AND c.path = m.path
    AND c.path_b64 = m.path_b64
LEFT JOIN explained x ON x.algorithm = m.algorithm AND x.tree = m.tree
WHERE x.tree IS NULL
ORDER BY m.directories DESC, m.algorithm, m.tree, m.source, m.path, m.path_b64
