//! How far a run is, for whoever wants to show it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::team::leave_shared_descriptors;

/// Someone who is told how far a run is, every 100 ms on a thread of its own.
#[derive(Clone, Copy)]
pub struct Watch<'e> {
    /// When it is told for the first time; a run that ends sooner tells it nothing.
    pub delay: Duration,
    /// What is called.
    pub show: &'e (dyn Fn(Progress) + Sync),
}

/// What has been done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files finished, failed ones included.
    pub files: u64,
    /// Bytes handed to the digest.
    pub bytes: u64,
}

/// One worker's count, on a cache line of its own: written by that worker alone, read now and then.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Cell {
    files: AtomicU64,
    bytes: AtomicU64,
}

impl Cell {
    pub(crate) fn add_file(&self) {
        bump(&self.files, 1);
    }

    pub(crate) fn add_bytes(&self, n: usize) {
        bump(&self.bytes, n as u64);
    }
}

/// Adds without a locked instruction: each counter has a single writer.
fn bump(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Ordering::Relaxed) + n, Ordering::Relaxed);
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
        let others = self.others.get().into_iter().flatten();
        std::iter::once(&self.first).chain(others).fold(Progress::default(), |sum, cell| Progress {
            files: sum.files + cell.files.load(Ordering::Relaxed),
            bytes: sum.bytes + cell.bytes.load(Ordering::Relaxed),
        })
    }
}

/// How often progress is shown, once it is.
const TICK: Duration = Duration::from_millis(100);

/// Runs `work` while a thread of its own shows the counts. Without a `watch`, or if the thread cannot start,
/// `work` simply runs.
pub(crate) fn watched<T>(watch: Option<Watch<'_>>, cells: &Cells, work: impl FnOnce() -> T) -> T {
    let Some(Watch { delay, show }) = watch else { return work() };
    let (ended, wake) = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        let watcher = || {
            // Sharing the table with a worker would cost that worker a tenth of its speed on small files.
            leave_shared_descriptors();
            let mut wait = delay;
            let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            while !*ended {
                let (guard, timeout) = wake.wait_timeout(ended, wait).unwrap_or_else(PoisonError::into_inner);
                ended = guard;
                if timeout.timed_out() {
                    show(cells.sum());
                    wait = TICK;
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
