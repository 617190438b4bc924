//! Paths that lead to open files.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// Returns a path that leads to an open file or directory, for calls that take no descriptor. With the descriptor of a
/// symbolic link, it leads to the link itself, and no further.
///
/// On Linux, it leads to exactly this file, even without a name. It uses the descriptor table of this thread, which may
/// differ from that of the process. On macOS, it is a path by which the system knows the file now: check that it is the
/// same file where another user could exchange it.
///
/// # Errors
/// On macOS, any error of `F_GETPATH`. On other systems always: they have no such path.
pub fn descriptor_path(file: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    if cfg!(target_os = "linux") {
        Ok(format!("/proc/thread-self/fd/{}", file.as_raw_fd()).into_bytes())
    } else {
        known_path(file)
    }
}

/// Returns the absolute path of an open file or directory, without symbolic links. The file may have lost this name.
///
/// # Errors
/// If there is no `/proc` on Linux. On macOS, any error of `F_GETPATH`, and on other systems always.
pub fn current_path(file: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    if cfg!(target_os = "linux") {
        let path = descriptor_path(file)?;
        Ok(rustix::fs::readlinkat(rustix::fs::CWD, path, Vec::new())?.into_bytes())
    } else {
        known_path(file)
    }
}

#[cfg(target_vendor = "apple")]
fn known_path(file: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    Ok(rustix::fs::getpath(file)?.into_bytes())
}

#[cfg(not(target_vendor = "apple"))]
fn known_path(_: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    Err(rustix::io::Errno::OPNOTSUPP.into())
}
