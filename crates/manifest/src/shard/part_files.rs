//! The files of parts in a directory.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io};

use ftk_record::quote;

/// Returns the files in a directory that are to be read as parts, sorted by name: those with the [names](named_like_parts) of
/// parts.
///
/// # Errors
/// If the directory cannot be listed, or one of them is not a regular file, nor a link to one: to open a FIFO would block.
pub fn part_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = named_like_parts(dir)?;
    for path in &paths {
        if !fs::metadata(path)?.is_file() {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let why = format!("{} in it is not a regular file", quote(name));
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
    }
    Ok(paths)
}

/// Returns what a directory has with the names of parts, sorted: names that end in `.jsonl` or `.jsonl.zst` and do not begin
/// with a dot.
///
/// # Errors
/// If the directory cannot be listed.
pub fn named_like_parts(dir: &Path) -> io::Result<Vec<PathBuf>> {
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
