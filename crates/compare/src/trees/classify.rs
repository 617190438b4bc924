//! What two entries of one name are to each other, as far as that can be said without reading.

use ftk_inventory::Metadata;
use ftk_walk::FileType;

use super::merge::Entry;

/// What counts as a difference, and what is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Mode, owner, group and time of the last change count too, the time not for directories.
    pub metadata: bool,
    /// Files of equal size and time are taken for equal, and none is read.
    pub quick: bool,
    /// Two names of one inode are read like any other pair.
    pub no_shortcuts: bool,
}

/// What two entries are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Of one type, and no different content.
    Same,
    Type,
    Size,
    /// Symbolic links to different names.
    Target,
    /// Device files for different devices.
    Device,
    /// Files that have to be read, the larger of this size.
    Unread(u64),
}

pub(crate) fn classify(a: &Entry, b: &Entry, rules: Rules) -> Relation {
    if a.file_type != b.file_type {
        return Relation::Type;
    }
    // A target that could not be read is an error of the walk, and was told as such.
    let targets_differ = a.has_target && b.has_target && a.target != b.target;
    let file_type = a.file_type;
    let (a, b) = (a.metadata(), b.metadata());
    match file_type {
        FileType::Regular if (a.dev, a.ino) == (b.dev, b.ino) && !rules.no_shortcuts => Relation::Same,
        FileType::Regular if a.size != b.size && (rules.quick || is_size_true(a) && is_size_true(b)) => {
            Relation::Size
        }
        FileType::Regular if rules.quick => Relation::Same,
        FileType::Regular => Relation::Unread(a.size.max(b.size)),
        FileType::Symlink if targets_differ => Relation::Target,
        FileType::Block | FileType::Char if a.rdev != b.rdev => Relation::Device,
        _ => Relation::Same,
    }
}

/// Whether the size of a file can be believed. Kernels show files of their own with made-up sizes, which take no space.
fn is_size_true(file: &Metadata) -> bool {
    file.blocks > 0
}
