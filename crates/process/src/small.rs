//! Processes the files that are not in the sample. Workers claim them in short runs. Large files are
//! deferred.
#![expect(unsafe_code, reason = "workers leave the shared descriptor table")]

use std::mem;
use std::sync::Mutex;

use ftk_file::{Stat, is_trusted};
use ftk_inventory::Opener;
use ftk_read::leave_shared_descriptors;
use ftk_sched::{Backend, Choice, PROBE, Run, Sample, Team, lock};

use crate::backend_monitor::BackendMonitor;
use crate::claims::{FileClaims, Job, Large, Order, claims, some_claims};
use crate::driver::{Deferred, Driver, Source};
use crate::run::{Context, Files};

/// From this mean number of files per directory on, a cold disk is read in inode order. With 1,000 files per
/// directory this halved the time; with 15 it made no difference.
const LARGE_DIRS: u32 = 256;

/// Fewer files than this are not worth a probe: it ends with a moment in which the disk has little to do. With a probe
/// of 355 files, 5,695 cold files took 1.1 times as long (EPYC of 2021, medians of seven).
const PROBE_FROM: u32 = 1024;

/// Runs of neighbouring files in a probe. Neighbours share directories and blocks of inodes, as in the whole run.
const PROBE_RUNS: u32 = 64;

/// Processes one in [`PROBE`] of the files, unless these are few.
pub(crate) fn probe(files: &mut Files<'_>, run: &Run<'_>, sample: &Sample, choice: &Choice) {
    let most = files.work.files() / PROBE;
    if most >= PROBE_FROM {
        process(files, run, sample, choice, Some((most, PROBE_RUNS)));
    }
}

/// Processes the pending files with the chosen workers and reader: all of them, or those among at most `part.0`
/// files in `part.1` runs that are spread over the table.
pub(crate) fn process(
    files: &mut Files<'_>,
    run: &Run<'_>,
    sample: &Sample,
    choice: &Choice,
    part: Option<(u32, u32)>,
) {
    let context = &files.context(run);
    let inventory = context.work.inventory;
    let large_dirs = inventory.files() / inventory.dirs().max(1) >= LARGE_DIRS;
    let order = if choice.cold && large_dirs { Order::Inode } else { Order::Directory };
    let pending = files.rows.pending() as usize;
    let claims = match part {
        None => claims(context.work, files.rows, choice.workers, order),
        Some((most, runs)) => some_claims(context.work, files.rows, most, runs, choice.workers, order),
    };
    let later = pending - claims.left();
    let max_dirs = if order == Order::Inode { context.readers.window_dirs } else { 1 };
    let file_nanos = sample.nanos as f64 / f64::from(sample.files.max(1));
    let stream_nanos = context.stream_nanos();
    // The calling thread reuses the buffers of the sample.
    let spare = Mutex::new(mem::take(&mut files.spare));

    // This must come before the team starts: new workers share this thread's descriptor table for a moment, and
    // growing a shared table is slow.
    context.readers.make_room(choice.backend);
    let parts = Team::new(choice.workers).run(context.resources.stop, |worker| {
        if worker > 0 {
            // SAFETY: this is the first call on a new thread. An inventory holds no descriptor. The driver
            // and the readers are created and dropped in this closure, and what the worker returns (jobs,
            // failures) holds no descriptor.
            unsafe { leave_shared_descriptors() };
        }
        let mut driver = Driver::new(*context, worker, max_dirs);
        if worker == 0 {
            driver.spare = mem::take(&mut *lock(&spare));
        }
        let mut source = ClaimSource {
            context,
            claims: &claims,
            later,
            queue: Vec::new(),
            tail: Tail { file_nanos, stream_nanos, workers: choice.workers },
            alone: None,
            switch: None,
            monitor: BackendMonitor::new(context, sample, choice),
            large: Vec::new(),
        };
        let mut reader = context.readers.small(choice.backend, driver.width());
        loop {
            driver.run(&mut *reader, &mut source);
            let mut job = source.alone.take();
            if job.is_some() {
                driver.run(&mut *context.readers.stream(context.reads_ahead()), &mut Deferred(|| job.take()));
            } else if let Some(backend) = source.switch.take() {
                reader = context.readers.small(backend, driver.width());
            } else {
                return (source.large, driver.failed);
            }
        }
    });
    for (large, failed) in parts {
        files.large.extend(large);
        files.failed.extend(failed);
    }
}

/// One worker's claims.
struct ClaimSource<'c, 'r> {
    context: &'c Context<'c>,
    claims: &'c FileClaims<'r>,
    /// The number of pending files that are not in `claims`.
    later: usize,
    /// The files of the current claim, in reverse order.
    queue: Vec<Job<'r>>,
    tail: Tail,
    /// A file that would be the tail of the run. No other file is started until it has been streamed.
    alone: Option<Job<'r>>,
    /// The reader to change to once the current one has drained.
    switch: Option<Backend>,
    monitor: BackendMonitor,
    large: Vec<Large>,
}

impl<'r> Source<'r> for ClaimSource<'_, 'r> {
    fn next(&mut self) -> Option<Job<'r>> {
        if self.alone.is_some() {
            return None;
        }
        if self.queue.is_empty() {
            self.claims.claim(&mut self.queue);
            let inventory = self.context.work.inventory;
            let is_local = |job: &Job<'_>| Opener::new(inventory).open(job.dir).is_ok_and(is_trusted);
            self.switch = self.monitor.claimed(self.queue.len(), || self.queue.first().is_some_and(is_local));
        }
        if self.switch.is_some() { None } else { self.queue.pop() }
    }

    fn admit(&mut self, seen: &Stat, job: Job<'r>) -> Option<Job<'r>> {
        let size = seen.size;
        if size <= Large::ABOVE {
            return Some(job);
        }
        let left = self.claims.left() + self.later + self.queue.len();
        if self.alone.is_none() && !self.context.shares(size) && self.tail.is_tail(size, left) {
            self.alone = Some(job);
        } else {
            self.large.push(job.defer(seen));
        }
        None
    }
}

/// Detects files that would still be read when everything else is done.
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
