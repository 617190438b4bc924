//! Directories that changed while the shards of a tree were recorded, as far as the headers of the parts say.

use std::collections::BTreeSet;

use ftk_file::Stat;
use ftk_record::quote;

use crate::entry::key;
use crate::shard::Shard;

/// Directories that changed after the first shard began. What was renamed from or to one of them may be recorded twice or
/// not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Their number.
    pub count: u64,
    /// Some of them.
    pub some: Vec<Vec<u8>>,
    /// Whether there may be others, since a part does not list all that changed in this time.
    pub may_be_more: bool,
}

impl Changes {
    /// How many paths are kept for the message.
    const MOST: usize = 100;

    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && !self.may_be_more
    }

    /// Describes them. `number` formats a number.
    pub fn describe(&self, number: impl Fn(u64) -> String) -> String {
        let noun = if self.count == 1 { "directory" } else { "directories" };
        let dirs = format!("{} {noun}", number(self.count));
        let (dirs, shown) = match (self.count, self.may_be_more) {
            (0, _) => ("directories may have".to_owned(), String::new()),
            (_, false) => (dirs, format!(": {}", such_as(&self.some))),
            (_, true) => (format!("at least {dirs}"), format!(": {}", such_as(&self.some))),
        };
        format!(
            "{dirs} changed while the shards were recorded, so a renamed file may be missing or appear twice{shown}"
        )
    }

    /// Adds other directories of the same tree.
    pub(super) fn join(&mut self, other: Self) {
        self.count += other.count;
        self.may_be_more |= other.may_be_more;
        self.some.extend(other.some);
        self.some.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        self.some.truncate(Self::MOST);
    }

    /// Adds a directory.
    pub(super) fn add(&mut self, dir: &[u8]) {
        self.count += 1;
        if self.some.len() < Self::MOST {
            self.some.push(dir.to_vec());
        }
    }
}

/// Names some of the paths.
pub(super) fn such_as(paths: &[Vec<u8>]) -> String {
    const MOST: usize = 5;
    let shown: Vec<_> = paths.iter().take(MOST).map(|path| quote(path).to_string()).collect();
    shown.join(", ") + if paths.len() > MOST { ", ..." } else { "" }
}

/// Returns the directories that these shards have listed as changed since the first of them began, and whether there may be
/// others.
pub(super) fn listed_since<'s>(
    shards: impl Iterator<Item = &'s Shard>,
    start_ns: i128,
) -> (BTreeSet<&'s [u8]>, bool) {
    let (mut dirs, mut may_be_more) = (BTreeSet::new(), false);
    for shard in shards {
        let changed = shard.listed.iter().filter(|(_, mtime_ns)| is_since(*mtime_ns, start_ns));
        dirs.extend(changed.map(|(dir, _)| &**dir));
        may_be_more |= shard.listed_since_ns.is_some_and(|since_ns| since_ns > start_ns);
    }
    (dirs, may_be_more)
}

/// Returns whether a time is not before that of a run, as far as clocks of file systems show it.
pub(super) fn is_since(ns: i128, start_ns: i128) -> bool {
    Stat { mtime_ns: ns, ctime_ns: ns, ..Stat::EMPTY }.is_recent(start_ns)
}
