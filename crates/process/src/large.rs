//! Processes the large files after the small ones, largest first.
//!
//! If BLAKE3 is the only algorithm, all workers together hash the files of 16 MiB or more, because BLAKE3 can
//! hash parts of a file independently. The other files are distributed among the workers: first those that
//! are large compared with the rest, each read alone, then the rest, several at a time in lanes.
#![expect(unsafe_code, reason = "workers leave the shared descriptor table")]

use std::sync::Mutex;

use ftk_hash::Algorithm;
use ftk_read::leave_shared_descriptors;
use ftk_sched::{Run, Team, lock, pick};

use crate::claims::FileJobs;
use crate::driver::{Deferred, Driver};
use crate::readers::Readers;
use crate::run::{Context, Files};
use crate::shared;

/// Minimum size of a file that all workers hash together, in bytes. Used only if BLAKE3 is the only
/// algorithm. For smaller files, opening each of them once for every worker would cost noticeable time.
const SHARED_FROM: u64 = 16 << 20;

/// Files of at least this size, in bytes, are worth the start of a read-ahead thread.
const READ_AHEAD_FROM: u64 = 8 << 20;

/// Digests slower than this, in nanoseconds per byte, get a read-ahead thread. A faster digest would wait
/// longer for bytes from the other CPU's cache than copying them itself takes.
const SLOW_NANOS_PER_BYTE: f64 = 0.15;

/// Processes the deferred files.
pub(crate) fn process(files: &mut Files<'_>, run: &Run<'_>) {
    let context = &files.context(run);
    let (large, failed) = (&mut files.large, &mut files.failed);
    large.sort_unstable_by_key(|large| large.file);
    let rows = large.iter().map(|large| context.work.row(large.file));
    let jobs = pick(FileJobs::new(context.work, files.rows), rows);
    let mut jobs: Vec<_> = large.drain(..).zip(jobs).collect();
    // Jobs are popped from the end, so the largest come first and a short one ends last.
    jobs.sort_unstable_by_key(|(large, _)| *large);

    let workers = context.limits.busy_workers();
    let at = jobs.partition_point(|(large, _)| !context.shares(large.size));
    let mut shared = jobs.split_off(at);
    if !shared.is_empty() {
        shared.reverse();
        failed.extend(shared::process(context, workers, shared));
    }
    if jobs.is_empty() {
        return;
    }
    let ahead = jobs.len() < workers && context.reads_ahead();
    let workers = workers.clamp(1, jobs.len());
    // A lane is slower than a stream. A file larger than half of a worker's equal part of all bytes would
    // determine the total time if it were read in a lane. So such files come first, each read alone.
    let share = jobs.iter().map(|(large, _)| large.size).sum::<u64>() / (2 * workers) as u64;
    let lane_files = jobs.partition_point(|(large, _)| large.size <= share);
    let list = Mutex::new(jobs);
    let parts = Team::new(workers).run(context.resources.stop, |worker| {
        if worker > 0 {
            // SAFETY: this is the first call on a new thread. An inventory holds no descriptor. The driver
            // and the readers are created and dropped in this closure, and the failures that the worker
            // returns hold no descriptor.
            unsafe { leave_shared_descriptors() };
        }
        let mut driver = Driver::new(*context, worker, 1);
        let list = &list;
        let larger_than =
            |above| Deferred(move || lock(list).pop_if(|(large, _)| large.size > above).map(|(_, job)| job));
        if ahead {
            driver.run(&mut *context.readers.stream(true), &mut larger_than(share.max(READ_AHEAD_FROM)));
        }
        driver.run(&mut *context.readers.stream(false), &mut larger_than(share));
        let lanes = (lane_files / workers).clamp(1, driver.width());
        driver.run(&mut *Readers::plain(lanes), &mut larger_than(0));
        driver.failed
    });
    failed.extend(parts.into_iter().flatten());
}

impl Context<'_> {
    /// Whether a single stream gets a read-ahead thread: more than one CPU may be used, and the digest is
    /// slow enough.
    pub(crate) fn reads_ahead(&self) -> bool {
        self.limits.busy_workers() > 1 && self.stream_nanos() > SLOW_NANOS_PER_BYTE
    }

    /// Whether all workers hash a file of this size together.
    pub(crate) fn shares(&self, size: u64) -> bool {
        *self.work.algorithms == [Algorithm::Blake3]
            && self.work.prefix.is_none()
            && size >= SHARED_FROM
            && self.limits.busy_workers() > 1
    }
}
