//! The space that no other file shares.

use std::io;
use std::ops::AddAssign;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};

use ftk_file::FsId;

use crate::DirId;
use crate::names::Place;
use crate::usage::Usage;

/// The bytes on the disk of regular files that no other file shares. Removing these files frees at least so many: more, if
/// they share blocks only with each other.
///
/// A file with several hard links counts for the deepest directory that contains all of them, and for none if it has further
/// links elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exclusive {
    /// The bytes, as far as they are known.
    pub bytes: u128,
    /// The number of regular files whose bytes are not known.
    pub unknown_files: u64,
}

impl Exclusive {
    /// The bytes of one file, if they are known.
    pub(crate) fn of(bytes: Option<u64>) -> Self {
        Self { bytes: bytes.unwrap_or_default().into(), unknown_files: bytes.is_none().into() }
    }

    /// Returns the bytes, or `None` if none are known.
    pub fn known(&self) -> Option<u128> {
        (self.bytes > 0 || self.unknown_files == 0).then_some(self.bytes)
    }
}

impl AddAssign for Exclusive {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.unknown_files += other.unknown_files;
    }
}

/// The file systems whose changed data a run has written to the disk. The workers of a walk share it.
#[derive(Clone, Debug, Default)]
pub struct Flushed(Arc<Mutex<Devices>>);

/// Device numbers, with the file system if it is known.
type Devices = Vec<(u64, Option<FsId>)>;

impl Flushed {
    /// Writes the changed data of the file system of an open file to the disk, if that was not done yet. Returns when
    /// it is there, also if another worker does it.
    pub(crate) fn flush(&self, dev: u64, file: impl AsFd) -> io::Result<()> {
        // Only these lines hold the lock, and no call in them panics.
        let mut flushed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if flushed.iter().any(|(other, _)| *other == dev) {
            return Ok(());
        }
        let fs = FsId::of(&file).ok().flatten();
        // Each snapshot of Btrfs has a device number of its own.
        let is_same = |other: &Option<FsId>| fs.zip(*other).is_some_and(|(a, b)| a.is_on_same_btrfs(&b));
        let is_done = flushed.iter().any(|(_, other)| is_same(other));
        flushed.push((dev, fs));
        if is_done { Ok(()) } else { ftk_read::flush_file_system(file) }
    }
}

/// One path of an inode with several links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExclusiveLink {
    pub(crate) inode: (u64, u64),
    /// The number of all its links.
    pub(crate) links: u64,
    /// The directory that contains it.
    pub(crate) node: Place,
    pub(crate) bytes: Option<u64>,
}

/// What one worker counts. Only a worker that was asked to has any.
#[derive(Debug, Default)]
pub(crate) struct Exclusives {
    pub(crate) dirs: Vec<(Place, Exclusive)>,
    pub(crate) links: Vec<ExclusiveLink>,
}

impl Exclusives {
    pub(crate) fn add(&mut self, node: Place, exclusive: Exclusive) {
        match self.dirs.last_mut() {
            Some(last) if last.0 == node => last.1 += exclusive,
            _ => self.dirs.push((node, exclusive)),
        }
    }

    /// Returns the bytes of memory that it needs, with those for joining it with others.
    pub(crate) fn bytes(&self) -> usize {
        self.dirs.capacity() * (size_of::<(Place, Exclusive)>() + size_of::<Exclusive>())
            + self.links.capacity() * size_of::<ExclusiveLink>() * 2
    }
}

impl Usage {
    /// Returns the space for each directory, without what is below it.
    pub(crate) fn exclusive_of_dirs(&self, parts: Vec<Exclusives>) -> Vec<Exclusive> {
        let mut sums = vec![Exclusive::default(); self.directories()];
        let mut links = Vec::new();
        for part in parts {
            for (node, exclusive) in part.dirs {
                sums[self.id(node).index()] += exclusive;
            }
            links.extend(part.links);
        }
        links.sort_unstable_by_key(|link| link.inode);
        for same in links.chunk_by(|a, b| a.inode == b.inode) {
            let dirs = same.iter().map(|link| self.id(link.node));
            let common = dirs.map(Some).reduce(|a, b| self.common_directory(a?, b?)).flatten();
            // The links of an inode may change during a walk.
            let is_whole = same.iter().all(|link| link.links == same.len() as u64);
            if let Some(dir) = common.filter(|_| is_whole) {
                let bytes = same.iter().map(|link| link.bytes).reduce(|a, b| a.zip(b).map(|(a, b)| a.min(b)));
                sums[dir.index()] += Exclusive::of(bytes.flatten());
            }
        }
        sums
    }

    /// Returns the deepest directory that contains two others, or is one of them.
    fn common_directory(&self, mut a: DirId, mut b: DirId) -> Option<DirId> {
        while a != b {
            if self.depth_of(a) >= self.depth_of(b) { a = self.parent(a)? } else { b = self.parent(b)? }
        }
        Some(a)
    }
}
