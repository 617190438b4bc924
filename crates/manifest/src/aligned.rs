//! A manifest and a tree, merged by path.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use ftk_inventory::{Budget, Candidates, MovedEntries, Spellings, Unpaired};

use crate::entry::{key, path_of_key};
use crate::kept::{Keeps, Kept, MergeStep, Raw};
use crate::merge::{Side as _, merge};
use crate::respelled::{AlignedEntries, Respelled};
use crate::walked_tree::{Walk, WalkedTree};
use crate::{Error, Examination, Failed, Manifest, Selector};

/// Whose spelling a name gets that a manifest and a tree spell in different normal forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// For commands that compare with the manifest or keep its paths.
    Manifest,
    /// For commands that write the present paths, or change the tree.
    Tree,
}

/// A manifest and a tree. Names that differ only in their Unicode normal form are pairs, and so is what is below them.
#[derive(Debug)]
pub(crate) struct Aligned<'t> {
    pub(crate) manifest: &'t Manifest,
    pub(crate) tree: WalkedTree<'t>,
    /// The paths that could not be read, in the common spelling.
    pub(crate) failed: Failed,
    spelling: Spelling,
    /// The names that get another spelling.
    spellings: Spellings,
    /// The entries of the tree that get another spelling.
    moved: Option<MovedEntries>,
    /// The entries of the manifest that get another spelling.
    respelled: Option<Respelled>,
    /// Paths that only one side has, during the first pass.
    unpaired: RefCell<Option<Unpaired>>,
    /// The entries that are merged; `None`: all.
    part: Option<Selector>,
    /// How many entries were outside this part in the last pass.
    unselected: Cell<u64>,
}

impl<'t> Aligned<'t> {
    /// Calls `pass`, which must [merge](Self::merge) both sides once. If this shows names to pair, their result is passed to
    /// `release`, which returns its memory to the budget, and `pass` is called again. Returns the last result.
    ///
    /// # Errors
    /// When `pass` fails, when the manifest cannot be read, or when the pairs do not fit into the budget.
    pub(crate) fn new<T>(
        manifest: &'t Manifest,
        tree: &WalkedTree<'t>,
        spelling: Spelling,
        part: Option<Selector>,
        budget: &Budget,
        mut pass: impl FnMut(&Self) -> Result<T, Error>,
        release: impl FnOnce(T),
    ) -> Result<(Self, T), Error> {
        let mut aligned = Self {
            manifest,
            tree: *tree,
            failed: Failed::of(tree),
            spelling,
            spellings: Spellings::default(),
            moved: None,
            respelled: None,
            unpaired: RefCell::new(Some(Unpaired::new(budget))),
            part,
            unselected: Cell::new(0),
        };
        let found = pass(&aligned)?;
        let candidates = aligned.unpaired.take().and_then(|unpaired| unpaired.candidates(budget));
        if let Some(candidates) = candidates
            && aligned.align(candidates, budget)?
        {
            release(found);
            let found = pass(&aligned)?;
            return Ok((aligned, found));
        }
        Ok((aligned, found))
    }

    /// Pairs names. Returns whether there are any to pair.
    fn align(&mut self, candidates: Candidates, budget: &Budget) -> Result<bool, Error> {
        let mut candidates = candidates;
        self.merge(|old, new| {
            let sides = match self.spelling {
                Spelling::Manifest => [old.is_some(), new.is_some()],
                Spelling::Tree => [new.is_some(), old.is_some()],
            };
            let path = old.as_ref().map(|old| old.path()).or(new.as_ref().map(|new| new.path()));
            candidates.add(sides, key(path.unwrap_or_default()))?;
            Ok(ControlFlow::Continue(()))
        })?;
        let spellings = candidates.pair()?;
        if spellings.is_empty() {
            return Ok(false);
        }
        match self.spelling {
            Spelling::Manifest => {
                let tree = self.tree;
                let moved = tree.inventory.relocate(&spellings, |path| key(tree.relative(path)), budget)?;
                self.moved = Some(moved);
                let failed = tree.failed.iter().map(|path| key(tree.relative(path)).to_vec());
                let mut failed: Vec<_> = failed.collect();
                spellings.align_all(&mut failed, budget)?;
                self.failed = Failed::new(failed.iter().map(|path| path_of_key(path).to_vec()).collect());
            }
            Spelling::Tree => {
                self.respelled = Some(Respelled::new(self.manifest, None, &spellings, budget)?);
            }
        }
        self.spellings = spellings;
        Ok(true)
    }

    /// Returns the number of names that differ in their normal form.
    pub(crate) fn respelled(&self) -> u64 {
        let moved = self.moved.as_ref().map(MovedEntries::respelled);
        moved.or(self.respelled.as_ref().map(Respelled::names)).unwrap_or(0)
    }

    /// Returns the number of entries that are outside the part.
    pub(crate) fn unselected(&self) -> u64 {
        self.unselected.get()
    }

    /// Returns recorded paths in the common spelling.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(crate) fn recorded(
        &self,
        paths: &BTreeSet<Vec<u8>>,
        budget: &Budget,
    ) -> Result<BTreeSet<Vec<u8>>, Error> {
        let mut paths: Vec<_> = paths.iter().cloned().collect();
        if self.spelling == Spelling::Tree {
            self.spellings.align_all(&mut paths, budget)?;
        }
        Ok(paths.into_iter().collect())
    }

    /// Returns paths of the common spelling in that of the manifest.
    ///
    /// # Errors
    /// When the manifest cannot be read or has changed.
    pub(crate) fn recorded_paths<T>(
        &self,
        mut paths: BTreeMap<Vec<u8>, T>,
    ) -> Result<BTreeMap<Vec<u8>, T>, Error> {
        if self.respelled.is_some() {
            let (mut entries, mut found) = (self.entries()?, Vec::new());
            while entries.advance()? {
                if let Some(spelled) = entries.spelled()
                    && let Some(value) = paths.remove(entries.path())
                {
                    found.push((spelled.own_path.to_vec(), value));
                }
            }
            paths.extend(found);
        }
        Ok(paths)
    }

    /// Returns the entries of the manifest, in the common spelling.
    pub(crate) fn entries(&self) -> Result<AlignedEntries<'_>, Error> {
        let entries = self.manifest.entries()?;
        Ok(AlignedEntries::new(entries, self.manifest, self.respelled.as_ref()))
    }

    /// Returns the entries of the tree, in the common spelling.
    pub(crate) fn walk(&self) -> Walk<'_> {
        self.tree.walk_with(self.moved.as_ref())
    }

    /// Merges both sides: entries with the same path, in the common spelling, are passed to `each` together, if they belong to
    /// the part.
    ///
    /// # Errors
    /// When `each` fails, or the manifest cannot be read.
    pub(crate) fn merge(
        &self,
        mut each: impl FnMut(
            Option<&mut AlignedEntries<'_>>,
            Option<&mut Walk<'_>>,
        ) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        self.unselected.set(0);
        merge(&mut self.entries()?, &mut self.walk(), |old, new| {
            if let Some(part) = &self.part {
                let selects = match (&old, &new) {
                    (_, Some(new)) => part.selects(new.path(), new.seen.file_type),
                    (Some(old), None) => part.selects(old.path(), old.entry().stat.file_type),
                    (None, None) => true,
                };
                if !selects {
                    self.unselected.set(self.unselected.get() + 1);
                    return Ok(ControlFlow::Continue(()));
                }
            }
            self.note_unpaired(old.as_deref(), new.as_deref())?;
            each(old, new)
        })
    }

    /// Merges both sides like [`merge`](Self::merge), all entries. Old records that an update keeps because they were not
    /// examined need not be parsed.
    ///
    /// # Errors
    /// When `each` fails, or the manifest cannot be read.
    pub(crate) fn merge_kept<'m>(
        &'m self,
        examination: Option<&Examination>,
        raw: Raw,
        each: &mut dyn FnMut(MergeStep<'_, 'm, 'm>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let is_first = self.unpaired.borrow().is_some();
        let raw = if is_first && raw == Raw::Skip { Raw::SkipAscii } else { raw };
        Kept::new(examination, raw).merge(&mut self.entries()?, &mut self.walk(), &mut |step| {
            if let MergeStep::Entries(old, new, keeps) = &step {
                // A kept record is not missing: its path was not looked at.
                let old = old.as_deref().filter(|_| *keeps == Keeps::No || new.is_some());
                self.note_unpaired(old, new.as_deref())?;
            }
            each(step)
        })
    }

    /// Notes a path that only one side has, in the first pass.
    fn note_unpaired(&self, old: Option<&AlignedEntries<'_>>, new: Option<&Walk<'_>>) -> Result<(), Error> {
        if let Some(unpaired) = &mut *self.unpaired.borrow_mut() {
            match (old, new) {
                (Some(old), None) => unpaired.add(0, key(old.path()))?,
                (None, Some(new)) => unpaired.add(1, key(new.path()))?,
                _ => {}
            }
        }
        Ok(())
    }
}
