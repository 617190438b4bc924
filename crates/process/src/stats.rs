//! The metadata of the files in a table of rows, in half the memory of a [`PackedStat`].

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
}

/// The metadata of one regular file. [`Kinds`] has the rest of it.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(2))]
pub(crate) struct FileStat {
    size: u64,
    ino: u64,
    mtime_ns: i64,
    ctime_ns: i64,
    birth_ns: i64,
    blocks: u32,
    kind: u16,
}

impl FileStat {
    pub(crate) const EMPTY: Self =
        Self { size: 0, ino: 0, mtime_ns: 0, ctime_ns: 0, birth_ns: NO_TIME, blocks: 0, kind: OTHER };
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
            FileStat { ino: others.len() as u64 - 1, ..FileStat::EMPTY }
        })
    }

    fn fit(&self, stat: &Stat) -> Option<FileStat> {
        let Stat { file_type, mode, uid, gid, dev, rdev, ino, nlink, size, blocks, .. } = *stat;
        let time = |ns: i128| i64::try_from(ns).ok().filter(|&ns| ns != NO_TIME);
        let birth_ns = stat.birth_ns.map_or(Some(NO_TIME), time)?;
        let (mtime_ns, ctime_ns, blocks) =
            (time(stat.mtime_ns)?, time(stat.ctime_ns)?, blocks.try_into().ok()?);
        let is_usual = file_type == FileType::Regular && rdev == 0;
        let kind = is_usual.then(|| self.slot(Kind { dev, nlink, uid, gid, mode }))??;
        Some(FileStat { size, ino, mtime_ns, ctime_ns, birth_ns, blocks, kind })
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
        let FileStat { size, ino, mtime_ns, ctime_ns, birth_ns, blocks, kind } = *packed;
        if kind == OTHER {
            return (&lock(&self.others)[ino as usize]).into();
        }
        let kind = self.kinds[usize::from(kind)].get().expect("a slot that was filled");
        let Kind { dev, nlink, uid, gid, mode } = *kind;
        Stat {
            mode,
            uid,
            gid,
            dev,
            ino,
            nlink,
            size,
            blocks: blocks.into(),
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
    fn metadata_takes_half_the_memory() {
        assert_eq!((size_of::<FileStat>(), size_of::<PackedStat>()), (46, 92));
    }

    #[test]
    fn metadata_that_does_not_fit_is_kept_too() {
        let far = i128::from(i64::MAX) + 1;
        let usual = Stat { size: u64::MAX, ino: u64::MAX - 1, dev: u64::MAX - 2, blocks: 3, ..Stat::EMPTY };
        let usual = Stat { mode: 0o7777, uid: 4, gid: 5, nlink: 6, mtime_ns: -7, ctime_ns: 8, ..usual };
        let kinds = Kinds::new();
        for (stat, fits) in [
            (usual, true),
            (Stat { birth_ns: Some(-1), ..usual }, true),
            (Stat { mtime_ns: far, ..usual }, false),
            (Stat { ctime_ns: -far, ..usual }, false),
            (Stat { birth_ns: Some(far), ..usual }, false),
            (Stat { birth_ns: Some(NO_TIME.into()), ..usual }, false),
            (Stat { blocks: 1 << 32, ..usual }, false),
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
