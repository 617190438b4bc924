//! Why a file could not be read.

use std::io;

use rustix::io::Errno;

use crate::Stat;

/// Why a file could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// A system call failed.
    Io {
        /// The operation: "open", "stat" or "read".
        op: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The file is not, or no longer, a regular file: a directory, FIFO, socket or device, or a symbolic link
    /// that is not to be followed.
    NotRegular,
    /// The file changed while being read.
    Changed {
        /// The `fstat` after the open.
        before: Box<Stat>,
        /// The `fstat` after the last read.
        after: Box<Stat>,
        /// How many bytes were read.
        read: u64,
    },
}

impl Failure {
    /// Converts an error of `openat`.
    ///
    /// `ELOOP` means a symbolic link that was not to be followed, or a loop of links. `ENXIO` means a socket,
    /// or a device without a driver. Opening a regular file gives neither.
    pub fn of_open(errno: Errno) -> Self {
        match errno {
            Errno::LOOP | Errno::NXIO => Self::NotRegular,
            errno => Self::Io { op: "open", source: errno.into() },
        }
    }

    /// Converts an error of `fstat`.
    pub(crate) fn of_stat(errno: Errno) -> Self {
        Self::Io { op: "stat", source: errno.into() }
    }

    /// Converts an error of a read.
    pub fn of_read(source: io::Error) -> Self {
        Self::Io { op: "read", source }
    }

    /// Whether no descriptor was free, in this process or on the whole machine.
    pub fn is_out_of_descriptors(&self) -> bool {
        matches!(self, Self::Io { source, .. } if is_out_of_descriptors(source))
    }
}

/// Whether no descriptor was free, in this process or on the whole machine.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}
