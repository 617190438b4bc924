//! Which files must be read to verify a tree.

use std::cell::RefCell;
use std::ops::ControlFlow;

use ftk_inventory::{Budget, FileNo, LinkPairs, LinkSplits, Opener, Reservation};

use crate::aligned::{Aligned, Spelling};
use crate::entry::LinkGroup;
use crate::keys::Keys;
use crate::moves::Evidence;
use crate::shift::RecordedTimes;
use crate::verdict::compares_links;
use crate::walked_tree::WalkedTree;
use crate::{Contents, Criteria, Error, Field, Manifest, Shift};

/// The files that must be read to verify a tree, and the files that are missing.
///
/// The plan is made in one pass over manifest and tree. For what is the same in both it keeps only the
/// numbers of files. Paths in the manifest are never opened: only entries that the walk found are read, and a
/// recorded path that the walk did not find is missing.
#[derive(Debug)]
pub struct VerifyPlan<'p> {
    /// The manifest and the tree, in the spelling of the manifest.
    pub(super) aligned: Aligned<'p>,
    pub(super) criteria: &'p Criteria,
    /// Whether contents are compared at all.
    pub(super) reads: bool,
    /// Files to be read that are regular files in the manifest and in the tree, ascending.
    pairs: Vec<FileNo>,
    /// The contents of missing regular files, in path order.
    pub(super) missing: Keys,
    /// Regular files of the tree that are not in the manifest and that may be missing files at a new path:
    /// they have the size of a missing file, or their size cannot be read. In path order.
    pub(super) candidates: Vec<FileNo>,
    times: RecordedTimes,
    /// Whether a recorded file has several names.
    pub(super) has_links: bool,
    /// The names that were compared so far.
    pub(super) links: RefCell<LinkPairs<LinkGroup, (u64, u64)>>,
    pub(super) budget: &'p Budget,
}

/// Files to be read and judged together.
#[derive(Debug)]
pub struct Batch {
    /// The files, ascending.
    pub files: Vec<FileNo>,
    /// Whether this batch also judges everything for which no file has to be read.
    pub(super) is_first: bool,
    /// Whether this batch judges missing regular files, and the candidates that may be the same files at a
    /// new path. The candidates are then part of `files`.
    pub(super) has_moves: bool,
}

/// The number of files in the first batch if the run ends at the first difference.
const FIRST: usize = 256;

/// The growth factor of later batches. Each batch costs one pass over the manifest; growing batches keep that
/// cost small if the difference comes late.
const GROWTH: usize = 8;

impl<'p> VerifyPlan<'p> {
    /// Goes through the manifest and the tree, without reading files.
    ///
    /// The walk must have kept the metadata of everything except regular files. It should also have kept that
    /// of regular files if the criteria [need it](Criteria::needs_stats).
    ///
    /// # Errors
    /// When the manifest cannot be read or has an invalid line, or the lists of files do not fit into the
    /// budget.
    pub fn new(
        manifest: &'p Manifest,
        tree: &WalkedTree<'p>,
        criteria: &'p Criteria,
        budget: &'p Budget,
    ) -> Result<Self, Error> {
        let header = manifest.header();
        let reads = criteria.compares(Field::Digests) && !header.algorithms.is_empty();
        let pass = |aligned: &Aligned<'_>| Lists::new(aligned, criteria, budget);
        let (aligned, lists) = Aligned::new(
            manifest,
            tree,
            Spelling::Manifest,
            criteria.part.clone(),
            budget,
            pass,
            Lists::release,
        )?;
        let Lists { mut pairs, missing, mut candidates, times, has_links, .. } = lists;
        pairs.sort_unstable();
        let (inventory, mut opener) = (tree.inventory, Opener::new(tree.inventory));
        let mut size = |file| {
            let dir = inventory.dir_of(file);
            match inventory.has_sizes() {
                true => Some(inventory.size(dir, file)),
                false => opener.stat_file(dir, file).ok().map(|stat| stat.size),
            }
        };
        if let Some(sizes) = missing.sizes() {
            candidates.retain(|&file| {
                !sizes.is_empty() && size(file).is_none_or(|size| sizes.binary_search(&size).is_ok())
            });
        }
        let links = RefCell::new(LinkPairs::new(budget));
        Ok(Self { aligned, criteria, reads, pairs, missing, candidates, times, has_links, links, budget })
    }

    /// Finds out whether the times have shifted, if this batch has all files. A part of them does not show it.
    pub(super) fn shift(&self, batch: &Batch, contents: &Contents<'_>) -> Result<Option<Shift>, Error> {
        match self.has_all(batch) {
            true => Shift::find(&self.times, &self.aligned, contents, self.budget),
            false => Ok(None),
        }
    }

    /// Returns the number of files with several recorded names if the tree has no hard links, as after a copy without them,
    /// and this batch has all files. Otherwise 0.
    pub(super) fn split_links(&self, batch: &Batch, contents: &Contents<'_>) -> Result<u64, Error> {
        if !self.has_links || !self.has_all(batch) || !self.criteria.compares(Field::LinkGroup) {
            return Ok(0);
        }
        let mut splits = LinkSplits::new(self.budget);
        self.aligned.merge(|old, new| {
            if let (Some(old), Some(new)) = (old, new)
                && compares_links(&old.entry(), new.seen.file_type)
                && self.criteria.compares_of(&old.entry(), Field::LinkGroup)
                && let Some(group) = old.entry().links()
                && let Some(stat) = contents.stat_of(&new.seen)
            {
                splits.add(group.map(LinkGroup::from), stat.linked_identity())?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(splits.separate().unwrap_or(0))
    }

    fn has_all(&self, batch: &Batch) -> bool {
        batch.files.len() == self.pairs.len() + self.candidates.len()
    }

    /// Returns the files to read and then to [judge](Self::verify), in this order: one batch, or, if the run
    /// ends at the first difference, a small batch followed by larger and larger ones.
    ///
    /// In the second case, the candidates for moved files form the second batch: they are certain to be
    /// differences, but finding out which ones moved may require many reads.
    pub fn batches(&self, exit_on_first: bool) -> Vec<Batch> {
        let mut candidates = self.candidates.clone();
        candidates.sort_unstable();
        if !exit_on_first {
            let mut files = [&*self.pairs, &candidates].concat();
            files.sort_unstable();
            return vec![Batch { files, is_first: true, has_moves: true }];
        }
        let (first, mut rest) = self.pairs.split_at(FIRST.min(self.pairs.len()));
        let has_moves = candidates.is_empty();
        let mut batches = vec![Batch { files: first.to_vec(), is_first: true, has_moves }];
        if !has_moves {
            batches.push(Batch { files: candidates, is_first: false, has_moves: true });
        }
        let mut size = FIRST;
        while !rest.is_empty() {
            size = size.saturating_mul(GROWTH);
            let files = rest.split_off(..size.min(rest.len())).expect("no more than there are").to_vec();
            batches.push(Batch { files, is_first: false, has_moves: false });
        }
        batches
    }
}

/// What a pass over a manifest and a tree finds.
struct Lists {
    pairs: Vec<FileNo>,
    missing: Keys,
    candidates: Vec<FileNo>,
    times: RecordedTimes,
    has_links: bool,
    reserved: Reservation,
}

impl Lists {
    /// Goes through both.
    fn new(aligned: &Aligned<'_>, criteria: &Criteria, budget: &Budget) -> Result<Self, Error> {
        let header = aligned.manifest.header();
        let reads = criteria.compares(Field::Digests) && !header.algorithms.is_empty();
        let mut lists = Self {
            pairs: Vec::new(),
            missing: Keys::new(header.digests_len(), budget),
            candidates: Vec::new(),
            times: RecordedTimes::new(budget),
            has_links: false,
            reserved: Reservation::new(budget),
        };
        aligned.merge(|old, new| {
            if let (Some(old), Some(new)) = (&old, &new) {
                lists.times.add(&old.entry(), &new.seen)?;
            }
            lists.has_links |= old.as_ref().is_some_and(|old| old.entry().link_group.is_some());
            let file = new.as_ref().and_then(|new| new.seen.file);
            match (old, file) {
                _ if !reads => {}
                (Some(old), Some(file)) => {
                    let old = old.entry();
                    if old.stat.is_regular() && criteria.reads(&old) {
                        lists.reserved.consume(size_of::<FileNo>() as u64)?;
                        lists.pairs.push(file);
                    }
                }
                (Some(old), None) => {
                    let old = old.entry();
                    let is_known = !aligned.failed.covers(old.path) && !header.failed.covers(old.path);
                    if new.is_none() && old.stat.is_regular() && is_known {
                        lists.missing.push_file([old.digests], old.size(), Evidence::recorded(&old))?;
                    }
                }
                (None, Some(file)) if !new.is_some_and(|new| header.failed.covers(&new.seen.path)) => {
                    lists.reserved.consume(size_of::<FileNo>() as u64)?;
                    lists.candidates.push(file);
                }
                (None, _) => {}
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(lists)
    }

    /// Returns the memory to the budget.
    fn release(self) {
        self.missing.release();
        self.times.release();
        self.reserved.release();
    }
}
