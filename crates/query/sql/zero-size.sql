-- Empty files
--
-- Parameters: none
-- Columns: mtime_ns, uid, source, path, path_b64
SELECT mtime_ns, uid, source, path, path_b64
FROM entries
WHERE type = 'file' AND size_bytes = 0
ORDER BY source, path, path_b64
