//! System calls of Linux.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use ftk_file::xattr::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use ftk_file::{Attribute, AttributeReader, Stat, Symlinks, descriptor_path, permissions};
use rustix::fs::{
    Advice, AtFlags, CWD, Gid, Mode, OFlags, RenameFlags, StatxAttributes, StatxFlags, Timestamps, Uid,
    chmodat, chownat, fadvise, ioctl_ficlone, linkat, openat, renameat_with, statx, utimensat,
};
pub(crate) use rustix::fs::{fsync as sync, syncfs as sync_file_system};
use rustix::io::Errno;

use crate::reach::Place;

/// Whether this system has all that the proof of an action needs.
pub(crate) const CAN_ACT: bool = true;

/// The path of the entry itself for calls that take a descriptor as well.
const ITSELF: &CStr = c"";

/// Makes the kernel query the file system about a name. Otherwise FUSE and network file systems may answer from a cache
/// that does not contain changes made in other ways.
pub(crate) fn ask_file_system(dir: impl AsFd, name: &CStr) -> Result<(), Errno> {
    let itself = if name.is_empty() { AtFlags::EMPTY_PATH } else { AtFlags::SYMLINK_NOFOLLOW };
    match statx(dir, name, itself | AtFlags::STATX_FORCE_SYNC, StatxFlags::BASIC_STATS) {
        Ok(_) | Err(Errno::NOSYS) => Ok(()), // Linux before 4.11
        Err(errno) => Err(errno),
    }
}

/// Returns whether a file system, or a part of one, is mounted on a name.
pub(crate) fn is_mount_point(dir: impl AsFd, name: &CStr) -> Result<bool, Errno> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    match statx(&dir, name, flags, StatxFlags::empty()) {
        Ok(stat) if stat.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT) => {
            Ok(stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
        }
        // Linux before 5.8, or before 4.11.
        Ok(_) | Err(Errno::NOSYS) => Ok(mount_of(&dir)? != mount_of(open_entry(&dir, name)?)?),
        Err(errno) => Err(errno),
    }
}

/// Returns the number of the mount that an open file was reached through.
fn mount_of(file: impl AsFd) -> Result<u64, Errno> {
    let path = format!("/proc/self/fdinfo/{}", file.as_fd().as_raw_fd());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let number = text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    number.ok_or(Errno::OPNOTSUPP)
}

/// Removes written and unused pages of a file from the cache.
pub(crate) fn drop_cached_pages(file: impl AsFd) {
    _ = fadvise(file, 0, None, Advice::DontNeed);
}

/// Makes a new file share all blocks of another one. Returns whether that was possible.
pub(crate) fn share_content(to: impl AsFd, from: impl AsFd) -> bool {
    ioctl_ficlone(to, from).is_ok()
}

/// Exchanges two names.
pub(crate) fn exchange(a: &Place, b: &Place) -> Result<(), Errno> {
    renameat_with(&a.dir, &a.name, &b.dir, &b.name, RenameFlags::EXCHANGE)
}

/// Renames only if the new name is free, without a race.
pub(crate) fn rename_new(from: &Place, to: &Place) -> Result<(), Errno> {
    renameat_with(&from.dir, &from.name, &to.dir, &to.name, RenameFlags::NOREPLACE)
}

/// Makes a file without a name. Returns `None` if the file system does not support that, or if the file could not be named
/// later because `/proc` is not available.
pub(crate) fn file_without_name(dir: impl AsFd, mode: Mode) -> Option<File> {
    let file = openat(dir, ".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode).ok()?;
    let through_proc = Stat::at(CWD, through(&file), Symlinks::Follow).ok()?;
    (through_proc.identity() == Stat::of(&file).ok()?.identity()).then(|| file.into())
}

/// Gives an open file another name, which must be free.
pub(crate) fn link_file(file: impl AsFd, place: &Place) -> Result<(), Errno> {
    match linkat(CWD, through(&file), &place.dir, &place.name, AtFlags::SYMLINK_FOLLOW) {
        // Without /proc. This needs a capability on kernels before 6.10.
        Err(Errno::NOENT) => linkat(file, ITSELF, &place.dir, &place.name, AtFlags::EMPTY_PATH),
        linked => linked,
    }
}

/// Opens an entry only for look-ups. Such a descriptor needs no permission on the entry itself, has no effects on devices and
/// FIFOs, and can lead to a symbolic link. Where no system call accepts it, its path in `/proc` leads to the same entry and no
/// further.
pub(crate) fn open_entry(dir: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    openat(dir, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Sets the owner and group of an entry.
pub(crate) fn set_owner(entry: BorrowedFd<'_>, uid: u32, gid: u32) -> Result<(), Errno> {
    let (uid, gid) = (Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
    chownat(entry, ITSELF, uid, gid, AtFlags::EMPTY_PATH)
}

/// Sets the permissions of an entry that is no symbolic link.
pub(crate) fn set_mode(entry: BorrowedFd<'_>, mode: u32) -> Result<(), Errno> {
    chmodat(CWD, through(entry), permissions(mode), AtFlags::empty())
}

/// Sets the times of an entry.
pub(crate) fn set_times(entry: BorrowedFd<'_>, times: &Timestamps) -> Result<(), Errno> {
    match utimensat(entry, ITSELF, times, AtFlags::EMPTY_PATH) {
        // Linux before 5.8. This path leads to the entry itself, and no further.
        Err(Errno::INVAL | Errno::NOENT) => utimensat(CWD, through(entry), times, AtFlags::empty()),
        set => set,
    }
}

/// Returns all extended attributes of an entry.
pub(crate) fn attributes(entry: BorrowedFd<'_>) -> io::Result<Vec<Attribute>> {
    let path = through(entry);
    let list = |names: &mut [u8]| listxattr(&*path, names);
    Ok(AttributeReader::default().read(list, |name, value| getxattr(&*path, name, value))?)
}

/// Sets an extended attribute of an entry.
pub(crate) fn set_attribute(entry: BorrowedFd<'_>, name: &[u8], value: &[u8]) -> Result<(), Errno> {
    setxattr(through(entry), name, value, XattrFlags::empty())
}

/// Removes an extended attribute of an entry.
pub(crate) fn remove_attribute(entry: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    removexattr(through(entry), name)
}

fn through(file: impl AsFd) -> Vec<u8> {
    descriptor_path(file.as_fd()).expect("Linux has a path for every descriptor")
}
