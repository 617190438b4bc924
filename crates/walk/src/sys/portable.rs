//! Any Unix: listings with `readdir` from the C library.

use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::fs::{Dir, DirEntry, OFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::stat_at;
use crate::{Fields, Metadata};

/// Empty, because not every system has `O_NOATIME`.
pub(crate) const NO_ATIME: OFlags = OFlags::empty();

/// Found directories are queued after this many entries.
const BATCH: usize = 1024;

/// A listing in progress.
pub(crate) struct Listing {
    dir: Dir,
    entries: usize,
}

impl Listing {
    /// Lists the directory `fd` from its current offset.
    pub(crate) fn new(fd: BorrowedFd<'_>, _buffer: &mut Vec<u8>) -> io::Result<Self> {
        Ok(Self { dir: Dir::new(fcntl_dupfd_cloexec(fd, 0)?)?, entries: 0 })
    }

    /// Returns the next entry, including `.` and `..`. A directory that was removed meanwhile has no more
    /// entries.
    pub(crate) fn next(&mut self) -> Option<io::Result<DirEntry>> {
        self.entries += 1;
        match self.dir.read()? {
            Err(Errno::NOENT) => None,
            next => Some(next.map_err(io::Error::from)),
        }
    }

    /// Returns whether found directories are to be queued now.
    pub(crate) fn drained(&self) -> bool {
        self.entries % BATCH == 0
    }
}

/// Returns the metadata without the time of birth and the mount: there is no portable way to find out.
pub(crate) fn stat_with(
    at: BorrowedFd<'_>,
    path: &CStr,
    follow: bool,
    _fields: Fields,
) -> io::Result<Metadata> {
    stat_at(at, path, follow)
}

/// Returns `None`: there is no portable way to find out.
pub(crate) fn is_mount_point(_at: BorrowedFd<'_>, _path: &CStr, _follow: bool) -> Option<bool> {
    None
}

/// Returns `false`: there is no portable way to find out.
pub(crate) fn is_pseudo(_fd: BorrowedFd<'_>) -> bool {
    false
}

/// Returns `false`: there is no portable way to find out.
pub(crate) fn is_remote(_fd: BorrowedFd<'_>) -> bool {
    false
}

/// Returns `false`, as [`is_remote`] does.
pub(crate) fn is_remote_path(_path: &CStr) -> bool {
    false
}

/// Returns more than any walk takes, as if this thread had never waited. It matters for remote file systems only.
pub(crate) fn cpu_time() -> Duration {
    Duration::MAX
}
