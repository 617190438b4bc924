//! `stat` results, in the types and units used here.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Stat, StatxFlags, fstat, statat, statx};
use rustix::io::Errno;

/// Returns the present state of a name in a directory. Links are not followed.
pub(crate) fn stat_now(dir: impl AsFd, name: &CStr) -> Result<Stat, Errno> {
    sync(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)?;
    statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Returns the present state of an open file.
pub(crate) fn fstat_now(file: impl AsFd) -> Result<Stat, Errno> {
    sync(file.as_fd(), c"", AtFlags::EMPTY_PATH)?;
    fstat(file)
}

/// Makes the kernel query the file system. Otherwise FUSE and network file systems may answer from a cache
/// that does not contain changes made in other ways.
fn sync(dir: impl AsFd, name: &CStr, flags: AtFlags) -> Result<(), Errno> {
    match statx(dir, name, flags | AtFlags::STATX_FORCE_SYNC, StatxFlags::BASIC_STATS) {
        Ok(_) | Err(Errno::NOSYS) => Ok(()), // Linux before 4.11
        Err(errno) => Err(errno),
    }
}

/// Returns device and inode number.
#[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
pub(crate) fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// Returns the last change of the content, in nanoseconds since the epoch.
#[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
pub(crate) fn mtime_ns(stat: &Stat) -> i128 {
    nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64)
}

/// Returns the last change of the inode.
#[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
pub(crate) fn ctime_ns(stat: &Stat) -> i128 {
    nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64)
}

/// Returns the last access to the content.
#[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
pub(crate) fn atime_ns(stat: &Stat) -> i128 {
    nanos(stat.st_atime as i64, stat.st_atime_nsec as i64)
}

fn nanos(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}
