//! The sample: a few files spread over the table, processed by the calling thread and measured.

use std::time::{Duration, Instant};

use ftk_inventory::FileNo;
use ftk_sched::{Sample, voluntary_switches};

use crate::claims::{Job, Large, pick};
use crate::driver::{Driver, Failed, Source};
use crate::progress::Cells;
use crate::readers::{MOST_LANES, Readers};
use crate::rows::Rows;
use crate::run::{Env, Work};

/// Files in the sample: on a cold disk enough to tell waits from chance, on a warm one 0.1 ms of work.
const FILES: u32 = 32;

/// When the sample has told enough. A cold disk answers some 10 files in that time.
const TIME: Duration = Duration::from_millis(20);

/// What the sample and the small files leave behind.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) sample: Sample,
    pub(crate) large: Vec<Large>,
    pub(crate) failed: Vec<Failed>,
}

/// Processes a few files spread over the table, on the calling thread, and measures them.
pub(crate) fn process(work: &Work<'_>, rows: &mut Rows, env: &Env<'_>, cells: &Cells) -> Sampled {
    let files = u64::from(work.inventory.files());
    let n = files.min(u64::from(FILES));
    let spread = (0..n).map(|i| FileNo(((2 * i + 1) * files / (2 * n)) as u32));
    let mut jobs = pick(work.inventory, rows, spread);
    jobs.reverse();
    let mut driver = Driver::new(work, MOST_LANES, 1, env.stop, cells.of(0));
    let mut source = SampleSource { jobs, until: Instant::now() + TIME, large: Vec::new() };
    let mut reader = Readers::plain(driver.width());

    let before = cells.sum();
    let (start, waits) = (Instant::now(), voluntary_switches());
    driver.run(&mut *reader, &mut source);
    let done = cells.sum();
    let sample = Sample {
        files: (done.files - before.files) as u32,
        bytes: done.bytes - before.bytes,
        nanos: start.elapsed().as_nanos() as u64,
        waits: (voluntary_switches() - waits) as u32,
    };
    Sampled { sample, large: source.large, failed: driver.failed }
}

struct SampleSource<'r> {
    jobs: Vec<Job<'r>>,
    until: Instant,
    large: Vec<Large>,
}

impl<'r> Source<'r> for SampleSource<'r> {
    fn next(&mut self) -> Option<Job<'r>> {
        if Instant::now() > self.until { None } else { self.jobs.pop() }
    }

    fn judge(&mut self, size: u64, job: Job<'r>) -> Option<Job<'r>> {
        if size <= Large::ABOVE {
            return Some(job);
        }
        self.large.push(job.defer(size));
        None
    }
}
