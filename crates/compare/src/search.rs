//! The state that the workers of one search share: the next piece, and the earliest mismatches so far.
//!
//! Workers claim pieces in order. Each compares its piece without knowing whether the pieces before it will
//! already give enough mismatches:
//!
//! ```text
//!  compared ....... claimed by 1 ....... claimed by 2 ....... | not needed any more
//!                                                           bound
//! ```
//!
//! The table keeps the `capacity` earliest mismatches found so far. Once it is full, the offset of its last
//! entry is the bound, and nothing after the bound is needed. The bound only decreases. It never falls below
//! the last mismatch of the final result: every further mismatch only moves the last entry of the table
//! towards it.
//!
//! A worker that reads an old bound compares at most one block too many. This is why the bound needs no lock
//! and no memory ordering. Every block before the final bound is compared, and the result depends on nothing
//! else.

use std::ops::Range;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use super::mismatch::Mismatch;
use super::primitive::{AtomicU64, Mutex};

/// Decides how much is claimed at a time.
///
/// A claim is at most a quarter of the bytes before it, so that little work is wasted if a difference comes
/// early. With several workers it is also at most half a worker's share of the rest, so that all end
/// together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockClaims {
    /// Minimum size of a claim in bytes, above 0. All claims except the last one are multiples of it.
    pub(crate) block: u64,
    /// Maximum size of a claim in bytes.
    pub(crate) max: u64,
    /// The number of workers.
    pub(crate) workers: u64,
}

impl BlockClaims {
    /// Returns the end of the claim that begins at `at`.
    fn end(&self, at: u64, end: u64) -> u64 {
        let left = end - at;
        let share = if self.workers == 1 { left } else { left / (2 * self.workers) };
        let len = (at / 4).min(share).min(self.max);
        at + (len - len % self.block).max(self.block).min(left)
    }
}

/// A search for the earliest mismatches in a range.
#[derive(Debug)]
pub(crate) struct Search {
    end: u64,
    claims: BlockClaims,
    /// Everything before this offset is claimed or known to be equal.
    next: AtomicU64,
    /// Nothing from this offset on is needed.
    bound: AtomicU64,
    capacity: usize,
    earliest: Mutex<Vec<Mismatch>>,
}

impl Search {
    /// Creates a search for the first `capacity` mismatches (at least 1) in `range`.
    pub(crate) fn new(range: Range<u64>, capacity: usize, claims: BlockClaims) -> Self {
        Self {
            end: range.end,
            claims,
            next: AtomicU64::new(range.start),
            bound: AtomicU64::new(range.end),
            capacity,
            earliest: Mutex::new(Vec::new()),
        }
    }

    /// Claims the next piece to compare, if any is needed.
    pub(crate) fn claim(&self) -> Option<Range<u64>> {
        let claim_end = |at| self.claims.end(at, self.end);
        let claim = |at| self.is_needed(at).then(|| claim_end(at));
        let start = self.next.fetch_update(Relaxed, Relaxed, claim).ok()?;
        Some(start..claim_end(start))
    }

    /// Records that the files are equal from the caller's claim up to `offset`, so that no worker claims this
    /// range.
    pub(crate) fn skip_to(&self, offset: u64) {
        self.next.fetch_max(offset, Relaxed);
    }

    /// Whether a mismatch at `offset` or later can be part of the result.
    pub(crate) fn is_needed(&self, offset: u64) -> bool {
        offset < self.bound.load(Relaxed)
    }

    /// Adds mismatches of one block, in ascending order. If the block has more than the table can hold, the
    /// first ones are enough.
    pub(crate) fn insert(&self, found: &[Mismatch]) {
        let mut earliest = self.earliest.lock().unwrap_or_else(PoisonError::into_inner);
        earliest.extend_from_slice(found);
        earliest.sort_by_key(|mismatch| mismatch.offset);
        earliest.truncate(self.capacity);
        if earliest.len() == self.capacity {
            self.bound.fetch_min(earliest[self.capacity - 1].offset, Relaxed);
        }
    }

    /// Ends the search because of an error. Its result must not be used.
    pub(crate) fn give_up(&self) {
        self.bound.fetch_min(0, Relaxed);
    }

    /// Returns the earliest mismatches, by ascending offset. All workers must have ended.
    pub(crate) fn into_earliest(self) -> Vec<Mismatch> {
        self.earliest.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(ftk_loom)))]
mod tests {
    use super::*;

    fn search(range: Range<u64>, capacity: usize) -> Search {
        Search::new(range, capacity, BlockClaims { block: 10, max: 200, workers: 2 })
    }

    fn at(offset: u64) -> Mismatch {
        Mismatch { offset, a: 0, b: 1 }
    }

    #[test]
    fn claims_cover_the_range_grow_and_shrink() {
        let search = search(5..2003, 1);
        let claims: Vec<_> = std::iter::from_fn(|| search.claim()).collect();
        assert_eq!(claims[0], 5..15);
        assert!(claims.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(claims.last().unwrap().end, 2003);
        assert!(claims.iter().all(|claim| (claim.end - claim.start) % 10 == 0 || claim.end == 2003));
        assert!(claims.iter().all(|claim| claim.end - claim.start <= 200));
        assert!(claims.iter().any(|claim| claim.end - claim.start == 200));
        assert!(claims.last().unwrap().clone().count() <= 20);
    }

    #[test]
    fn only_the_earliest_mismatches_are_kept() {
        let search = search(0..1000, 3);
        search.insert(&[at(500), at(600)]);
        assert!(search.is_needed(999));
        search.insert(&[at(400), at(401), at(402)]);
        assert!(search.is_needed(401) && !search.is_needed(402));
        search.insert(&[at(7)]);
        assert!(!search.is_needed(401));
        while search.claim().is_some_and(|claim| claim.start < 401) {}
        assert_eq!(search.claim(), None);
        assert_eq!(search.into_earliest(), [at(7), at(400), at(401)]);
    }

    #[test]
    fn ranges_known_to_be_equal_are_not_claimed() {
        let search = search(0..1000, 1);
        assert_eq!(search.claim(), Some(0..10));
        search.skip_to(700);
        search.skip_to(300);
        assert_eq!(search.claim().unwrap().start, 700);
        search.skip_to(u64::MAX);
        assert_eq!(search.claim(), None);
    }

    #[test]
    fn giving_up_ends_the_search() {
        let search = search(0..1000, 1);
        search.give_up();
        search.insert(&[at(3)]);
        assert_eq!(search.claim(), None);
    }
}
