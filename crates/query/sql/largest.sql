-- Files by size, the largest first
--
-- Each hard link is a row. Files of unknown size are skipped.
--
-- Parameters: none
-- Columns: size_bytes, allocated_bytes, mtime_ns, uid, source, path, path_b64
SELECT size_bytes, allocated_bytes, mtime_ns, uid, source, path, path_b64
FROM entries
WHERE type = 'file' AND size_bytes IS NOT NULL
ORDER BY size_bytes DESC, source, path, path_b64
