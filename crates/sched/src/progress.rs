//! The progress of a run: what each worker has done.

use std::iter;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Jobs finished, including failed ones. A job is one file, or one pair of files to compare.
    pub files: u64,
    /// Bytes processed.
    pub bytes: u64,
    /// Large files that were deferred until the small files are done, and are not finished yet.
    pub large_files: u64,
    /// Bytes of these large files that are not read yet.
    pub large_bytes: u64,
}

/// One worker's counters, on a separate cache line: only that worker writes them, and they are read now and
/// then.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct WorkerCounters {
    files: AtomicU64,
    bytes: AtomicU64,
    /// Large files deferred by this worker minus large files read by it. Wraps below zero (modulo 2^64) if
    /// this worker reads files that others deferred.
    large_files: AtomicU64,
    large_bytes: AtomicU64,
}

impl WorkerCounters {
    /// Counts a finished job. `deferred` says whether it was [deferred](Self::defer) before.
    pub fn add_file(&self, deferred: bool) {
        bump(&self.files, 1);
        if deferred {
            bump(&self.large_files, 1_u64.wrapping_neg());
        }
    }

    /// Counts jobs that were finished without processing any bytes.
    pub fn add_files(&self, n: u64) {
        bump(&self.files, n);
    }

    /// Counts processed bytes. `deferred` says whether their job was [deferred](Self::defer) before.
    pub fn add_bytes(&self, n: usize, deferred: bool) {
        bump(&self.bytes, n as u64);
        if deferred {
            bump(&self.large_bytes, (n as u64).wrapping_neg());
        }
    }

    /// Returns the number of bytes counted so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Counts a job of this size as deferred.
    pub fn defer(&self, size: u64) {
        bump(&self.large_files, 1);
        bump(&self.large_bytes, size);
    }
}

/// Adds without a locked instruction, because each counter has a single writer.
fn bump(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
}

/// The counters of all workers. The first worker's exist from the start, the others once the size of the team
/// is known.
#[derive(Debug, Default)]
pub struct Counters {
    first: WorkerCounters,
    others: OnceLock<Vec<WorkerCounters>>,
    /// Bytes of the job that all workers do together at the moment, if it counts them here. The worker that
    /// ends the job moves them to its own counters.
    pub joint: AtomicU64,
}

impl Counters {
    /// Adds counters for a team of this size. Must be called at most once.
    pub fn add_team(&self, workers: usize) {
        self.others.get_or_init(|| iter::repeat_with(WorkerCounters::default).take(workers - 1).collect());
    }

    /// Returns the counters of one worker. No other worker may write to them.
    ///
    /// # Panics
    /// If the run has not chosen its team, unless `worker` is 0, or if the team is smaller.
    pub fn of(&self, worker: usize) -> &WorkerCounters {
        match worker {
            0 => &self.first,
            _ => &self.others.get().expect("a team was added")[worker - 1],
        }
    }

    /// Returns what all workers have done so far.
    pub fn sum(&self) -> Progress {
        let counters = || iter::once(&self.first).chain(self.others.get().into_iter().flatten());
        let sum = |counter: fn(&WorkerCounters) -> &AtomicU64| {
            counters().fold(0_u64, |sum, worker| sum.wrapping_add(counter(worker).load(Ordering::Relaxed)))
        };
        // A file that grew, or counters read at slightly different times, can make these negative.
        let not_below_zero = |n: u64| u64::try_from(n as i64).unwrap_or(0);
        Progress {
            files: sum(|worker| &worker.files),
            bytes: sum(|worker| &worker.bytes) + self.joint.load(Ordering::Relaxed),
            large_files: not_below_zero(sum(|worker| &worker.large_files)),
            large_bytes: not_below_zero(sum(|worker| &worker.large_bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_deferred_by_one_worker_may_be_read_by_another() {
        let counters = Counters::default();
        counters.add_team(2);
        counters.of(0).defer(500);
        counters.of(0).defer(300);
        counters.of(1).add_bytes(200, true);
        counters.of(1).add_file(true);
        counters.of(1).add_bytes(10, false);
        assert_eq!(counters.sum(), Progress { files: 1, bytes: 210, large_files: 1, large_bytes: 600 });
        counters.of(1).add_bytes(700, true);
        assert_eq!(counters.sum().large_bytes, 0, "a file that grew does not make the count negative");
    }
}
