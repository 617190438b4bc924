//! Progress of a run, for callers that show it.
#![expect(unsafe_code, reason = "the thread that shows it leaves the shared descriptor table")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ftk_read::leave_shared_descriptors;

/// A callback that shows the progress of a run, either on a timer or on request.
#[derive(Clone, Copy)]
pub struct Watch<'e> {
    delay: Duration,
    tick: Duration,
    /// Whether progress is requested now. If set, no thread is started: workers call this between two chunks,
    /// and one or more of them call `show`.
    pub(crate) asked: Option<&'e (dyn Fn() -> bool + Sync)>,
    pub(crate) show: &'e (dyn Fn(Progress) + Sync),
}

impl<'e> Watch<'e> {
    /// Creates a watch that calls `show` for the first time after `delay`, and then every `tick`. A run that
    /// ends before `delay` never calls it.
    ///
    /// # Safety
    /// `show` runs on threads whose descriptor table is not shared. It must use no descriptors except the standard
    /// streams and those that it opens and closes itself within one call.
    pub unsafe fn new(delay: Duration, tick: Duration, show: &'e (dyn Fn(Progress) + Sync)) -> Self {
        Self { delay, tick, asked: None, show }
    }

    /// Makes the watch call `show` only when `asked` returns true. No thread is started: the workers call
    /// `asked` between two chunks, and one or more of them call `show`.
    pub fn when(self, asked: &'e (dyn Fn() -> bool + Sync)) -> Self {
        Self { asked: Some(asked), ..self }
    }
}

/// The work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files finished, including failed ones.
    pub files: u64,
    /// Bytes passed to the digest.
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
pub(crate) struct WorkerCounters {
    files: AtomicU64,
    bytes: AtomicU64,
    /// Large files deferred by this worker minus large files read by it. Wraps below zero (modulo 2^64) if
    /// this worker reads files that others deferred.
    large_files: AtomicU64,
    large_bytes: AtomicU64,
}

impl WorkerCounters {
    /// Counts a finished file. `deferred` says whether it was deferred before.
    pub(crate) fn add_file(&self, deferred: bool) {
        bump(&self.files, 1);
        if deferred {
            bump(&self.large_files, 1_u64.wrapping_neg());
        }
    }

    pub(crate) fn add_bytes(&self, n: usize, deferred: bool) {
        bump(&self.bytes, n as u64);
        if deferred {
            bump(&self.large_bytes, (n as u64).wrapping_neg());
        }
    }

    /// Counts a file of this size as deferred.
    pub(crate) fn defer(&self, size: u64) {
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
pub(crate) struct Counters {
    first: WorkerCounters,
    others: OnceLock<Vec<WorkerCounters>>,
}

impl Counters {
    /// Adds counters for a team of this size. Must be called at most once.
    pub(crate) fn add_team(&self, workers: usize) {
        self.others
            .get_or_init(|| std::iter::repeat_with(WorkerCounters::default).take(workers - 1).collect());
    }

    pub(crate) fn of(&self, worker: usize) -> &WorkerCounters {
        match worker {
            0 => &self.first,
            _ => &self.others.get().expect("a team was added")[worker - 1],
        }
    }

    pub(crate) fn sum(&self) -> Progress {
        let counters = || std::iter::once(&self.first).chain(self.others.get().into_iter().flatten());
        let sum = |counter: fn(&WorkerCounters) -> &AtomicU64| {
            counters().fold(0_u64, |sum, worker| sum.wrapping_add(counter(worker).load(Ordering::Relaxed)))
        };
        // A file that grew, or counters read at slightly different times, can make these negative.
        let not_below_zero = |n: u64| u64::try_from(n as i64).unwrap_or(0);
        Progress {
            files: sum(|worker| &worker.files),
            bytes: sum(|worker| &worker.bytes),
            large_files: not_below_zero(sum(|worker| &worker.large_files)),
            large_bytes: not_below_zero(sum(|worker| &worker.large_bytes)),
        }
    }
}

/// Shows progress between two chunks if the watch requests it.
#[derive(Clone, Copy)]
pub(crate) struct OnDemand<'e> {
    pub(crate) watch: Option<Watch<'e>>,
    pub(crate) counters: &'e Counters,
}

impl OnDemand<'_> {
    /// Calls the watch's `show` if progress is requested now.
    pub(crate) fn show(self) {
        if let Some(Watch { asked: Some(asked), show, .. }) = self.watch
            && asked()
        {
            show(self.counters.sum());
        }
    }
}

/// Runs `work` while another thread shows the counters to the watch, if there is a watch with a timer.
pub(crate) fn watched<T>(watch: Option<Watch<'_>>, counters: &Counters, work: impl FnOnce() -> T) -> T {
    match watch {
        Some(Watch { delay, tick, asked: None, show }) => {
            // SAFETY: `Watch::new` demands the same of `show`, and adding up counters uses no descriptor.
            unsafe { meanwhile(delay, tick, &|| show(counters.sum()), work) }
        }
        _ => work(),
    }
}

/// Runs `work` while another thread calls `report`, first after `delay` and then every `tick`. If that thread
/// cannot be started, only `work` runs.
///
/// # Safety
/// `report` runs on a thread whose descriptor table is not shared. It must use no descriptors except the standard
/// streams and those that it opens and closes itself within one call. `work` runs on the calling thread, which keeps
/// its descriptors.
///
/// # Panics
/// If `work` or `report` panics, after both have ended.
pub unsafe fn meanwhile<T>(
    delay: Duration,
    tick: Duration,
    report: &(dyn Fn() + Sync),
    work: impl FnOnce() -> T,
) -> T {
    let (ended, wake) = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        let watcher = || {
            // A table shared with a worker would cost that worker a tenth of its speed on small files.
            // SAFETY: this is the first call on a new thread. The thread only waits on a lock and calls `report`,
            // for which the caller of `meanwhile` is responsible.
            unsafe { leave_shared_descriptors() };
            let mut wait = delay;
            let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            while !*ended {
                let (guard, timeout) = wake.wait_timeout(ended, wait).unwrap_or_else(PoisonError::into_inner);
                ended = guard;
                if timeout.timed_out() {
                    report();
                    wait = tick;
                }
            }
        };
        let _ = std::thread::Builder::new().name("progress".into()).spawn_scoped(scope, watcher);
        let _end = EndOnDrop { ended: &ended, wake: &wake };
        work()
    })
}

/// Ends the watcher, also when `work` panics. Otherwise the scope would wait for the watcher forever.
struct EndOnDrop<'a> {
    ended: &'a Mutex<bool>,
    wake: &'a Condvar,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wake.notify_all();
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

    #[test]
    fn short_work_reports_no_progress() {
        let calls = std::sync::atomic::AtomicU64::new(0);
        let report = || _ = calls.fetch_add(1, Ordering::Relaxed);
        // SAFETY: an atomic uses no descriptor.
        assert_eq!(unsafe { meanwhile(Duration::from_secs(600), Duration::ZERO, &report, || 7) }, 7);
        assert_eq!(calls.into_inner(), 0);
    }
}
