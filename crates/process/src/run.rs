//! A run from inventory to rows: sample, choice, small files, large files.

use std::time::Instant;

use ftk_hash::Algorithm;
use ftk_sched::{Choice, Limits, Model, Sample, Stop, logical_cpus};

use crate::driver::{Driver, Failed};
use crate::progress::{Counters, OnDemand, Progress, Watch, watched};
use crate::readers::Readers;
use crate::rows::Rows;
use crate::{Work, large, sample, small};

/// What a run may use.
#[derive(Clone, Copy)]
pub struct Resources<'e> {
    /// The model that decides how many workers there are and which reader they use.
    pub model: &'e Model,
    /// The options that the model can choose from. `ring` is ignored: the run tries to create a ring if it
    /// needs to know. If `cpus` is 0, the run counts the CPUs, unless it ends with its sample.
    pub limits: Limits,
    /// The maximum size of all buffers together, in bytes.
    pub memory: u64,
    /// Ends the run early; files in progress stay pending.
    pub stop: &'e Stop,
    /// Where to show progress, if anywhere.
    pub watch: Option<Watch<'e>>,
}

/// How a run went. The digests are in the rows.
#[derive(Debug)]
pub struct Report {
    /// The files without a digest, sorted by their number in the inventory.
    pub failed: Vec<Failed>,
    /// The number of files and bytes processed.
    pub done: Progress,
    /// What was decided, why, and how long it took.
    pub plan: RunPlan,
}

/// What was decided, why, and how long it took.
#[derive(Clone, Copy, Debug)]
pub struct RunPlan {
    /// The measurements on the first files.
    pub sample: Sample,
    /// The model's choice; `None` if the sample contained all files.
    pub choice: Option<Choice>,
    /// Time for the small files after the sample, in nanoseconds. This is the time that the choice forecasts.
    pub took_nanos: u64,
    /// The number of large files, which came last.
    pub large: usize,
}

/// Processes every file of the work. Afterwards each row is `Ok`, `Failed` or `Changed`, unless the run was
/// stopped. If the inventory [has sizes](ftk_inventory::Inventory::has_sizes), a file whose size is different
/// when it is opened is `Changed`.
///
/// # Panics
/// When a worker panics, after all workers have ended; if the number of rows differs from the number of wanted
/// files; if the rows are for other algorithms; or if the files are not in ascending order.
pub fn process(work: &Work<'_>, rows: &mut Rows, resources: &Resources<'_>) -> Report {
    rows.assert_fits(work.files(), work.algorithms);
    work.assert_ascending();
    let counters = Counters::default();
    watched(resources.watch, &counters, || {
        let mut sampled = sample::process(work, rows, resources, &counters);
        let mut plan =
            RunPlan { sample: sampled.sample, choice: None, took_nanos: 0, large: sampled.large.len() };
        let left = rows.pending();
        if (left > 0 || !sampled.large.is_empty()) && !resources.stop.is_raised() {
            let limits = limits(resources, &sampled.sample);
            let readers = Readers::new(&limits, resources.memory);
            counters.add_team(readers.max_workers());
            let context = Context { work, resources, limits, readers: &readers, counters: &counters };
            if left > 0 {
                let choice = resources.model.choose(sampled.sample, left, limits);
                let start = Instant::now();
                small::process(&context, rows, &choice, &mut sampled);
                plan.choice = Some(choice);
                plan.took_nanos = start.elapsed().as_nanos() as u64;
            }
            plan.large = sampled.large.len();
            large::process(&context, rows, sampled.large, &mut sampled.failed);
        }
        sampled.failed.sort_by_key(|failed| failed.file);
        Report { failed: sampled.failed, done: counters.sum(), plan }
    })
}

/// Completes the limits with the number of CPUs and whether a ring can be created. This takes time, so it is
/// done only when a choice is needed.
fn limits(resources: &Resources<'_>, sample: &Sample) -> Limits {
    // Trying to create a ring takes 25 us, which only pays for a cold tree.
    let ring = sample.is_cold() && ftk_read::Uring::new(1, 1).is_ok();
    let cpus = if resources.limits.cpus == 0 { logical_cpus() } else { resources.limits.cpus };
    Limits { ring, cpus, ..resources.limits }
}

/// What every phase of a run works with.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) work: &'c Work<'c>,
    pub(crate) resources: &'c Resources<'c>,
    pub(crate) limits: Limits,
    pub(crate) readers: &'c Readers,
    pub(crate) counters: &'c Counters,
}

impl<'c> Context<'c> {
    /// Creates a worker's driver. Must be called on that worker's thread. `max_dirs` is the number of
    /// directories it may hold open.
    pub(crate) fn driver(&self, worker: usize, max_dirs: usize) -> Driver<'c> {
        let max_slots = self.readers.max_slots();
        Driver::new(
            self.work,
            max_slots,
            max_dirs,
            self.resources.stop,
            self.counters.of(worker),
            self.on_demand(),
        )
    }

    /// Shows progress on request.
    pub(crate) fn on_demand(&self) -> OnDemand<'c> {
        OnDemand { watch: self.resources.watch, counters: self.counters }
    }

    /// Returns the cost of all digests for one byte of a long stream, in nanoseconds. An unknown kernel
    /// counts as slow.
    pub(crate) fn stream_nanos(&self) -> f64 {
        let Work { algorithms, platform, .. } = *self.work;
        let speeds = &self.resources.model.constants().digest_bytes_per_s;
        let nanos = |algorithm: &Algorithm| {
            let kernel = format!("{}/{}", algorithm.name(), algorithm.kernel_name(platform));
            1e9 / speeds.get(&kernel).map_or(1e9, |&speed| speed as f64)
        };
        algorithms.iter().map(nanos).sum()
    }
}
