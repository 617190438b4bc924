//! A run from inventory to rows: sample, choice, small files, large files.

use ftk_cache::{Cache, Unusable};
use ftk_hash::Algorithm;
use ftk_read::WriteBack;
use ftk_sched::{Choice, Counters, Jobs, Limits, Model, Progress, Run, RunPlan, Sample, Stop};

use crate::claims::{Job, Large};
use crate::driver::Failed;
use crate::progress::{Watch, watched};
use crate::readers::Readers;
use crate::reuse::Reuse;
use crate::rows::Rows;
use crate::spare::Spare;
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
    /// Where to look for the digests of earlier runs, and to add those of this run.
    pub cache: Option<&'e Cache>,
}

/// How a run went. The digests are in the rows.
#[derive(Debug)]
pub struct Report {
    /// The files without a digest, sorted by their number in the inventory.
    pub failed: Vec<Failed>,
    /// The number of files and bytes processed. Files whose digests were reused count, but not their bytes.
    pub done: Progress,
    /// The number of files whose digests were reused.
    pub reused: u64,
    /// Why the store of digests could not be used to the end.
    pub unusable: Option<Unusable>,
    /// What was decided, why, and how long it took.
    pub plan: RunPlan,
}

/// Processes every file of the work. Afterwards each row is `Ok`, `Failed` or `Changed`, unless the run was
/// stopped.
///
/// With a cache, files whose digests are known are not opened. Their metadata is that of the walk if the inventory
/// [has times](ftk_inventory::Inventory::has_times); otherwise this asks for it.
///
/// # Panics
/// When a worker panics, after all workers have ended; if the number of rows differs from the number of wanted
/// files; if the rows are for other algorithms; or if the files are not in ascending order.
pub fn process(work: &Work<'_>, rows: &mut Rows, resources: &Resources<'_>) -> Report {
    rows.assert_fits(work.files(), work.algorithms);
    work.assert_ascending();
    let counters = Counters::default();
    let Resources { model, limits, stop, watch, cache, .. } = *resources;
    let run = Run { model, limits, stop, counters: &counters };
    let reuse = cache.filter(|_| work.prefix.is_none()).map(|cache| Reuse::new(cache, work));
    let pending = rows.pending();
    let (plan, failed, reused, unusable) = watched(watch, &counters, || {
        let looked_up = reuse.as_ref().map_or(Ok(()), |reuse| reuse.look_up(work, rows, &run));
        let reused = pending - rows.pending();
        counters.of(0).add_files(reused);
        let mut files = Files::new(work, rows, resources);
        files.reuse = reuse.as_ref();
        (run.execute(&mut files), files.failed, reused, looked_up.err())
    });
    let mut failed = failed;
    failed.sort_by_key(|failed| failed.file);
    Report { failed, done: counters.sum(), reused, unusable, plan }
}

/// The files of a run, and what is known about them besides their rows.
pub(crate) struct Files<'f> {
    pub(crate) work: &'f Work<'f>,
    pub(crate) rows: &'f mut Rows,
    pub(crate) resources: &'f Resources<'f>,
    reuse: Option<&'f Reuse<'f>>,
    /// Deferred files.
    pub(crate) large: Vec<Large>,
    pub(crate) failed: Vec<Failed>,
    /// The buffers of the sample.
    pub(crate) spare: Spare,
}

impl<'f> Files<'f> {
    pub(crate) fn new(work: &'f Work<'f>, rows: &'f mut Rows, resources: &'f Resources<'f>) -> Self {
        let (large, failed, spare) = (Vec::new(), Vec::new(), Spare::default());
        Self { work, rows, resources, reuse: None, large, failed, spare }
    }

    /// Returns what every phase works with.
    pub(crate) fn context<'c>(&self, run: &Run<'c>) -> Context<'c>
    where
        'f: 'c,
    {
        let Self { work, resources, reuse, .. } = *self;
        let readers = Readers::new(&run.limits, resources.memory);
        Context { work, resources, limits: run.limits, readers, counters: run.counters, reuse }
    }
}

impl Jobs for Files<'_> {
    fn sample(&mut self, run: &Run<'_>) -> Sample {
        sample::process(self, run)
    }

    fn left(&self) -> (u64, usize) {
        (self.rows.pending(), self.large.len())
    }

    fn has_ring(&self) -> bool {
        ftk_read::Uring::new(1, 1).is_ok()
    }

    fn do_probe(&mut self, run: &Run<'_>, sample: &Sample, choice: &Choice) {
        small::probe(self, run, sample, choice);
    }

    fn do_small(&mut self, run: &Run<'_>, sample: &Sample, choice: &Choice) {
        small::process(self, run, sample, choice, None);
    }

    fn do_large(&mut self, run: &Run<'_>) {
        large::process(self, run);
    }
}

/// What every phase of a run works with.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) work: &'c Work<'c>,
    pub(crate) resources: &'c Resources<'c>,
    pub(crate) limits: Limits,
    pub(crate) readers: Readers,
    pub(crate) counters: &'c Counters,
    pub(crate) reuse: Option<&'c Reuse<'c>>,
}

impl<'c> Context<'c> {
    /// Returns when modified pages are written back before a file is read: if its digest or its metadata is kept. Both
    /// are compared with the metadata that a later run sees, which must show any later write; see
    /// [`File::write_back`](ftk_file::File::write_back).
    pub(crate) fn write_back(&self, job: &Job<'_>) -> WriteBack {
        let is_kept = job.row.has_stat() || self.reuse.is_some_and(|reuse| reuse.may_cover(job.dir));
        if is_kept { WriteBack::IfRecent } else { WriteBack::Never }
    }

    /// Shows progress if it is requested now.
    pub(crate) fn show(&self) {
        if let Some(Watch { asked: Some(asked), show, .. }) = self.resources.watch
            && asked()
        {
            show(self.counters.sum());
        }
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
