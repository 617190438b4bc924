//! Merging the parts of a tree into one manifest.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread::{self, Builder};

use ftk_hash::{Algorithm, Platform};
use ftk_record::Seal;
use ftk_walk::FileType;

use crate::entry::key;
use crate::merge::Side as _;
use crate::open_dirs::OpenDirs;
use crate::parse::Owned;
use crate::reader::Entries;
use crate::shard::whole_lines::{PartFile, WholeLines, locate};
use crate::shard::{MergeError, Place, Shard, Split};
use crate::tree_digest::{Closed, TreeDigester, TreeForm};
use crate::walked_tree::Failed;
use crate::write::{BATCH, push_entry, too_large};
use crate::{Entry, EntryError, Error, Manifest, Writer};

/// The batches of lines that wait to be hashed and written.
const WAITING: usize = 4;

impl Manifest {
    /// Writes the entries of [all parts](crate::Parts::into_manifest) to `writer`, whose header must be that of this
    /// manifest. Returns their number.
    ///
    /// Every line is checked, and copied, except those of directories that several shards share: they get the tree digests
    /// that no shard could compute. Digests that a part has are not computed again. So the parts are read twice, the first
    /// time only as far as the new digests need it. One thread reads and checks the lines, and the caller's thread hashes
    /// and writes them. Uses memory for some blocks, for a block of each part that is read at the same time, and for the
    /// digests of shared directories.
    ///
    /// # Errors
    /// If a part cannot be read, has an entry of another shard, or the output cannot be written.
    pub fn merge<S: FnMut(&[u8]) -> io::Result<()>>(
        &self,
        writer: &mut Writer<S>,
    ) -> Result<u64, MergeError> {
        let trees = || trees(self).map_err(MergeError::Input);
        let found = trees()?;
        thread::scope(|scope| {
            let (sender, batches) = sync_channel(WAITING);
            let send = move |lines| sender.send(lines).map_err(|_| ErrorKind::BrokenPipe.into());
            let reader = Builder::new().spawn_scoped(scope, || copy(self, found, send)).ok()?;
            for lines in batches {
                // On failure the channel is closed, which ends the other thread.
                if let Err(error) = writer.copy(&lines) {
                    return Some(Err(MergeError::Output(error)));
                }
            }
            Some(reader.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
        // No thread can be started.
        .unwrap_or_else(|| copy(self, trees()?, |lines| writer.copy(&lines)))
    }
}

/// Computes the tree digests of the directories that have none in the parts.
fn trees(manifest: &Manifest) -> Result<NewTrees, Error> {
    let algorithms = &manifest.header().algorithms;
    let mut trees = NewTrees::new(algorithms);
    if algorithms.is_empty() {
        return Ok(trees);
    }
    let missing = Missing::new(manifest.parts());
    let mut digester = TreeDigester::new(TreeForm::Ftk, algorithms);
    let mut outline = Outline::new(manifest)?;
    while outline.advance()? {
        let entry = outline.entries.entry();
        let is_dir = entry.stat.file_type == FileType::Directory;
        // A shard computes the digests of directories that it does not share.
        let is_known = !entry.tree.is_empty();
        let is_shared = || outline.entries.shard().is_none_or(|it| it.place(entry.path) != Place::Inside);
        let is_whole = is_known || is_dir && is_shared() && !missing.is_from(entry.path);
        if is_dir {
            trees.begin(&entry, is_known);
        }
        let Ok(()) = digester.add(&entry, is_whole, |closed| trees.close(closed));
        if is_known {
            digester.assume(entry.tree);
        }
    }
    let Ok(()) = digester.finish(|closed| trees.close(closed));
    Ok(trees)
}

/// Passes the lines of all entries to `send` in batches, with these tree digests. Returns their number.
fn copy(
    manifest: &Manifest,
    mut trees: NewTrees,
    mut send: impl FnMut(Vec<u8>) -> io::Result<()>,
) -> Result<u64, MergeError> {
    let (parts, header) = (manifest.parts(), manifest.header());
    let mut lines = WholeLines::new(parts, header).map_err(MergeError::Input)?;
    let mut batch = Vec::with_capacity(2 * BATCH);
    let (mut checked, mut parsed, mut entries) = (Checked::default(), Owned::new(), 0);
    while let Some(line) = lines.next().map_err(MergeError::Input)? {
        let start = batch.len();
        batch.extend_from_slice(line);
        let line = &batch[start..];
        let tree = parsed.read(line, header).and_then(|()| {
            let entry = parsed.entry();
            checked.add(entry.path, lines.shard())?;
            let lacks_tree = entry.stat.file_type == FileType::Directory && entry.tree.is_empty();
            Ok(if lacks_tree { trees.next(entry) } else { None })
        });
        let tree = tree
            .map_err(|what| MergeError::Input(locate(parts, Error::Line { number: lines.number(), what })))?;
        match tree {
            None => batch.push(b'\n'),
            Some(entry) => {
                batch.truncate(start);
                push_entry(&mut batch, &entry, &header.algorithms);
                if batch.len() - start > Seal::MAX_LINE {
                    return Err(MergeError::Output(too_large("an entry")));
                }
            }
        }
        entries += 1;
        if batch.len() >= BATCH {
            let full = std::mem::replace(&mut batch, Vec::with_capacity(2 * BATCH));
            send(full).map_err(MergeError::Output)?;
        }
    }
    send(batch).map_err(MergeError::Output)?;
    Ok(entries)
}

/// The entries of all parts without those below directories whose tree digests are known.
#[derive(Debug)]
struct Outline<'m> {
    entries: Entries<'m>,
    known: OpenDirs,
}

impl<'m> Outline<'m> {
    fn new(manifest: &'m Manifest) -> Result<Self, Error> {
        let mut entries = manifest.entries()?;
        entries.trust_trees();
        Ok(Self { entries, known: OpenDirs::default() })
    }

    fn advance(&mut self) -> Result<bool, Error> {
        while self.entries.advance()? {
            let Some(dir) = self.known.above(self.entries.path()) else {
                let entry = self.entries.entry();
                if !entry.tree.is_empty() {
                    self.known.push(entry.path);
                }
                return Ok(true);
            };
            self.entries.skip_below(dir)?;
        }
        Ok(false)
    }
}

/// What no part has.
struct Missing {
    /// The keys of directories that several shards list, and of which an entry is missing.
    incomplete: BTreeSet<Vec<u8>>,
    /// What could not be examined.
    failed: Failed,
}

impl Missing {
    fn new(parts: &[PartFile]) -> Self {
        let shards = || parts.iter().filter_map(|part| part.shard.as_ref());
        let incomplete = shards().flat_map(|shard| &shard.incomplete).map(|dir| key(dir).to_vec());
        let failed = shards().flat_map(|shard| shard.failed.iter().cloned());
        Self { incomplete: incomplete.collect(), failed: Failed::new(failed.collect()) }
    }

    /// Returns whether something in a directory is missing, as far as the shards that share it know.
    fn is_from(&self, dir: &[u8]) -> bool {
        self.incomplete.contains(key(dir)) || self.failed.covers(dir)
    }
}

/// Checks that each entry comes after the one before, and belongs to its part.
#[derive(Debug, Default)]
struct Checked {
    /// The path before.
    last: Option<Vec<u8>>,
    /// A directory, and the shard to which all entries in it belong. Successive entries often have the same directory.
    dir: Vec<u8>,
    owner: Option<u32>,
}

impl Checked {
    /// # Errors
    /// If the entry at `path` is out of order or belongs to another shard than this one.
    fn add(&mut self, path: &[u8], shard: Option<&Shard>) -> Result<(), EntryError> {
        match self.last.as_ref().map(|last| key(last).cmp(key(path))) {
            None | Some(Ordering::Less) => {}
            Some(Ordering::Equal) => return Err(EntryError::Twice(path.to_vec())),
            Some(Ordering::Greater) => return Err(EntryError::Order(path.to_vec())),
        }
        if shard.is_some_and(|shard| !self.is_of(path, shard)) {
            return Err(EntryError::OutsideShard(path.to_vec()));
        }
        let last = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(path);
        Ok(())
    }

    fn is_of(&mut self, path: &[u8], shard: &Shard) -> bool {
        if matches!(shard.split, Split::Plan { .. }) {
            return shard.contains(path);
        }
        let dir = super::member::parent(path);
        if (self.owner, &*self.dir) == (Some(shard.number), dir) {
            return true;
        }
        let is_own = shard.contains(path);
        self.owner = is_own.then_some(shard.number);
        self.dir.clear();
        self.dir.extend_from_slice(dir);
        is_own
    }
}

/// The tree digests of directories that have none in the parts.
#[derive(Debug)]
struct NewTrees {
    width: usize,
    /// The digests of each directory that was added, concatenated.
    digests: Vec<u8>,
    /// Whether each of them has digests.
    has: Vec<bool>,
    /// The numbers of those that have none in their part, and hashes of their paths.
    wanted: Vec<(usize, u64)>,
    /// The number of wanted directories that were written.
    written: usize,
}

impl NewTrees {
    fn new(algorithms: &[Algorithm]) -> Self {
        let width = algorithms.iter().map(|algorithm| algorithm.digest_len()).sum();
        Self { width, digests: Vec::new(), has: Vec::new(), wanted: Vec::new(), written: 0 }
    }

    /// Adds the next directory.
    fn begin(&mut self, dir: &Entry<'_>, is_known: bool) {
        if !is_known {
            self.wanted.push((self.has.len(), hash(dir.path)));
        }
        self.has.push(false);
        self.digests.resize(self.digests.len() + self.width, 0);
    }

    fn close(&mut self, closed: Closed<'_>) -> Result<(), std::convert::Infallible> {
        if let Some(found) = closed.digests {
            self.digests[closed.number * self.width..][..self.width].copy_from_slice(found);
            self.has[closed.number] = true;
        }
        Ok(())
    }

    /// Returns `dir`, a directory without digests, with those that were computed; `None` if they are unknown.
    fn next<'e>(&'e mut self, dir: Entry<'e>) -> Option<Entry<'e>> {
        // A directory below one with digests should have some too. It was not added, so it gets none.
        let (number, _) = *self.wanted.get(self.written).filter(|(_, path)| *path == hash(dir.path))?;
        self.written += 1;
        let tree = &self.digests[number * self.width..][..self.width];
        self.has[number].then_some(Entry { tree, ..dir })
    }
}

/// Returns a hash of a path, to recognise it.
fn hash(path: &[u8]) -> u64 {
    let digest = Algorithm::Xxh3.hash_one(Platform::detect(), key(path));
    u64::from_be_bytes(*digest.as_bytes().first_chunk().expect("XXH3 has 64 bits"))
}
