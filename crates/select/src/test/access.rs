//! The test for permission to read.

use std::io;
use std::os::fd::AsFd as _;

use ftk_walk::{Entry, FileType};
use rustix::fs::{Access, AtFlags, accessat};
use rustix::io::{Errno, retry_on_intr};

/// Returns whether this process may read the entry; for a symbolic link, its target. A dangling link is not
/// readable.
pub(super) fn is_readable(entry: &Entry<'_>) -> io::Result<bool> {
    let access = || accessat(entry.as_fd(), entry.name_c(), Access::READ_OK, AtFlags::EACCESS);
    match retry_on_intr(access) {
        Ok(()) => Ok(true),
        Err(Errno::ACCESS | Errno::PERM) => Ok(false),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if entry.file_type() == FileType::Symlink => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}
