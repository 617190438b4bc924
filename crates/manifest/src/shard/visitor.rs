//! The visitor that shows the entries of one shard to another visitor.

use ftk_walk::{Directory, Entry, Fields, FileType, Repeat, Step, Visitor, WalkError};

use crate::entry::{ROOT, sorted};
use crate::shard::newest::{Newest, below_root};
use crate::shard::{Place, Shard, Split};

/// A visitor that shows the entries of a shard to an inner visitor.
///
/// Directories whose entries all belong to other shards are not entered. A directory that several shards share is
/// listed, and each of its entries is compared with the range before any `stat`. A directory of another shard that
/// contains entries of this one is entered and not shown.
///
/// Without a shard, everything is shown.
#[derive(Debug)]
pub struct Sharded<'s, V> {
    shard: Option<&'s Shard>,
    inner: V,
    /// The path of the entry that is shown last, in a shared directory.
    path: Vec<u8>,
    /// The length of the directory's part of it, including the slash.
    dir_len: usize,
    /// Whether entries in the directory may belong to the shard.
    is_own: bool,
    /// Whether an entry of the directory is missing.
    is_partial: bool,
    listed: Listed,
}

/// Which directories were listed.
#[derive(Debug, Default)]
pub struct Listed {
    /// The shared ones that were found.
    found: Vec<Vec<u8>>,
    /// Those of them that were listed completely.
    whole: Vec<Vec<u8>>,
    newest: Newest,
}

/// The tag of a queued directory.
#[derive(Debug, Default)]
pub struct ShardTag<D> {
    /// The path below the root, if other shards list the directory too.
    shared: Option<Vec<u8>>,
    /// Whether the directory may have entries of the shard at any depth.
    is_needed: bool,
    inner: D,
}

impl<'s, V: Visitor> Sharded<'s, V> {
    /// Shows the entries of `shard` to `inner`.
    pub fn new(shard: Option<&'s Shard>, inner: V) -> Self {
        Self {
            shard,
            inner,
            path: Vec::new(),
            dir_len: 0,
            is_own: false,
            is_partial: false,
            listed: Listed::default(),
        }
    }

    /// Returns the inner visitor, and which shared directories were listed.
    pub fn into_parts(self) -> (V, Listed) {
        (self.inner, self.listed)
    }

    /// Returns whether an entry of the current directory belongs to the shard, and whether anything below it may.
    fn belongs(&mut self, shard: &Shard, entry: &Entry<'_>) -> (bool, bool) {
        self.path.truncate(self.dir_len);
        self.path.extend_from_slice(entry.name());
        let is_dir = entry.file_type() == FileType::Directory;
        let is_shown = self.is_own
            && match &shard.split {
                Split::Plan { range, .. } => range.contains(&self.path),
                // All entries of a directory belong to one shard.
                Split::Hash => true,
            };
        (is_shown, is_dir && shard.place(&self.path) != Place::Outside)
    }
}

impl Listed {
    /// Notes that a directory was found. Whether it is entered is decided later.
    fn expect(&mut self, shard: &Shard, dir: &[u8]) {
        if shard.shares(dir) && shard.has_entries_of(dir) {
            self.found.push(dir.to_vec());
        }
    }

    /// Combines what several workers have listed.
    pub fn merge(all: impl IntoIterator<Item = Self>) -> Self {
        let mut merged = Self::default();
        for mut listed in all {
            merged.found.append(&mut listed.found);
            merged.whole.append(&mut listed.whole);
            merged.newest.merge(listed.newest);
        }
        merged
    }

    /// Adds to a shard which shared directories with entries of it were not listed completely, and when the directories that
    /// were listed had changed.
    pub fn record(mut self, shard: &mut Shard) {
        self.whole.sort_unstable();
        self.found.retain(|dir| self.whole.binary_search(dir).is_err());
        shard.incomplete = sorted(self.found);
        (shard.listed, shard.listed_since_ns) = self.newest.finish();
    }
}

impl<V: Visitor> Visitor for Sharded<'_, V> {
    type Dir = ShardTag<V::Dir>;

    fn descend(&mut self, from: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Self::Dir {
        let path = match (from, self.shard) {
            (_, None) => None,
            (None, Some(_)) => Some(ROOT.to_vec()),
            (Some(from), _) => from.shared.as_ref().map(|dir| match &**dir {
                ROOT => entry.name().to_vec(),
                dir => [dir, b"/", entry.name()].concat(),
            }),
        };
        let (is_shared, is_needed) = match (self.shard, &path) {
            (Some(shard), Some(path)) => (shard.shares(path), shard.place(path) != Place::Outside),
            _ => (false, true),
        };
        let shared = path.filter(|_| is_shared);
        let inner = self.inner.descend(from.map(|from| &from.inner), entry);
        ShardTag { shared, is_needed, inner }
    }

    fn enter(&mut self, tag: &Self::Dir, dir: &Directory<'_>) -> Step {
        if !tag.is_needed {
            return Step::Next;
        }
        self.is_partial = false;
        if let (Some(shard), Some(path)) = (self.shard, &tag.shared) {
            self.is_own = shard.has_entries_of(path);
            self.path.clear();
            if path != ROOT {
                self.path.extend_from_slice(path);
                self.path.push(b'/');
            }
            self.dir_len = self.path.len();
        }
        if self.shard.is_some() {
            self.listed.newest.add(dir.metadata().mtime_ns, || below_root(dir));
        }
        self.inner.enter(&tag.inner, dir)
    }

    fn entry(&mut self, tag: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Step {
        let inner = tag.map(|tag| &tag.inner);
        let Some(shard) = self.shard.filter(|_| tag.is_none_or(|tag| tag.shared.is_some())) else {
            return self.inner.entry(inner, entry);
        };
        if tag.is_none() {
            self.listed.expect(shard, ROOT);
            return if shard.contains(ROOT) { self.inner.entry(None, entry) } else { Step::Descend };
        }
        let (is_shown, is_needed) = self.belongs(shard, entry);
        if is_needed {
            self.listed.expect(shard, &self.path);
        }
        match (is_shown, is_needed) {
            (true, _) => match self.inner.entry(inner, entry) {
                Step::Descend if !is_needed => Step::Next,
                step => step,
            },
            (false, true) => Step::Descend,
            (false, false) => Step::Next,
        }
    }

    fn reads(&self) -> Fields {
        self.inner.reads()
    }

    fn hidden(&mut self, tag: &Self::Dir, dir: &Entry<'_>) -> Step {
        let shard = self.shard.filter(|_| tag.shared.is_some());
        if shard.is_some_and(|shard| !self.belongs(shard, dir).1) {
            return Step::Next;
        }
        self.inner.hidden(&tag.inner, dir)
    }

    fn leave(&mut self, tag: &Self::Dir) {
        if self.is_own
            && !self.is_partial
            && let Some(path) = &tag.shared
        {
            self.listed.whole.push(path.clone());
        }
        self.inner.leave(&tag.inner);
    }

    fn filtered(&mut self, tag: &Self::Dir) {
        self.is_partial = true;
        self.inner.filtered(&tag.inner);
    }

    fn covered(&mut self, path: &[u8]) {
        self.inner.covered(path);
    }

    fn again(&mut self, repeat: &Repeat<'_>) {
        self.inner.again(repeat);
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.is_partial = true;
        self.inner.error(error)
    }
}
