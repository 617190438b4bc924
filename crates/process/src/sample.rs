//! The sample: a few files spread over the table, processed by the calling thread and measured.

use std::time::{Duration, Instant};

use ftk_read::Stat;
use ftk_sched::{Sample, voluntary_switches};

use crate::Work;
use crate::claims::{Job, Large, pick};
use crate::driver::{Driver, Failed, Source};
use crate::progress::{Cells, Look, Progress};
use crate::readers::{MOST_LANES, Readers};
use crate::rows::Rows;
use crate::run::Resources;
use crate::spare::Spare;

/// Files in the sample: on a cold disk enough to tell waits from chance, on a warm one 0.1 ms of work.
const FILES: u32 = 32;

/// Neighbours sampled together. A directory is opened again for a whole run of its files, so a file alone would
/// seem to cost twice what it does.
const RUN: u32 = 8;

/// When the sample has told enough. A cold disk answers some 10 files in that time.
const TIME: Duration = Duration::from_millis(20);

/// What the sample and the small files leave behind.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) sample: Sample,
    pub(crate) large: Vec<Large>,
    pub(crate) failed: Vec<Failed>,
    pub(crate) spare: Spare,
}

/// Processes a few files spread over the table, on the calling thread, and measures them.
pub(crate) fn process(work: &Work<'_>, rows: &mut Rows, env: &Resources<'_>, cells: &Cells) -> Sampled {
    let mut jobs = pick(work, rows, spread(work.files()));
    jobs.reverse();
    let mut driver =
        Driver::new(work, MOST_LANES, 1, env.stop, cells.of(0), Look { watch: env.watch, cells });
    let mut reader = Readers::plain(driver.width());
    let start = Mark::now(cells);
    // Rounded up: a file alone is measured, also where the next job is asked for when it is done.
    let half = jobs.len().div_ceil(2);
    let mut source =
        SampleSource { jobs, half, warm: None, cells, large: Vec::new(), until: start.time + TIME };
    driver.run(&mut *reader, &mut source);

    let end = Mark::now(cells);
    let warm = source.warm.unwrap_or(start);
    let (all, files) = (end.done.files - start.done.files, end.done.files - warm.done.files);
    let sample = Sample {
        files: files as u32,
        bytes: end.done.bytes - warm.done.bytes,
        nanos: (end.time - warm.time).as_nanos() as u64,
        // All of them count, in proportion: half of them would be too few to tell a disk by.
        waits: ((end.waits - start.waits) * files / all.max(1)) as u32,
    };
    Sampled { sample, large: source.large, failed: driver.failed, spare: driver.spare }
}

/// Which rows of so many files are sampled: all of few, else runs in the middle of equal parts, ascending.
fn spread(files: u32) -> impl Iterator<Item = u32> {
    let (runs, run) = if files < FILES { (1, files) } else { (FILES / RUN, RUN) };
    let start = move |nth: u32| {
        let part = |nth: u32| (u64::from(nth) * u64::from(files) / u64::from(runs)) as u32;
        part(nth) + (part(nth + 1) - part(nth) - run) / 2
    };
    (0..runs).flat_map(move |nth| start(nth)..start(nth) + run)
}

/// A moment of the sample.
#[derive(Clone, Copy, Debug)]
struct Mark {
    time: Instant,
    waits: u64,
    done: Progress,
}

impl Mark {
    fn now(cells: &Cells) -> Self {
        Self { time: Instant::now(), waits: voluntary_switches(), done: cells.sum() }
    }
}

struct SampleSource<'s, 'r> {
    jobs: Vec<Job<'r>>,
    half: usize,
    /// When half of the jobs were handed out. What came before touched code and buffers for the first time,
    /// which cost small files several times their price and says nothing of the files to come.
    warm: Option<Mark>,
    cells: &'s Cells,
    large: Vec<Large>,
    until: Instant,
}

impl<'r> Source<'r> for SampleSource<'_, 'r> {
    fn next(&mut self) -> Option<Job<'r>> {
        if self.jobs.len() == self.half {
            self.warm.get_or_insert_with(|| Mark::now(self.cells));
        }
        if Instant::now() > self.until { None } else { self.jobs.pop() }
    }

    fn judge(&mut self, seen: &Stat, job: Job<'r>) -> Option<Job<'r>> {
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
