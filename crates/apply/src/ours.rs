//! The inodes whose time this run itself has changed.

use std::collections::HashMap;

use rustix::fs::Stat;

use crate::stat::{ctime_ns, identity, mtime_ns};

/// Making a link to a keeper and taking a name from a victim changes the time of the inode, which the next step
/// with that inode would take for somebody else's doing.
#[derive(Debug, Default)]
pub(crate) struct Ours(HashMap<(u64, u64), i128>);

impl Ours {
    /// Whether the time of the inode is the one that was seen, or one we gave it since.
    pub(crate) fn is_ctime(&self, seen: i128, now: &Stat) -> bool {
        let now_ns = ctime_ns(now);
        now_ns == seen || self.0.get(&identity(now)) == Some(&now_ns)
    }

    /// Notes the time of an inode after an action, unless its content is not what it was before.
    pub(crate) fn note(&mut self, before: &Stat, after: &Stat) {
        let content = |stat: &Stat| (identity(stat), stat.st_size, mtime_ns(stat));
        if content(before) == content(after) && after.st_nlink > 0 {
            self.0.insert(identity(after), ctime_ns(after));
        } else {
            // A number that is free again may come back as another file.
            self.0.remove(&identity(before));
        }
    }
}
