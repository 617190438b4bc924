//! Makes the process yield to others, as far as this platform can: the lowest priority.

use std::io;

/// Gives the process the lowest priority. This platform has no I/O classes, and its page cache cannot be
/// controlled.
///
/// # Errors
/// If the kernel refuses the priority.
pub fn be_polite() -> io::Result<()> {
    Ok(rustix::process::setpriority_process(None, 19)?)
}
