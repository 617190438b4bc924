//! Systems on which ftk changes no files: it cannot read the extended attributes and access control lists that an action must
//! not lose, and cannot exchange two names.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use ftk_file::Attribute;
pub(crate) use rustix::fs::fsync as sync;
use rustix::fs::{Mode, Timestamps};
use rustix::io::Errno;

use crate::reach::Place;

/// Whether this system has all that the proof of an action needs.
pub(crate) const CAN_ACT: bool = false;

macro_rules! fail {
    ($($name:ident($($type:ty),*) -> $result:ty;)*) => {$(
        pub(crate) fn $name($(_: $type),*) -> Result<$result, Errno> {
            Err(Errno::OPNOTSUPP)
        }
    )*};
}

fail! {
    sync_file_system(impl AsFd) -> ();
    ask_file_system(impl AsFd, &CStr) -> ();
    exchange(&Place, &Place) -> ();
    rename_new(&Place, &Place) -> ();
    link_file(impl AsFd, &Place) -> ();
    is_mount_point(impl AsFd, &CStr) -> bool;
    open_entry(impl AsFd, &CStr) -> OwnedFd;
    set_owner(BorrowedFd<'_>, u32, u32) -> ();
    set_mode(BorrowedFd<'_>, u32) -> ();
    set_times(BorrowedFd<'_>, &Timestamps) -> ();
    set_attribute(BorrowedFd<'_>, &[u8], &[u8]) -> ();
    remove_attribute(BorrowedFd<'_>, &[u8]) -> ();
}

pub(crate) fn attributes(_: BorrowedFd<'_>) -> io::Result<Vec<Attribute>> {
    Err(Errno::OPNOTSUPP.into())
}

pub(crate) fn drop_cached_pages(_: impl AsFd) {}

pub(crate) fn share_content(_: impl AsFd, _: impl AsFd) -> bool {
    false
}

pub(crate) fn file_without_name(_: impl AsFd, _: Mode) -> Option<File> {
    None
}
