//! How two entries with the same path differ, as far as this is known without reading their content.

use ftk_file::{Stat, TimeAgreement};
use ftk_inventory::Keep;
use ftk_walk::FileType;

use super::merge::Entry;

/// What counts as a difference, and which shortcuts are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeCriteria {
    /// Compare the mode, owner, group, mtime and extended attributes too. The mtime of directories is ignored.
    pub metadata: bool,
    /// Which of these are not compared.
    pub ignored: Ignored,
    /// Treat files of equal size and mtime as equal, without reading any file.
    pub quick: bool,
    /// Read also files with the same inode number, like any other pair.
    pub no_shortcuts: bool,
    /// Which mtimes count as equal.
    pub times: EqualTimes,
    /// Names that differ only in their Unicode normal form count as equal.
    pub normalize_names: bool,
    /// Report each entry that only the first tree has, also below a directory that only it has.
    pub all_of_a: bool,
    /// Report the sizes of what only one tree has, and how much is below its directories. The walks must then learn the
    /// sizes of regular files.
    pub sums: bool,
}

/// Metadata that may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    /// Permission bits.
    pub mode: bool,
    /// Owner.
    pub uid: bool,
    /// Group.
    pub gid: bool,
    /// Time of the last modification. Does not apply if [`TreeCriteria::quick`] compares files by it.
    pub mtime: bool,
    /// Extended attributes, which are not read then.
    pub xattrs: bool,
    /// Which paths are hard links of each other.
    pub links: bool,
}

/// Which mtimes count as equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EqualTimes {
    /// Only those that are the same.
    #[default]
    Same,
    /// Those that differ by no more than this, in nanoseconds.
    Within(i128),
    /// Those that [agree](super::Trees::agreement).
    Agreeing(TimeAgreement),
}

impl EqualTimes {
    /// Returns whether two times count as equal.
    pub(crate) fn has(self, a_ns: i128, b_ns: i128) -> bool {
        a_ns == b_ns
            || match self {
                Self::Same => false,
                Self::Within(ns) => (a_ns - b_ns).abs() <= ns,
                Self::Agreeing(agreement) => agreement.explains(a_ns, b_ns),
            }
    }
}

impl TreeCriteria {
    /// Returns what the inventories must keep. If only content is compared, the walk does not call `stat` for
    /// regular files, because they are opened later anyway.
    pub fn keep(&self) -> Keep {
        Keep::Stats { files: self.metadata || self.quick || self.sums }
    }
}

/// How two entries differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The same type, and no known difference in content.
    Same,
    Type,
    Size(u64, u64),
    /// Symbolic links with different targets.
    Target,
    /// Device files for different devices.
    Device,
    /// Regular files that must be opened.
    Unread,
}

pub(crate) fn classify(a: &Entry, b: &Entry, criteria: TreeCriteria) -> Relation {
    if a.file_type != b.file_type {
        return Relation::Type;
    }
    // A target that could not be read was already reported as an error of the walk.
    let targets_differ = a.has_target && b.has_target && a.target != b.target;
    match a.file_type {
        FileType::Regular => files(a, b, criteria),
        FileType::Symlink if targets_differ => Relation::Target,
        FileType::Block | FileType::Char if a.metadata().rdev != b.metadata().rdev => Relation::Device,
        FileType::Directory
        | FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::Block
        | FileType::Char => Relation::Same,
        // Nothing is known about what such entries contain.
        _ => Relation::Type,
    }
}

fn files(a: &Entry, b: &Entry, criteria: TreeCriteria) -> Relation {
    // Sums also need metadata, but must not change what is compared how.
    let decides = criteria.metadata || criteria.quick;
    let (true, Some(a), Some(b)) = (decides, &a.metadata, &b.metadata) else { return Relation::Unread };
    match sizes(a, b, criteria.quick) {
        Some((a, b)) => Relation::Size(a, b),
        None if criteria.quick => Relation::Same,
        None => Relation::Unread,
    }
}

/// Returns the sizes of two files if they differ and are not synthetic. With `sizes_count`, synthetic sizes
/// count too.
pub(crate) fn sizes(a: &Stat, b: &Stat, sizes_count: bool) -> Option<(u64, u64)> {
    let differ = a.size != b.size && (sizes_count || a.has_plausible_size() && b.has_plausible_size());
    differ.then_some((a.size, b.size))
}
