//! Where the bytes of a file lie on its disk, asked of the kernel (`FS_IOC_FIEMAP`, `linux/fiemap.h`).
#![expect(unsafe_code, reason = "the kernel fills in memory that it is handed")]

use std::io;
use std::os::fd::AsFd;

use rustix::io::retry_on_intr;
use rustix::ioctl::{Getter, Opcode, Updater, ioctl, opcode};

use crate::Extent;

/// Extents asked for at a time: a call that costs as much as two or three small ones.
const AT_ONCE: usize = 32;

const FIEMAP: Opcode = opcode::read_write::<Header>(b'f', 11);
/// `FIEMAP_FLAG_SYNC`: what is not on the disk yet is written first, so that it has a place.
const SYNC: u32 = 1;
/// `FIEMAP_EXTENT_LAST`.
const LAST: u32 = 1;
/// `FIEMAP_EXTENT_DATA_INLINE`.
const DATA_INLINE: u32 = 0x200;
/// `FIEMAP_EXTENT_MERGED`: several extents of the file system told as one, for lack of extents there. Harmless.
const MERGED: u32 = 0x1000;
/// `FIEMAP_EXTENT_SHARED`.
const SHARED: u32 = 0x2000;

/// `FS_IOC_FSGETXATTR` and what it says of a file of the realtime device of XFS (`linux/fs.h`).
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
    extents: [RawExtent; AT_ONCE],
}

/// The first extents of a file, some 30 at most, from the one on that `start` is in, or the next one; ascending. None
/// where only a hole follows.
///
/// With `sync`, what waits to be written is written first: only then does the answer hold for what a reader would see,
/// and only then has everything a place.
///
/// # Errors
/// `EOPNOTSUPP` or `ENOTTY` where the file system does not say, `ENOSYS` on other systems than Linux.
pub fn extents(file: impl AsFd, start: u64, sync: bool) -> io::Result<Vec<Extent>> {
    let header = Header {
        start,
        length: u64::MAX - start,
        flags: if sync { SYNC } else { 0 },
        mapped_extents: 0,
        extent_count: AT_ONCE as u32,
        reserved: 0,
    };
    let mut request = Request { header, extents: [RawExtent::default(); AT_ONCE] };
    // SAFETY: the kernel reads a `Header`, and writes one and at most `extent_count` extents behind it, which is what
    // `Request` has room for.
    retry_on_intr(|| unsafe { ioctl(file.as_fd(), Updater::<FIEMAP, Request>::new(&mut request)) })?;
    let filled = request.extents.iter().take(request.header.mapped_extents as usize);
    Ok(filled.map(Extent::from).collect())
}

/// Whether the places of both files are counted alike, if they are on one file system: XFS has a device apart for some
/// files. `false` where that cannot be known.
pub fn share_a_disk(a: impl AsFd, b: impl AsFd) -> bool {
    matches!((is_realtime(a), is_realtime(b)), (Ok(a), Ok(b)) if a == b)
}

fn is_realtime(file: impl AsFd) -> io::Result<bool> {
    // SAFETY: the kernel writes a `struct fsxattr`, which has 28 bytes, the flags first.
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
    fn as_linux_counts_them() {
        assert_eq!((size_of::<Header>(), size_of::<RawExtent>()), (32, 56));
        assert_eq!(size_of::<Request>(), 32 + AT_ONCE * 56);
        assert_eq!((FIEMAP, GET_XATTR), (0xc020_660b, 0x801c_581f));
    }

    #[test]
    fn only_what_lies_there_as_it_is_read_counts_as_shared() {
        let extent = |flags| Extent::from(&RawExtent { physical: 4096, flags, ..RawExtent::default() });
        assert_eq!(extent(SHARED).shared_at(), Some(4096));
        assert_eq!(extent(SHARED | MERGED | LAST).shared_at(), Some(4096));
        assert!(extent(SHARED | LAST).is_last && !extent(SHARED).is_last);
        assert_eq!(extent(0).shared_at(), None, "shared with nobody");
        assert!(extent(DATA_INLINE).is_inline && !extent(SHARED).is_inline);
        // Unknown, delayed, encoded, encrypted, not aligned, inline, tail, unwritten.
        for bad in [0x2, 0x4, 0x8, 0x80, 0x100, 0x200, 0x400, 0x800] {
            assert_eq!(extent(SHARED | bad).shared_at(), None, "{bad:#x}");
            assert!(extent(SHARED | bad).is_shared);
        }
    }

    #[test]
    fn a_file_that_was_just_written_has_extents() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, [1; 100_000]).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let extents = match extents(&file, 50_000, true) {
            Ok(extents) => extents,
            Err(error) => {
                assert_eq!(fstatfs(&file).unwrap().f_type, 0x0102_1994, "{error}"); // tmpfs, which has no places
                return;
            }
        };
        assert!(extents[0].logical <= 50_000 && extents[0].logical + extents[0].len > 50_000);
        assert!(extents.last().unwrap().is_last);
        assert!(extents.iter().map(|extent| extent.len).sum::<u64>() >= 50_000);
        assert!(share_a_disk(&file, &file));
    }
}
