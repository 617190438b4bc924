//! Files that mark the directory they are in as one to skip.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::{Errno, retry_on_intr};

/// The name and the first bytes of a file that marks a directory as a cache: <https://bford.info/cachedir/>.
const CACHE_TAG: &CStr = c"CACHEDIR.TAG";
const SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Returns whether an entry of any type has this name in a directory.
pub(crate) fn has_entry(directory: BorrowedFd<'_>, name: &CStr) -> io::Result<bool> {
    match retry_on_intr(|| statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT | Errno::NAMETOOLONG) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a directory is marked as a cache.
pub(crate) fn is_cache(directory: BorrowedFd<'_>) -> io::Result<bool> {
    // Opening a pipe or a device must not block.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let fd = match retry_on_intr(|| openat(directory, CACHE_TAG, flags, Mode::empty())) {
        Ok(fd) => fd,
        // LOOP, or MLINK on FreeBSD, is the error for a link, and NXIO the one for a socket.
        Err(Errno::NOENT | Errno::LOOP | Errno::MLINK | Errno::NXIO) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    if FileType::from_raw_mode(fstat(&fd)?.st_mode) != FileType::RegularFile {
        return Ok(false);
    }
    let mut found = Vec::new();
    File::from(fd).take(SIGNATURE.len() as u64).read_to_end(&mut found)?;
    Ok(found == SIGNATURE)
}
