//! The test for empty directories.

use std::io;
use std::os::fd::AsFd as _;

use ftk_walk::Entry;
use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::io::retry_on_intr;

/// Returns whether a directory has no entries.
pub(super) fn has_no_entries(entry: &Entry<'_>) -> io::Result<bool> {
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
