//! The system calls of a walk. The Linux-specific ones are in `linux`, their replacements in `portable`.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, statat};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;
use rustix::process::{Resource, getrlimit};

use crate::node::Id;
use crate::{FileType, Metadata};

#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod linux;
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
mod portable;

#[cfg(all(target_os = "linux", not(feature = "portable")))]
pub(crate) use linux::{
    Listing, NO_ATIME, cpu_time, is_mount_point, is_pseudo, is_remote, is_remote_path, stat_with,
};
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
pub(crate) use portable::{
    Listing, NO_ATIME, cpu_time, is_mount_point, is_pseudo, is_remote, is_remote_path, stat_with,
};
pub(crate) use rustix::fs::{CWD, Stat};

/// The size of the longest path that a system call accepts, including its terminating NUL.
pub(crate) const PATH_MAX: usize = if cfg!(target_os = "linux") { 4096 } else { 1024 };

/// Opens a directory. Fails for all other types, and for a symbolic link unless `follow`.
pub(crate) fn open_directory(
    at: BorrowedFd<'_>,
    path: impl Arg + Copy,
    follow: bool,
    extra: OFlags,
) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK | extra;
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    retry_on_intr(|| openat(at, path, flags, Mode::empty()))
}

/// Opens a regular file. Fails for all other types, and for a symbolic link unless `follow`. Never waits for a FIFO.
pub(crate) fn open_file(at: BorrowedFd<'_>, path: &CStr, follow: bool) -> io::Result<File> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    let fd = retry_on_intr(|| openat(at, path, flags, Mode::empty()))?;
    match metadata(&fstat(&fd)?).file_type {
        FileType::Regular => Ok(fd.into()),
        _ => Err(not_regular()),
    }
}

/// The error for a file that is not opened because of its type.
pub(crate) fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

/// Returns the identity of what `stat` describes.
pub(crate) fn identity(stat: &Stat) -> Id {
    let Metadata { dev, ino, .. } = metadata(stat);
    Id { dev, ino }
}

/// Returns the metadata of `path`; if `path` is a link and `follow`, that of its target.
pub(crate) fn stat_at(at: BorrowedFd<'_>, path: &CStr, follow: bool) -> io::Result<Metadata> {
    let stat = retry_on_intr(|| statat(at, path, flags(follow)))?;
    Ok(metadata(&stat))
}

fn flags(follow: bool) -> AtFlags {
    if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW }
}

/// Returns whether following a link failed because its target does not exist.
pub(crate) fn is_dangling(error: &io::Error) -> bool {
    [Errno::NOENT, Errno::NOTDIR].contains(&errno(error))
}

/// Returns whether following a link failed because links lead to each other without end.
pub(crate) fn is_link_loop(error: &io::Error) -> bool {
    errno(error) == Errno::LOOP
}

/// Returns how many descriptors this process may have open. `None` means no limit.
pub(crate) fn descriptor_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Converts the result of `stat`.
#[allow(clippy::unnecessary_cast, reason = "the widths of these fields differ between platforms")]
pub(crate) fn metadata(stat: &Stat) -> Metadata {
    let file_type = FileType::from_mode(stat.st_mode as u32);
    Metadata {
        file_type,
        mode: stat.st_mode as u32 & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        dev: stat.st_dev as u64,
        // For other types some file systems report the number of their own device here.
        rdev: if file_type.is_device() { stat.st_rdev as u64 } else { 0 },
        ino: stat.st_ino as u64,
        nlink: stat.st_nlink as u64,
        size: stat.st_size as u64,
        blocks: stat.st_blocks as u64,
        mtime_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
        ctime_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        atime_ns: nanoseconds(stat.st_atime, stat.st_atime_nsec),
        birth_ns: None,
        mount: None,
    }
}

fn nanoseconds(seconds: impl Into<i128>, rest: impl Into<i128>) -> i128 {
    seconds.into() * 1_000_000_000 + rest.into()
}
