//! The tests for permission to read, write and execute.

use std::io;
use std::os::fd::AsFd as _;

use ftk_walk::{Entry, FileType};
use rustix::fs::{Access, AtFlags, accessat};
use rustix::io::{Errno, retry_on_intr};

/// Returns whether this process has `access` to the entry; for a symbolic link, to its target. It has none to a dangling
/// link, and none to write to a read-only file system or a program that runs.
pub(super) fn may_access(entry: &Entry<'_>, access: Access) -> io::Result<bool> {
    let ask = || accessat(entry.as_fd(), entry.name_c(), access, AtFlags::EACCESS);
    match retry_on_intr(ask) {
        Ok(()) => Ok(true),
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::TXTBSY) => Ok(false),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if entry.file_type() == FileType::Symlink => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}
