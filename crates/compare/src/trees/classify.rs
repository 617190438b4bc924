//! What two entries of one name are to each other, as far as that can be said without reading.

use ftk_inventory::Keep;
use ftk_walk::FileType;

use super::facts::Facts;
use super::merge::Entry;

/// What counts as a difference, and what is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeCriteria {
    /// Mode, owner, group and time of the last change count too, the time not for directories.
    pub metadata: bool,
    /// Files of equal size and time are taken for equal, and none is read.
    pub quick: bool,
    /// Two names of one inode are read like any other pair.
    pub no_shortcuts: bool,
}

impl TreeCriteria {
    /// What the tables of the walks have to keep. Where nothing else is compared than content, regular files are not
    /// asked what `stat` says before they are opened: once is enough.
    pub fn keep(&self) -> Keep {
        Keep::Stats { files: self.metadata || self.quick }
    }
}

/// What two entries are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Of one type, and no different content.
    Same,
    Type,
    Size(u64, u64),
    /// Symbolic links to different names.
    Target,
    /// Device files for different devices.
    Device,
    /// Files that have to be opened.
    Unread,
}

pub(crate) fn classify(a: &Entry, b: &Entry, rules: TreeCriteria) -> Relation {
    if a.file_type != b.file_type {
        return Relation::Type;
    }
    // A target that could not be read is an error of the walk, and was told as such.
    let targets_differ = a.has_target && b.has_target && a.target != b.target;
    match a.file_type {
        FileType::Regular => files(a, b, rules),
        FileType::Symlink if targets_differ => Relation::Target,
        FileType::Block | FileType::Char if a.metadata().rdev != b.metadata().rdev => Relation::Device,
        _ => Relation::Same,
    }
}

fn files(a: &Entry, b: &Entry, rules: TreeCriteria) -> Relation {
    let (Some(a), Some(b)) = (&a.metadata, &b.metadata) else { return Relation::Unread };
    match Facts::sizes(a.into(), b.into(), rules.quick) {
        Some((a, b)) => Relation::Size(a, b),
        None if rules.quick => Relation::Same,
        None => Relation::Unread,
    }
}
