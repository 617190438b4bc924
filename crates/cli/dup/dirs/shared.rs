//! Hard links between directories, which `--min-copies` counts as one copy.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::read_dir;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// Returns whether two of the directories contain the same file under several names.
///
/// # Errors
/// If a directory cannot be read.
pub(super) fn share_files(directories: &[&[u8]]) -> io::Result<bool> {
    let mut known = HashMap::new();
    for (nth, top) in directories.iter().enumerate() {
        let mut waiting = vec![PathBuf::from(OsStr::from_bytes(top))];
        while let Some(dir) = waiting.pop() {
            for entry in read_dir(&dir)? {
                let entry = entry?;
                let metadata = entry.metadata()?;
                let identity = (metadata.dev(), metadata.ino());
                if metadata.is_dir() {
                    waiting.push(entry.path());
                } else if metadata.nlink() > 1 && *known.entry(identity).or_insert(nth) != nth {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}
