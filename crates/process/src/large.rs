//! Large files, after the small ones, largest first: the largest alone, the others in lanes; all workers on
//! one where the digest is a tree.
#![expect(unsafe_code, reason = "workers leave the shared descriptor table")]

use std::sync::Mutex;

use ftk_hash::Algorithm;
use ftk_read::{Stat, leave_shared_descriptors};
use ftk_sched::{Team, Threads};

use crate::claims::{Job, Large, lock, pick};
use crate::driver::{Failed, Source};
use crate::readers::Readers;
use crate::rows::Rows;
use crate::run::Crew;
use crate::shared;

/// From this size on, in bytes, a BLAKE3 file is shared by all workers: below, the spawn and join of a team
/// for each file would show.
const SHARED: u64 = 16 << 20;

/// From this size on, in bytes, a thread that reads ahead is worth its start.
const AHEAD: u64 = 8 << 20;

/// From this time a byte on, in nanoseconds, a digest is worth a second thread that reads for it. A faster one
/// waits longer for bytes from the other CPU's cache than it takes to copy them itself.
const SLOW: f64 = 0.15;

/// Processes the files that were put off.
pub(crate) fn process(crew: &Crew<'_>, rows: &mut Rows, mut large: Vec<Large>, failed: &mut Vec<Failed>) {
    if large.is_empty() {
        return;
    }
    large.sort_unstable_by_key(|large| large.file);
    let jobs = pick(crew.work, rows, large.iter().map(|large| crew.work.row(large.file)));
    let mut jobs: Vec<_> = large.into_iter().zip(jobs).collect();
    // The next one is taken from the end: largest first, so that the last to end is a short one.
    jobs.sort_unstable_by_key(|(large, _)| *large);

    let workers = crew.large_workers();
    let at = jobs.partition_point(|(large, _)| !crew.shares(large.size));
    for (large, job) in jobs.split_off(at).into_iter().rev() {
        failed.extend(shared::process(crew, workers, large, job));
    }
    if jobs.is_empty() {
        return;
    }
    let ahead = jobs.len() < workers && crew.reads_ahead();
    let workers = workers.clamp(1, jobs.len());
    // A file of more than its share would be the tail if it rode in a lane: it goes first, and alone.
    let share = jobs.iter().map(|(large, _)| large.size).sum::<u64>() / (2 * workers) as u64;
    let riders = jobs.partition_point(|(large, _)| large.size <= share);
    let list = Mutex::new(jobs);
    let parts = Team::new(workers).run(crew.env.stop, |worker| {
        if worker > 0 {
            // SAFETY: the first call on a new thread. An inventory holds no descriptor, the driver and the readers are
            // made here and dropped here, and the failures that the worker returns hold none either.
            unsafe { leave_shared_descriptors() };
        }
        let mut driver = crew.driver(worker, 1);
        let larger_than = |above| ListSource { list: &list, above };
        if ahead {
            driver.run(&mut *crew.readers.stream(true), &mut larger_than(share.max(AHEAD)));
        }
        driver.run(&mut *crew.readers.stream(false), &mut larger_than(share));
        let lanes = (riders / workers).clamp(1, driver.width());
        driver.run(&mut *Readers::plain(lanes), &mut larger_than(0));
        driver.failed
    });
    failed.extend(parts.into_iter().flatten());
}

/// The files of the list that are larger than `above`.
struct ListSource<'l, 'r> {
    list: &'l Mutex<Vec<(Large, Job<'r>)>>,
    above: u64,
}

impl<'r> Source<'r> for ListSource<'_, 'r> {
    fn next(&mut self) -> Option<Job<'r>> {
        let mut list = lock(self.list);
        list.pop_if(|(large, _)| large.size > self.above).map(|(_, job)| job)
    }

    fn judge(&mut self, _seen: &Stat, job: Job<'r>) -> Option<Job<'r>> {
        Some(job)
    }

    fn is_late(&self) -> bool {
        true
    }
}

impl Crew<'_> {
    fn large_workers(&self) -> usize {
        match self.limits.threads {
            Threads::Auto => self.limits.cpus,
            Threads::Fixed(n) => n,
        }
    }

    /// Whether a lone stream gets a thread that reads ahead, if there is a CPU for it.
    pub(crate) fn reads_ahead(&self) -> bool {
        self.large_workers() > 1 && self.stream_nanos() > SLOW
    }

    /// Whether a file of this size is hashed by all workers at once.
    pub(crate) fn shares(&self, size: u64) -> bool {
        *self.work.algorithms == [Algorithm::Blake3] && size >= SHARED && self.large_workers() > 1
    }
}
