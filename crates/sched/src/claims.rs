//! Decides which worker does which jobs. Workers claim short runs of jobs while they work, so that no worker
//! gets a share that turns out too large.

use std::iter::Peekable;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of jobs in one claim, unless further ones [belong](Claims::new) to it. A claim costs one lock
/// and one reopened directory.
const CLAIM: usize = 64;

/// The jobs that are not claimed yet.
pub struct Claims<I: Iterator> {
    workers: usize,
    /// Whether a job should stay with the one before it.
    belongs: fn(&I::Item, &I::Item) -> bool,
    rest: Mutex<Rest<I>>,
}

struct Rest<I: Iterator> {
    jobs: Peekable<I>,
    left: usize,
}

impl<I: Iterator> Claims<I> {
    /// Makes the jobs claimable, in their order. `left` is their number.
    ///
    /// Claims become smaller towards the end, so that `workers` workers end at the same time. With as many
    /// workers as jobs, each job is claimed alone. A claim may become twice as long so that a job that
    /// `belongs` to the one before it, such as a file of the same directory, goes to the same worker.
    pub fn new(jobs: I, left: usize, workers: usize, belongs: fn(&I::Item, &I::Item) -> bool) -> Self {
        Self { workers: workers.max(1), belongs, rest: Mutex::new(Rest { jobs: jobs.peekable(), left }) }
    }

    /// Moves the next claim into `out`, which must be empty, in reverse order. Returns whether there was one.
    pub fn claim(&self, out: &mut Vec<I::Item>) -> bool {
        let mut rest = lock(&self.rest);
        let share = CLAIM.min(rest.left / (4 * self.workers) + 1);
        while out.len() < 2 * share
            && let Some(job) = rest
                .jobs
                .next_if(|job| out.len() < share || out.last().is_some_and(|last| (self.belongs)(last, job)))
        {
            out.push(job);
        }
        rest.left -= out.len();
        out.reverse();
        !out.is_empty()
    }

    /// Returns the number of jobs not claimed yet.
    pub fn left(&self) -> usize {
        lock(&self.rest).left
    }
}

/// Locks a mutex, poisoned or not. Workers hold these locks only for a moment and never while they do a job, so
/// a panic cannot leave half-changed data.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the claims that one worker of `workers` gets.
    fn claims(jobs: usize, workers: usize, belongs: fn(&usize, &usize) -> bool) -> Vec<Vec<usize>> {
        let claims = Claims::new(0..jobs, jobs, workers, belongs);
        let mut all: Vec<Vec<_>> = Vec::new();
        let mut claim = Vec::new();
        while claims.claim(&mut claim) {
            claim.reverse();
            all.push(std::mem::take(&mut claim));
            assert_eq!(claims.left(), jobs - all.iter().map(Vec::len).sum::<usize>());
        }
        all
    }

    #[test]
    fn every_job_is_claimed_once_in_claims_that_become_smaller() {
        for jobs in [0, 1, 2, 63, 64, 65, 1000, 5000] {
            for workers in [1, 2, 8, 1000, 5000] {
                let claims = claims(jobs, workers, |_, _| false);
                assert!(claims.concat().into_iter().eq(0..jobs));
                assert!(claims.iter().is_sorted_by_key(|claim| std::cmp::Reverse(claim.len())));
                assert!(claims.iter().all(|claim| claim.len() <= CLAIM));
                assert!(workers < jobs || claims.len() == jobs, "each job is claimed alone");
            }
        }
    }

    #[test]
    fn a_claim_ends_with_a_directory_unless_that_is_large() {
        let lens = |belongs| claims(5000, 1, belongs).iter().map(Vec::len).take(3).collect::<Vec<_>>();
        assert_eq!(lens(|a, b| a / 100 == b / 100), [100, 100, 100]);
        assert_eq!(lens(|a, b| a / 40 == b / 40), [80, 80, 80]);
        assert_eq!(lens(|_, _| true), [128, 128, 128]);
    }
}
