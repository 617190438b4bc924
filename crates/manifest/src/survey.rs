//! What a walk says about the tree as a whole: whether it is the recorded one, and how much of it is missing.

use ftk_process::FileSystems;

use crate::entry::ROOT;
use crate::walked_tree::{Failed, Seen};
use crate::{Entry, Field};

/// Counts for the guards of commands that change a manifest or a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The number of recorded entries below the root.
    pub recorded: u64,
    /// How many of them no longer exist. Entries below a directory that could not be listed do not count.
    pub missing: u64,
    /// Whether both the file system and the inode of the root differ from the record. File systems without an
    /// identity are compared by their device numbers.
    pub is_other_root: bool,
}

impl Survey {
    /// Counts a recorded entry, and what the walk found at its path.
    pub(crate) fn note(
        &mut self,
        old: &Entry<'_>,
        seen: Option<&Seen>,
        failed: &Failed,
        file_systems: &FileSystems,
    ) {
        let is_root = old.path == ROOT;
        self.recorded += u64::from(!is_root);
        match seen {
            Some(seen) if is_root => {
                let now = seen.stat();
                self.is_other_root = old.knows(Field::Ino)
                    && old.stat.ino != now.ino
                    && is_same_file_system(old, now.dev, file_systems) == Some(false);
            }
            Some(_) => {}
            None => self.missing += u64::from(!is_root && !failed.covers(old.path)),
        }
    }
}

/// Returns whether a recorded entry was on the file system that now has the device number `dev`. `None` if the
/// record does not say it.
///
/// A device number changes when the file system is mounted again, so identities are compared if both are known.
pub(crate) fn is_same_file_system(old: &Entry<'_>, dev: u64, file_systems: &FileSystems) -> Option<bool> {
    match (old.fs, file_systems.id(dev)) {
        (Some(old), Some(now)) => Some(old == now),
        _ => old.knows(Field::Dev).then_some(old.stat.dev == dev),
    }
}
