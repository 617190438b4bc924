-- Files that a list of expected files lacks
--
-- The list is the table `expected`, whose column `path` has paths below the root. Files whose paths are not UTF-8 are
-- never in it.
--
-- Parameters: none
-- Columns: size_bytes, mtime_ns, uid, source, path, path_b64
SELECT e.size_bytes, e.mtime_ns, e.uid, e.source, e.path, e.path_b64
FROM entries e
LEFT JOIN expected x ON x.path = e.path AND e.path_b64 = ''
WHERE e.type = 'file' AND x.path IS NULL
ORDER BY e.source, e.path, e.path_b64
