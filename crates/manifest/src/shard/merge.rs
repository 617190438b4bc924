//! Merging the parts of a tree into one manifest.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread::{self, Builder};

use ftk_hash::Algorithm;
use ftk_inventory::OpenDirs;
use ftk_record::Seal;
use ftk_walk::FileType;

use crate::entry::key;
use crate::merge::Side as _;
use crate::parse::Owned;
use crate::reader::Entries;
use crate::sequence::Sequence;
use crate::shard::whole_lines::{WholeLines, locate};
use crate::shard::{Meanwhile, MergeError, Place, Renames};
use crate::tree_digest::{Closed, TreeDigester, TreeForm};
use crate::trees::TreeCheck;
use crate::write::{BATCH, push_entry, too_large};
use crate::{Entry, Error, Failed, Manifest, Writer};

/// The batches of lines that wait to be hashed and written.
const WAITING: usize = 4;

/// The result of a merge.
#[derive(Debug, Default)]
pub struct Merged {
    /// The number of entries.
    pub entries: u64,
    /// What was renamed meanwhile.
    pub renames: Renames,
}

impl Manifest {
    /// Writes the entries of [all parts](crate::Parts::into_manifest) to `writer`, whose header must be that of this
    /// manifest.
    ///
    /// Every line is checked, and copied, except those of directories that several shards share: they get the tree digests
    /// that no shard could compute. The parts are read twice, the first time only as far as the new digests need it. The
    /// tree digests that a part has are compared with its entries the second time. One thread reads and checks the lines,
    /// and the caller's thread hashes and writes them. If entries changed after the first shard began, the lines are read once
    /// more to find those that were renamed, which uses 8 bytes for each of them. Uses memory for some blocks, for a block of each part that is read at
    /// the same time, for the digests of shared directories, and for the directories above an entry.
    ///
    /// # Errors
    /// If a part cannot be read, has an entry of another shard or a tree digest that is not that of its entries, or the
    /// output cannot be written.
    pub fn merge<S: FnMut(&[u8]) -> io::Result<()>>(
        &self,
        writer: &mut Writer<S>,
    ) -> Result<Merged, MergeError> {
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
    let missing = Missing::new(manifest);
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

/// Passes the lines of all entries to `send` in batches, with these tree digests.
fn copy(
    manifest: &Manifest,
    mut trees: NewTrees,
    mut send: impl FnMut(Vec<u8>) -> io::Result<()>,
) -> Result<Merged, MergeError> {
    let (parts, header) = (manifest.parts(), manifest.header());
    let mut lines = WholeLines::new(parts, header).map_err(MergeError::Input)?;
    let mut batch = Vec::with_capacity(2 * BATCH);
    let (mut sequence, mut parsed, mut entries) = (Sequence::default(), Owned::new(), 0);
    let mut meanwhile = Meanwhile::new(parts.iter().flat_map(|part| &part.shards), header.start_ns);
    let algorithms = &header.algorithms;
    let mut check = (!algorithms.is_empty()).then(|| TreeCheck::new(algorithms));
    let input = |error| MergeError::Input(locate(parts, error));
    while let Some(line) = lines.next().map_err(MergeError::Input)? {
        let start = batch.len();
        batch.extend_from_slice(line);
        let number = lines.number();
        let read = parsed.read(&batch[start..], header);
        let read = read.and_then(|_| sequence.add(parsed.entry().path, lines.shard()));
        read.map_err(|what| input(Error::Line { number, what }))?;
        let entry = parsed.entry();
        meanwhile.add(&entry);
        if let Some(check) = &mut check {
            check.add(&entry, number).map_err(input)?;
        }
        let lacks_tree = entry.stat.file_type == FileType::Directory && entry.tree.is_empty();
        match if lacks_tree { trees.next(entry) } else { None } {
            None => batch.push(b'\n'),
            Some(entry) => {
                batch.truncate(start);
                push_entry(&mut batch, &entry, algorithms);
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
    if let Some(mut check) = check {
        check.finish().map_err(input)?;
    }
    send(batch).map_err(MergeError::Output)?;
    let renames = meanwhile.finish([manifest]).map_err(MergeError::Input)?;
    Ok(Merged { entries, renames })
}

/// The entries of all parts without those below directories whose tree digests are known.
#[derive(Debug)]
struct Outline<'m> {
    entries: Entries<'m>,
    known: OpenDirs<()>,
}

impl<'m> Outline<'m> {
    fn new(manifest: &'m Manifest) -> Result<Self, Error> {
        let mut entries = manifest.entries()?;
        entries.trust_trees();
        Ok(Self { entries, known: OpenDirs::default() })
    }

    fn advance(&mut self) -> Result<bool, Error> {
        while self.entries.advance()? {
            let Some(dir) = self.known.go_to(key(self.entries.path())) else {
                let entry = self.entries.entry();
                if !entry.tree.is_empty() {
                    self.known.push(key(entry.path), ());
                }
                return Ok(true);
            };
            self.entries.skip_below(dir)?;
        }
        Ok(false)
    }
}

/// What no part has.
struct Missing<'m> {
    /// The keys of directories that several shards list, and of which an entry is missing.
    incomplete: BTreeSet<Vec<u8>>,
    /// What could not be examined.
    failed: &'m Failed,
}

impl<'m> Missing<'m> {
    fn new(manifest: &'m Manifest) -> Self {
        let shards = manifest.parts().iter().flat_map(|part| &part.shards);
        let incomplete = shards.flat_map(|shard| &shard.incomplete).map(|dir| key(dir).to_vec());
        Self { incomplete: incomplete.collect(), failed: &manifest.header().failed }
    }

    /// Returns whether something in a directory is missing, as far as the shards that share it know.
    fn is_from(&self, dir: &[u8]) -> bool {
        self.incomplete.contains(key(dir)) || self.failed.covers(dir)
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
    let digest = Algorithm::Xxh3.hash_one(key(path));
    u64::from_be_bytes(*digest.as_bytes().first_chunk().expect("XXH3 has 64 bits"))
}
