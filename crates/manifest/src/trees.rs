//! The digests of all directories of a manifest, computed before it is written and checked when it is read.

use std::collections::BTreeSet;
use std::convert::Infallible;

use ftk_hash::Algorithm;
use ftk_walk::FileType;

use crate::entry::{key, path_of_key};
use crate::shard::member::parent;
use crate::shard::{Place, Shard};
use crate::tree_digest::{Closed, TreeDigester, TreeForm};
use crate::{Entry, EntryError, Error, Failed, Header};

/// The digests of the directories of a manifest that is about to be written.
///
/// The line of a directory comes before those of its entries. So the entries are added first, without writing
/// them, and then go through [`with_tree`](Self::with_tree) in the same order. Uses the length of the digests and one byte for
/// each directory.
#[derive(Debug)]
pub(crate) struct Trees {
    /// Absent when all directories have ended.
    digester: Option<TreeDigester>,
    width: usize,
    /// The digests of each directory, concatenated.
    digests: Vec<u8>,
    /// Whether each directory has digests.
    has: Vec<bool>,
    /// The number of directories written.
    written: usize,
    /// Which part of the tree is recorded; `None` if all of it is.
    shard: Option<Shard>,
    /// The keys of directories that are shared with other shards, and of which an entry is missing.
    incomplete: BTreeSet<Vec<u8>>,
}

impl Trees {
    /// Creates the list for a manifest with this header. Without algorithms, there is nothing to compute.
    pub(crate) fn new(header: &Header) -> Self {
        let algorithms = &header.algorithms;
        Self {
            digester: (!algorithms.is_empty()).then(|| TreeDigester::new(TreeForm::Ftk, algorithms)),
            width: algorithms.iter().map(|algorithm| algorithm.digest_len()).sum(),
            digests: Vec::new(),
            has: Vec::new(),
            written: 0,
            shard: header.shard.clone(),
            incomplete: BTreeSet::new(),
        }
    }

    /// Returns whether entries must be added before they are written.
    pub(crate) fn is_needed(&self) -> bool {
        self.digester.is_some()
    }

    /// Adds the next entry. `is_whole`: for a directory, whether all its entries were found.
    ///
    /// In a shard, a directory whose entries may belong to other shards has no digest.
    pub(crate) fn add(&mut self, entry: &Entry<'_>, is_whole: bool) {
        let is_inside = |shard: &Shard| shard.place(entry.path) == Place::Inside;
        let is_whole = is_whole && self.shard.as_ref().is_none_or(is_inside);
        let Self { digester: Some(digester), digests, has, width, .. } = self else { return };
        if entry.stat.file_type == FileType::Directory {
            digests.resize(digests.len() + *width, 0);
            has.push(false);
        }
        let Ok(()) = digester.add(entry, is_whole, |closed| store(closed, digests, has, *width));
    }

    /// Adds a directory with these digests of its entries, which are not added. If they are empty, it has none.
    pub(crate) fn assume(&mut self, dir: &Entry<'_>) {
        self.add(dir, !dir.tree.is_empty());
        if let Some(digester) = self.digester.as_mut().filter(|_| !dir.tree.is_empty()) {
            digester.assume(dir.tree);
        }
    }

    /// Notes that the entry at `path` is unknown.
    pub(crate) fn omit(&mut self, path: &[u8]) {
        self.lack(parent(path));
        let Self { digester: Some(digester), digests, has, width, .. } = self else { return };
        let Ok(()) = digester.omit(path, |closed| store(closed, digests, has, *width));
    }

    /// Notes that an entry of the directory `dir` is missing.
    fn lack(&mut self, dir: &[u8]) {
        if self.shard.as_ref().is_some_and(|shard| shard.shares(dir)) {
            self.incomplete.insert(key(dir).to_vec());
        }
    }

    /// Adds to the header of a shard which shared directories lack an entry, because it was [omitted](Self::omit) or the walk
    /// could not examine it.
    pub(crate) fn say_incomplete(&mut self, failed: &Failed, header: &mut Header) {
        let Some(shard) = &mut header.shard else { return };
        for path in failed.paths() {
            self.lack(path);
            self.lack(parent(path));
        }
        shard.incomplete.iter().for_each(|dir| self.lack(dir));
        let dirs = std::mem::take(&mut self.incomplete).into_iter();
        shard.incomplete = dirs.map(|dir| path_of_key(&dir).to_vec()).collect();
    }

    /// Ends all directories.
    pub(crate) fn finish(&mut self) {
        let Self { digester, digests, has, width, .. } = self;
        if let Some(mut digester) = digester.take() {
            let Ok(()) = digester.finish(|closed| store(closed, digests, has, *width));
        }
    }

    /// Notes that a directory is written that was added as [known](Self::assume).
    pub(crate) fn pass_known(&mut self) {
        self.written += 1;
    }

    /// Returns the next entry to write, with the digests of a directory.
    pub(crate) fn with_tree<'e>(&'e mut self, entry: Entry<'e>) -> Entry<'e> {
        if entry.stat.file_type != FileType::Directory {
            return entry;
        }
        let number = self.written;
        self.written += 1;
        let has_tree = self.has.get(number).is_some_and(|has| *has);
        Entry {
            tree: if has_tree { &self.digests[number * self.width..][..self.width] } else { &[] },
            ..entry
        }
    }
}

fn store(closed: Closed<'_>, digests: &mut [u8], has: &mut [bool], width: usize) -> Result<(), Infallible> {
    if let Some(found) = closed.digests {
        digests[closed.number * width..][..width].copy_from_slice(found);
        has[closed.number] = true;
    }
    Ok(())
}

/// Compares the digests of directories in a manifest with those of their entries.
#[derive(Debug)]
pub(crate) struct TreeCheck {
    digester: TreeDigester,
    /// The line and the recorded digests of each open directory.
    recorded: Vec<(u64, Vec<u8>)>,
    /// Whether the entries of some directory were not added.
    is_partial: bool,
}

impl TreeCheck {
    pub(crate) fn new(algorithms: &[Algorithm]) -> Self {
        Self {
            digester: TreeDigester::new(TreeForm::Ftk, algorithms),
            recorded: Vec::new(),
            is_partial: false,
        }
    }

    /// Adds the entry of line `number`.
    ///
    /// # Errors
    /// [`EntryError::OtherTree`] for the line of a directory that ended before this entry.
    pub(crate) fn add(&mut self, entry: &Entry<'_>, number: u64) -> Result<(), Error> {
        let Self { digester, recorded, .. } = self;
        // A directory without digests is not compared, and nothing is computed for it.
        digester.add(entry, !entry.tree.is_empty(), |closed| compare(recorded, closed))?;
        if entry.stat.file_type == FileType::Directory {
            recorded.push((number, entry.tree.to_vec()));
        }
        Ok(())
    }

    /// Takes the recorded digests of a directory that is open for those of its entries, which are not added.
    pub(crate) fn assume(&mut self, dir: &[u8]) {
        let open = self.digester.reopen(dir);
        self.recorded.truncate(open);
        if let Some((_, tree)) = self.recorded.last() {
            self.digester.assume(tree);
        }
        self.is_partial = true;
    }

    /// Ends all directories. Returns whether all entries were added.
    ///
    /// # Errors
    /// See [`add`](Self::add).
    pub(crate) fn finish(&mut self) -> Result<bool, Error> {
        let Self { digester, recorded, is_partial } = self;
        digester.finish(|closed| compare(recorded, closed)).map(|()| !*is_partial)
    }
}

fn compare(recorded: &mut Vec<(u64, Vec<u8>)>, closed: Closed<'_>) -> Result<(), Error> {
    let (number, tree) = recorded.pop().expect("the directory is open");
    if tree.is_empty() || closed.digests == Some(&*tree) {
        return Ok(());
    }
    Err(Error::Line { number, what: EntryError::OtherTree(path_of_key(closed.path).to_vec()) })
}
