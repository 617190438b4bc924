//! What the trees of a Btrfs file system say about inodes: which changed since a transaction, and their names.
#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "one ioctl, to which a pointer is passed"))]

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat};

use crate::FileType;
use crate::tree_search::search::each_item;

/// The first number of an inode in a subvolume: that of its root (`BTRFS_FIRST_FREE_OBJECTID`).
const FIRST: u64 = 256;
/// The last one (`BTRFS_LAST_FREE_OBJECTID`).
const LAST: u64 = (-256_i64).cast_unsigned();

/// Types of items (`linux/btrfs_tree.h`).
const INODE_ITEM: u32 = 1;
const INODE_REF: u32 = 12;
const INODE_EXTREF: u32 = 13;
const DIR_INDEX: u32 = 96;

/// Searches the tree of a subvolume. Needs `CAP_SYS_ADMIN`.
///
/// The number of an inode is that of `stat`. Within a read-only subvolume, all answers are about one state.
#[derive(Debug)]
pub struct TreeSearch {
    subvolume: OwnedFd,
}

/// The key of an item.
#[derive(Clone, Copy, Debug)]
struct Key {
    ino: u64,
    kind: u32,
    offset: u64,
}

impl Key {
    fn new(ino: u64, kind: u32, offset: u64) -> Self {
        Self { ino, kind, offset }
    }
}

/// An inode that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedInode {
    /// Its number.
    pub ino: u64,
    /// Whether it is a directory.
    pub is_dir: bool,
}

impl TreeSearch {
    /// Searches the subvolume that contains an open directory. The descriptor may be one that is only for look-ups.
    ///
    /// # Errors
    /// If the directory cannot be opened for reading.
    pub fn new(dir: impl AsFd) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { subvolume: openat(dir, c".", flags, Mode::empty())? })
    }

    /// Returns the inodes that were created or changed after the transaction with this number: content, metadata, attributes,
    /// or, of a directory, entries. The kernel notes the transaction at every update of an inode. Removed inodes are not
    /// among them, but the directories that contained them are.
    ///
    /// # Errors
    /// Any error of the ioctl, such as `EPERM`.
    pub fn changed_since(&self, transaction: u64) -> io::Result<Vec<ChangedInode>> {
        let mut changed = Vec::new();
        let all = [Key::new(FIRST, 0, 0), Key::new(LAST, u32::MAX, u64::MAX)];
        each_item(&self.subvolume, all, transaction.saturating_add(1), &mut |key, item| {
            // `struct btrfs_inode_item`: the transaction is its second number, and the mode is after six more and three
            // short ones.
            if key.kind == INODE_ITEM && number(item, 8)? > transaction {
                let file_type = FileType::from_mode(short(item, 52)?);
                changed.push(ChangedInode { ino: key.ino, is_dir: file_type == FileType::Directory });
            }
            Ok(())
        })?;
        Ok(changed)
    }

    /// Returns the names of an inode, each with the number of its directory. A removed file that is still open has none.
    ///
    /// # Errors
    /// Any error of the ioctl.
    pub fn names(&self, ino: u64) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let mut names = Vec::new();
        let refs = [Key::new(ino, INODE_REF, 0), Key::new(ino, INODE_EXTREF, u64::MAX)];
        each_item(&self.subvolume, refs, 0, &mut |key, mut item| {
            while !item.is_empty() {
                // An index, the length of the name and the name. The second kind has the directory before them.
                let (dir, start) = match key.kind {
                    INODE_REF => (key.offset, 8),
                    _ => (number(item, 0)?, 16),
                };
                let (name, rest) = name(item, start, 2)?;
                names.push((dir, name.to_vec()));
                item = rest;
            }
            Ok(())
        })?;
        Ok(names)
    }

    /// Returns the entries of the directory `dir`: names, and the numbers of their inodes. A subvolume has another number
    /// than `stat` says.
    ///
    /// # Errors
    /// Any error of the ioctl.
    pub fn entries(&self, dir: u64) -> io::Result<HashMap<Vec<u8>, u64>> {
        let mut entries = HashMap::new();
        let all = [Key::new(dir, DIR_INDEX, 0), Key::new(dir, DIR_INDEX, u64::MAX)];
        each_item(&self.subvolume, all, 0, &mut |_, item| {
            // `struct btrfs_dir_item`: the key of the inode, a transaction, two lengths and a type, then the name.
            let (name, _) = name(item, 27, 3)?;
            entries.insert(name.to_vec(), number(item, 0)?);
            Ok(())
        })?;
        Ok(entries)
    }
}

/// Returns the name that comes after its length, which is at `at`, and `len_bytes` bytes; and what follows.
fn name(item: &[u8], at: usize, len_bytes: usize) -> io::Result<(&[u8], &[u8])> {
    let len = item.get(at..at + 2).and_then(|len| Some(u16::from_le_bytes(len.try_into().ok()?)));
    let rest = item.get(at + len_bytes..).ok_or_else(malformed)?;
    rest.split_at_checked(len.ok_or_else(malformed)?.into()).ok_or_else(malformed)
}

fn number(item: &[u8], at: usize) -> io::Result<u64> {
    let bytes = item.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u64::from_le_bytes).ok_or_else(malformed)
}

fn short(item: &[u8], at: usize) -> io::Result<u32> {
    let bytes = item.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u32::from_le_bytes).ok_or_else(malformed)
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the kernel returned a malformed item")
}

#[cfg(target_os = "linux")]
mod search {
    use std::io;
    use std::os::fd::OwnedFd;

    use rustix::fs::fstatfs;
    use rustix::io::Errno;
    use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

    use super::{Key, malformed};
    use crate::FsId;

    /// The bytes of items that the kernel returns at a time. An item has less than 64 KiB.
    const BUFFER: usize = 256 << 10;

    impl Key {
        /// Returns the next key in the order of the tree. A key that is found has a type of at most 255.
        fn next(self) -> Option<Self> {
            let Self { ino, kind, offset } = self;
            match (offset.checked_add(1), kind) {
                (Some(offset), _) => Some(Self { offset, ..self }),
                (None, ..255) => Some(Self::new(ino, kind + 1, 0)),
                _ => Some(Self::new(ino.checked_add(1)?, 0, 0)),
            }
        }
    }

    /// `struct btrfs_ioctl_search_key` and the size of the buffer, as in `struct btrfs_ioctl_search_args_v2`.
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Request {
        tree: u64,
        inos: [u64; 2],
        offsets: [u64; 2],
        transactions: [u64; 2],
        kinds: [u32; 2],
        items: u32,
        unused: u32,
        more_unused: [u64; 4],
        buffer_len: u64,
    }

    #[repr(C)]
    struct Search {
        request: Request,
        buffer: [u8; BUFFER],
    }

    /// Passes all items between two keys, in nodes that were written since this transaction, to `each`.
    pub(super) fn each_item(
        subvolume: &OwnedFd,
        [first, last]: [Key; 2],
        since: u64,
        each: &mut dyn FnMut(Key, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        const TREE_SEARCH_V2: Opcode = opcode::read_write::<Request>(0x94, 17);
        /// The length of `struct btrfs_ioctl_search_header`.
        const HEADER: usize = 32;

        if fstatfs(subvolume)?.f_type as u32 != FsId::BTRFS {
            return Err(Errno::NOTTY.into());
        }
        let mut from = Some(first);
        let request = Request {
            tree: 0, // that of the descriptor
            inos: [0, last.ino],
            offsets: [0, last.offset],
            transactions: [since, u64::MAX],
            kinds: [0, last.kind],
            items: 0,
            unused: 0,
            more_unused: [0; 4],
            buffer_len: BUFFER as u64,
        };
        let mut search = Box::new(Search { request, buffer: [0; BUFFER] });
        while let Some(key) = from {
            search.request = Request {
                inos: [key.ino, last.ino],
                offsets: [key.offset, last.offset],
                kinds: [key.kind, last.kind],
                items: u32::MAX,
                ..request
            };
            // SAFETY: on Btrfs, which was checked, the kernel reads and writes the request, and writes at most `buffer_len`
            // bytes after it, which are in the structure. Every bit pattern of both is valid.
            unsafe { ioctl(subvolume, Updater::<TREE_SEARCH_V2, Search>::new(&mut search)) }?;
            let (mut rest, mut latest) = (&search.buffer[..], None);
            for _ in 0..search.request.items {
                let (header, items) = rest.split_at_checked(HEADER).ok_or_else(malformed)?;
                let at = |at| super::number(header, at);
                let found = Key::new(at(8)?, super::short(header, 24)?, at(16)?);
                let (item, others) =
                    items.split_at_checked(super::short(header, 28)? as usize).ok_or_else(malformed)?;
                each(found, item)?;
                (rest, latest) = (others, Some(found));
            }
            from = latest.and_then(Key::next);
        }
        Ok(())
    }
}

/// There is no Btrfs on this platform.
#[cfg(not(target_os = "linux"))]
mod search {
    use std::io;
    use std::os::fd::OwnedFd;

    use super::Key;

    pub(super) fn each_item(
        _: &OwnedFd,
        _: [Key; 2],
        _: u64,
        _: &mut dyn FnMut(Key, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_within_their_item() {
        let item = b"\x07\0\0\0\0\0\0\0\x02\0abXY";
        let (found, rest) = name(item, 8, 2).unwrap();
        assert_eq!((number(item, 0).unwrap(), found, rest), (7, &b"ab"[..], &b"XY"[..]));
        for len in 0..12 {
            assert!(name(&item[..len], 8, 2).is_err(), "{len}");
        }
        assert!(number(&item[..7], 0).is_err() && short(&item[..3], 0).is_err());
    }

    #[test]
    fn other_file_systems_cannot_be_searched() {
        for path in ["/proc", "/sys"] {
            let Ok(dir) = std::fs::File::open(path) else { continue };
            assert!(TreeSearch::new(dir).unwrap().changed_since(0).is_err(), "{path}");
        }
    }
}
