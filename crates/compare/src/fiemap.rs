//! Where the bytes of a file lie on its disk, asked of the kernel (`FS_IOC_FIEMAP`, `linux/fiemap.h`).
#![expect(unsafe_code, reason = "the kernel fills in memory that it is handed")]

use std::os::fd::AsFd;

use rustix::io::Result;
use rustix::ioctl::{Getter, Opcode, Updater, ioctl, opcode};

use crate::shared::Extent;

/// Extents that are asked for at a time.
pub(crate) const MOST: usize = 32;

const FIEMAP: Opcode = opcode::read_write::<Header>(b'f', 11);
/// `FIEMAP_FLAG_SYNC`: what waits to be written is written first.
const SYNC: u32 = 1;
/// `FIEMAP_EXTENT_LAST`.
const LAST: u32 = 1;
/// `FIEMAP_EXTENT_SHARED`.
const SHARED: u32 = 0x2000;
/// `FIEMAP_EXTENT_MERGED`: several extents of the file system told as one, for lack of extents there. Harmless.
const MERGED: u32 = 0x1000;

/// `FS_IOC_FSGETXATTR` and what it says of a file of the realtime device of XFS (`linux/fs.h`).
const GET_XATTR: Opcode = opcode::read::<[u32; 7]>(b'X', 31);
const REALTIME: u32 = 1;

#[repr(C)]
struct Header {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

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
    extents: [RawExtent; MOST],
}

/// The first extents of a file from the one on that `start` is in, ascending. With `sync`, what waits to be written
/// is written first: only then does the answer hold for what a reader would see.
pub(crate) fn extents(file: impl AsFd, start: u64, sync: bool) -> Result<Vec<Extent>> {
    let header = Header {
        start,
        length: u64::MAX - start,
        flags: if sync { SYNC } else { 0 },
        mapped_extents: 0,
        extent_count: MOST as u32,
        reserved: 0,
    };
    let mut request = Request { header, extents: [RawExtent::default(); MOST] };
    // SAFETY: the kernel reads a `Header`, and writes one and at most `extent_count` extents behind it, which is what
    // `Request` has room for.
    unsafe { ioctl(file, Updater::<FIEMAP, Request>::new(&mut request))? };
    let filled = request.extents.iter().take(request.header.mapped_extents as usize);
    Ok(filled.map(|raw| raw.plain()).collect())
}

/// Whether a file is one of the realtime device of XFS, whose places are counted apart.
pub(crate) fn is_realtime(file: impl AsFd) -> Result<bool> {
    // SAFETY: the kernel writes a `struct fsxattr`, which has 28 bytes, the flags first.
    let attributes = unsafe { ioctl(file, Getter::<GET_XATTR, [u32; 7]>::new())? };
    Ok(attributes[0] & REALTIME != 0)
}

impl RawExtent {
    fn plain(&self) -> Extent {
        let is_plain = self.flags & !(LAST | MERGED) == SHARED;
        Extent {
            logical: self.logical,
            len: self.length,
            shared_at: is_plain.then_some(self.physical),
            is_last: self.flags & LAST != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::open;

    #[test]
    fn as_linux_counts_them() {
        assert_eq!((size_of::<Header>(), size_of::<RawExtent>()), (32, 56));
        assert_eq!((FIEMAP, GET_XATTR), (0xc020_660b, 0x801c_581f));
    }

    #[test]
    fn only_what_lies_there_as_it_is_read_counts_as_shared() {
        let extent = |flags| RawExtent { physical: 4096, flags, ..RawExtent::default() }.plain();
        assert_eq!(extent(SHARED).shared_at, Some(4096));
        assert_eq!(extent(SHARED | LAST).shared_at, Some(4096));
        assert!(extent(SHARED | LAST).is_last && !extent(SHARED).is_last);
        assert_eq!(extent(0).shared_at, None, "shared with nobody");
        // Unknown, delayed, encoded, encrypted, not aligned, inline, tail, unwritten.
        for bad in [0x2, 0x4, 0x8, 0x80, 0x100, 0x200, 0x400, 0x800] {
            assert_eq!(extent(SHARED | bad).shared_at, None, "{bad:#x}");
        }
    }

    #[test]
    fn a_file_that_was_just_written_has_extents() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, [1; 100_000]).unwrap();
        let file = open(&path);
        let extents = match extents(&file, 50_000, true) {
            Ok(extents) => extents,
            Err(error) => {
                let is_tmpfs = rustix::fs::fstatfs(&file).unwrap().f_type == 0x0102_1994;
                assert!(is_tmpfs, "{error}"); // which has no places
                return;
            }
        };
        assert!(extents[0].logical <= 50_000 && extents[0].logical + extents[0].len > 50_000);
        assert!(extents.last().unwrap().is_last);
        assert!(extents.iter().map(|extent| extent.len).sum::<u64>() >= 50_000);
    }
}
