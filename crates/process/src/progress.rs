//! Progress of a run, for callers that show it.
#![expect(unsafe_code, reason = "the thread that shows it leaves the shared descriptor table")]

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use ftk_read::leave_shared_descriptors;
use ftk_sched::{Counters, Progress, lock};

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
            let mut ended = lock(&ended);
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
        *lock(self.ended) = true;
        self.wake.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn short_work_reports_no_progress() {
        let calls = AtomicU64::new(0);
        let report = || _ = calls.fetch_add(1, Ordering::Relaxed);
        // SAFETY: an atomic uses no descriptor.
        assert_eq!(unsafe { meanwhile(Duration::from_secs(600), Duration::ZERO, &report, || 7) }, 7);
        assert_eq!(calls.into_inner(), 0);
    }
}
