//! Where the bytes of a file lie on its disk, as reported by the kernel (`FS_IOC_FIEMAP`, `linux/fiemap.h`).
#![expect(unsafe_code, reason = "the kernel writes to memory that is passed by pointer")]

use std::io;
use std::os::fd::AsFd;

use rustix::io::retry_on_intr;
use rustix::ioctl::{Getter, Opcode, Updater, ioctl, opcode};

use crate::Extent;

/// Extents per call. A call for this many costs as much as two or three small ones.
const EXTENTS_PER_CALL: usize = 32;

const FIEMAP: Opcode = opcode::read_write::<Header>(b'f', 11);
/// `FIEMAP_FLAG_SYNC`: write data that is not on the disk yet, so that it has a place.
const SYNC: u32 = 1;
/// `FIEMAP_EXTENT_LAST`.
const LAST: u32 = 1;
/// `FIEMAP_EXTENT_DATA_INLINE`.
const DATA_INLINE: u32 = 0x200;
/// `FIEMAP_EXTENT_MERGED`: several blocks reported as one extent by a file system without extents. Harmless.
const MERGED: u32 = 0x1000;
/// `FIEMAP_EXTENT_SHARED`.
const SHARED: u32 = 0x2000;

/// `FS_IOC_FSGETXATTR` and its flag for files on the realtime device of XFS (`linux/fs.h`).
const GET_XATTR: Opcode = opcode::read::<[u32; 7]>(b'X', 31);
const REALTIME: u32 = 1;

/// `struct fiemap` without its array.
#[repr(C)]
struct Header {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Request {
    header: Header,
    extents: [RawExtent; EXTENTS_PER_CALL],
}

/// Returns up to 32 extents of a file in ascending order, beginning with the one that contains `start` or the
/// next one after it. The list is empty if only a hole follows.
///
/// With `sync`, the kernel first writes the file's dirty pages to the disk. Only then do all bytes have a
/// place, and the extents match what a reader sees.
///
/// # Errors
/// `EOPNOTSUPP` or `ENOTTY` if the file system does not report extents; `ENOSYS` on platforms other than
/// Linux.
pub fn extents(file: impl AsFd, start: u64, sync: bool) -> io::Result<Vec<Extent>> {
    let header = Header {
        start,
        length: u64::MAX - start,
        flags: if sync { SYNC } else { 0 },
        mapped_extents: 0,
        extent_count: EXTENTS_PER_CALL as u32,
        reserved: 0,
    };
    let mut request = Request { header, extents: [RawExtent::default(); EXTENTS_PER_CALL] };
    // SAFETY: the kernel reads a `Header`, writes a `Header`, and writes at most `extent_count` extents after
    // it. `Request` has room for exactly these.
    retry_on_intr(|| unsafe { ioctl(file.as_fd(), Updater::<FIEMAP, Request>::new(&mut request)) })?;
    let filled = request.extents.iter().take(request.header.mapped_extents as usize);
    Ok(filled.map(Extent::from).collect())
}

/// Returns whether equal places of the two files mean the same blocks, provided that both are on one file
/// system. XFS keeps some files on a separate realtime device. Returns `false` if this cannot be determined.
pub fn share_a_disk(a: impl AsFd, b: impl AsFd) -> bool {
    matches!((is_realtime(a), is_realtime(b)), (Ok(a), Ok(b)) if a == b)
}

fn is_realtime(file: impl AsFd) -> io::Result<bool> {
    // SAFETY: the kernel writes a `struct fsxattr`, which is 28 bytes long (`linux/fs.h`), the size of the
    // array. The flags come first.
    let attributes = unsafe { ioctl(file, Getter::<GET_XATTR, [u32; 7]>::new())? };
    Ok(attributes[0] & REALTIME != 0)
}

impl From<&RawExtent> for Extent {
    fn from(raw: &RawExtent) -> Self {
        Self {
            logical: raw.logical,
            physical: raw.physical,
            len: raw.length,
            is_plain: raw.flags & !(LAST | MERGED | SHARED) == 0,
            is_shared: raw.flags & SHARED != 0,
            is_inline: raw.flags & DATA_INLINE != 0,
            is_last: raw.flags & LAST != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::fstatfs;

    use super::*;

    #[test]
    fn sizes_and_codes_match_linux() {
        assert_eq!((size_of::<Header>(), size_of::<RawExtent>()), (32, 56));
        assert_eq!(size_of::<Request>(), 32 + EXTENTS_PER_CALL * 56);
        assert_eq!((FIEMAP, GET_XATTR), (0xc020_660b, 0x801c_581f));
    }

    #[test]
    fn only_plain_extents_have_a_shared_place() {
        let extent = |flags| Extent::from(&RawExtent { physical: 4096, flags, ..RawExtent::default() });
        assert_eq!(extent(SHARED).shared_at(), Some(4096));
        assert_eq!(extent(SHARED | MERGED | LAST).shared_at(), Some(4096));
        assert!(extent(SHARED | LAST).is_last && !extent(SHARED).is_last);
        assert_eq!(extent(0).shared_at(), None, "not shared");
        assert!(extent(DATA_INLINE).is_inline && !extent(SHARED).is_inline);
        // Unknown, delayed, encoded, encrypted, not aligned, inline, tail, unwritten.
        for bad in [0x2, 0x4, 0x8, 0x80, 0x100, 0x200, 0x400, 0x800] {
            assert_eq!(extent(SHARED | bad).shared_at(), None, "{bad:#x}");
            assert!(extent(SHARED | bad).is_shared);
        }
    }

    #[test]
    fn a_file_written_just_now_has_extents() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, [1; 100_000]).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let extents = match extents(&file, 50_000, true) {
            Ok(extents) => extents,
            Err(error) => {
                assert_eq!(fstatfs(&file).unwrap().f_type, 0x0102_1994, "{error}"); // tmpfs has no extents
                return;
            }
        };
        assert!(extents[0].logical <= 50_000 && extents[0].logical + extents[0].len > 50_000);
        assert!(extents.last().unwrap().is_last);
        assert!(extents.iter().map(|extent| extent.len).sum::<u64>() >= 50_000);
        assert!(share_a_disk(&file, &file));
    }
}
