//! What `fstat` says, in the widths and units that are used here.

use rustix::fs::Stat;

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
