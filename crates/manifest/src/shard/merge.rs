//! Merging the parts of a tree into one manifest.

use std::io;

use ftk_hash::{Algorithm, Platform};
use ftk_walk::FileType;

use crate::entry::key;
use crate::equal_dirs::EqualDirs;
use crate::merge::Side;
use crate::reader::Entries;
use crate::shard::k_way::KWay;
use crate::shard::part_lines::PartLines;
use crate::shard::parts::Part;
use crate::shard::{MergeError, Parts, Place, Split};
use crate::tree_digest::{Closed, TreeDigester, TreeForm};
use crate::{Entry, Error, Writer};

impl Parts {
    /// Writes the entries of all parts to `writer`, whose header must be [`header`](Self::header). Returns their number.
    ///
    /// Lines are copied, except those of directories that several shards share: they get the tree digests that no shard
    /// could compute. So the parts are read twice, the first time only as far as these digests need it. Uses memory for one
    /// line of each part that is read at the same time, and for the digests of shared directories.
    ///
    /// # Errors
    /// If a part cannot be read, has an entry of another shard, or the output cannot be written.
    pub fn write<S: FnMut(&[u8]) -> io::Result<()>>(
        &self,
        writer: &mut Writer<S>,
    ) -> Result<u64, MergeError> {
        let mut trees = self.trees(&writer.header().algorithms)?;
        let mut lines = KWay::new(self.bounds(), |number| PartLines::new(&self.parts()[number].manifest));
        let (mut last, mut owner, mut entries) = (None::<Vec<u8>>, Owner::default(), 0);
        while let Some((number, side)) = lines.next().map_err(|error| self.failed(error))? {
            let part = &self.parts()[number];
            side.check_order(last.as_deref()).map_err(|error| MergeError::Part(part.given, error))?;
            if !owner.has(number, part, side.path()) {
                return Err(MergeError::NotOwn(part.given, side.number()));
            }
            let last = last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(side.path());
            let dir = match trees.is_empty() {
                true => None,
                false => side.dir_without_tree().map_err(|error| MergeError::Part(part.given, error))?,
            };
            let written = match dir.and_then(|dir| trees.next(dir)) {
                Some(entry) => writer.entry(&entry),
                None => writer.line(side.line()),
            };
            written.map_err(MergeError::Output)?;
            entries += 1;
        }
        Ok(entries)
    }

    /// Computes the tree digests of the directories that have none in the parts.
    fn trees(&self, algorithms: &[Algorithm]) -> Result<NewTrees, MergeError> {
        let mut trees = NewTrees::new(algorithms);
        if algorithms.is_empty() {
            return Ok(trees);
        }
        let mut digester = TreeDigester::new(TreeForm::Ftk, algorithms);
        let mut entries = KWay::new(self.bounds(), |number| Outline::new(&self.parts()[number]));
        while let Some((number, side)) = entries.next().map_err(|error| self.failed(error))? {
            let entry = side.entries.entry();
            let is_dir = entry.stat.file_type == FileType::Directory;
            // A shard computes the digests of directories that it does not share.
            let is_known = !entry.tree.is_empty();
            let is_shared = || self.parts()[number].shard.place(entry.path) != Place::Inside;
            let is_whole = is_known || is_dir && is_shared() && self.is_whole(entry.path);
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

    /// Returns the keys of the first paths that the parts can have.
    fn bounds(&self) -> impl Iterator<Item = Vec<u8>> {
        self.parts().iter().map(|part| match &part.shard.split {
            Split::Plan { range, .. } => range.from().unwrap_or_default().to_vec(),
            Split::Hash => Vec::new(),
        })
    }

    fn failed(&self, (number, error): (usize, Error)) -> MergeError {
        MergeError::Part(self.parts()[number].given, error)
    }
}

/// The entries of a part without those below directories whose tree digests are known.
#[derive(Debug)]
struct Outline<'m> {
    entries: Entries<'m>,
    known: EqualDirs,
}

impl<'m> Outline<'m> {
    fn new(part: &'m Part) -> Result<Self, Error> {
        let mut entries = part.manifest.entries()?;
        entries.trust_trees();
        Ok(Self { entries, known: EqualDirs::default() })
    }
}

impl Side for Outline<'_> {
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

    fn path(&self) -> &[u8] {
        self.entries.path()
    }
}

/// Tells whether entries belong to their part. Successive entries often have the same directory.
#[derive(Debug, Default)]
struct Owner {
    dir: Vec<u8>,
    part: Option<usize>,
}

impl Owner {
    fn has(&mut self, number: usize, part: &Part, path: &[u8]) -> bool {
        if matches!(part.shard.split, Split::Plan { .. }) {
            return part.shard.contains(path);
        }
        let dir = super::member::parent(path);
        if (self.part, &*self.dir) == (Some(number), dir) {
            return true;
        }
        let is_own = part.shard.contains(path);
        self.part = is_own.then_some(number);
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

    fn is_empty(&self) -> bool {
        self.wanted.is_empty()
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

    /// Returns the next directory without digests, with those that were computed. `None` if there are none.
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
