//! Processes and measures the sample.

use ftk_file::{Stat, is_remote, is_trusted};
use ftk_inventory::{DirFd, DirNo, Opener};
use ftk_sched::{Run, Sample, Sampling, Storage};

use crate::claims::{FileJobs, Job, Large};
use crate::driver::{Driver, Source};
use crate::readers::Readers;
use crate::run::Files;

/// Files in the sample. If they come from a disk, this is enough to tell waits from chance; if they are cached, it
/// is 0.1 ms of work.
const FILES: u32 = 32;

/// Processes a few files spread over the table, on the calling thread.
pub(crate) fn process(files: &mut Files<'_>, run: &Run<'_>) -> Sample {
    let mut driver = Driver::new(files.context(run), 0, 1);
    let mut reader = Readers::plain(driver.width());
    let (all, pending) = (files.work.files(), files.rows.pending() as u32);
    let jobs = FileJobs::new(files.work, files.rows);
    // Going through all rows to find those that are pending takes time, and is rarely needed.
    let jobs: Box<dyn Iterator<Item = Job<'_>>> =
        if pending == all { Box::new(jobs) } else { Box::new(jobs.filter(|job| job.row.is_pending())) };
    let sampling = Sampling::start(jobs, pending, FILES, run.counters);
    let mut source = SampleSource { sampling, dirs: Vec::new(), large: &mut files.large };
    driver.run(&mut *reader, &mut source);
    let mut opener = Opener::new(files.work.inventory);
    let mut are_all = |is: fn(DirFd) -> bool| source.dirs.iter().all(|&dir| opener.open(dir).is_ok_and(is));
    let sample = source.sampling.measured(|storage| match storage {
        Storage::Counted => are_all(is_trusted),
        Storage::Remote => are_all(is_remote),
    });
    (files.failed, files.spare) = (driver.failed, driver.spare);
    sample
}

struct SampleSource<'s, 'r> {
    sampling: Sampling<'s, Job<'r>>,
    /// The directories of the files.
    dirs: Vec<DirNo>,
    large: &'s mut Vec<Large>,
}

impl<'r> Source<'r> for SampleSource<'_, 'r> {
    fn next(&mut self) -> Option<Job<'r>> {
        let job = if self.sampling.may_begin() { self.sampling.next() } else { None }?;
        if self.dirs.last() != Some(&job.dir) {
            self.dirs.push(job.dir);
        }
        Some(job)
    }

    fn admit(&mut self, seen: &Stat, job: Job<'r>) -> Option<Job<'r>> {
        if seen.size <= Large::ABOVE {
            return Some(job);
        }
        self.large.push(job.defer(seen));
        None
    }
}
