//! Compares the pairs of a table: sample, choice, small pairs, larger pairs that were deferred, and large
//! pairs.
#![expect(unsafe_code, reason = "workers leave the shared descriptor table")]

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use ftk_read::leave_shared_descriptors;
use ftk_sched::{Backend, Choice, Limits, Model, Sample, Stop, Team, Threads, logical_cpus};

use super::claims::PairClaims;
use super::pairs::{Failed, Pair, PairTable};
use super::worker::{SMALL, Worker};
use super::{Trees, large, sample};

/// A pair of larger files is compared by all workers together. One worker needs some 10 ms for a pair of this
/// size in memory. This is the longest time that the other workers may have to wait for it.
const SINGLE_WORKER_MAX: u64 = 32 << 20;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct TreeResources<'e> {
    /// The model that decides how many workers there are.
    pub model: &'e Model,
    /// The choices of the model. Its reader and `ring` are ignored. If `cpus` is 0, the CPUs are counted
    /// here.
    pub limits: Limits,
    /// A large pair is mapped if both files together have at most this size, in bytes.
    pub memory: u64,
    /// Ends the run early; pairs that were not compared stay pending.
    pub stop: &'e Stop,
    /// Updated during the run, to show progress.
    pub done: &'e Done,
}

/// The progress of a run.
#[derive(Debug, Default)]
pub struct Done {
    pairs: AtomicU64,
    bytes: AtomicU64,
    /// The offset reached in the current large pair.
    large: AtomicU64,
}

impl Done {
    /// Returns the number of pairs that were compared or have failed.
    pub fn pairs(&self) -> u64 {
        self.pairs.load(Relaxed)
    }

    /// Returns the number of bytes compared, in both trees together.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed) + 2 * self.large.load(Relaxed)
    }

    fn add(&self, pairs: u64, bytes: u64) {
        // Relaxed, as everywhere here: the counters do not depend on each other.
        self.pairs.fetch_add(pairs, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
    }
}

/// How a run went. Its results are in the table.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The measurements on the first pairs, with two files in each.
    pub sample: Sample,
    /// The model's choice; `None` if the sample contained all pairs.
    pub choice: Option<Choice>,
    /// Time for the pairs that one worker compares, after the sample, in nanoseconds. This is the time that
    /// the choice forecasts.
    pub took_nanos: u64,
    /// The number of pairs that were compared by all workers together.
    pub large: u64,
}

pub(crate) fn compare(trees: &Trees<'_>, table: &mut PairTable, resources: &TreeResources<'_>) -> Report {
    let mut caller = Worker::new(trees, resources.memory, resources.stop);
    let sample = sample::compare(&mut caller, table, SINGLE_WORKER_MAX);
    resources.done.add(u64::from(sample.files) / 2, sample.bytes);
    let mut report = Report { sample, choice: None, took_nanos: 0, large: 0 };
    let pending =
        |table: &PairTable, max| table.pairs.iter().filter(|pair| pair.is_pending(max)).count() as u64;
    let single = pending(table, SINGLE_WORKER_MAX);
    if single > 0 {
        let cpus = if resources.limits.cpus == 0 { logical_cpus() } else { resources.limits.cpus };
        let limits = Limits { backend: Some(Backend::Sync), ring: false, cpus, ..resources.limits };
        let choice = resources.model.choose(sample, 2 * single, limits);
        let start = Instant::now();
        for max in [SMALL, SINGLE_WORKER_MAX] {
            if pending(table, max) > 0 {
                caller.failed.extend(by_team(trees, &mut table.pairs, choice.workers, max, resources));
            }
        }
        report.choice = Some(choice);
        report.took_nanos = start.elapsed().as_nanos() as u64;
    }
    report.large = pending(table, u64::MAX);
    if report.large > 0 {
        compare_large(&mut caller, trees, &mut table.pairs, resources);
    }
    caller.failed.sort_unstable_by_key(|failed| failed.pair);
    table.reasons = caller.failed;
    report
}

/// Compares all pending pairs of at most `max` bytes. Each pair is compared by one worker.
fn by_team(
    trees: &Trees<'_>,
    pairs: &mut [Pair],
    workers: usize,
    max: u64,
    resources: &TreeResources<'_>,
) -> Vec<Failed> {
    let claims = PairClaims::new(pairs, workers, max);
    let parts = Team::new(workers).run(resources.stop, |worker| {
        if worker > 0 {
            // SAFETY: this is the first call on a new thread. The trees hold no descriptor. The worker is
            // created and dropped in this closure, and the failures that it returns hold no descriptor.
            unsafe { leave_shared_descriptors() };
        }
        let mut worker = Worker::new(trees, resources.memory, resources.stop);
        while !resources.stop.is_raised()
            && let Some((first, run)) = claims.claim()
        {
            let (bytes, mut pairs) = (worker.bytes, 0);
            for (nth, pair) in (first..).zip(run) {
                pairs += u64::from(worker.compare(nth, pair, max));
            }
            resources.done.add(pairs, worker.bytes - bytes);
        }
        worker.failed
    });
    parts.into_iter().flatten().collect()
}

/// Compares the large pairs, largest first. Each pair is compared by all workers.
fn compare_large(
    caller: &mut Worker<'_>,
    trees: &Trees<'_>,
    pairs: &mut [Pair],
    resources: &TreeResources<'_>,
) {
    let mut large: Vec<_> = (0..pairs.len()).filter(|&nth| pairs[nth].pending().is_some()).collect();
    large.sort_by_key(|&nth| Reverse(pairs[nth].pending()));
    let workers = match resources.limits.threads {
        Threads::Auto => 0,
        Threads::Fixed(workers) => workers.max(1),
    };
    let all = crate::FileResources {
        workers,
        memory: resources.memory,
        stop: resources.stop,
        done: &resources.done.large,
    };
    for nth in large {
        let pair = &mut pairs[nth];
        let found = caller.with(pair, |_, a, b| large::compare(a, b, trees.criteria, &all));
        let bytes = 2 * resources.done.large.swap(0, Relaxed);
        resources.done.add(1, bytes);
        caller.settle(nth, pair, found);
    }
}
