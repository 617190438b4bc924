//! Standard streams that were closed when the process started.
//!
//! The standard library opens the null device in place of a closed stream: then reads return the end of file at once, and
//! writes succeed and are lost. So closed streams are noted before `main`.
#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "the entry of .init_array, and calls of libc"))]

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};

/// A standard stream. Its value is the number of its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    /// Standard input.
    Input = 0,
    /// Standard output.
    Output = 1,
    /// Standard error.
    Error = 2,
}

/// The closed streams: a bit for each descriptor.
static CLOSED: AtomicU8 = AtomicU8::new(0);

impl StandardStream {
    /// Whether the stream was closed when the process started.
    pub fn is_closed(self) -> bool {
        CLOSED.load(Ordering::Relaxed) & 1 << self as u8 != 0
    }

    /// Checks that the stream was open when the process started.
    ///
    /// # Errors
    /// If it was closed.
    pub fn check(self) -> io::Result<()> {
        if !self.is_closed() {
            return Ok(());
        }
        Err(io::Error::other(match self {
            Self::Input => "standard input is closed",
            Self::Output => "it is closed",
            Self::Error => "standard error is closed",
        }))
    }
}

#[cfg(target_os = "linux")]
mod before_main {
    use super::{CLOSED, Ordering, StandardStream};

    // SAFETY: the section holds pointers to functions of this type. The C library calls them once, before `main` and
    // on the only thread. `note` calls nothing that needs the runtime of the standard library.
    #[unsafe(link_section = ".init_array")]
    #[used]
    static NOTE: extern "C" fn() = note;

    /// Notes which streams are closed.
    ///
    /// Closed standard input and output get a stand-in, so that the standard library does not open the null device there.
    /// Reads and writes of the stand-in fail, also in commands that ftk runs, and it cannot be opened again as `/dev/stdin`.
    /// Messages to a closed standard error are lost, as with the null device.
    extern "C" fn note() {
        let mut closed = 0;
        for stream in [StandardStream::Input, StandardStream::Output, StandardStream::Error] {
            let fd = stream as i32;
            // SAFETY: F_GETFD has no pointers, and the number need not be that of an open descriptor.
            if unsafe { libc::fcntl(fd, libc::F_GETFD) } != -1 {
                continue;
            }
            closed |= 1 << stream as u8;
            if stream != StandardStream::Error {
                // The new descriptor has the lowest free number, which is `fd`: all lower ones are open.
                // SAFETY: the call has no pointers.
                unsafe { libc::epoll_create1(0) };
            }
        }
        CLOSED.store(closed, Ordering::Relaxed);
    }
}
