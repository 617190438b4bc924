//! What shows that a missing file is now at another path. Every command that reports moved files uses this rule.

use ftk_file::{Inode, Stat};
use ftk_process::FileSystems;

use crate::{Entry, Field};

/// A file of at least this many bytes has moved if a new file has its content.
///
/// Smaller contents coincide. `__init__.py`, `.gitkeep` and lock files are empty; files with a number, a flag, a host name
/// or a version have a few bytes and few possible values. A line or two of 64 bytes is rarely written twice by chance.
const MIN_SIZE: u64 = 64;

/// What two files with the same content must have in common, so that one of them is the other at a new path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Evidence {
    /// Nothing else: the content is unlikely to coincide, or its size is not known.
    Content,
    /// The inode and its time of birth. File systems give the inode number of a deleted file to a new one, often at once.
    Inode(Inode, i128),
    /// Nothing shows it, because the inode or its time of birth is not known.
    Missing,
}

impl Evidence {
    /// Returns what a recorded file and another one must have in common.
    pub(crate) fn recorded(entry: &Entry<'_>) -> Self {
        let birth_ns = entry.stat.birth_ns.filter(|_| entry.knows(Field::Birth));
        Self::new(entry.size(), || entry.inode().zip(birth_ns))
    }

    /// Returns what a file of a tree and another one must have in common.
    pub(crate) fn present(stat: &Stat, file_systems: &FileSystems) -> Self {
        let inode = || Inode::new(file_systems.id(stat.dev), Some(stat.dev), Some(stat.ino));
        Self::new(Some(stat.size), || inode().zip(stat.birth_ns))
    }

    fn new(size: Option<u64>, inode: impl FnOnce() -> Option<(Inode, i128)>) -> Self {
        match size.is_none_or(|size| size >= MIN_SIZE) {
            true => Self::Content,
            false => inode().map_or(Self::Missing, |(inode, birth_ns)| Self::Inode(inode, birth_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h99_small_files_move_only_as_the_same_inode() {
        let file = Stat { size: 63, dev: 1, ino: 2, birth_ns: Some(3), ..Stat::EMPTY };
        let fits = |a: Stat, b: Stat| {
            let other = Evidence::present(&b, &FileSystems::default());
            assert_eq!(Evidence::recorded(&Entry::new(b"b", b)), other);
            let evidence = Evidence::recorded(&Entry::new(b"a", a));
            evidence == other && evidence != Evidence::Missing
        };
        for size in [0, 1, 63] {
            let file = Stat { size, ..file };
            assert!(fits(file, file), "{size}");
            for other in [
                Stat { dev: 9, ..file },
                Stat { ino: 9, ..file },
                Stat { birth_ns: Some(9), ..file },
                Stat { birth_ns: None, ..file },
            ] {
                assert!(!fits(file, other) && !fits(other, file), "{other:?}");
            }
            let unknown = Stat { birth_ns: None, ..file };
            assert!(!fits(unknown, unknown));
        }
        let (large, copy) = (Stat { size: 64, ..file }, Stat { size: 64, ino: 9, birth_ns: None, ..file });
        assert!(fits(large, copy));
        let mut unsized_entry = Entry::new(b"a", large);
        unsized_entry.absent.insert(Field::Size);
        assert_eq!(Evidence::recorded(&unsized_entry), Evidence::Content);
    }
}
