//! Changes of ctime that were made by this run.

use std::collections::HashMap;

use ftk_file::{Stat, Version};

/// The inodes whose ctime this run has changed, and their present ctime.
///
/// Linking a keeper and removing a name of a victim change the ctime of the inode. Without this table, the
/// next step with that inode would report it as changed by another program.
#[derive(Debug, Default)]
pub(crate) struct OwnChanges(HashMap<(u64, u64), i128>);

impl OwnChanges {
    /// Returns whether the file is unchanged, or this run has caused its present ctime.
    pub(crate) fn is_unchanged(&self, before: &Version, now: &Stat) -> bool {
        *before == now.version()
            || before.is_same_except_ctime(now) && self.0.get(&now.identity()) == Some(&now.ctime_ns)
    }

    /// Returns the version of a file that was seen before, with the ctime that this run has caused.
    pub(crate) fn current(&self, seen: Version) -> Version {
        Version { ctime_ns: *self.0.get(&seen.identity()).unwrap_or(&seen.ctime_ns), ..seen }
    }

    /// Records the ctime of an inode after an action, unless its content has changed.
    pub(crate) fn note(&mut self, before: &Stat, after: &Stat) {
        if before.version().is_same_except_ctime(after) && after.nlink > 0 {
            self.0.insert(after.identity(), after.ctime_ns);
        } else {
            // A freed inode number may be used again for another file.
            self.0.remove(&before.identity());
        }
    }
}
