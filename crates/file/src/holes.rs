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

/// A shorter hole, in bytes, is reported as data: reading it takes about as long as looking for its end.
const SHORTEST: u64 = 16 << 10;

/// After a hole that is too short, this many bytes count as data, so that a file that is full of short holes is
/// read almost as fast as one without holes.
const NO_LOOKUP: u64 = 64 << 10;

/// The holes of one file. Lookups in ascending order of offsets cost the least.
///
/// A hole reads as zeros, so it need not be read. Only what the file system says when it is asked is known: a
/// file that changes meanwhile is noticed by [`File::verify_always`].
#[derive(Clone, Debug)]
pub struct Holes {
    /// Shorter holes are reported as data.
    shortest: u64,
    /// The offset of the last lookup, and its result.
    last: (u64, KnownRange),
}

impl Holes {
    /// Prepares to look for the holes of a file if they save reads. A file is treated as having no holes if it
    /// has as many blocks as its size needs, or if its file system does not report holes reliably. Blocks may
    /// be allocated past the end of a file, so a file with holes can have that many blocks. Holes of less than
    /// 16 KiB may be reported as data.
    pub fn new(file: &File, are_wanted: bool) -> Self {
        let is_sparse = file.stat().blocks < file.stat().size / 512;
        Self::if_trusted(file, are_wanted && is_sparse, SHORTEST)
    }

    /// Prepares to look for all holes of a file, as a copy that keeps them does. A file has none if its file
    /// system does not report holes reliably.
    pub fn all(file: &File) -> Self {
        Self::if_trusted(file, true, 0)
    }

    fn if_trusted(file: &File, are_wanted: bool, shortest: u64) -> Self {
        // An empty range at the highest offset: no lookup has been made yet.
        let start = if are_wanted && is_trusted(file) { u64::MAX } else { 0 };
        Self { shortest, last: (start, KnownRange::NOWHERE) }
    }

    /// Whether there is a hole at this offset of the file, and where it or the data ends. The range is never
    /// empty. A hole ends at the size at the open at the latest. Data that reaches this size has no end, so
    /// that a read can show the end of the file.
    ///
    /// `file` must be the file for which this was created.
    pub fn at(&mut self, file: &File, offset: u64) -> KnownRange {
        let (start, known) = self.last;
        if !(start..known.end).contains(&offset) {
            let known = ask(file, offset);
            self.last = (offset, settle(known, offset, file.stat().size, self.shortest));
        }
        self.last.1
    }
}

/// Limits what the file system reported for `offset` to what a reader can use.
fn settle(known: KnownRange, offset: u64, size: u64, shortest: u64) -> KnownRange {
    let KnownRange { mut holds, mut end } = known;
    if holds {
        end = end.min(size);
        let is_short = end < size && end.saturating_sub(offset) < shortest;
        // A hole at or after the size would be empty. A reader finds the end of the file there.
        if is_short || end <= offset {
            (holds, end) = (false, offset.saturating_add(NO_LOOKUP));
        }
    }
    if end <= offset || (!holds && end >= size) { KnownRange::NOWHERE } else { KnownRange { holds, end } }
}

/// Where the last page of all offsets begins. No page is larger than 64 KiB.
#[cfg(target_os = "linux")]
const LAST_PAGE: u64 = (1 << 63) - (64 << 10);

#[cfg(target_os = "linux")]
fn ask(file: &File, offset: u64) -> KnownRange {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;

    // Seeking moves the file position, which is not used: all reads give an offset. Answers that contradict
    // themselves, such as data before `offset`, and errors other than `ENXIO` mean that nothing is known.
    match seek(file, SeekFrom::Data(offset)) {
        Ok(data) if data > offset => KnownRange { holds: true, end: data },
        Ok(data) if data == offset => match seek(file, SeekFrom::Hole(offset)) {
            Ok(hole) => KnownRange { holds: false, end: hole },
            Err(_) => KnownRange::NOWHERE,
        },
        // No data after this offset, or only in the last page of all offsets: tmpfs does not find it there.
        Err(Errno::NXIO) => KnownRange { holds: true, end: LAST_PAGE },
        Ok(_) | Err(_) => KnownRange::NOWHERE,
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

    const MIB: u64 = 1 << 20;

    /// Creates a file of `len` bytes with data only between the given offsets.
    fn sparse(len: u64, data: &[(u64, u64)]) -> (tempfile::TempDir, File) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(len).unwrap();
        for &(start, end) in data {
            file.write_all_at(&vec![1; (end - start) as usize], start).unwrap();
        }
        file.sync_all().unwrap();
        let file = open(&path);
        (dir, file)
    }

    fn hole(end: u64) -> KnownRange {
        KnownRange { holds: true, end }
    }

    fn data(end: u64) -> KnownRange {
        KnownRange { holds: false, end }
    }

    #[test]
    fn holes_and_data_alternate() {
        let (_dir, file) = sparse(4 * MIB, &[(MIB, 2 * MIB)]);
        let mut holes = Holes::new(&file, true);
        assert_eq!(holes.at(&file, 5), hole(MIB));
        assert_eq!(holes.at(&file, MIB), data(2 * MIB));
        assert_eq!(holes.at(&file, 2 * MIB - 1), data(2 * MIB));
        assert_eq!(holes.at(&file, 2 * MIB), hole(4 * MIB));
        assert_eq!(holes.at(&file, 4 * MIB), KnownRange::NOWHERE, "the end of the file");
        assert_eq!(holes.at(&file, 0), hole(MIB), "an earlier offset");
        assert_eq!(Holes::new(&file, false).at(&file, 0), KnownRange::NOWHERE);
    }

    #[test]
    fn data_that_reaches_the_size_has_no_end() {
        let (_dir, file) = sparse(2 * MIB + 5, &[(MIB, 2 * MIB + 5)]);
        let mut holes = Holes::new(&file, true);
        assert_eq!(holes.at(&file, 0), hole(MIB));
        assert_eq!(holes.at(&file, MIB), KnownRange::NOWHERE);
    }

    #[test]
    fn short_holes_are_data_unless_all_are_wanted() {
        let islands: Vec<_> = (0..64).map(|nth| (nth * 12_288, nth * 12_288 + 4096)).collect();
        let (_dir, file) = sparse(MIB, &islands);
        assert_eq!(Holes::new(&file, true).at(&file, 4096), data(4096 + NO_LOOKUP));
        assert_eq!(Holes::all(&file).at(&file, 4096), hole(12_288));
        let last = islands[63].1;
        assert_eq!(Holes::new(&file, true).at(&file, last), hole(MIB));
    }

    /// For a file of this size on tmpfs, `SEEK_DATA` does not find data in the last page.
    #[test]
    fn the_last_page_of_all_offsets_is_data() {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = dir.path().join("sparse");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(i64::MAX as u64).unwrap();
        file.write_all_at(b"x", i64::MAX as u64 - 800).unwrap();
        let file = open(&path);
        let mut holes = Holes::new(&file, true);
        assert_eq!(holes.at(&file, 0), hole(LAST_PAGE));
        assert_eq!(holes.at(&file, LAST_PAGE), KnownRange::NOWHERE);
    }

    #[test]
    fn dense_files_are_not_searched_for_holes() {
        let (_dir, file) = sparse(100_000, &[(0, 100_000)]);
        assert_eq!(Holes::new(&file, true).at(&file, 0), KnownRange::NOWHERE);
    }

    #[test]
    fn all_finds_holes_in_a_file_with_as_many_blocks_as_its_size_needs() {
        let (_dir, file) = sparse(4097, &[(4096, 4097)]);
        assert_eq!(Holes::new(&file, true).at(&file, 0), KnownRange::NOWHERE);
        assert_eq!(Holes::all(&file).at(&file, 0), hole(4096));
    }

    /// A reader must always get on, and must read to the end of the file, whatever the file system reports.
    #[test]
    fn no_report_gives_an_empty_range_or_a_hole_past_the_size() {
        const SIZE: u64 = 100_000;
        let offsets = [0, 1, 4096, 50_000, SIZE - 1, SIZE, SIZE + 1, u64::MAX - 1];
        for offset in offsets {
            for end in offsets.into_iter().chain([u64::MAX]) {
                for holds in [true, false] {
                    for shortest in [0, SHORTEST] {
                        let known = settle(KnownRange { holds, end }, offset, SIZE, shortest);
                        let case = format!("{holds} {offset} {end} {shortest}: {known:?}");
                        assert!(known.end > offset, "{case}");
                        assert!(!known.holds || (holds && known.end <= SIZE.min(end)), "{case}");
                        assert!(known.holds || known.end < SIZE || known == KnownRange::NOWHERE, "{case}");
                    }
                }
            }
        }
    }

    /// A hole that is still there although the file has shrunk, or grown, ends at the size at the open.
    #[test]
    fn the_size_at_the_open_limits_holes() {
        for len in [MIB, 8 * MIB] {
            let (dir, file) = sparse(4 * MIB, &[(0, 4096)]);
            let other = std::fs::File::options().write(true).open(dir.path().join("sparse")).unwrap();
            other.set_len(len).unwrap();
            assert_eq!(Holes::new(&file, true).at(&file, 2 * MIB), hole(4 * MIB));
        }
    }
}
