//! The part of a tree that an update examines, if it does not examine all of it.

use std::collections::{HashMap, HashSet};
use std::mem::take;

use ftk_file::Stat;
use ftk_walk::{Directory, Entry as WalkEntry, Fields, FileType, Repeat, Step, Visitor, WalkError};

use crate::entry::{ROOT, key, path_of_key};
use crate::kept::{Keeps, Kept, MergeStep, Raw, WrittenLines};
use crate::merge::Side as _;
use crate::respelled::AlignedEntries;
use crate::shard::member::parent;
use crate::since::join;
use crate::{Entry, Error, Field, Header, Manifest, Sample, WalkedTree};

/// The paths that an update examines: listed ones with everything below them, and the directories above these. Of a directory
/// that is known to have changed, the directory itself and the entries that it did not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// The [keys](key) of paths that are examined with everything below them.
    whole: HashSet<Vec<u8>>,
    /// The keys of directories above them, and of those that changed.
    above: HashSet<Vec<u8>>,
    /// The keys of directories that changed, and their present entries: names and inodes.
    changed_dirs: HashMap<Vec<u8>, HashMap<Vec<u8>, u64>>,
    /// How many inodes changed, if these are all.
    all_changed: Option<u64>,
    /// The number of recorded files with one name.
    files: u64,
    /// The lines of the old manifest that can be copied.
    written: WrittenLines,
}

impl Examination {
    /// Examines nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a path below the root, or `.`, and returns whether it was missing. The path must have no empty component
    /// and no `.` or `..`.
    pub fn add(&mut self, path: &[u8]) -> bool {
        let path = key(path);
        let is_new = self.whole.insert(path.to_vec());
        if is_new {
            self.add_above(path);
        }
        is_new
    }

    /// Returns an examination to which everything that changed will be added: so many inodes. The root is examined too.
    pub(crate) fn complete(changed: u64) -> Self {
        let above = HashSet::from([key(ROOT).to_vec()]);
        Self { all_changed: Some(changed), above, ..Self::default() }
    }

    /// Adds a directory that has these entries now: names and inodes.
    pub(crate) fn add_changed_dir(&mut self, dir: Vec<u8>, entries: HashMap<Vec<u8>, u64>) {
        self.above.insert(dir.clone());
        self.add_above(&dir);
        self.changed_dirs.insert(dir, entries);
    }

    /// Adds the directories above a path.
    fn add_above(&mut self, path: &[u8]) {
        let ends = memchr::memrchr_iter(b'/', path).chain((!path.is_empty()).then_some(0));
        for end in ends {
            if !self.above.insert(path[..end].to_vec()) {
                break;
            }
        }
    }

    /// Returns the paths that were added.
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.whole.iter().map(|key| path_of_key(key))
    }

    /// Adds what an update examines in any case, because a record does not show whether its entry has changed: what OLD
    /// could not read, damaged files, files that may have been written while OLD was made, and files that `check`
    /// selects. If all changes are known, also what is on other file systems, and the entries by which changed directories
    /// differ from their records.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub fn add_uncertain(&mut self, old: &Manifest, check: Option<&Sample>) -> Result<(), Error> {
        let header = old.header();
        let start_ns = header.start_ns;
        let has_trees = !header.algorithms.is_empty() && header.provenance.subvolume.is_none();
        for path in header.failed.paths() {
            self.add(path);
        }
        let mut changed_dirs = take(&mut self.changed_dirs);
        let mut entries = old.entries()?;
        while entries.advance()? {
            let number = entries.number();
            let (entry, line) = (entries.entry(), entries.written_line());
            self.written.note(number, &entry, line);
            let is_file = entry.stat.is_regular();
            self.files += u64::from(is_file && entry.stat.nlink == 1);
            let is_replaced = match changed_dirs.get_mut(key(parent(entry.path))) {
                Some(now) if entry.path != ROOT => {
                    let name = memchr::memrchr(b'/', entry.path).map_or(0, |at| at + 1);
                    now.remove(&entry.path[name..]) != Some(entry.stat.ino)
                }
                _ => false,
            };
            // A program that does not list failures wrote it. The subvolume says that there were none.
            let is_incomplete = has_trees
                && is_dir(entry.stat.file_type)
                && entry.tree.is_empty()
                && !header.failed.touches(entry.path);
            if entry.damaged_ns.is_some()
                || is_file && entry.is_recent(start_ns)
                || is_file && check.is_some_and(|check| check.matches(entry.path))
                || is_incomplete
                || is_replaced
                || self.all_changed.is_some() && !is_with_root(&entry, header)
            {
                self.add(entry.path);
            }
        }
        if self.all_changed.is_some() {
            header.mounts.iter().for_each(|mount| _ = self.add(mount.path()));
        }
        for (dir, names) in changed_dirs {
            names.keys().for_each(|name| _ = self.add(path_of_key(&join(&dir, name))));
        }
        Ok(())
    }

    /// Adds what the walk of this examination shows to be needed, and returns whether there is something: the content
    /// of directories that are new at their path, and all recorded names of files that were changed, added or removed.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub fn add_related(&mut self, old: &Manifest, tree: &WalkedTree<'_>) -> Result<bool, Error> {
        let (mut inodes, mut dirs) = (HashSet::new(), Vec::new());
        let mut entries = AlignedEntries::new(old.entries()?, old, None);
        Kept::new(Some(self), Raw::Skip).merge(&mut entries, &mut tree.walk(), &mut |step| {
            let MergeStep::Entries(old, new, Keeps::No) = step else { return Ok(()) };
            let (old, new) = (old.map(|old| old.entry()), new.map(|new| &new.seen));
            match (&old, new) {
                (_, Some(seen)) if is_dir(seen.file_type) => {
                    let is_recorded =
                        |old: &Entry<'_>| is_dir(old.stat.file_type) && old.stat.ino == seen.stat().ino;
                    if !old.as_ref().is_some_and(is_recorded) {
                        dirs.push(seen.path.clone());
                    }
                }
                (Some(old), Some(seen)) if is_only_name(old, &seen.stat()) => {}
                (_, Some(seen)) => _ = inodes.insert(seen.stat().ino),
                _ => {}
            }
            // Its other names have a link less.
            if let Some(old) = old.filter(|old| !is_dir(old.stat.file_type)) {
                let is_gone = new.is_none_or(|seen| seen.stat().ino != old.stat.ino);
                inodes.extend(is_gone.then_some(old.stat.ino));
            }
            Ok(())
        })?;
        let mut is_more = false;
        for path in dirs {
            is_more |= !self.is_whole(key(&path)) && self.add(&path);
        }
        if inodes.is_empty() {
            return Ok(is_more);
        }
        let mut entries = old.entries()?;
        let is_name = |ino| inodes.contains(&ino);
        loop {
            self.written.skip_inodes(&mut entries, is_name)?;
            if !entries.advance()? {
                return Ok(is_more);
            }
            let entry = entries.entry();
            let is_name = !is_dir(entry.stat.file_type) && inodes.contains(&entry.stat.ino);
            if is_name && !self.covers(entry.path) {
                is_more |= self.add(entry.path);
            }
        }
    }

    /// Returns whether so much changed that a full update is better: more than a twentieth. A full update may also find
    /// that nearly all times have shifted, which takes more.
    pub fn is_much(&self) -> bool {
        self.all_changed.is_some_and(|changed| changed * 20 > self.files)
    }

    /// Returns whether everything that changed is examined. What is not examined has the record that a full update writes.
    pub(crate) fn is_complete(&self) -> bool {
        self.all_changed.is_some()
    }

    /// Returns whether everything is examined.
    pub fn is_all(&self) -> bool {
        self.whole.contains(key(ROOT))
    }

    /// Returns the lines of the old manifest that can be copied.
    pub(crate) fn written(&self) -> &WrittenLines {
        &self.written
    }

    /// Returns whether a path is examined.
    pub(crate) fn covers(&self, path: &[u8]) -> bool {
        self.above.contains(key(path)) || self.is_whole(key(path))
    }

    /// Returns whether a path is examined with everything below it.
    fn is_whole(&self, key: &[u8]) -> bool {
        self.is_all()
            || self.whole.contains(key)
            || memchr::memrchr_iter(b'/', key).any(|end| self.whole.contains(&key[..end]))
    }
}

/// Returns whether an entry is recorded as one of the file system that contains the root, with the number of its inode.
fn is_with_root(entry: &Entry<'_>, header: &Header) -> bool {
    let root = header.root_identity.as_ref().map(|root| (root.identity.fs, root.identity.dev));
    entry.knows_all(&[Field::Ino, Field::Dev]) && root == Some((entry.fs, entry.stat.dev))
}

/// Returns whether this is the type of a directory.
pub(crate) fn is_dir(file_type: FileType) -> bool {
    file_type == FileType::Directory
}

/// Returns whether a path is the only name of one file, then and now.
fn is_only_name(old: &Entry<'_>, now: &Stat) -> bool {
    (old.stat.ino, old.stat.nlink, now.nlink) == (now.ino, 1, 1)
}

/// A visitor that shows only what is examined to an inner visitor. Other entries are dropped before any `stat`, and
/// directories without examined entries are not entered.
///
/// Without an examination, everything is shown.
#[derive(Debug)]
pub struct Examining<'e, V> {
    examination: Option<&'e Examination>,
    inner: V,
    /// The path of the entry that is shown last, in a directory that is not examined as a whole.
    path: Vec<u8>,
    /// The length of the directory's part of it, including the slash.
    dir_len: usize,
}

/// The tag of a queued directory.
#[derive(Debug, Default)]
pub struct ExaminedDir<D> {
    /// The path below the root, if only some of its entries are examined.
    partial: Option<Vec<u8>>,
    inner: D,
}

impl<'e, V: Visitor> Examining<'e, V> {
    /// Shows the entries of `examination` to `inner`.
    pub fn new(examination: Option<&'e Examination>, inner: V) -> Self {
        Self { examination, inner, path: Vec::new(), dir_len: 0 }
    }

    /// Returns the inner visitor.
    pub fn into_inner(self) -> V {
        self.inner
    }

    /// Returns whether an entry of the current directory, with this tag, is shown.
    fn shows(&mut self, tag: Option<&ExaminedDir<V::Dir>>, entry: &WalkEntry<'_>) -> bool {
        let is_partial = tag.is_some_and(|tag| tag.partial.is_some());
        let Some(examination) = self.examination.filter(|_| is_partial) else { return true };
        self.path.truncate(self.dir_len);
        self.path.extend_from_slice(entry.name());
        examination.covers(&self.path)
    }
}

impl<V: Visitor> Visitor for Examining<'_, V> {
    type Dir = ExaminedDir<V::Dir>;

    fn descend(&mut self, from: Option<&Self::Dir>, entry: &mut WalkEntry<'_>) -> Self::Dir {
        let partial = self.examination.and_then(|examination| {
            let path = match from {
                None => Vec::new(),
                Some(from) => match from.partial.as_deref()? {
                    b"" => entry.name().to_vec(),
                    dir => [dir, b"/", entry.name()].concat(),
                },
            };
            (!examination.is_whole(&path)).then_some(path)
        });
        ExaminedDir { partial, inner: self.inner.descend(from.map(|from| &from.inner), entry) }
    }

    fn enter(&mut self, tag: &Self::Dir, dir: &Directory<'_>) -> Step {
        if let Some(path) = &tag.partial {
            self.path.clear();
            if !path.is_empty() {
                self.path.extend_from_slice(path);
                self.path.push(b'/');
            }
            self.dir_len = self.path.len();
        }
        self.inner.enter(&tag.inner, dir)
    }

    fn entry(&mut self, tag: Option<&Self::Dir>, entry: &mut WalkEntry<'_>) -> Step {
        if self.shows(tag, entry) { self.inner.entry(tag.map(|tag| &tag.inner), entry) } else { Step::Next }
    }

    fn reads(&self) -> Fields {
        self.inner.reads()
    }

    fn hidden(&mut self, tag: &Self::Dir, dir: &WalkEntry<'_>) -> Step {
        if self.shows(Some(tag), dir) { self.inner.hidden(&tag.inner, dir) } else { Step::Next }
    }

    fn leave(&mut self, tag: &Self::Dir) {
        self.inner.leave(&tag.inner);
    }

    fn filtered(&mut self, tag: &Self::Dir) {
        self.inner.filtered(&tag.inner);
    }

    fn covered(&mut self, path: &[u8]) {
        self.inner.covered(path);
    }

    fn again(&mut self, repeat: &Repeat<'_>) {
        self.inner.again(repeat);
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.inner.error(error)
    }
}
