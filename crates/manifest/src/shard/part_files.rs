//! The files of parts in a directory.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use ftk_record::quote;

use crate::blocks::{At, Source, is_compressed};
use crate::{Kind, sniff};

/// Bytes of a file that show whether it is a plan.
const START: u64 = 64 << 10;

/// Returns the files in a directory that are to be read as parts, sorted by name: those with the [names](named_like_parts) of
/// parts, except [plans](is_plan).
///
/// # Errors
/// If the directory cannot be listed, a file cannot be read, or one of them is not a regular file, nor a link to one: to open
/// a FIFO would block.
pub fn part_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut parts = Vec::new();
    for path in named_like_parts(dir)? {
        if !fs::metadata(&path)?.is_file() {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let why = format!("{} in it is not a regular file", quote(name));
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        // What cannot be read is a part: its reader names it.
        if !File::open(&path).and_then(|file| is_plan(&file)).unwrap_or(false) {
            parts.push(path);
        }
    }
    Ok(parts)
}

/// Returns whether a regular file begins like a plan of shards. What follows is not checked.
///
/// # Errors
/// If the file cannot be read.
pub fn is_plan(file: &File) -> io::Result<bool> {
    let mut start = Vec::new();
    let mut input = Source::new(At::Open(file), is_compressed(file)?)?;
    // What cannot be decompressed is no plan: the reader of manifests names the error.
    match (&mut input).take(START).read_to_end(&mut start) {
        Ok(_) => Ok(sniff(&start) == Kind::Plan),
        Err(error) if error.raw_os_error().is_some() => Err(error),
        Err(_) => Ok(false),
    }
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
