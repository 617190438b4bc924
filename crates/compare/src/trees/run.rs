//! A run over the plan: sample, choose, small pairs, those that are put off as they are seen to be larger, large ones.
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

/// A pair of larger files is compared by all workers together. One worker takes some 10 ms for a pair of this size, in
/// memory: the most that the others may have to wait for it.
const SINGLE_WORKER_MAX: u64 = 32 << 20;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct TreeResources<'e> {
    /// Decides how many workers there are.
    pub model: &'e Model,
    /// What it may choose from. Reader and `ring` are not looked at, nor is `cpus` when it is 0.
    pub limits: Limits,
    /// Bytes that both files of a large pair may have together to be mapped.
    pub memory: u64,
    /// Ends the run early; what was not compared by then is pending.
    pub stop: &'e Stop,
    /// Told how far the run is.
    pub done: &'e Done,
}

/// How far a run is, for whoever wants to show it.
#[derive(Debug, Default)]
pub struct Done {
    pairs: AtomicU64,
    bytes: AtomicU64,
    /// How far the large pair is that is being compared.
    large: AtomicU64,
}

impl Done {
    /// Pairs that were compared, or failed.
    pub fn pairs(&self) -> u64 {
        self.pairs.load(Relaxed)
    }

    /// Bytes that were compared, of both trees.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed) + 2 * self.large.load(Relaxed)
    }

    fn add(&self, pairs: u64, bytes: u64) {
        // Relaxed, as everywhere here: each number stands for itself.
        self.pairs.fetch_add(pairs, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
    }
}

/// How a run went. What it found is in the plan.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// What was measured on the first pairs, two files each.
    pub sample: Sample,
    /// What the model made of it; `None` when the sample was all there was.
    pub choice: Option<Choice>,
    /// Time that the pairs of usual size took after the sample, in nanoseconds: what the choice forecast.
    pub took_nanos: u64,
    /// Pairs that were compared by all workers together.
    pub large: u64,
}

pub(crate) fn compare(trees: &Trees<'_>, plan: &mut PairTable, env: &TreeResources<'_>) -> Report {
    let mut caller = Worker::new(trees, env.memory, env.stop);
    let sample = sample::compare(&mut caller, plan, SINGLE_WORKER_MAX);
    env.done.add(u64::from(sample.files) / 2, sample.bytes);
    let mut report = Report { sample, choice: None, took_nanos: 0, large: 0 };
    let pending =
        |plan: &PairTable, most| plan.pairs.iter().filter(|pair| pair.is_pending(most)).count() as u64;
    let usual = pending(plan, SINGLE_WORKER_MAX);
    if usual > 0 {
        let cpus = if env.limits.cpus == 0 { logical_cpus() } else { env.limits.cpus };
        let limits = Limits { backend: Some(Backend::Sync), ring: false, cpus, ..env.limits };
        let choice = env.model.choose(sample, 2 * usual, limits);
        let start = Instant::now();
        for most in [SMALL, SINGLE_WORKER_MAX] {
            if pending(plan, most) > 0 {
                caller.failed.extend(by_team(trees, &mut plan.pairs, choice.workers, most, env));
            }
        }
        report.choice = Some(choice);
        report.took_nanos = start.elapsed().as_nanos() as u64;
    }
    report.large = pending(plan, u64::MAX);
    if report.large > 0 {
        compare_large(&mut caller, trees, &mut plan.pairs, env);
    }
    caller.failed.sort_unstable_by_key(|failed| failed.pair);
    plan.reasons = caller.failed;
    report
}

/// Compares the pairs of at most so many bytes, each by one worker.
fn by_team(
    trees: &Trees<'_>,
    pairs: &mut [Pair],
    workers: usize,
    most: u64,
    env: &TreeResources<'_>,
) -> Vec<Failed> {
    let claims = PairClaims::new(pairs, workers, most);
    let parts = Team::new(workers).run(env.stop, |worker| {
        if worker > 0 {
            // SAFETY: the first call on a new thread. The trees hold no descriptor, the worker is made here and dropped
            // here, and the failures that it returns hold none either.
            unsafe { leave_shared_descriptors() };
        }
        let mut worker = Worker::new(trees, env.memory, env.stop);
        while !env.stop.is_raised()
            && let Some((first, run)) = claims.claim()
        {
            let (bytes, mut pairs) = (worker.bytes, 0);
            for (nth, pair) in (first..).zip(run) {
                pairs += u64::from(worker.compare(nth, pair, most));
            }
            env.done.add(pairs, worker.bytes - bytes);
        }
        worker.failed
    });
    parts.into_iter().flatten().collect()
}

/// Compares the large pairs, largest first, each by all workers.
fn compare_large(caller: &mut Worker<'_>, trees: &Trees<'_>, pairs: &mut [Pair], env: &TreeResources<'_>) {
    let mut large: Vec<_> = (0..pairs.len()).filter(|&nth| pairs[nth].pending().is_some()).collect();
    large.sort_by_key(|&nth| Reverse(pairs[nth].pending()));
    let workers = match env.limits.threads {
        Threads::Auto => 0,
        Threads::Fixed(workers) => workers.max(1),
    };
    let all = crate::FileResources { workers, memory: env.memory, stop: env.stop, done: &env.done.large };
    for nth in large {
        let pair = &mut pairs[nth];
        let found = caller.with(pair, |_, a, b| large::compare(a, b, trees.rules, &all));
        let bytes = 2 * env.done.large.swap(0, Relaxed);
        env.done.add(1, bytes);
        caller.settle(nth, pair, found);
    }
}
