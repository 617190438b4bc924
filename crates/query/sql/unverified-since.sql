-- Files that no run has verified since a given time, the longest unseen first
--
-- Files that ftk has never read come first.
--
-- Parameters:
--   since_ns   BIGINT, nanoseconds since 1970-01-01 UTC; required
-- Columns: verified_ns, size_bytes, source, path, path_b64
SELECT e.verified_ns, e.size_bytes, e.source, e.path, e.path_b64
FROM entries e
CROSS JOIN parameters p
WHERE e.type = 'file' AND (e.verified_ns IS NULL OR e.verified_ns < p.since_ns)
ORDER BY e.verified_ns NULLS FIRST, e.source, e.path, e.path_b64
