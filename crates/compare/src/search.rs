//! What the workers of one search share: which piece is next, and the earliest mismatches so far.
//!
//! Everybody claims pieces in order and looks ahead of the others, not knowing whether it will be needed:
//!
//! ```text
//!  compared ....... claimed by 1 ....... claimed by 2 ....... | not needed any more
//!                                                           bound
//! ```
//!
//! The table holds so many mismatches at most, the earliest. Once it is full, the last of them is the bound, and
//! nothing behind it is needed. The bound only falls, and it never falls below the last mismatch that belongs into the
//! result, since the table is full of ones that are no later than those which are still to be found. So a bound that
//! was read too early costs a block and no more, and needs no lock and no ordering: every block before the final bound
//! was compared, whoever did it and when, and the result depends on nothing else.

use std::ops::Range;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use super::mismatch::Mismatch;
use super::primitive::{AtomicU64, Mutex};

/// How much is claimed at a time.
///
/// A claim is a quarter of what is known to be equal by then, so that no more is done in vain when a difference comes
/// early; and at most half a worker's share of what is left, so that all end together, if there are several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockClaims {
    /// The least, unless it is the last one, in bytes; above 0. All are multiples of it.
    pub(crate) block: u64,
    /// The most.
    pub(crate) most: u64,
    /// How many workers claim.
    pub(crate) workers: u64,
}

impl BlockClaims {
    /// Where the claim ends that begins at `at`.
    fn end(&self, at: u64, end: u64) -> u64 {
        let left = end - at;
        let share = if self.workers == 1 { left } else { left / (2 * self.workers) };
        let len = (at / 4).min(share).min(self.most);
        at + (len - len % self.block).max(self.block).min(left)
    }
}

/// A search for the earliest mismatches in a range.
#[derive(Debug)]
pub(crate) struct Search {
    end: u64,
    claims: BlockClaims,
    /// Everything before is claimed, or known to be equal.
    next: AtomicU64,
    /// From here on nothing is needed.
    bound: AtomicU64,
    capacity: usize,
    earliest: Mutex<Vec<Mismatch>>,
}

impl Search {
    /// For the first `capacity` mismatches (at least 1) in `range`.
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

    /// The next piece to be compared, if any is needed.
    pub(crate) fn claim(&self) -> Option<Range<u64>> {
        let claim_end = |at| self.claims.end(at, self.end);
        let claim = |at| self.is_needed(at).then(|| claim_end(at));
        let start = self.next.fetch_update(Relaxed, Relaxed, claim).ok()?;
        Some(start..claim_end(start))
    }

    /// Nothing differs from what the caller has claimed up to `offset`: others need not claim that either.
    pub(crate) fn skip_to(&self, offset: u64) {
        self.next.fetch_max(offset, Relaxed);
    }

    /// Whether anything at `offset` or behind can be part of the result.
    pub(crate) fn is_needed(&self, offset: u64) -> bool {
        offset < self.bound.load(Relaxed)
    }

    /// Takes what a block has: its mismatches in ascending order, at least as many of them as the table holds.
    pub(crate) fn insert(&self, found: &[Mismatch]) {
        let mut earliest = self.earliest.lock().unwrap_or_else(PoisonError::into_inner);
        earliest.extend_from_slice(found);
        earliest.sort_by_key(|mismatch| mismatch.offset);
        earliest.truncate(self.capacity);
        if earliest.len() == self.capacity {
            self.bound.fetch_min(earliest[self.capacity - 1].offset, Relaxed);
        }
    }

    /// Ends the search: its result is of no use.
    pub(crate) fn give_up(&self) {
        self.bound.fetch_min(0, Relaxed);
    }

    /// The mismatches, in order, when all workers have ended.
    pub(crate) fn into_earliest(self) -> Vec<Mismatch> {
        self.earliest.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(ftk_loom)))]
mod tests {
    use super::*;

    fn search(range: Range<u64>, capacity: usize) -> Search {
        Search::new(range, capacity, BlockClaims { block: 10, most: 200, workers: 2 })
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
    fn the_earliest_stay_and_bound_the_rest() {
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
    fn what_is_known_to_be_equal_is_not_claimed() {
        let search = search(0..1000, 1);
        assert_eq!(search.claim(), Some(0..10));
        search.skip_to(700);
        search.skip_to(300);
        assert_eq!(search.claim().unwrap().start, 700);
        search.skip_to(u64::MAX);
        assert_eq!(search.claim(), None);
    }

    #[test]
    fn one_who_gives_up_ends_it() {
        let search = search(0..1000, 1);
        search.give_up();
        search.insert(&[at(3)]);
        assert_eq!(search.claim(), None);
    }
}
