//! The objects of git: blobs and trees, as `git hash-object` and `git write-tree` compute their ids.

use ftk_hash::{Algorithm, Digest};
use ftk_walk::FileType;

use crate::Entry;
use crate::tree_digest::OWNER_EXECUTES;

/// The name of the directory or file in which git keeps its own data. It is in no tree of git.
const GIT: &[u8] = b".git";

/// Returns what git hashes before the content of a file of this size.
pub fn git_blob(size: u64) -> Vec<u8> {
    format!("blob {size}\0").into_bytes()
}

/// Returns whether git keeps its own data at or above this path.
pub(crate) fn is_own(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| name == GIT)
}

/// Appends an entry that is not a directory to the content of a tree. `digest` is the id of a regular file. FIFOs, sockets
/// and devices are skipped.
pub(crate) fn push(tree: &mut Vec<u8>, name: &[u8], entry: &Entry<'_>, digest: &[u8], algorithm: Algorithm) {
    let stat = &entry.stat;
    match stat.file_type {
        FileType::Regular if stat.mode & OWNER_EXECUTES != 0 => push_record(tree, "100755", name, digest),
        FileType::Regular => push_record(tree, "100644", name, digest),
        FileType::Symlink => {
            let target = entry.target.unwrap_or_default();
            let blob = [&*git_blob(target.len() as u64), target].concat();
            push_record(tree, "120000", name, algorithm.hash_one(&blob).as_bytes());
        }
        // Git knows neither the other types nor any future type.
        _ => {}
    }
}

/// Appends a directory to the content of a tree. `content` is the content of its own tree; without any, it is skipped.
pub(crate) fn push_tree(tree: &mut Vec<u8>, name: &[u8], content: &[u8], digest: &[u8]) {
    if !content.is_empty() {
        push_record(tree, "40000", name, digest);
    }
}

/// Returns the id of a tree.
pub(crate) fn tree(content: &[u8], algorithm: Algorithm) -> Digest {
    let header = format!("tree {}\0", content.len());
    algorithm.hash_one(&[header.as_bytes(), content].concat())
}

fn push_record(tree: &mut Vec<u8>, mode: &str, name: &[u8], digest: &[u8]) {
    for part in [mode.as_bytes(), b" ", name, b"\0", digest] {
        tree.extend_from_slice(part);
    }
}
