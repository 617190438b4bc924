//! Systems and CPUs without an io_uring.

use std::io;

use crate::ring::Ring;

/// Fails.
pub(crate) fn open(_: u32) -> io::Result<Box<dyn Ring>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "no io_uring on this platform"))
}
