//! Where the bytes of a file lie on its disk, as reported by the kernel (`FS_IOC_FIEMAP`, `linux/fiemap.h`).
#![expect(unsafe_code, reason = "the kernel writes to memory that is passed by pointer")]

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{fstatfs, syncfs};
use rustix::io::{Errno, retry_on_intr};
use rustix::ioctl::{Getter, Opcode, Updater, ioctl, opcode};

use crate::Extent;

/// File systems that mark the extents that several files share: Btrfs and XFS (`linux/magic.h`).
const MARKING: [u32; 2] = [0x9123_683e, 0x5846_5342];

/// The most extents of a file that are kept to find out how much of the disk it uses: 16 MiB.
const MOST_EXTENTS: usize = 1 << 20;

/// Extents per call. A call for this many costs as much as two or three small ones.
const EXTENTS_PER_CALL: usize = 32;

const FIEMAP: Opcode = opcode::read_write::<Header>(b'f', 11);
/// `FIEMAP_FLAG_SYNC`: write data that is not on the disk yet, so that it has a place.
const SYNC: u32 = 1;
/// `FIEMAP_EXTENT_LAST`.
const LAST: u32 = 1;
/// `FIEMAP_EXTENT_DATA_INLINE`.
const DATA_INLINE: u32 = 0x200;
/// `FIEMAP_EXTENT_UNWRITTEN`: blocks that the file has, and that are read as zeros.
const UNWRITTEN: u32 = 0x800;
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
    Ok(raw_extents(file, start, sync)?.iter().map(Extent::from).collect())
}

fn raw_extents(file: impl AsFd, start: u64, sync: bool) -> io::Result<Vec<RawExtent>> {
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
    Ok(request.extents.into_iter().take(request.header.mapped_extents as usize).collect())
}

/// Returns whether the file system marks the extents that several files share.
pub fn marks_shared_extents(file: impl AsFd) -> bool {
    #[allow(clippy::unnecessary_cast, reason = "the width differs between platforms")]
    fstatfs(file).is_ok_and(|fs| MARKING.contains(&(fs.f_type as u32)))
}

/// Writes all changed data of a file system to the disk.
///
/// # Errors
/// The errors of `syncfs`: also that data of some other file could not be written.
pub fn flush_file_system(file: impl AsFd) -> io::Result<()> {
    Ok(retry_on_intr(|| syncfs(&file))?)
}

/// Returns the bytes of the disk that no other file uses. The kernel first writes the file's dirty pages to the disk.
///
/// A file that was written after it was cloned gets blocks of its own only when its pages are written. Until then the
/// other file's blocks count as shared. So the answers of several files depend on the order in which they are asked,
/// unless the whole file system was [flushed](flush_file_system) before.
///
/// Returns `None` if this is not known: the file system does not [mark](marks_shared_extents) shared extents, or a part of
/// the file is compressed, or stored with the inode, or has no place on the disk yet.
///
/// An extent counts as shared if another file uses any part of it, or if a snapshot does. On XFS, one that two parts of this
/// file use counts as shared too.
///
/// # Errors
/// The errors of `FS_IOC_FIEMAP`, except if the file system does not support it.
pub fn exclusive_bytes(file: impl AsFd) -> io::Result<Option<u64>> {
    if !marks_shared_extents(&file) {
        return Ok(None);
    }
    exclusive_of(|start| raw_extents(&file, start, start == 0))
}

/// Adds up the extents that `list` returns, beginning with the one that contains an offset.
fn exclusive_of(list: impl Fn(u64) -> io::Result<Vec<RawExtent>>) -> io::Result<Option<u64>> {
    let mut own: Vec<(u64, u64)> = Vec::new();
    let (mut start, mut is_over) = (0, false);
    while !is_over {
        let extents = match list(start) {
            Ok(extents) => extents,
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::OPNOTSUPP | Errno::NOTTY)) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        is_over = extents.is_empty();
        for extent in extents {
            let end = extent.physical.checked_add(extent.length);
            let (Some(end), 0) = (end, extent.flags & !(LAST | UNWRITTEN | MERGED | SHARED)) else {
                return Ok(None);
            };
            if extent.flags & SHARED == 0 {
                match own.last_mut() {
                    Some(last) if last.1 == extent.physical => last.1 = end,
                    _ => own.push((extent.physical, end)),
                }
            }
            let next = extent.logical.saturating_add(extent.length);
            if next <= start || own.len() > MOST_EXTENTS {
                return Ok(None);
            }
            start = next;
            is_over |= extent.flags & LAST != 0;
        }
    }
    // Btrfs does not mark an extent that only parts of one file share.
    own.sort_unstable();
    let mut bytes = 0;
    let mut used = 0;
    for (from, to) in own {
        bytes += to.saturating_sub(from.max(used));
        used = to.max(used);
    }
    Ok(Some(bytes))
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
    use proptest::prelude::*;

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

    /// Lists these extents like the kernel, at most three in a call.
    fn exclusive(extents: &[RawExtent]) -> Option<u64> {
        let list = |start| {
            let rest = extents.iter().filter(|extent| extent.logical + extent.length > start);
            Ok(rest.take(3).copied().collect())
        };
        exclusive_of(list).unwrap()
    }

    #[test]
    fn only_extents_of_whole_blocks_are_known() {
        let extent = |logical, physical, flags| RawExtent {
            logical,
            physical,
            length: 4096,
            flags,
            ..RawExtent::default()
        };
        assert_eq!(exclusive(&[]), Some(0));
        assert_eq!(exclusive(&[extent(0, 8192, LAST | UNWRITTEN | MERGED)]), Some(4096));
        assert_eq!(exclusive(&[extent(0, 8192, LAST | SHARED)]), Some(0));
        // Unknown, delayed, encoded, encrypted, not aligned, inline, tail.
        for bad in [0x2, 0x4, 0x8, 0x80, 0x100, 0x200, 0x400] {
            assert_eq!(exclusive(&[extent(0, 0, 0), extent(8192, 4096, LAST | bad)]), None, "{bad:#x}");
            assert_eq!(exclusive(&[extent(0, 0, SHARED | bad | LAST)]), None, "{bad:#x}");
        }
        assert_eq!(exclusive(&[extent(0, u64::MAX, LAST)]), None, "implausible");
        let error = |errno: Errno| exclusive_of(|_| Err(errno.into()));
        assert_eq!(error(Errno::OPNOTSUPP).unwrap(), None);
        assert_eq!(error(Errno::IO).unwrap_err().kind(), io::Error::from(Errno::IO).kind());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Checks against the set of single blocks.
        #[test]
        fn each_block_counts_once(
            parts in prop::collection::vec((0..3_u64, 1..4_u64, 0..12_u64, any::<bool>()), 0..12),
        ) {
            let (mut extents, mut blocks, mut logical) = (Vec::new(), std::collections::BTreeSet::new(), 0);
            for (hole, length, physical, is_shared) in parts {
                logical += hole;
                let flags = if is_shared { SHARED } else { 0 };
                extents.push(RawExtent { logical, physical, length, flags, ..RawExtent::default() });
                logical += length;
                if !is_shared {
                    blocks.extend(physical..physical + length);
                }
            }
            prop_assert_eq!(exclusive(&extents), Some(blocks.len() as u64));
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
