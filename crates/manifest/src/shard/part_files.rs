//! The files of parts in a directory.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Returns the files in a directory that may be parts, sorted by name: those whose names end in `.jsonl` or `.jsonl.zst`
/// and do not begin with a dot.
///
/// # Errors
/// If the directory cannot be listed.
pub fn part_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        let bytes = name.as_encoded_bytes();
        let is_part = bytes.ends_with(b".jsonl") || bytes.ends_with(b".jsonl.zst");
        if is_part && !bytes.starts_with(b".") {
            paths.push(dir.join(&name));
        }
    }
    paths.sort_unstable();
    Ok(paths)
}
