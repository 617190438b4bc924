//! Who compares which pairs: workers claim short runs of them at run time.

use std::mem;
use std::sync::{Mutex, PoisonError};

use super::pairs::Pair;

/// What opening and closing two files weighs, in bytes that are compared in the same time.
const PAIR: u64 = 32 << 10;

/// The most that one claim weighs, before its last pair: some 64 small pairs, or half a millisecond.
const CLAIM: u64 = 64 * PAIR;

/// What is left to be claimed.
#[derive(Debug)]
pub(crate) struct PairClaims<'p> {
    workers: u64,
    most: u64,
    rest: Mutex<Rest<'p>>,
}

#[derive(Debug)]
struct Rest<'p> {
    /// The place of the first of them in the plan.
    first: usize,
    pairs: &'p mut [Pair],
    weight: u64,
}

impl<'p> PairClaims<'p> {
    /// All pairs, of which those that are known already, or to have more than `most` bytes, weigh nothing.
    pub(crate) fn new(pairs: &'p mut [Pair], workers: usize, most: u64) -> Self {
        let weight = pairs.iter().map(|pair| weight(pair, most)).sum();
        Self { workers: workers as u64, most, rest: Mutex::new(Rest { first: 0, pairs, weight }) }
    }

    /// The next run of pairs, with the place of the first of them, until there are none.
    pub(crate) fn claim(&self) -> Option<(usize, &'p mut [Pair])> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        // Smaller towards the end, so that all workers end at once.
        let share = (rest.weight / (4 * self.workers)).min(CLAIM);
        let (mut n, mut claimed) = (0, 0);
        while n < rest.pairs.len() && claimed <= share {
            claimed += weight(&rest.pairs[n], self.most);
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

fn weight(pair: &Pair, most: u64) -> u64 {
    pair.pending().filter(|size| *size <= most).map_or(0, |size| PAIR + size)
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
            verdict: PairState::Pending(u64::from(nth % 7) << (nth % 30)),
        };
        for workers in [1, 2, 8, 1000] {
            let mut pairs: Vec<_> = (0..1000).map(pair).collect();
            pairs[3].verdict = PairState::Equal;
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
