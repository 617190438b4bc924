//! System calls of macOS. They compile; the developers of ftk have not run them.
#![expect(unsafe_code, reason = "a call that no library has")]

use std::ffi::{CStr, c_int};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use ftk_file::xattr::{XattrFlags, fremovexattr, fsetxattr};
use ftk_file::{Attribute, AttributeReader, FileType, Stat, Symlinks, permissions};
use rustix::fs::{
    AtFlags, CWD, Gid, Mode, OFlags, RenameFlags, Timestamps, Uid, fchmod, fchown, fcntl_fullfsync,
    fcntl_nocache, fsync, futimens, linkat, openat, renameat_with, unlinkat,
};
use rustix::io::Errno;

use crate::reach::Place;
use crate::sys::path_of;

/// Whether this system has all that the proof of an action needs.
pub(crate) const CAN_ACT: bool = true;

/// Opens a symbolic link itself.
const SYMLINK: OFlags = OFlags::from_bits_retain(0x0020_0000); // O_SYMLINK in <sys/fcntl.h>

/// Waits until a file is on the disk. `fsync` alone leaves it in the cache of the disk.
pub(crate) fn sync(file: impl AsFd) -> Result<(), Errno> {
    match fcntl_fullfsync(&file) {
        // Network file systems and some others.
        Err(Errno::NOTSUP | Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL) => fsync(file),
        synced => synced,
    }
}

/// Waits until all files of a file system are on the disk.
pub(crate) fn sync_file_system(directory: impl AsFd) -> Result<(), Errno> {
    const FULL_SYNC: c_int = 1; // SYNC_VOLUME_FULLSYNC in <unistd.h>
    const WAIT: c_int = 2; // SYNC_VOLUME_WAIT

    unsafe extern "C" {
        fn fsync_volume_np(file: c_int, flags: c_int) -> c_int;
    }

    // SAFETY: takes no pointers, and the descriptor is open.
    match unsafe { fsync_volume_np(directory.as_fd().as_raw_fd(), FULL_SYNC | WAIT) } {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

/// Does nothing: macOS has no call that passes over the cache of a network file system.
pub(crate) fn ask_file_system(_: impl AsFd, _: &CStr) -> Result<(), Errno> {
    Ok(())
}

/// Returns whether a file system is mounted on a name. A part of one cannot be mounted.
pub(crate) fn is_mount_point(dir: impl AsFd, name: &CStr) -> Result<bool, Errno> {
    Ok(Stat::at(&dir, name, Symlinks::NoFollow)?.dev != Stat::of(&dir)?.dev)
}

/// Makes reads and writes of a file pass over the cache.
pub(crate) fn drop_cached_pages(file: impl AsFd) {
    _ = fcntl_nocache(file, true);
}

/// Returns `false`: a clone is a new file, and cannot replace the content of an open one.
pub(crate) fn share_content(_: impl AsFd, _: impl AsFd) -> bool {
    false
}

/// Exchanges two names.
pub(crate) fn exchange(a: &Place, b: &Place) -> Result<(), Errno> {
    renameat_with(&a.dir, &a.name, &b.dir, &b.name, RenameFlags::EXCHANGE)
}

/// Renames only if the new name is free, without a race.
pub(crate) fn rename_new(from: &Place, to: &Place) -> Result<(), Errno> {
    renameat_with(&from.dir, &from.name, &to.dir, &to.name, RenameFlags::NOREPLACE)
}

/// Returns `None`: all files have names.
pub(crate) fn file_without_name(_: impl AsFd, _: Mode) -> Option<File> {
    None
}

/// Gives an open file another name, which must be free. Another user may have exchanged the file under its path, so the new
/// name is examined.
pub(crate) fn link_file(file: impl AsFd, place: &Place) -> Result<(), Errno> {
    let file = file.as_fd();
    let expected = Stat::of(file)?.identity();
    linkat(CWD, path_of(file)?, &place.dir, &place.name, AtFlags::empty())?;
    if place.stat()?.identity() == expected {
        return Ok(());
    }
    // It is a private name, which nothing else has.
    unlinkat(&place.dir, &place.name, AtFlags::empty())?;
    Err(Errno::STALE)
}

/// Opens a file, directory, FIFO or symbolic link for changes of its metadata. It must be readable. To open a device would
/// have effects.
pub(crate) fn open_entry(dir: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    if Stat::at(&dir, name, Symlinks::NoFollow)?.is_device() {
        return Err(Errno::OPNOTSUPP);
    }
    let flags = SYMLINK | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let entry = openat(dir, name, flags, Mode::empty())?;
    if Stat::of(&entry)?.file_type == FileType::Char {
        return Err(Errno::OPNOTSUPP); // it was exchanged
    }
    Ok(entry)
}

/// Sets the owner and group of an entry.
pub(crate) fn set_owner(entry: BorrowedFd<'_>, uid: u32, gid: u32) -> Result<(), Errno> {
    fchown(entry, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))
}

/// Sets the permissions of an entry that is no symbolic link.
pub(crate) fn set_mode(entry: BorrowedFd<'_>, mode: u32) -> Result<(), Errno> {
    fchmod(entry, permissions(mode))
}

/// Sets the times of an entry.
pub(crate) fn set_times(entry: BorrowedFd<'_>, times: &Timestamps) -> Result<(), Errno> {
    futimens(entry, times)
}

/// Returns all extended attributes of an entry.
pub(crate) fn attributes(entry: BorrowedFd<'_>) -> io::Result<Vec<Attribute>> {
    Ok(AttributeReader::default().read_open(entry)?)
}

/// Sets an extended attribute of an entry.
pub(crate) fn set_attribute(entry: BorrowedFd<'_>, name: &[u8], value: &[u8]) -> Result<(), Errno> {
    fsetxattr(entry, name, value, XattrFlags::empty())
}

/// Removes an extended attribute of an entry.
pub(crate) fn remove_attribute(entry: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    fremovexattr(entry, name)
}
