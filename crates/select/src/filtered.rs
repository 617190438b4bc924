//! A selection before a visitor.

use std::sync::Arc;

use ftk_walk::{Directory, Entry, FileType, Op, Repeat, Step, Visitor, WalkError};

use crate::ignoring::IgnoreRules;
use crate::{Selection, Skipped};

/// A visitor that shows another one only what a selection takes.
///
/// Listing and descending are decided apart: a directory that fails the tests is not shown, but walked all the
/// same. One that is shown is walked if the inner visitor answers [`Step::Descend`]. Exclusions, ignore files,
/// hidden names, depth and file systems bound the walk. Starting points are not subject to exclusions and ignore
/// files, nor left out for a hidden name, since they were asked for by name; everything else holds for them too.
#[derive(Debug)]
pub struct Filtered<'s, V> {
    selection: &'s Selection,
    inner: V,
    skipped: Skipped,
    /// Whether the depth of the entries being listed lies within the bounds for listing and for descending.
    lists: bool,
    descends: bool,
    /// Where paths are needed, that of the directory being listed with a slash behind it: below the root, and in
    /// front of that what the ignore files above the root must see.
    path: Vec<u8>,
    above_root: usize,
    /// What the ignore files say that count in the directory being listed.
    rules: Option<Arc<IgnoreRules>>,
}

/// A directory that waits to be listed.
#[derive(Debug)]
pub struct Tag<D> {
    /// Bytes of the root and the slash behind it at the front of every path below it.
    root_len: usize,
    /// Those of the directory it lies in, or for a root those above it.
    rules: Option<Arc<IgnoreRules>>,
    inner: D,
}

impl<'s, V: Visitor> Filtered<'s, V> {
    /// Puts `selection` before `inner`.
    pub fn new(selection: &'s Selection, inner: V) -> Self {
        let (skipped, path) = (Skipped::default(), Vec::new());
        Self { selection, inner, skipped, lists: false, descends: false, path, above_root: 0, rules: None }
    }

    /// The visitor, and how much was left out.
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
        let taken = match self.matches(entry, is_root) {
            Ok(taken) => taken,
            // The walk will say the same when it enters the directory.
            Err(error) if error.op == Op::Open && self.descends => false,
            Err(error) => {
                if self.inner.error(error) == Step::Stop {
                    return Step::Stop;
                }
                false
            }
        };
        let is_counted = !is_root || entry.file_type() != FileType::Directory;
        self.skipped.matched += u64::from(taken && is_counted);
        let step = if taken { show(&mut self.inner, entry) } else { Step::Descend };
        if step == Step::Descend && !self.descends { Step::Next } else { step }
    }

    fn matches(&mut self, entry: &mut Entry<'_>, is_root: bool) -> Result<bool, WalkError> {
        if !self.lists || !self.selection.matches(entry, is_root, self.below_root())? {
            if !is_root || entry.file_type() != FileType::Directory {
                self.count_filtered(entry);
            }
            return Ok(false);
        }
        let is_own = !self.selection.own.is_empty() && self.selection.is_own(entry)?;
        self.skipped.own_output += u64::from(is_own);
        Ok(!is_own)
    }

    fn count_filtered(&mut self, entry: &Entry<'_>) {
        match entry.file_type() {
            FileType::Regular => self.skipped.filtered_files += 1,
            _ => self.skipped.filtered_others += 1,
        }
    }

    /// The path below the root, where paths are needed.
    fn below_root(&self) -> &[u8] {
        &self.path[self.above_root..]
    }

    /// Whether the entry is left out with all below it.
    fn is_pruned(&mut self, entry: &Entry<'_>) -> bool {
        if let Some(excluded) = &self.selection.excluded
            && excluded.matches(entry.name(), self.below_root(), entry.file_type())
        {
            self.count_filtered(entry);
            return true;
        }
        let Some(rules) = &self.rules else { return false };
        let ignored = rules.ignore(&self.path, entry.file_type() == FileType::Directory);
        self.skipped.ignored += u64::from(ignored);
        ignored
    }

    /// Puts the path of a directory together and reads its ignore files.
    fn look_into(&mut self, tag: &Tag<V::Dir>, dir: &Directory<'_>) -> Step {
        self.path.clear();
        dir.push_path(&mut self.path);
        if !self.path.ends_with(b"/") {
            self.path.push(b'/');
        }
        let above = tag.rules.as_ref().map_or(&b""[..], |rules| rules.above_root());
        self.above_root = above.len();
        self.path.splice(..tag.root_len, above.iter().copied());
        if !self.selection.ignore_files {
            return Step::Descend;
        }
        let (rules, errors) = IgnoreRules::of(dir, tag.rules.as_ref(), self.path.len());
        self.rules = rules;
        self.report(errors)
    }

    fn report(&mut self, errors: Vec<WalkError>) -> Step {
        let stops = errors.into_iter().any(|error| self.inner.error(error) == Step::Stop);
        if stops { Step::Stop } else { Step::Descend }
    }
}

impl<V: Visitor> Visitor for Filtered<'_, V> {
    type Dir = Tag<V::Dir>;

    fn root(&mut self, root: &mut Entry<'_>) -> Step {
        self.set_depth(0);
        if self.selection.ignore_files && root.file_type() == FileType::Directory {
            let (rules, errors) = IgnoreRules::above(root.name_c());
            self.rules = rules;
            if self.report(errors) == Step::Stop {
                return Step::Stop;
            }
        }
        if !self.descends && root.file_type() == FileType::Directory {
            self.skipped.filtered_others += 1;
        }
        self.offer(root, true, V::root)
    }

    fn descend(&mut self, from: Option<&Self::Dir>, entry: &Entry<'_>) -> Self::Dir {
        let (root_len, rules) = match from {
            Some(from) => (from.root_len, self.rules.clone()),
            None => {
                let slash = usize::from(!entry.name().ends_with(b"/"));
                (entry.name().len() + slash, self.rules.take())
            }
        };
        Tag { root_len, rules, inner: self.inner.descend(from.map(|from| &from.inner), entry) }
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
        if self.selection.own.contains(&(dir.dev(), dir.ino())) {
            self.skipped.own_output += 1;
            return Step::Next;
        }
        self.set_depth(dir.depth() + 1);
        if self.selection.needs_paths && self.look_into(tag, dir) == Step::Stop {
            return Step::Stop;
        }
        self.inner.enter(&tag.inner, dir)
    }

    fn entry(&mut self, tag: &Self::Dir, entry: &mut Entry<'_>) -> Step {
        if self.selection.no_hidden && entry.name().starts_with(b".") {
            self.skipped.hidden += 1;
            return Step::Next;
        }
        let dir_len = self.path.len();
        if self.selection.needs_paths {
            self.path.extend_from_slice(entry.name());
        }
        let step = if self.is_pruned(entry) {
            Step::Next
        } else {
            self.offer(entry, false, |inner, entry| inner.entry(&tag.inner, entry))
        };
        self.path.truncate(dir_len);
        step
    }

    fn leave(&mut self, tag: &Self::Dir) {
        self.inner.leave(&tag.inner);
    }

    fn covered(&mut self) {
        self.skipped.covered += 1;
        self.inner.covered();
    }

    fn again(&mut self, repeat: &Repeat<'_>) {
        self.skipped.repeated += 1;
        self.inner.again(repeat);
    }

    fn error(&mut self, error: WalkError) -> Step {
        if error.op == Op::Loop {
            self.skipped.loops += 1;
        }
        self.inner.error(error)
    }
}
