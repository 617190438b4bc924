//! The files after the sample, claimed in runs; those that turn out large are put off.
#![expect(unsafe_code, reason = "workers leave the shared descriptor table")]

use std::mem;
use std::sync::Mutex;

use ftk_read::{Stat, leave_shared_descriptors};
use ftk_sched::{Backend, Choice, Team};

use crate::claims::{FileClaims, Job, Large, Order, lock};
use crate::driver::Source;
use crate::regime::Regime;
use crate::rows::Rows;
use crate::run::Crew;
use crate::sample::Sampled;

/// Mean files a directory from which reading a cold disk in inode order pays: with 1,000 a directory the time
/// halved, with 15 it did not change.
const LARGE_DIRS: u32 = 256;

/// Processes every pending file as chosen.
pub(crate) fn process(crew: &Crew<'_>, rows: &mut Rows, choice: &Choice, into: &mut Sampled) {
    let inventory = crew.work.inventory;
    let large_dirs = inventory.files() / inventory.dirs().max(1) >= LARGE_DIRS;
    let order = if choice.cold && large_dirs { Order::Inode } else { Order::Directory };
    let claims = FileClaims::all(crew.work, rows, choice.workers, order);
    let most_dirs = if order == Order::Inode { crew.readers.window_dirs } else { 1 };
    let file_nanos = into.sample.nanos as f64 / f64::from(into.sample.files.max(1));
    let stream_nanos = crew.stream_nanos();
    // The calling thread goes on with the buffers of the sample.
    let spare = Mutex::new(mem::take(&mut into.spare));

    // Now, since the others share the table of this thread for a moment when they start.
    crew.readers.make_room(choice.backend);
    let parts = Team::new(choice.workers).run(crew.env.stop, |worker| {
        if worker > 0 {
            // SAFETY: the first call on a new thread. An inventory holds no descriptor, the driver and the readers are
            // made here and dropped here, and what the worker returns (jobs, failures) holds none either.
            unsafe { leave_shared_descriptors() };
        }
        let mut driver = crew.driver(worker, most_dirs);
        if worker == 0 {
            driver.spare = mem::take(&mut *lock(&spare));
        }
        let mut source = ClaimSource {
            crew,
            claims: &claims,
            queue: Vec::new(),
            tail: Tail { file_nanos, stream_nanos, workers: choice.workers },
            alone: None,
            switch: None,
            regime: Regime::new(crew, choice),
            large: Vec::new(),
        };
        let mut reader = crew.readers.small(choice.backend, driver.width());
        loop {
            driver.run(&mut *reader, &mut source);
            if let Some(job) = source.alone.take() {
                driver.run(&mut *crew.readers.stream(crew.reads_ahead()), &mut Alone(Some(job)));
            } else if let Some(backend) = source.switch.take() {
                reader = crew.readers.small(backend, driver.width());
            } else {
                return (source.large, driver.failed);
            }
        }
    });
    for (large, failed) in parts {
        into.large.extend(large);
        into.failed.extend(failed);
    }
}

/// One worker's claims.
struct ClaimSource<'c, 'w, 'r> {
    crew: &'c Crew<'c>,
    claims: &'c FileClaims<'w, 'r>,
    /// The files of the current claim, the next one last.
    queue: Vec<Job<'r>>,
    tail: Tail,
    /// A file that would be the tail: nothing is started any more until it has been streamed.
    alone: Option<Job<'r>>,
    /// The reader to go on with once this one has drained.
    switch: Option<Backend>,
    regime: Regime,
    large: Vec<Large>,
}

impl<'r> Source<'r> for ClaimSource<'_, '_, 'r> {
    fn next(&mut self) -> Option<Job<'r>> {
        if self.alone.is_some() {
            return None;
        }
        if self.queue.is_empty() {
            self.claims.claim(&mut self.queue);
            self.switch = self.regime.claimed(self.queue.len());
        }
        if self.switch.is_some() { None } else { self.queue.pop() }
    }

    fn judge(&mut self, seen: &Stat, job: Job<'r>) -> Option<Job<'r>> {
        let size = seen.size;
        if size <= Large::ABOVE {
            return Some(job);
        }
        let left = self.claims.left() + self.queue.len();
        if self.alone.is_none() && !self.crew.shares(size) && self.tail.is_tail(size, left) {
            self.alone = Some(job);
        } else {
            self.large.push(job.defer(seen));
        }
        None
    }
}

/// Tells a file that would still be running when everything else is done.
#[derive(Clone, Copy)]
struct Tail {
    file_nanos: f64,
    stream_nanos: f64,
    workers: usize,
}

impl Tail {
    fn is_tail(&self, size: u64, left: usize) -> bool {
        size as f64 * self.stream_nanos > left as f64 * self.file_nanos / self.workers as f64
    }
}

/// A single file.
pub(crate) struct Alone<'r>(pub(crate) Option<Job<'r>>);

impl<'r> Source<'r> for Alone<'r> {
    fn next(&mut self) -> Option<Job<'r>> {
        self.0.take()
    }

    fn judge(&mut self, _seen: &Stat, job: Job<'r>) -> Option<Job<'r>> {
        Some(job)
    }

    fn is_late(&self) -> bool {
        true
    }
}
