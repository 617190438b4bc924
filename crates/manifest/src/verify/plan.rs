//! What of a tree has to be read to hold it against a manifest.

use std::ops::ControlFlow;

use ftk_inventory::{Budget, FileNo};

use super::look::Look;
use crate::keys::{Keys, Reservation};
use crate::merge::merge;
use crate::walked_tree::{Failed, WalkedTree};
use crate::{Criteria, Error, Field, Manifest};

/// What has to be read to hold a tree against a manifest, and what is gone from it. Made by going through both side by
/// side; of what is the same in both nothing is kept but the numbers of files.
///
/// Nothing that the manifest says leads anywhere: the tree is what was walked, and a path that was not is missing.
#[derive(Debug)]
pub struct VerifyPlan<'p> {
    pub(super) manifest: &'p Manifest,
    pub(super) tree: WalkedTree<'p>,
    pub(super) rules: &'p Criteria,
    pub(super) failed: Failed,
    /// Whether contents are compared at all.
    pub(super) reads: bool,
    /// Files that are regular in both and to be read, ascending.
    pairs: Vec<FileNo>,
    /// The contents of regular files that are gone, by path.
    pub(super) gone: Keys,
    /// Regular files that are new and as large as one that is gone, by path.
    pub(super) candidates: Vec<FileNo>,
    pub(super) budget: &'p Budget,
}

/// Files to be read and judged together.
#[derive(Debug)]
pub struct Batch {
    /// The files, ascending.
    pub files: Vec<FileNo>,
    /// Whether all that needs no reading is judged with them.
    pub(super) is_first: bool,
    /// Whether regular files that are gone are judged with them, and those that are where they may have gone, which are
    /// among the files then.
    pub(super) has_moves: bool,
}

/// Files in the first batch when the first difference ends it all, and by how many times each further one is larger:
/// the manifest is read once for each, and a difference at the end has cost little more than it must.
const FIRST: usize = 256;
const GROWTH: usize = 8;

impl<'p> VerifyPlan<'p> {
    /// Goes through the manifest and the tree, reading no file.
    ///
    /// The walk must have kept what `stat` says of everything that is no regular file, and should have of regular files
    /// too if the rules [need it](Criteria::needs_stats).
    ///
    /// # Errors
    /// When the manifest cannot be read, holds what a manifest may not, or what is gone does not fit into the budget.
    pub fn new(
        manifest: &'p Manifest,
        tree: &WalkedTree<'p>,
        rules: &'p Criteria,
        budget: &'p Budget,
    ) -> Result<Self, Error> {
        let header = manifest.header();
        let reads = rules.compares(Field::Digests) && !header.algorithms.is_empty();
        let tree = *tree;
        let failed = Failed::of(&tree);
        let mut gone = Keys::new(header.digests_len(), budget);
        let (mut pairs, mut candidates) = (Vec::new(), Vec::new());
        let mut reserved = Reservation::new(budget);
        merge(&mut manifest.entries()?, &mut tree.walk(), |old, new| {
            let file = new.as_ref().and_then(|new| new.seen.file);
            match (old, file) {
                _ if !reads => {}
                (Some(old), Some(file)) => {
                    let old = old.entry();
                    if old.stat.is_regular() && rules.reads(&old) {
                        reserved.consume(size_of::<FileNo>() as u64)?;
                        pairs.push(file);
                    }
                }
                (Some(old), None) => {
                    let old = old.entry();
                    if new.is_none() && old.stat.is_regular() && !failed.covers(old.path) {
                        gone.push([old.digests], old.stat.size)?;
                    }
                }
                (None, Some(file)) => {
                    reserved.consume(size_of::<FileNo>() as u64)?;
                    candidates.push(file);
                }
                (None, None) => {}
            }
            Ok(ControlFlow::Continue(()))
        })?;
        pairs.sort_unstable();
        let sizes = gone.sizes();
        let mut look = Look::new(tree.inventory);
        candidates.retain(|&file| {
            !sizes.is_empty() && look.size(file).is_none_or(|size| sizes.binary_search(&size).is_ok())
        });
        Ok(Self { manifest, tree, rules, failed, reads, pairs, gone, candidates, budget })
    }

    /// What to read, and then to [judge](Self::verify), in this order: everything at once, or, where the first
    /// difference ends it all, a little first and then more and more. What may have moved comes second: it differs in
    /// any case, but which files have to be read to know how may be many.
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
