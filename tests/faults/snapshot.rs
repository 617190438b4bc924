//! Snapshots of a directory.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Dir,
    File {
        content: Vec<u8>,
        mode: u32,
        mtime: (i64, i64),
    },
    Link {
        to: PathBuf,
    },
    /// Not opened: the FIFO has no writer.
    Other,
}

/// Everything below a directory, by relative path.
pub(super) type Snapshot = BTreeMap<PathBuf, Node>;

/// Returns the tree and the entries next to it, except journals, caches and the log.
pub(super) fn snapshot(root: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(root.join(&dir)).unwrap() {
            let path = dir.join(entry.unwrap().file_name());
            if ["journal", "state", "cache", "log"].iter().any(|name| path == Path::new(name)) {
                continue;
            }
            let metadata = fs::symlink_metadata(root.join(&path)).unwrap();
            let node = if metadata.is_dir() {
                waiting.push(path.clone());
                Node::Dir
            } else if metadata.is_symlink() {
                Node::Link { to: fs::read_link(root.join(&path)).unwrap() }
            } else if !metadata.is_file() {
                Node::Other
            } else {
                Node::File {
                    content: fs::read(root.join(&path)).unwrap(),
                    mode: metadata.mode(),
                    mtime: (metadata.mtime(), metadata.mtime_nsec()),
                }
            };
            found.insert(path, node);
        }
    }
    found
}

/// Returns the paths that differ, with both entries.
pub(super) fn difference(a: &Snapshot, b: &Snapshot) -> Vec<String> {
    let paths: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
    let differs = paths.into_iter().filter(|path| a.get(*path) != b.get(*path));
    differs.map(|path| format!("{}: {:?} and {:?}", path.display(), a.get(path), b.get(path))).collect()
}
