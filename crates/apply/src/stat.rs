//! `stat` results that come from the file system, not from a cache.

use std::ffi::CStr;
use std::os::fd::AsFd;

use ftk_file::{Birth, Stat, Symlinks};
use rustix::fs::{AtFlags, StatxFlags, statx};
use rustix::io::Errno;

/// Returns the present state of a name in a directory. Links are not followed.
pub(crate) fn stat_now(dir: impl AsFd, name: &CStr) -> Result<Stat, Errno> {
    sync(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)?;
    Stat::at(dir, name, Symlinks::NoFollow)
}

/// Returns the present state of an open file.
pub(crate) fn fstat_now(file: impl AsFd) -> Result<Stat, Errno> {
    sync(file.as_fd(), c"", AtFlags::EMPTY_PATH)?;
    Stat::of(file)
}

/// Returns when an open file was created. `None` if the file system does not tell.
pub(crate) fn birth_of(file: impl AsFd) -> Result<Option<i128>, Errno> {
    Stat::of_with(file, Birth::Requested).map(|stat| stat.birth_ns)
}

/// Makes the kernel query the file system. Otherwise FUSE and network file systems may answer from a cache
/// that does not contain changes made in other ways.
fn sync(dir: impl AsFd, name: &CStr, flags: AtFlags) -> Result<(), Errno> {
    match statx(dir, name, flags | AtFlags::STATX_FORCE_SYNC, StatxFlags::BASIC_STATS) {
        Ok(_) | Err(Errno::NOSYS) => Ok(()), // Linux before 4.11
        Err(errno) => Err(errno),
    }
}
