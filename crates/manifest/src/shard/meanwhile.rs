//! What changed in a tree while its shards were recorded.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ftk_walk::FileType;

use crate::merge::Side as _;
use crate::shard::Merged;
use crate::shard::changes::{Changes, is_since, listed_since};
use crate::{Entry, Error, Field, Manifest};

/// Notes which entries changed after the first shard began.
///
/// A rename changes the ctime of the inode, and the mtime of both directories. A shard that records an entry under its new
/// path records the new ctime. So an entry that occurs twice has a recent ctime at least once.
#[derive(Debug)]
pub(super) struct Meanwhile<'m> {
    start_ns: i128,
    /// Directories that changed before a shard listed them, and whose lines did not come yet.
    listed: BTreeSet<&'m [u8]>,
    /// Hashes of the inodes of recent entries.
    recent: Vec<u64>,
    changes: Changes,
}

impl<'m> Meanwhile<'m> {
    pub(super) fn new(manifest: &'m Manifest) -> Self {
        let start_ns = manifest.header().start_ns;
        let shards = manifest.parts().iter().filter_map(|part| part.shard.as_ref());
        let (listed, may_be_more) = listed_since(shards, start_ns);
        Self { start_ns, listed, recent: Vec::new(), changes: Changes { may_be_more, ..Changes::default() } }
    }

    /// Adds the next entry.
    pub(super) fn add(&mut self, entry: &Entry<'_>) {
        if entry.stat.file_type == FileType::Directory {
            let was_changed = !self.listed.is_empty() && self.listed.remove(entry.path);
            if was_changed || entry.knows(Field::Mtime) && is_since(entry.stat.mtime_ns, self.start_ns) {
                self.changes.add(entry.path);
            }
        }
        if let Some(inode) = inode(entry).filter(|_| self.is_recent(entry)) {
            self.recent.push(inode);
        }
    }

    fn is_recent(&self, entry: &Entry<'_>) -> bool {
        entry.knows(Field::Ctime) && is_since(entry.stat.ctime_ns, self.start_ns)
    }

    /// Ends with the last entry.
    ///
    /// # Errors
    /// If the manifest, which was read before, cannot be read again.
    pub(super) fn finish(mut self, manifest: &Manifest, entries: u64) -> Result<Merged, Error> {
        self.listed.iter().for_each(|dir| self.changes.add(dir));
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
        Ok(Merged { entries, twice, changes: self.changes })
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
