//! The pairs of a table as jobs: a sample, small pairs, larger pairs that were deferred, and large pairs.
#![expect(unsafe_code, reason = "workers leave the shared descriptor table")]

use std::cmp::Reverse;
use std::sync::atomic::Ordering::Relaxed;

use ftk_read::leave_shared_descriptors;
use ftk_sched::{Backend, Choice, Claims, Jobs, Limits, Run, RunPlan, Sample, Sampling, Team};

use super::pairs::{Failed, Pair, PairTable};
use super::worker::{SMALL, Worker};
use super::{Trees, large};
use crate::FileResources;

/// Pairs in the sample.
const SAMPLE: u32 = 16;

/// A pair of larger files is compared by all workers together. One worker needs some 10 ms for a pair of this
/// size in memory. This is the longest time that the other workers may have to wait for it.
const SINGLE_WORKER_MAX: u64 = 32 << 20;

/// Compares the pairs of the table and stores the results in it.
pub(crate) fn compare(trees: &Trees<'_>, table: &mut PairTable, memory: u64, run: &Run<'_>) -> RunPlan {
    let limits = Limits { backend: Some(Backend::Sync), ..run.limits };
    let mut jobs = PairJobs { trees, memory, pairs: &mut table.pairs, failed: Vec::new() };
    let plan = Run { limits, ..*run }.execute(&mut jobs);
    jobs.failed.sort_unstable_by_key(|failed| failed.pair);
    table.reasons = jobs.failed;
    plan
}

/// A pair to compare, and its index in the table.
type Job<'p> = (usize, &'p mut Pair);

struct PairJobs<'p> {
    trees: &'p Trees<'p>,
    /// A pair is mapped if both files together have at most this size, in bytes.
    memory: u64,
    pairs: &'p mut [Pair],
    failed: Vec<Failed>,
}

impl Jobs for PairJobs<'_> {
    fn sample(&mut self, run: &Run<'_>) -> Sample {
        let mut worker = Worker::new(self.trees, self.memory, run, 0);
        let len = self.pairs.len() as u32;
        let mut sampling = Sampling::start(self.pairs.iter_mut().enumerate(), len, SAMPLE, run.counters);
        for (nth, pair) in &mut sampling {
            worker.compare(nth, pair, SINGLE_WORKER_MAX);
        }
        let sample = sampling.measured(|storage| worker.is_on(storage));
        self.failed = worker.failed;
        Sample { files: 2 * sample.files, ..sample }
    }

    fn left(&self) -> (u64, usize) {
        let small = pending(self.pairs, SINGLE_WORKER_MAX);
        (2 * small as u64, pending(self.pairs, u64::MAX) - small)
    }

    fn do_small(&mut self, run: &Run<'_>, _: &Sample, choice: &Choice) {
        let n = pending(self.pairs, SMALL);
        let small = self.pairs.iter_mut().enumerate().filter(|(_, pair)| pair.is_pending(SMALL));
        let claims = Claims::new(small, n, choice.workers, |_, _| false);
        self.failed.extend(by_team(self.trees, self.memory, run, choice.workers, SMALL, &claims));

        // As many workers as jobs: each pair is claimed alone.
        let larger = largest_first(self.pairs, SINGLE_WORKER_MAX);
        let (n, workers) = (larger.len(), choice.workers.min(larger.len()));
        let claims = Claims::new(larger.into_iter(), n, n, |_, _| false);
        self.failed.extend(by_team(self.trees, self.memory, run, workers, SINGLE_WORKER_MAX, &claims));
    }

    fn do_large(&mut self, run: &Run<'_>) {
        let Run { limits, stop, counters, .. } = *run;
        let done = &counters.joint;
        let all = FileResources { workers: limits.busy_workers(), memory: self.memory, stop, done };
        let mut worker = Worker::new(self.trees, self.memory, run, 0);
        for (nth, pair) in largest_first(self.pairs, u64::MAX) {
            let found = worker.with(pair, |_, a, b| large::compare(a, b, self.trees.criteria, &all));
            counters.of(0).add_bytes(done.swap(0, Relaxed) as usize, false);
            worker.settle(nth, pair, found);
        }
        self.failed.append(&mut worker.failed);
    }
}

/// Returns the number of pending pairs of at most `max` bytes.
fn pending(pairs: &[Pair], max: u64) -> usize {
    pairs.iter().filter(|pair| pair.is_pending(max)).count()
}

/// Returns the pending pairs of at most `max` bytes, largest first.
fn largest_first(pairs: &mut [Pair], max: u64) -> Vec<Job<'_>> {
    let pending = pairs.iter_mut().enumerate().filter(|(_, pair)| pair.is_pending(max));
    let mut pending: Vec<_> = pending.collect();
    pending.sort_by_key(|(_, pair)| Reverse(pair.pending()));
    pending
}

/// Compares the claimed pairs, each by one worker. Pairs of more than `max` bytes stay pending.
fn by_team<'p>(
    trees: &Trees<'_>,
    memory: u64,
    run: &Run<'_>,
    workers: usize,
    max: u64,
    claims: &Claims<impl Iterator<Item = Job<'p>> + Send>,
) -> Vec<Failed> {
    let parts = Team::new(workers).run(run.stop, |worker| {
        if worker > 0 {
            // SAFETY: this is the first call on a new thread. The trees hold no descriptor. The worker is
            // created and dropped in this closure, and the failures that it returns hold no descriptor.
            unsafe { leave_shared_descriptors() };
        }
        let mut worker = Worker::new(trees, memory, run, worker);
        let mut claim = Vec::new();
        while !run.stop.is_raised() && claims.claim(&mut claim) {
            while let Some((nth, pair)) = claim.pop() {
                worker.compare(nth, pair, max);
            }
        }
        worker.failed
    });
    parts.into_iter().flatten().collect()
}
