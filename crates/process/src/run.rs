//! A run from inventory to rows: sample, choose, small files, large files.

use std::time::Instant;

use ftk_hash::Algorithm;
use ftk_sched::{Choice, Limits, Model, Sample, Stop, logical_cpus};

use crate::driver::{Driver, Failed};
use crate::progress::{Cells, Look, Progress, Watch, watched};
use crate::readers::Readers;
use crate::rows::Rows;
use crate::{Work, large, sample, small};

/// What a run may use.
#[derive(Clone, Copy)]
pub struct Resources<'e> {
    /// Decides how many workers and which reader.
    pub model: &'e Model,
    /// What it may choose from. Whether a ring can be had is found out here, so `ring` is not looked at; nor is
    /// `cpus` when it is 0, which costs a run that ends with its sample nothing.
    pub limits: Limits,
    /// Bytes that buffers may take, in all.
    pub memory: u64,
    /// Ends the run early; files under way stay pending.
    pub stop: &'e Stop,
    /// Who wants to see progress.
    pub watch: Option<Watch<'e>>,
}

/// How a run went. Its digests are in the rows.
#[derive(Debug)]
pub struct Report {
    /// The files that have none, by number in the inventory.
    pub failed: Vec<Failed>,
    /// Files and bytes in all.
    pub done: Progress,
    /// What was decided on which grounds, and how it came out.
    pub plan: RunPlan,
}

/// What was decided on which grounds, and how it came out.
#[derive(Clone, Copy, Debug)]
pub struct RunPlan {
    /// What was measured on the first files.
    pub sample: Sample,
    /// What the model made of it; `None` when the sample was all there was.
    pub choice: Option<Choice>,
    /// Time the small files took after the sample, in nanoseconds: what the choice forecast.
    pub took_nanos: u64,
    /// Large files, which came last.
    pub large: usize,
}

/// Processes every file of the work: afterwards each row is `Ok`, `Failed` or `Changed`, unless the run was
/// stopped. Where the inventory [has sizes](ftk_inventory::Inventory::has_sizes), a file that has another one when
/// it is opened has changed.
///
/// # Panics
/// When a worker panics, after all have ended; or if the table has another number of rows than files are wanted,
/// or is for other digests; or if the files are not given in ascending order.
pub fn process(work: &Work<'_>, rows: &mut Rows, env: &Resources<'_>) -> Report {
    rows.assert_fits(work.files(), work.algorithms);
    work.assert_ascending();
    let cells = Cells::default();
    watched(env.watch, &cells, || {
        let mut sampled = sample::process(work, rows, env, &cells);
        let mut plan =
            RunPlan { sample: sampled.sample, choice: None, took_nanos: 0, large: sampled.large.len() };
        let left = rows.pending();
        if (left > 0 || !sampled.large.is_empty()) && !env.stop.is_raised() {
            let limits = limits(env, &sampled.sample);
            let readers = Readers::new(&limits, env.memory);
            cells.add_team(readers.most_workers());
            let crew = Crew { work, env, limits, readers: &readers, cells: &cells };
            if left > 0 {
                let choice = env.model.choose(sampled.sample, left, limits);
                let start = Instant::now();
                small::process(&crew, rows, &choice, &mut sampled);
                plan.choice = Some(choice);
                plan.took_nanos = start.elapsed().as_nanos() as u64;
            }
            plan.large = sampled.large.len();
            large::process(&crew, rows, sampled.large, &mut sampled.failed);
        }
        sampled.failed.sort_by_key(|failed| failed.file);
        Report { failed: sampled.failed, done: cells.sum(), plan }
    })
}

/// What there is to choose from, found out now that there is something to choose.
fn limits(env: &Resources<'_>, sample: &Sample) -> Limits {
    // Only a cold tree is worth the 25 us of trying to make a ring.
    let ring = sample.is_cold() && ftk_read::Uring::new(1, 1).is_ok();
    let cpus = if env.limits.cpus == 0 { logical_cpus() } else { env.limits.cpus };
    Limits { ring, cpus, ..env.limits }
}

/// What every phase of a run works with.
#[derive(Clone, Copy)]
pub(crate) struct Crew<'c> {
    pub(crate) work: &'c Work<'c>,
    pub(crate) env: &'c Resources<'c>,
    pub(crate) limits: Limits,
    pub(crate) readers: &'c Readers,
    pub(crate) cells: &'c Cells,
}

impl<'c> Crew<'c> {
    /// The driver of one worker, made on its own thread. `most_dirs`: directories it may hold open.
    pub(crate) fn driver(&self, worker: usize, most_dirs: usize) -> Driver<'c> {
        let most_slots = self.readers.most_slots();
        Driver::new(self.work, most_slots, most_dirs, self.env.stop, self.cells.of(worker), self.look())
    }

    /// What a worker does between two chunks.
    pub(crate) fn look(&self) -> Look<'c> {
        Look { watch: self.env.watch, cells: self.cells }
    }

    /// What a byte of one long stream costs in all digests, in nanoseconds. A kernel that is not known counts
    /// as a slow one.
    pub(crate) fn stream_nanos(&self) -> f64 {
        let Work { algorithms, platform, .. } = *self.work;
        let speeds = &self.env.model.constants().digest_bytes_per_s;
        let nanos = |algorithm: &Algorithm| {
            let kernel = format!("{}/{}", algorithm.name(), algorithm.kernel_name(platform));
            1e9 / speeds.get(&kernel).map_or(1e9, |&speed| speed as f64)
        };
        algorithms.iter().map(nanos).sum()
    }
}
