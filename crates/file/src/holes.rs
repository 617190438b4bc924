//! Holes: ranges that read as zeros and have no blocks on the disk.

use crate::{File, is_trusted};

/// What is known about a range of a file or a pair of files: whether a property holds, and the offset up to
/// which this is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRange {
    /// Whether the property holds.
    pub holds: bool,
    /// Where this ends or is no longer known.
    pub end: u64,
}

impl KnownRange {
    /// The property does not hold up to the end of the file.
    pub const NOWHERE: Self = Self { holds: false, end: u64::MAX };
}

/// The holes of a file, looked up in ascending order of offsets.
#[derive(Debug)]
pub struct Holes<'f> {
    file: &'f File,
    /// The offset of the last lookup, and its result.
    last: (u64, KnownRange),
}

impl<'f> Holes<'f> {
    /// Prepares to look for the holes of a file if they save reads. A file is treated as having no holes if it
    /// has as many blocks as its size needs, or if its file system does not report holes reliably. Blocks may
    /// be allocated past the end of a file, so a file with holes can have that many blocks.
    pub fn new(file: &'f File, are_wanted: bool) -> Self {
        let is_sparse = file.stat().blocks < file.stat().size / 512;
        Self::if_trusted(file, are_wanted && is_sparse)
    }

    /// Prepares to look for all holes of a file, as a copy that keeps them does. A file has none if its file
    /// system does not report holes reliably.
    pub fn all(file: &'f File) -> Self {
        Self::if_trusted(file, true)
    }

    fn if_trusted(file: &'f File, are_wanted: bool) -> Self {
        // An empty range at the highest offset: no lookup has been made yet.
        let start = if are_wanted && is_trusted(file) { u64::MAX } else { 0 };
        Self { file, last: (start, KnownRange::NOWHERE) }
    }

    /// Whether there is a hole at this offset of the file, and where it or the data ends.
    pub fn at(&mut self, offset: u64) -> KnownRange {
        let (start, known) = self.last;
        if !(start..known.end).contains(&offset) {
            self.last = (offset, ask(self.file, offset));
        }
        self.last.1
    }
}

#[cfg(target_os = "linux")]
fn ask(file: &File, offset: u64) -> KnownRange {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;

    // Seeking moves the file position, which is not used: all reads give an offset.
    match seek(file, SeekFrom::Data(offset)) {
        Ok(data) if data > offset => KnownRange { holds: true, end: data },
        Ok(_) => match seek(file, SeekFrom::Hole(offset)) {
            Ok(hole) if hole > offset => KnownRange { holds: false, end: hole },
            _ => KnownRange::NOWHERE,
        },
        // No data after this offset.
        Err(Errno::NXIO) => KnownRange { holds: true, end: u64::MAX },
        Err(_) => KnownRange::NOWHERE,
    }
}

#[cfg(not(target_os = "linux"))]
fn ask(_: &File, _: u64) -> KnownRange {
    KnownRange::NOWHERE
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;
    use crate::testing::open;

    #[test]
    fn holes_and_data_alternate() {
        const MIB: u64 = 1 << 20;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(4 * MIB).unwrap();
        file.write_all_at(&[1; MIB as usize], MIB).unwrap();
        let file = open(&path);
        let mut holes = Holes::new(&file, true);
        assert_eq!(holes.at(5), KnownRange { holds: true, end: MIB });
        assert_eq!(holes.at(MIB), KnownRange { holds: false, end: 2 * MIB });
        assert_eq!(holes.at(2 * MIB - 1), KnownRange { holds: false, end: 2 * MIB });
        assert_eq!(holes.at(2 * MIB), KnownRange { holds: true, end: u64::MAX });
        assert_eq!(holes.at(0).end, MIB, "an earlier offset");
        assert_eq!(Holes::new(&file, false).at(0), KnownRange::NOWHERE);
    }

    #[test]
    fn dense_files_are_not_searched_for_holes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dense");
        std::fs::write(&path, [1; 100_000]).unwrap();
        std::fs::File::open(&path).unwrap().sync_all().unwrap();
        assert_eq!(Holes::new(&open(&path), true).at(0), KnownRange::NOWHERE);
    }

    #[test]
    fn all_finds_holes_in_a_file_with_as_many_blocks_as_its_size_needs() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tail");
        let file = std::fs::File::create(&path).unwrap();
        file.write_all_at(&[1], 4096).unwrap();
        file.sync_all().unwrap();
        let file = open(&path);
        assert_eq!(Holes::new(&file, true).at(0), KnownRange::NOWHERE);
        assert_eq!(Holes::all(&file).at(0), KnownRange { holds: true, end: 4096 });
    }
}
