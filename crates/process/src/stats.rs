//! The metadata of the files in a table of rows, in two fifths of the memory of a [`PackedStat`].

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::iter;
use std::sync::{Mutex, OnceLock};

use ftk_file::{FileType, PackedStat, Stat};
use ftk_sched::lock;

/// The number of kinds that a table can hold.
const KINDS: u16 = 4096;

/// Slots that may be tried for one kind before the table counts as full.
const TRIES: u16 = 16;

/// Stands for a file whose metadata does not fit. Its `ino` is an index into the others.
const OTHER: u16 = u16::MAX;

/// Stands for a time of birth that is not known.
const NO_TIME: i64 = i64::MIN;

/// The values that most files of a tree have in common with many others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Kind {
    dev: u64,
    nlink: u64,
    uid: u32,
    gid: u32,
    mode: u32,
    /// The upper halves of the size and of the inode number.
    size_high: u32,
    ino_high: u32,
}

/// The metadata of one regular file. [`Kinds`] has the rest of it.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(2))]
pub(crate) struct FileStat {
    /// The lower halves of the size and of the inode number.
    size: u32,
    ino: u32,
    mtime_ns: i64,
    ctime_ns: i64,
    birth_ns: i64,
    /// The blocks beyond [`usual_blocks`].
    more_blocks: i16,
    kind: u16,
}

impl FileStat {
    pub(crate) const EMPTY: Self =
        Self { size: 0, ino: 0, mtime_ns: 0, ctime_ns: 0, birth_ns: NO_TIME, more_blocks: 0, kind: OTHER };
}

/// Returns the blocks of 512 bytes of a file that fills whole blocks of 4096 bytes.
fn usual_blocks(size: u64) -> u64 {
    size.div_ceil(4096) * 8
}

fn halves(n: u64) -> (u32, u32) {
    ((n >> 32) as u32, n as u32)
}

fn whole(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// What the metadata of a table has in common, and the metadata that does not fit into a [`FileStat`]. Workers share
/// it; they take a lock only for the latter.
#[derive(Debug)]
pub(crate) struct Kinds {
    /// A hash table.
    kinds: Box<[OnceLock<Kind>]>,
    others: Mutex<Vec<PackedStat>>,
}

impl Kinds {
    pub(crate) fn new() -> Self {
        let kinds = iter::repeat_with(OnceLock::new).take(KINDS.into()).collect();
        Self { kinds, others: Mutex::default() }
    }

    pub(crate) fn pack(&self, stat: &Stat) -> FileStat {
        self.fit(stat).unwrap_or_else(|| {
            let mut others = lock(&self.others);
            others.push(stat.into());
            let nth = u32::try_from(others.len() - 1).expect("one for each file at most");
            FileStat { ino: nth, ..FileStat::EMPTY }
        })
    }

    fn fit(&self, stat: &Stat) -> Option<FileStat> {
        let Stat { file_type, mode, uid, gid, dev, rdev, ino, nlink, size, blocks, .. } = *stat;
        let time = |ns: i128| i64::try_from(ns).ok().filter(|&ns| ns != NO_TIME);
        let birth_ns = stat.birth_ns.map_or(Some(NO_TIME), time)?;
        let (mtime_ns, ctime_ns) = (time(stat.mtime_ns)?, time(stat.ctime_ns)?);
        let more_blocks = i16::try_from(i128::from(blocks) - i128::from(usual_blocks(size))).ok()?;
        let ((size_high, size), (ino_high, ino)) = (halves(size), halves(ino));
        let is_usual = file_type == FileType::Regular && rdev == 0;
        let kind = Kind { dev, nlink, uid, gid, mode, size_high, ino_high };
        let kind = is_usual.then(|| self.slot(kind))??;
        Some(FileStat { size, ino, mtime_ns, ctime_ns, birth_ns, more_blocks, kind })
    }

    /// Returns the slot that contains `kind`, or `None` if the table has no room for it.
    fn slot(&self, kind: Kind) -> Option<u16> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(kind) as u16;
        let mut slots = (0..TRIES).map(|nth| hash.wrapping_add(nth) % KINDS);
        slots.find(|&slot| *self.kinds[usize::from(slot)].get_or_init(|| kind) == kind)
    }

    /// Returns the metadata that was [packed](Self::pack).
    ///
    /// # Panics
    /// If it was packed for another table.
    pub(crate) fn unpack(&self, packed: &FileStat) -> Stat {
        let FileStat { size, ino, mtime_ns, ctime_ns, birth_ns, more_blocks, kind } = *packed;
        if kind == OTHER {
            return (&lock(&self.others)[ino as usize]).into();
        }
        let kind = self.kinds[usize::from(kind)].get().expect("a slot that was filled");
        let Kind { dev, nlink, uid, gid, mode, size_high, ino_high } = *kind;
        let (size, ino) = (whole(size_high, size), whole(ino_high, ino));
        Stat {
            mode,
            uid,
            gid,
            dev,
            ino,
            nlink,
            size,
            blocks: usual_blocks(size).wrapping_add_signed(more_blocks.into()),
            mtime_ns: mtime_ns.into(),
            ctime_ns: ctime_ns.into(),
            birth_ns: (birth_ns != NO_TIME).then(|| birth_ns.into()),
            ..Stat::EMPTY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_takes_two_fifths_of_the_memory() {
        assert_eq!((size_of::<FileStat>(), size_of::<PackedStat>()), (36, 92));
    }

    #[test]
    fn metadata_that_does_not_fit_is_kept_too() {
        let far = i128::from(i64::MAX) + 1;
        let (size, blocks) = (u64::MAX, 1 << 55);
        let usual = Stat { size, ino: u64::MAX - 1, dev: u64::MAX - 2, blocks, ..Stat::EMPTY };
        let usual = Stat { mode: 0o7777, uid: 4, gid: 5, nlink: 6, mtime_ns: -7, ctime_ns: 8, ..usual };
        let kinds = Kinds::new();
        for (stat, fits) in [
            (usual, true),
            (Stat { birth_ns: Some(-1), ..usual }, true),
            (Stat { mtime_ns: far, ..usual }, false),
            (Stat { ctime_ns: -far, ..usual }, false),
            (Stat { birth_ns: Some(far), ..usual }, false),
            (Stat { birth_ns: Some(NO_TIME.into()), ..usual }, false),
            (Stat { size: (5 << 32) + 1, blocks: (5 << 23) + 8, ..usual }, true),
            (Stat { size: 1, blocks: 0, ino: 1, ..usual }, true),
            (Stat { size: 0, blocks: 32767, ..usual }, true),
            (Stat { size: 0, blocks: 32768, ..usual }, false),
            (Stat { blocks: blocks - 32768, ..usual }, true),
            (Stat { blocks: blocks - 32769, ..usual }, false),
            (Stat { blocks: u64::MAX, ..usual }, false),
            (Stat { rdev: 1, ..usual }, false),
            (Stat { file_type: FileType::Fifo, ..usual }, false),
        ] {
            assert_eq!(kinds.fit(&stat).is_some(), fits, "{stat:?}");
            assert_eq!(kinds.unpack(&kinds.pack(&stat)), stat);
        }
    }

    #[test]
    fn more_kinds_than_the_table_holds_are_kept_too() {
        let kinds = Kinds::new();
        let stats = (0..2 * u32::from(KINDS)).map(|uid| Stat { uid, ino: 7, ..Stat::EMPTY });
        let packed: Vec<_> = stats.clone().map(|stat| kinds.pack(&stat)).collect();
        assert!(stats.zip(&packed).all(|(stat, packed)| kinds.unpack(packed) == stat));
        let others = lock(&kinds.others).len();
        assert!((usize::from(KINDS)..usize::from(KINDS) * 3 / 2).contains(&others), "{others}");
    }
}
