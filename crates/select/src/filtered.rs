//! A selection before a visitor.

use ftk_walk::{Directory, Entry, FileType, Op, Step, Visitor, WalkError};

use crate::{Selection, Skipped};

/// A visitor that shows another one only what a selection takes.
///
/// Listing and descending are decided apart: a directory that fails the tests is not shown, but walked all the
/// same. One that is shown is walked if the inner visitor answers [`Step::Descend`]. Exclusions, hidden names,
/// depth and file systems bound the walk. Starting points are not subject to exclusions, nor left out for a
/// hidden name, since they were asked for by name; everything else holds for them too.
#[derive(Debug)]
pub struct Filtered<'s, V> {
    selection: &'s Selection,
    inner: V,
    skipped: Skipped,
    /// Whether the depth of the entries being listed lies within the bounds for listing and for descending.
    lists: bool,
    descends: bool,
    /// The path of the directory being listed, where paths are needed.
    path: Vec<u8>,
}

/// A directory that waits to be listed.
#[derive(Debug)]
pub struct Tag<D> {
    /// Bytes of the root and the slash behind it at the front of every path below it.
    root_len: usize,
    inner: D,
}

impl<'s, V: Visitor> Filtered<'s, V> {
    /// Puts `selection` before `inner`.
    pub fn new(selection: &'s Selection, inner: V) -> Self {
        let (lists, descends) = (false, false);
        Self { selection, inner, skipped: Skipped::default(), lists, descends, path: Vec::new() }
    }

    /// The visitor, and what was left out for another reason than a filter.
    pub fn into_parts(self) -> (V, Skipped) {
        (self.inner, self.skipped)
    }

    fn set_depth(&mut self, depth: u32) {
        self.lists = depth >= self.selection.min_depth;
        self.descends = depth < self.selection.max_depth;
    }

    /// Shows the entry if it passes the tests, and says what to do next.
    fn offer<'e>(
        &mut self,
        entry: &mut Entry<'e>,
        is_root: bool,
        show: impl FnOnce(&mut V, &mut Entry<'e>) -> Step,
    ) -> Step {
        let taken = match self.take(entry, is_root) {
            Ok(taken) => taken,
            Err(error) => {
                if self.inner.error(error) == Step::Stop {
                    return Step::Stop;
                }
                false
            }
        };
        let step = if taken { show(&mut self.inner, entry) } else { Step::Descend };
        if step == Step::Descend && !self.descends { Step::Next } else { step }
    }

    fn take(&mut self, entry: &mut Entry<'_>, is_root: bool) -> Result<bool, WalkError> {
        if !self.lists || !self.selection.take(entry, is_root)? {
            return Ok(false);
        }
        let is_own = self.selection.is_own(entry)?;
        self.skipped.own_output += u64::from(is_own);
        Ok(!is_own)
    }

    fn is_excluded(&mut self, tag: &Tag<V::Dir>, name: &[u8], file_type: FileType) -> bool {
        if !self.selection.needs_paths() {
            return self.selection.exclude(name, b"", file_type);
        }
        let dir_len = self.path.len();
        self.path.extend_from_slice(name);
        let excluded = self.selection.exclude(name, &self.path[tag.root_len..], file_type);
        self.path.truncate(dir_len);
        excluded
    }
}

impl<V: Visitor> Visitor for Filtered<'_, V> {
    type Dir = Tag<V::Dir>;

    fn root(&mut self, root: &mut Entry<'_>) -> Step {
        self.set_depth(0);
        self.offer(root, true, V::root)
    }

    fn descend(&mut self, from: Option<&Self::Dir>, entry: &Entry<'_>) -> Self::Dir {
        let root_len = match from {
            Some(from) => from.root_len,
            None => entry.name().len() + usize::from(!entry.name().ends_with(b"/")),
        };
        Tag { root_len, inner: self.inner.descend(from.map(|from| &from.inner), entry) }
    }

    fn enter(&mut self, tag: &Self::Dir, dir: &Directory<'_>) -> Step {
        if self.selection.one_file_system && dir.dev() != dir.root_dev() {
            self.skipped.other_file_systems += 1;
            return Step::Next;
        }
        if dir.is_mount() && dir.is_pseudo() {
            self.skipped.pseudo_file_systems += 1;
            return Step::Next;
        }
        self.set_depth(dir.depth() + 1);
        if self.selection.needs_paths() {
            self.path.clear();
            dir.push_path(&mut self.path);
            if !self.path.ends_with(b"/") {
                self.path.push(b'/');
            }
        }
        self.inner.enter(&tag.inner, dir)
    }

    fn entry(&mut self, tag: &Self::Dir, entry: &mut Entry<'_>) -> Step {
        if self.selection.no_hidden && entry.name().starts_with(b".") {
            self.skipped.hidden += 1;
            return Step::Next;
        }
        if self.is_excluded(tag, entry.name(), entry.file_type()) {
            return Step::Next;
        }
        self.offer(entry, false, |inner, entry| inner.entry(&tag.inner, entry))
    }

    fn leave(&mut self, tag: &Self::Dir) {
        self.inner.leave(&tag.inner);
    }

    fn error(&mut self, error: WalkError) -> Step {
        if error.op == Op::Loop {
            self.skipped.loops += 1;
        }
        self.inner.error(error)
    }
}
