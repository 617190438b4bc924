-- Files by time of modification, the oldest first
--
-- Each hard link is a row. Files of unknown mtime are skipped.
--
-- Parameters: none
-- Columns: mtime_ns, size_bytes, uid, source, path, path_b64
SELECT mtime_ns, size_bytes, uid, source, path, path_b64
FROM entries
WHERE type = 'file' AND mtime_ns IS NOT NULL
ORDER BY mtime_ns, source, path, path_b64
