//! Processes and measures the sample: a few files spread over the table, on the calling thread.

use std::time::{Duration, Instant};

use ftk_read::Stat;
use ftk_sched::{Sample, voluntary_switches};

use crate::Work;
use crate::claims::{Job, Large, pick};
use crate::driver::{Driver, Failed, Source};
use crate::progress::{Counters, OnDemand, Progress};
use crate::readers::{MAX_LANES, Readers};
use crate::rows::Rows;
use crate::run::Resources;
use crate::spare::Spare;

/// Files in the sample. If they come from a disk, this is enough to tell waits from chance; if they are cached, it
/// is 0.1 ms of work.
const FILES: u32 = 32;

/// Neighbouring files sampled together. A directory is reopened once for a whole run of its files, so a
/// single file would seem to cost twice as much.
const RUN: u32 = 8;

/// Maximum duration of the sample. A cold disk delivers some 10 files in this time.
const TIME: Duration = Duration::from_millis(20);

/// Results of the sample, to which those of the small files are added.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) sample: Sample,
    pub(crate) large: Vec<Large>,
    pub(crate) failed: Vec<Failed>,
    pub(crate) spare: Spare,
}

/// Processes a few files spread over the table, on the calling thread, and measures them.
pub(crate) fn process(
    work: &Work<'_>,
    rows: &mut Rows,
    resources: &Resources<'_>,
    counters: &Counters,
) -> Sampled {
    let mut jobs = pick(work, rows, spread(work.files()));
    jobs.reverse();
    let mut driver = Driver::new(
        work,
        MAX_LANES,
        1,
        resources.stop,
        counters.of(0),
        OnDemand { watch: resources.watch, counters },
    );
    let mut reader = Readers::plain(driver.width());
    let start = Mark::now(counters);
    // Rounded up, so that a single file is measured even if the next job is requested only after it is done.
    let half = jobs.len().div_ceil(2);
    let mut source =
        SampleSource { jobs, half, warm: None, counters, large: Vec::new(), until: start.time + TIME };
    driver.run(&mut *reader, &mut source);

    let end = Mark::now(counters);
    let warm = source.warm.unwrap_or(start);
    let (all, files) = (end.done.files - start.done.files, end.done.files - warm.done.files);
    let sample = Sample {
        files: files as u32,
        bytes: end.done.bytes - warm.done.bytes,
        nanos: (end.time - warm.time).as_nanos() as u64,
        // Waits are counted over the whole sample and scaled down: half a sample has too few to detect a
        // disk.
        waits: ((end.waits - start.waits) * files / all.max(1)) as u32,
    };
    Sampled { sample, large: source.large, failed: driver.failed, spare: driver.spare }
}

/// Returns the rows to sample among `files` files, in ascending order: all of a few files, otherwise runs in
/// the middle of equal parts.
fn spread(files: u32) -> impl Iterator<Item = u32> {
    let (runs, run) = if files < FILES { (1, files) } else { (FILES / RUN, RUN) };
    let start = move |nth: u32| {
        let part = |nth: u32| (u64::from(nth) * u64::from(files) / u64::from(runs)) as u32;
        part(nth) + (part(nth + 1) - part(nth) - run) / 2
    };
    (0..runs).flat_map(move |nth| start(nth)..start(nth) + run)
}

/// The counters at one moment of the sample.
#[derive(Clone, Copy, Debug)]
struct Mark {
    time: Instant,
    waits: u64,
    done: Progress,
}

impl Mark {
    fn now(counters: &Counters) -> Self {
        Self { time: Instant::now(), waits: voluntary_switches(), done: counters.sum() }
    }
}

struct SampleSource<'s, 'r> {
    jobs: Vec<Job<'r>>,
    half: usize,
    /// The moment when half of the jobs were handed out. Earlier files use code and buffers for the first
    /// time. This makes small files several times slower and says nothing about later files.
    warm: Option<Mark>,
    counters: &'s Counters,
    large: Vec<Large>,
    until: Instant,
}

impl<'r> Source<'r> for SampleSource<'_, 'r> {
    fn next(&mut self) -> Option<Job<'r>> {
        if self.jobs.len() == self.half {
            self.warm.get_or_insert_with(|| Mark::now(self.counters));
        }
        if Instant::now() > self.until { None } else { self.jobs.pop() }
    }

    fn admit(&mut self, seen: &Stat, job: Job<'r>) -> Option<Job<'r>> {
        if seen.size <= Large::ABOVE {
            return Some(job);
        }
        self.large.push(job.defer(seen));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_ascending_and_covers_all_parts() {
        for files in [0, 1, 7, 31, 32, 33, 100, 1_000_003, u32::MAX] {
            let spread: Vec<_> = spread(files).collect();
            assert_eq!(spread.len() as u32, files.min(FILES));
            assert!(spread.is_sorted_by(|a, b| a < b) && spread.iter().all(|&file| file < files));
        }
        let quarters: Vec<_> = spread(4000).step_by(8).map(|row| row / 1000).collect();
        assert_eq!(quarters, [0, 1, 2, 3]);
    }
}
