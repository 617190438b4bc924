//! What changed in a tree while its shards were recorded.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ftk_file::Stat;
use ftk_walk::FileType;

use crate::merge::Side as _;
use crate::shard::Merged;
use crate::{Entry, Error, Field, Manifest};

/// How many paths of directories are kept for the message.
const MOST: usize = 100;

/// Notes which entries changed after the first shard began.
///
/// A rename changes the ctime of the inode, and the mtime of both directories. A shard that records an entry under its new
/// path records the new ctime. So an entry that occurs twice has a recent ctime at least once.
#[derive(Debug)]
pub(super) struct Meanwhile {
    start_ns: i128,
    /// Directories that changed before a shard listed them, and whose lines did not come yet.
    listed: BTreeSet<Vec<u8>>,
    /// Hashes of the inodes of recent entries.
    recent: Vec<u64>,
    merged: Merged,
}

impl Meanwhile {
    pub(super) fn new(manifest: &Manifest) -> Self {
        let start_ns = manifest.header().start_ns;
        let shards = manifest.parts().iter().filter_map(|part| part.shard.as_ref());
        let listed =
            shards.flat_map(|shard| &shard.listed).filter(|(_, mtime_ns)| is_since(*mtime_ns, start_ns));
        let listed = listed.map(|(dir, _)| dir.clone()).collect();
        Self { start_ns, listed, recent: Vec::new(), merged: Merged::default() }
    }

    /// Adds the next entry.
    pub(super) fn add(&mut self, entry: &Entry<'_>) {
        if entry.stat.file_type == FileType::Directory {
            let was_changed = !self.listed.is_empty() && self.listed.remove(entry.path);
            if was_changed || entry.knows(Field::Mtime) && is_since(entry.stat.mtime_ns, self.start_ns) {
                self.change(entry.path);
            }
        }
        if let Some(inode) = inode(entry).filter(|_| self.is_recent(entry)) {
            self.recent.push(inode);
        }
    }

    fn is_recent(&self, entry: &Entry<'_>) -> bool {
        entry.knows(Field::Ctime) && is_since(entry.stat.ctime_ns, self.start_ns)
    }

    fn change(&mut self, dir: &[u8]) {
        self.merged.changed += 1;
        if self.merged.some_changed.len() < MOST {
            self.merged.some_changed.push(dir.to_vec());
        }
    }

    /// Ends with the last entry.
    ///
    /// # Errors
    /// If the manifest, which was read before, cannot be read again.
    pub(super) fn finish(mut self, manifest: &Manifest, entries: u64) -> Result<Merged, Error> {
        std::mem::take(&mut self.listed).iter().for_each(|dir| self.change(dir));
        self.recent.sort_unstable();
        let (mut inodes, mut twice) = (BTreeSet::new(), Vec::new());
        if !self.recent.is_empty() {
            each_inode(manifest, |entry, inode| {
                let start = self.recent.partition_point(|it| *it < inode);
                let same = self.recent[start..].iter().take_while(|it| **it == inode).take(2).count();
                if same > usize::from(self.is_recent(entry)) {
                    inodes.insert(inode);
                }
            })?;
        }
        if !inodes.is_empty() {
            each_inode(manifest, |entry, inode| {
                if inodes.contains(&inode) {
                    twice.push(entry.path.to_vec());
                }
            })?;
        }
        Ok(Merged { entries, twice, ..self.merged })
    }
}

/// Reads all entries that can have only one path again.
fn each_inode(manifest: &Manifest, mut each: impl FnMut(&Entry<'_>, u64)) -> Result<(), Error> {
    let mut entries = manifest.entries()?;
    entries.trust_trees();
    while entries.advance()? {
        let entry = entries.entry();
        if let Some(inode) = inode(&entry) {
            each(&entry, inode);
        }
    }
    Ok(())
}

/// Returns whether a time is not before that of a run, as far as clocks of file systems show it.
fn is_since(ns: i128, start_ns: i128) -> bool {
    Stat { mtime_ns: ns, ctime_ns: ns, ..Stat::EMPTY }.is_recent(start_ns)
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
