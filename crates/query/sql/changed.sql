-- Entries that differ between two sets, the first being the older one
--
-- Entries are matched by path, so each set has to hold one source. Values that one of the two sets lacks are not
-- compared. The mtime of directories is not compared: it changes with every entry created or removed in them.
--
-- Parameters: none
-- Columns:
--   change   'added'; 'removed'; 'corrupted': the content changed, size and mtime did not; 'modified': type, content,
--            size, target or device number differ; 'metadata': only mode, owner, group or mtime differ; 'unknown':
--            nothing differs, but the contents cannot be compared: a digest is missing or by another algorithm; or
--            only one set has the entry, and the path or a directory above it could not be read for one of them; or the
--            path is one that could not be read
--   path, path_b64
--   old_type, new_type, old_size_bytes, new_size_bytes, old_mtime_ns, new_mtime_ns, old_mode, new_mode,
--   old_uid, new_uid, old_gid, new_gid, old_algorithm, new_algorithm, old_digest, new_digest
WITH compared AS (
    SELECT
        CASE
            WHEN a.path IS NULL AND (b.failed OR b.other_failed) THEN 'unknown'
            WHEN b.path IS NULL AND (a.failed OR a.other_failed) THEN 'unknown'
            WHEN a.path IS NULL THEN 'added'
            WHEN b.path IS NULL THEN 'removed'
            WHEN a.type <> b.type THEN 'modified'
            WHEN a.type = 'file' AND a.size_bytes <> b.size_bytes THEN 'modified'
            WHEN a.type = 'file' AND a.algorithm = b.algorithm AND a.digest <> b.digest
                AND a.size_bytes = b.size_bytes AND a.mtime_ns = b.mtime_ns THEN 'corrupted'
            WHEN a.type = 'file' AND a.algorithm = b.algorithm AND a.digest <> b.digest THEN 'modified'
            WHEN a.target <> b.target OR a.target_b64 <> b.target_b64 OR a.rdev <> b.rdev THEN 'modified'
            WHEN a.mode <> b.mode OR a.uid <> b.uid OR a.gid <> b.gid THEN 'metadata'
            WHEN a.type <> 'directory' AND a.mtime_ns <> b.mtime_ns THEN 'metadata'
            WHEN a.type <> 'file' OR (a.digest IS NULL AND b.digest IS NULL) THEN NULL
            WHEN a.digest IS NULL OR b.digest IS NULL OR a.algorithm <> b.algorithm THEN 'unknown'
        END AS change,
        COALESCE(a.path, b.path) AS path,
        COALESCE(a.path_b64, b.path_b64) AS path_b64,
        a.type AS old_type, b.type AS new_type,
        a.size_bytes AS old_size_bytes, b.size_bytes AS new_size_bytes,
        a.mtime_ns AS old_mtime_ns, b.mtime_ns AS new_mtime_ns,
        a.mode AS old_mode, b.mode AS new_mode,
        a.uid AS old_uid, b.uid AS new_uid,
        a.gid AS old_gid, b.gid AS new_gid,
        a.algorithm AS old_algorithm, b.algorithm AS new_algorithm,
        a.digest AS old_digest, b.digest AS new_digest
    FROM a_entries a
    FULL OUTER JOIN b_entries b ON a.path = b.path AND a.path_b64 = b.path_b64
),
failures AS (
    SELECT path, path_b64
    FROM a_failed
    UNION
    SELECT path, path_b64
    FROM b_failed
)
SELECT *
FROM compared
WHERE change IS NOT NULL
UNION ALL
-- If one set has the entry, it is above.
SELECT
    'unknown' AS change, f.path, f.path_b64,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM failures f
LEFT JOIN a_entries a ON a.path = f.path AND a.path_b64 = f.path_b64
LEFT JOIN b_entries b ON b.path = f.path AND b.path_b64 = f.path_b64
WHERE (a.path IS NULL AND b.path IS NULL) OR (a.path IS NOT NULL AND b.path IS NOT NULL)
ORDER BY path, path_b64, change
