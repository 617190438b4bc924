//! What changed in a tree while its shards were recorded.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use ftk_walk::FileType;

use crate::entry::{key, sorted};
use crate::merge::Side as _;
use crate::shard::Shard;
use crate::shard::changes::{Changes, is_since, listed_since, such_as};
use crate::{Entry, Error, Field, Manifest};

/// Notes which entries changed after the first shard began.
///
/// A rename changes the ctime of the inode, and the mtime of both directories. A shard that records an entry under its new
/// path records the new ctime. So an entry that occurs twice has a recent ctime at least once.
#[derive(Clone, Debug)]
pub struct Meanwhile {
    start_ns: i128,
    /// Directories that changed before a shard listed them.
    listed: Arc<BTreeSet<Vec<u8>>>,
    /// Those of them whose lines came.
    seen: BTreeSet<Vec<u8>>,
    /// Hashes of the inodes of recent entries.
    recent: Vec<u64>,
    changes: Changes,
}

/// What was renamed while the shards of a tree were recorded, as far as their parts show it.
#[derive(Debug, Default)]
pub struct Renames {
    /// Paths of files with one link, and of directories, that are recorded under another path too: they were renamed after
    /// one shard had recorded them, and before another one did.
    pub twice: Vec<Vec<u8>>,
    /// Directories that changed meanwhile.
    pub changes: Changes,
}

impl Renames {
    /// Returns what to say about them. `number` formats a number.
    pub fn messages(&self, number: impl Fn(u64) -> String) -> Vec<String> {
        let mut messages = Vec::new();
        if !self.twice.is_empty() {
            messages.push(format!(
                "{} paths recorded although the entry has another path too, since it was renamed meanwhile: {}",
                number(self.twice.len() as u64),
                such_as(&self.twice)
            ));
        }
        if !self.changes.is_empty() {
            messages.push(self.changes.describe(number));
        }
        messages
    }
}

impl Meanwhile {
    /// `start_ns`: when the first of the shards began.
    pub(super) fn new<'s>(shards: impl Iterator<Item = &'s Shard>, start_ns: i128) -> Self {
        let (listed, may_be_more) = listed_since(shards, start_ns);
        let listed = Arc::new(listed.into_iter().map(<[u8]>::to_vec).collect());
        let changes = Changes { may_be_more, ..Changes::default() };
        Self { start_ns, listed, seen: BTreeSet::new(), recent: Vec::new(), changes }
    }

    /// Adds an entry of a part. Uses 8 bytes for each one that changed.
    pub fn add(&mut self, entry: &Entry<'_>) {
        if entry.stat.file_type == FileType::Directory {
            let was_changed = self.listed.contains(entry.path);
            if was_changed {
                self.seen.insert(entry.path.to_vec());
            }
            if was_changed || entry.knows(Field::Mtime) && is_since(entry.stat.mtime_ns, self.start_ns) {
                self.changes.add(entry.path);
            }
        }
        if let Some(inode) = inode(entry).filter(|_| self.is_recent(entry)) {
            self.recent.push(inode);
        }
    }

    /// Adds what a clone has noted of another part.
    pub fn join(&mut self, other: Self) {
        self.seen.extend(other.seen);
        self.recent.extend(other.recent);
        self.changes.join(other.changes);
    }

    fn is_recent(&self, entry: &Entry<'_>) -> bool {
        entry.knows(Field::Ctime) && is_since(entry.stat.ctime_ns, self.start_ns)
    }

    /// Ends with the last entry. The parts are read again if it is possible that an entry occurs twice.
    ///
    /// # Errors
    /// If a part, which was read before, cannot be read again.
    pub fn finish<'m>(
        mut self,
        parts: impl IntoIterator<Item = &'m Manifest> + Clone,
    ) -> Result<Renames, Error> {
        self.listed.difference(&self.seen).for_each(|dir| self.changes.add(dir));
        self.changes.some.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        self.recent.sort_unstable();
        let (mut inodes, mut twice) = (BTreeSet::new(), Vec::new());
        if !self.recent.is_empty() {
            each_inode(parts.clone(), |entry, inode| {
                let start = self.recent.partition_point(|it| *it < inode);
                let same = self.recent[start..].iter().take_while(|it| **it == inode).take(2).count();
                if same > usize::from(self.is_recent(entry)) {
                    inodes.insert(inode);
                }
            })?;
        }
        if !inodes.is_empty() {
            each_inode(parts, |entry, inode| {
                if inodes.contains(&inode) {
                    twice.push(entry.path.to_vec());
                }
            })?;
        }
        Ok(Renames { twice: sorted(twice), changes: self.changes })
    }
}

/// Reads all entries that can have only one path again.
fn each_inode<'m>(
    parts: impl IntoIterator<Item = &'m Manifest>,
    mut each: impl FnMut(&Entry<'_>, u64),
) -> Result<(), Error> {
    for part in parts {
        let mut entries = part.entries()?;
        entries.trust_trees();
        while entries.advance()? {
            let entry = entries.entry();
            if let Some(inode) = inode(&entry) {
                each(&entry, inode);
            }
        }
    }
    Ok(())
}

/// Returns a hash of what can have only one path: a directory, or anything else with one link. Without an identity of the
/// file system, the device number differs between hosts, and the mtime, which a rename does not change, stands for it.
fn inode(entry: &Entry<'_>) -> Option<u64> {
    let is_directory = entry.stat.file_type == FileType::Directory;
    let has_one_link = is_directory || entry.knows(Field::Nlink) && entry.stat.nlink == 1;
    if !has_one_link || !entry.knows(Field::Ino) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    let mtime_ns = entry.fs.is_none().then_some(entry.stat.mtime_ns);
    (entry.fs, mtime_ns, entry.stat.ino, entry.stat.birth_ns).hash(&mut hasher);
    Some(hasher.finish())
}
