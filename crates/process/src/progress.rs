//! How far a run is, for whoever wants to show it.
#![expect(unsafe_code, reason = "the thread that shows it leaves the shared descriptor table")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ftk_read::leave_shared_descriptors;

/// Someone who is told how far a run is: by a thread of its own, or when they ask.
#[derive(Clone, Copy)]
pub struct Watch<'e> {
    delay: Duration,
    tick: Duration,
    /// Whether somebody asks. Then there is no thread: workers look between two chunks, and one or more of them call
    /// `show`.
    pub(crate) asked: Option<&'e (dyn Fn() -> bool + Sync)>,
    pub(crate) show: &'e (dyn Fn(Progress) + Sync),
}

impl<'e> Watch<'e> {
    /// Calls `show` for the first time after `delay`, and then every `tick`. A run that ends sooner never calls it.
    ///
    /// # Safety
    /// `show` runs on threads with a descriptor table of their own. It must use no descriptor but the standard streams
    /// and those that it opens and closes itself within one call.
    pub unsafe fn new(delay: Duration, tick: Duration, show: &'e (dyn Fn(Progress) + Sync)) -> Self {
        Self { delay, tick, asked: None, show }
    }

    /// Calls `show` only when `asked` says so. No thread is started for it: the workers ask between two chunks, and
    /// one or more of them call `show`.
    pub fn when(self, asked: &'e (dyn Fn() -> bool + Sync)) -> Self {
        Self { asked: Some(asked), ..self }
    }
}

/// What has been done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files finished, failed ones included.
    pub files: u64,
    /// Bytes handed to the digest.
    pub bytes: u64,
    /// Large files met so far that are not finished: they wait for the small ones.
    pub large_files: u64,
    /// Bytes of large files that are known to be left.
    pub large_bytes: u64,
}

/// One worker's count, on a cache line of its own: written by that worker alone, read now and then.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Cell {
    files: AtomicU64,
    bytes: AtomicU64,
    /// Put off here less read here: below zero, modulo 2^64, where others put off what this worker reads.
    large_files: AtomicU64,
    large_bytes: AtomicU64,
}

impl Cell {
    /// A file is done with; `late`: one that had been put off.
    pub(crate) fn add_file(&self, late: bool) {
        bump(&self.files, 1);
        if late {
            bump(&self.large_files, 1_u64.wrapping_neg());
        }
    }

    pub(crate) fn add_bytes(&self, n: usize, late: bool) {
        bump(&self.bytes, n as u64);
        if late {
            bump(&self.large_bytes, (n as u64).wrapping_neg());
        }
    }

    /// A file of this size waits until the small ones are done.
    pub(crate) fn put_off(&self, size: u64) {
        bump(&self.large_files, 1);
        bump(&self.large_bytes, size);
    }
}

/// Adds without a locked instruction: each counter has a single writer.
fn bump(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
}

/// The counts of all workers. The first is there from the beginning, the others once their number is known.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    first: Cell,
    others: OnceLock<Vec<Cell>>,
}

impl Cells {
    /// Makes room for a team of this size. To be called once.
    pub(crate) fn add_team(&self, workers: usize) {
        self.others.get_or_init(|| std::iter::repeat_with(Cell::default).take(workers - 1).collect());
    }

    pub(crate) fn of(&self, worker: usize) -> &Cell {
        match worker {
            0 => &self.first,
            _ => &self.others.get().expect("a team was added")[worker - 1],
        }
    }

    pub(crate) fn sum(&self) -> Progress {
        let cells = || std::iter::once(&self.first).chain(self.others.get().into_iter().flatten());
        let sum = |counter: fn(&Cell) -> &AtomicU64| {
            cells().fold(0_u64, |sum, cell| sum.wrapping_add(counter(cell).load(Ordering::Relaxed)))
        };
        // A file that grew, or counters read a moment apart, can bring these below zero.
        let not_below_zero = |n: u64| u64::try_from(n as i64).unwrap_or(0);
        Progress {
            files: sum(|cell| &cell.files),
            bytes: sum(|cell| &cell.bytes),
            large_files: not_below_zero(sum(|cell| &cell.large_files)),
            large_bytes: not_below_zero(sum(|cell| &cell.large_bytes)),
        }
    }
}

/// What a worker does between two chunks.
#[derive(Clone, Copy)]
pub(crate) struct Look<'e> {
    pub(crate) watch: Option<Watch<'e>>,
    pub(crate) cells: &'e Cells,
}

impl Look<'_> {
    /// Shows the counts if they are asked for.
    pub(crate) fn look(self) {
        if let Some(Watch { asked: Some(asked), show, .. }) = self.watch
            && asked()
        {
            show(self.cells.sum());
        }
    }
}

/// Runs `work` while a thread of its own shows the counts to the watch, if there is one.
pub(crate) fn watched<T>(watch: Option<Watch<'_>>, cells: &Cells, work: impl FnOnce() -> T) -> T {
    match watch {
        Some(Watch { delay, tick, asked: None, show }) => {
            // SAFETY: `Watch::new` demands the same of `show`, and adding up counters needs no descriptor.
            unsafe { meanwhile(delay, tick, &|| show(cells.sum()), work) }
        }
        _ => work(),
    }
}

/// Runs `work` while a thread of its own calls `tell`, first after `delay` and then every `tick`. If that thread
/// cannot start, `work` simply runs.
///
/// # Safety
/// `tell` runs on a thread with a descriptor table of its own. It must use no descriptor but the standard streams and
/// those that it opens and closes itself within one call. `work` stays on the calling thread and keeps its descriptors.
///
/// # Panics
/// When `work` or `tell` panics, after both have ended.
pub unsafe fn meanwhile<T>(
    delay: Duration,
    tick: Duration,
    tell: &(dyn Fn() + Sync),
    work: impl FnOnce() -> T,
) -> T {
    let (ended, wake) = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        let watcher = || {
            // Sharing the table with a worker would cost that worker a tenth of its speed on small files.
            // SAFETY: the first call on a new thread, which only waits on a lock and calls `tell`. The caller promises the
            // rest of `tell`.
            unsafe { leave_shared_descriptors() };
            let mut wait = delay;
            let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            while !*ended {
                let (guard, timeout) = wake.wait_timeout(ended, wait).unwrap_or_else(PoisonError::into_inner);
                ended = guard;
                if timeout.timed_out() {
                    tell();
                    wait = tick;
                }
            }
        };
        let _ = std::thread::Builder::new().name("progress".into()).spawn_scoped(scope, watcher);
        let _end = EndOnDrop { ended: &ended, wake: &wake };
        work()
    })
}

/// Ends the watcher also when `work` panics, or the scope would wait for it for ever.
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
    fn what_one_puts_off_another_may_take_up() {
        let cells = Cells::default();
        cells.add_team(2);
        cells.of(0).put_off(500);
        cells.of(0).put_off(300);
        cells.of(1).add_bytes(200, true);
        cells.of(1).add_file(true);
        cells.of(1).add_bytes(10, false);
        assert_eq!(cells.sum(), Progress { files: 1, bytes: 210, large_files: 1, large_bytes: 600 });
        cells.of(1).add_bytes(700, true);
        assert_eq!(cells.sum().large_bytes, 0, "a file that grew leaves no debt");
    }

    #[test]
    fn nothing_is_told_of_what_ends_at_once() {
        let told = std::sync::atomic::AtomicU64::new(0);
        let tell = || _ = told.fetch_add(1, Ordering::Relaxed);
        // SAFETY: an atomic needs no descriptor.
        assert_eq!(unsafe { meanwhile(Duration::from_secs(600), Duration::ZERO, &tell, || 7) }, 7);
        assert_eq!(told.into_inner(), 0);
    }
}
