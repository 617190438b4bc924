//! Two calls of the kernel about the blocks of files that have no safe wrapper elsewhere: sharing equal ones, and
//! where they lie.
#![expect(unsafe_code, reason = "ioctl hands the kernel pointers")]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::ioctl::{Direction, Opcode, Updater, ioctl, opcode};

/// `FIDEDUPERANGE`; the number holds the size of the structure without its array.
const DEDUPE: Opcode = opcode::from_components(Direction::ReadWrite, 0x94, 54, 24);

/// `FS_IOC_FIEMAP`; likewise.
const FIEMAP: Opcode = opcode::from_components(Direction::ReadWrite, b'f', 11, 32);

/// `FILE_DEDUPE_RANGE_DIFFERS`.
const DIFFERS: i32 = 1;

/// `FIEMAP_FLAG_SYNC`: what is not on the disk yet is written first, so that it has a place.
const SYNC: u32 = 1;

/// Extents asked for at a time: a call that costs as much as two or three small ones.
const AT_ONCE: usize = 32;

/// Flags of an extent, from `linux/fiemap.h`.
pub(crate) const LAST: u32 = 0x1;
pub(crate) const DATA_INLINE: u32 = 0x200;
pub(crate) const MERGED: u32 = 0x1000;
pub(crate) const SHARED: u32 = 0x2000;

/// `struct file_dedupe_range` with one `struct file_dedupe_range_info`.
#[repr(C)]
struct DedupeRange {
    src_offset: u64,
    src_length: u64,
    dest_count: u16,
    reserved: [u16; 3],
    dest_fd: i64,
    dest_offset: u64,
    bytes_deduped: u64,
    status: i32,
    reserved2: u32,
}

/// `struct fiemap` with its array.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; AT_ONCE],
}

/// `struct fiemap_extent`: where a part of a file lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Extent {
    /// Where it begins in the file.
    pub(crate) logical: u64,
    /// Where it begins on the disk.
    pub(crate) physical: u64,
    pub(crate) length: u64,
    reserved: [u64; 2],
    pub(crate) flags: u32,
    reserved2: [u32; 3],
}

/// Makes `to` share the blocks of `from` at `offset`, if the kernel finds them equal. Answers with the bytes that
/// are shared now, maybe fewer than asked for; `None` if they differ.
///
/// # Errors
/// `EOPNOTSUPP` or `EINVAL` where the file system does not share blocks, `EXDEV` where the files are on two of
/// them, `EPERM` if `to` could not be written to.
pub(crate) fn dedupe(from: impl AsFd, to: impl AsFd, offset: u64, len: u64) -> io::Result<Option<u64>> {
    let mut range = DedupeRange {
        src_offset: offset,
        src_length: len,
        dest_count: 1,
        reserved: [0; 3],
        dest_fd: to.as_fd().as_raw_fd().into(),
        dest_offset: offset,
        bytes_deduped: 0,
        status: 0,
        reserved2: 0,
    };
    // SAFETY: `DEDUPE` is the number of FIDEDUPERANGE, which takes this structure: the kernel's header followed
    // by as many records as `dest_count` says, which is one. The kernel writes to the record only. `to` stays
    // open during the call.
    retry_on_intr(|| unsafe { ioctl(from.as_fd(), Updater::<DEDUPE, DedupeRange>::new(&mut range)) })?;
    match range.status {
        0 => Ok(Some(range.bytes_deduped)),
        DIFFERS => Ok(None),
        errno => Err(Errno::from_raw_os_error(-errno).into()),
    }
}

/// Where the whole of a file lies; with `sync`, also what has not been given a place yet.
///
/// # Errors
/// `EOPNOTSUPP` or `ENOTTY` where the file system does not say.
pub(crate) fn extents(file: impl AsFd, sync: bool) -> io::Result<Vec<Extent>> {
    let mut all = Vec::new();
    let mut start = 0;
    loop {
        let mut map = Fiemap {
            start,
            length: u64::MAX - start,
            flags: if sync { SYNC } else { 0 },
            mapped: 0,
            count: AT_ONCE as u32,
            reserved: 0,
            extents: [Extent::default(); AT_ONCE],
        };
        // SAFETY: `FIEMAP` is the number of FS_IOC_FIEMAP, which takes this structure: the kernel's header
        // followed by room for as many extents as `count` says, which is the length of the array.
        retry_on_intr(|| unsafe { ioctl(file.as_fd(), Updater::<FIEMAP, Fiemap>::new(&mut map)) })?;
        let found = &map.extents[..AT_ONCE.min(map.mapped as usize)];
        all.extend_from_slice(found);
        match found.last() {
            Some(last) if last.flags & LAST == 0 => start = last.logical + last.length,
            _ => return Ok(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_are_those_of_linux() {
        assert_eq!((DEDUPE, FIEMAP), (0xc018_9436, 0xc020_660b));
        assert_eq!((size_of::<DedupeRange>(), size_of::<Extent>()), (24 + 32, 56));
        assert_eq!(size_of::<Fiemap>(), 32 + AT_ONCE * size_of::<Extent>());
    }
}
