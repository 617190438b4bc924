//! A walk that returns its entries in order.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::mem;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{Number, path_order};
use crate::dir_entry::Copier;
use crate::{DirEntry, Directory, Entry, Filter, Step, Visitor, WalkError, Walker};

/// An entry of a listing.
struct Found {
    /// The first bytes of the name, most significant first. Most names differ there, and are not compared further.
    key: u64,
    entry: DirEntry,
    /// The number of its own listing, if this is a directory that is entered. The starting points have the number 0.
    below: Option<NonZero<Number>>,
}

impl Found {
    fn new(entry: DirEntry) -> Self {
        let name = entry.file_name().as_bytes();
        let mut key = [0; size_of::<u64>()];
        let len = name.len().min(key.len());
        key[..len].copy_from_slice(&name[..len]);
        Self { key: u64::from_be_bytes(key), entry, below: None }
    }

    fn cmp_names(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| self.entry.file_name().cmp(other.entry.file_name()))
    }
}

/// The number of the listing that has the starting points.
const STARTING_POINTS: Number = 0;

/// The listings of one worker.
struct Listings<'n> {
    next: &'n AtomicUsize,
    copier: Copier,
    current: Vec<Found>,
    finished: Vec<(Number, Vec<Found>)>,
    errors: Vec<WalkError>,
}

impl Visitor for Listings<'_> {
    type Dir = Number;

    fn entry(&mut self, _: Option<&Number>, entry: &mut Entry<'_>) -> Step {
        self.current.push(Found::new(self.copier.copy(entry)));
        Step::Descend
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Next
    }

    fn shares_directories(&self) -> bool {
        true
    }

    fn descend(&mut self, _: Option<&Number>, _: &mut Entry<'_>) -> Number {
        let number = self.next.fetch_add(1, Relaxed);
        if let Some(found) = self.current.last_mut() {
            found.below = NonZero::new(number);
        }
        number
    }

    fn enter(&mut self, _: &Number, dir: &Directory<'_>) -> Step {
        self.copier.enter(dir);
        // Worker 0 still has the starting points when it enters its first directory.
        self.finish(STARTING_POINTS);
        Step::Descend
    }

    fn leave(&mut self, number: &Number) {
        self.finish(*number);
    }
}

impl<'n> Listings<'n> {
    fn new(next: &'n AtomicUsize) -> Self {
        Self { next, copier: Copier::default(), current: vec![], finished: vec![], errors: vec![] }
    }

    fn finish(&mut self, number: Number) {
        if !self.current.is_empty() {
            let mut listing: Vec<_> = self.current.drain(..).collect();
            listing.sort_unstable_by(Found::cmp_names);
            self.finished.push((number, listing));
        }
    }
}

impl<F: Filter> Walker<F> {
    /// Walks, and returns all entries in path order, and all errors.
    ///
    /// Paths are ordered component by component, as [`Path`](std::path::Path) orders them: `a/b` comes before `a.c`. Errors are in the same order. The entries have
    /// metadata if [`prefetch`](Self::prefetch) asks for it. The whole list is in memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use ftk_walk::{Fields, Walker};
    ///
    /// let (entries, errors) = Walker::new(["src"]).prefetch(Fields::SIZE | Fields::MTIME).collect_sorted();
    /// assert!(errors.is_empty() && entries.is_sorted_by_key(|entry| entry.path().to_owned()));
    /// let size = |entry: &ftk_walk::DirEntry| entry.metadata().map(|metadata| metadata.size);
    /// assert!(entries.iter().all(|entry| size(entry).is_some()));
    /// ```
    pub fn collect_sorted(self) -> (Vec<DirEntry>, Vec<WalkError>) {
        let next = AtomicUsize::new(STARTING_POINTS + 1);
        let parts = self.run(|_| Listings::new(&next));
        let mut listings: Vec<_> = (0..next.load(Relaxed)).map(|_| Vec::new()).collect();
        let (mut errors, mut in_parts) = (Vec::new(), BTreeSet::new());
        for mut part in parts {
            part.finish(STARTING_POINTS);
            for (number, mut listing) in part.finished {
                // Several workers may have listed parts of one directory.
                let parts: &mut Vec<Found> = &mut listings[number];
                if parts.is_empty() {
                    mem::swap(parts, &mut listing);
                } else {
                    parts.append(&mut listing);
                    in_parts.insert(number);
                }
            }
            errors.append(&mut part.errors);
        }
        in_parts.into_iter().for_each(|number| listings[number].sort_by(Found::cmp_names));
        errors.sort_by(|a, b| path_order(&a.path, &b.path));
        let starting_points = mem::take(&mut listings[STARTING_POINTS]);
        let is_one_tree = starting_points.len() == 1;
        let mut entries = Vec::with_capacity(listings.iter().map(Vec::len).sum());
        let mut open = vec![starting_points.into_iter()];
        while let Some(listing) = open.last_mut() {
            let Some(Found { entry, below, .. }) = listing.next() else {
                open.pop();
                continue;
            };
            entries.push(entry);
            open.extend(below.map(|number| mem::take(&mut listings[number.get()]).into_iter()));
        }
        if !is_one_tree {
            // Each tree is in order. The sort only merges trees that overlap.
            entries.sort_by(|a, b| path_order(a.path_bytes(), b.path_bytes()));
        }
        (entries, errors)
    }
}
