//! Changes of ctime that were made by this run.

use std::collections::HashMap;

use rustix::fs::Stat;

use crate::stat::{ctime_ns, identity, mtime_ns};

/// The inodes whose ctime this run has changed, and their present ctime.
///
/// Linking a keeper and removing a name of a victim change the ctime of the inode. Without this table, the
/// next step with that inode would report it as changed by another program.
#[derive(Debug, Default)]
pub(crate) struct OwnChanges(HashMap<(u64, u64), i128>);

impl OwnChanges {
    /// Returns whether the ctime of the inode is the one that was seen, or one that this run has caused
    /// since.
    pub(crate) fn is_ctime(&self, seen: i128, now: &Stat) -> bool {
        let now_ns = ctime_ns(now);
        now_ns == seen || self.0.get(&identity(now)) == Some(&now_ns)
    }

    /// Records the ctime of an inode after an action, unless its content has changed.
    pub(crate) fn note(&mut self, before: &Stat, after: &Stat) {
        let content = |stat: &Stat| (identity(stat), stat.st_size, mtime_ns(stat));
        if content(before) == content(after) && after.st_nlink > 0 {
            self.0.insert(identity(after), ctime_ns(after));
        } else {
            // A freed inode number may be used again for another file.
            self.0.remove(&identity(before));
        }
    }
}
