//! What `fstat` says, in the widths and units that are used here.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Stat, StatxFlags, fstat, statat, statx};
use rustix::io::Errno;

/// What has the name in the directory now; of a symbolic link, the link.
pub(crate) fn stat_now(dir: impl AsFd, name: &CStr) -> Result<Stat, Errno> {
    sync(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)?;
    statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// What the open file is now.
pub(crate) fn fstat_now(file: impl AsFd) -> Result<Stat, Errno> {
    sync(file.as_fd(), c"", AtFlags::EMPTY_PATH)?;
    fstat(file)
}

/// Makes the kernel ask the file system. FUSE and network file systems let it answer from a cache otherwise, which
/// knows nothing of what happened to the file by another way.
fn sync(dir: impl AsFd, name: &CStr, flags: AtFlags) -> Result<(), Errno> {
    match statx(dir, name, flags | AtFlags::STATX_FORCE_SYNC, StatxFlags::BASIC_STATS) {
        Ok(_) | Err(Errno::NOSYS) => Ok(()), // Linux before 4.11
        Err(errno) => Err(errno),
    }
}

/// Device and inode number.
#[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
pub(crate) fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// Last change of the content, in nanoseconds since the epoch.
#[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
pub(crate) fn mtime_ns(stat: &Stat) -> i128 {
    nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64)
}

/// Last change of the inode.
#[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
pub(crate) fn ctime_ns(stat: &Stat) -> i128 {
    nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64)
}

/// Last access to the content.
#[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
pub(crate) fn atime_ns(stat: &Stat) -> i128 {
    nanos(stat.st_atime as i64, stat.st_atime_nsec as i64)
}

fn nanos(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}
