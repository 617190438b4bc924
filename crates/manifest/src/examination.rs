//! The part of a tree that an update examines, if it does not examine all of it.

use std::collections::HashSet;

use ftk_file::Stat;
use ftk_walk::{Directory, Entry as WalkEntry, Fields, FileType, Repeat, Step, Visitor, WalkError};

use crate::entry::{ROOT, key};
use crate::kept::{Keeps, Kept, MergeStep, Raw, WrittenLines};
use crate::merge::Side as _;
use crate::respelled::AlignedEntries;
use crate::{Entry, Error, Manifest, Sample, WalkedTree};

/// The paths that an update examines: listed ones with everything below them, and the directories above these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// The [keys](key) of paths that are examined with everything below them.
    whole: HashSet<Vec<u8>>,
    /// The keys of directories above them.
    above: HashSet<Vec<u8>>,
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
        if !self.whole.insert(path.to_vec()) {
            return false;
        }
        let ends = memchr::memrchr_iter(b'/', path).chain((!path.is_empty()).then_some(0));
        for end in ends {
            if !self.above.insert(path[..end].to_vec()) {
                break;
            }
        }
        true
    }

    /// Adds what an update examines in any case, because a record does not show whether its entry has changed: what OLD
    /// could not read, damaged files, files that may have been written while OLD was made, and files that `check`
    /// selects.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub fn add_uncertain(&mut self, old: &Manifest, check: Option<&Sample>) -> Result<(), Error> {
        let header = old.header();
        let (start_ns, has_trees) = (header.start_ns, !header.algorithms.is_empty());
        for path in header.failed.paths() {
            self.add(path);
        }
        let mut entries = old.entries()?;
        while entries.advance()? {
            let number = entries.number();
            let (entry, line) = (entries.entry(), entries.written_line());
            self.written.note(number, &entry, line);
            let is_file = entry.stat.is_regular();
            // A program that does not list failures wrote it.
            let is_incomplete = has_trees
                && is_dir(entry.stat.file_type)
                && entry.tree.is_empty()
                && !header.failed.touches(entry.path);
            if entry.damaged_ns.is_some()
                || is_file && entry.stat.is_recent(start_ns)
                || is_file && check.is_some_and(|check| check.matches(entry.path))
                || is_incomplete
            {
                self.add(entry.path);
            }
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
