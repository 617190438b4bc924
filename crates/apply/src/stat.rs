//! `stat` results that come from the file system, not from a cache.

use std::ffi::CStr;
use std::os::fd::AsFd;

use ftk_file::{Birth, Stat, Symlinks};
use rustix::io::Errno;

use crate::sys::ask_file_system;

/// Returns the present state of a name in a directory. Links are not followed.
pub(crate) fn stat_now(dir: impl AsFd, name: &CStr) -> Result<Stat, Errno> {
    ask_file_system(dir.as_fd(), name)?;
    Stat::at(dir, name, Symlinks::NoFollow)
}

/// Returns the present state of an open file.
pub(crate) fn fstat_now(file: impl AsFd) -> Result<Stat, Errno> {
    ask_file_system(file.as_fd(), c"")?;
    Stat::of(file)
}

/// Returns when an open file was created. `None` if the file system does not tell.
pub(crate) fn birth_of(file: impl AsFd) -> Result<Option<i128>, Errno> {
    Stat::of_with(file, Birth::Requested).map(|stat| stat.birth_ns)
}
