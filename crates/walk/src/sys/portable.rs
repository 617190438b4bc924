//! Any Unix: `readdir` through the C library's streams.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{Dir, DirEntry, OFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

/// Not known everywhere.
pub(crate) const NO_ATIME: OFlags = OFlags::empty();

/// Entries between two moments at which found directories are let go of.
const BATCH: usize = 1024;

/// A listing in progress.
pub(crate) struct Listing {
    dir: Dir,
    entries: usize,
}

impl Listing {
    /// Lists the directory `fd` from where it stands.
    pub(crate) fn new(fd: BorrowedFd<'_>, _buffer: &mut Vec<u8>) -> io::Result<Self> {
        Ok(Self { dir: Dir::new(fcntl_dupfd_cloexec(fd, 0)?)?, entries: 0 })
    }

    /// The next name, `.` and `..` included. A directory that was removed meanwhile has no more.
    pub(crate) fn next(&mut self) -> Option<io::Result<DirEntry>> {
        self.entries += 1;
        match self.dir.read()? {
            Err(Errno::NOENT) => None,
            next => Some(next.map_err(io::Error::from)),
        }
    }

    /// Whether this is a good moment to let go of what was gathered.
    pub(crate) fn drained(&self) -> bool {
        self.entries.is_multiple_of(BATCH)
    }
}

/// There is no portable way to tell: none is.
pub(crate) fn is_pseudo(_fd: BorrowedFd<'_>) -> bool {
    false
}
