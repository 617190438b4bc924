//! Decides which worker compares which pairs. Workers claim short runs of pairs while they work.

use std::mem;
use std::sync::{Mutex, PoisonError};

use super::pairs::Pair;

/// The weight of opening and closing two files: the number of bytes that are compared in the same time.
const PAIR: u64 = 32 << 10;

/// The maximum weight of one claim, not counting its last pair: some 64 small pairs, or half a millisecond.
const CLAIM: u64 = 64 * PAIR;

/// The pairs that are not claimed yet.
#[derive(Debug)]
pub(crate) struct PairClaims<'p> {
    workers: u64,
    max: u64,
    rest: Mutex<Rest<'p>>,
}

#[derive(Debug)]
struct Rest<'p> {
    /// The index in the table of the first of `pairs`.
    first: usize,
    pairs: &'p mut [Pair],
    weight: u64,
}

impl<'p> PairClaims<'p> {
    /// Makes all pairs claimable. Pairs that are done, or known to be larger than `max` bytes, weigh nothing.
    pub(crate) fn new(pairs: &'p mut [Pair], workers: usize, max: u64) -> Self {
        let weight = pairs.iter().map(|pair| weight(pair, max)).sum();
        Self { workers: workers as u64, max, rest: Mutex::new(Rest { first: 0, pairs, weight }) }
    }

    /// Returns the next run of pairs and the index of the first of them; `None` when all are claimed.
    pub(crate) fn claim(&self) -> Option<(usize, &'p mut [Pair])> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        // Claims become smaller towards the end, so that all workers end at the same time.
        let share = (rest.weight / (4 * self.workers)).min(CLAIM);
        let (mut n, mut claimed) = (0, 0);
        while n < rest.pairs.len() && claimed <= share {
            claimed += weight(&rest.pairs[n], self.max);
            n += 1;
        }
        if n == 0 {
            return None;
        }
        let first = rest.first;
        let (run, left) = mem::take(&mut rest.pairs).split_at_mut(n);
        (rest.first, rest.pairs) = (first + n, left);
        rest.weight -= claimed;
        Some((first, run))
    }
}

fn weight(pair: &Pair, max: u64) -> u64 {
    pair.pending().filter(|size| *size <= max).map_or(0, |size| PAIR + size)
}

#[cfg(test)]
mod tests {
    use ftk_inventory::FileNo;

    use super::*;
    use crate::trees::pairs::PairState;

    #[test]
    fn every_pair_is_claimed_once() {
        let pair = |nth: u32| Pair {
            a: FileNo(nth),
            b: FileNo(nth),
            state: PairState::Pending(u64::from(nth % 7) << (nth % 30)),
        };
        for workers in [1, 2, 8, 1000] {
            let mut pairs: Vec<_> = (0..1000).map(pair).collect();
            pairs[3].state = PairState::Equal;
            let claims = PairClaims::new(&mut pairs, workers, 32 << 20);
            let mut next = 0;
            while let Some((first, run)) = claims.claim() {
                assert_eq!(first, next);
                for (nth, pair) in (first..).zip(run.iter()) {
                    assert_eq!(pair.a.0 as usize, nth);
                }
                next += run.len();
            }
            assert_eq!(next, 1000);
        }
        assert!(PairClaims::new(&mut [], 2, 0).claim().is_none());
    }
}
