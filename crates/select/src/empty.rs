//! The test for empty files and directories.

use std::io;
use std::os::fd::AsFd as _;

use ftk_walk::{Entry, FileType, Op, WalkError};
use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::io::retry_on_intr;

/// Returns whether the entry is an empty regular file or an empty directory. Makes no system call for other
/// types.
pub(crate) fn is_empty(entry: &mut Entry<'_>) -> Result<bool, WalkError> {
    match entry.file_type() {
        FileType::Regular => Ok(entry.metadata()?.size == 0),
        FileType::Directory => has_no_entries(entry).map_err(|error| {
            let mut path = Vec::new();
            entry.push_path(&mut path);
            WalkError::new(Op::Open, path, error)
        }),
        _ => Ok(false),
    }
}

fn has_no_entries(entry: &Entry<'_>) -> io::Result<bool> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if !entry.via_link() {
        flags |= OFlags::NOFOLLOW;
    }
    let dir = retry_on_intr(|| openat(entry.as_fd(), entry.name_c(), flags, Mode::empty()))?;
    for found in Dir::new(dir)? {
        if !matches!(found?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}
