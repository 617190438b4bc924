//! One run over the files of trees: the frame that `hash`, `dup`, `manifest` and the comparison of trees share.
//!
//! A run has these steps: [`Run::walk`] lists the trees; [`Run::rows`] reserves the memory for the results;
//! [`Run::process`] fills them; [`Run::say_done`] prints the summary. A command adds what is special to it: what it
//! selects, which files it reads, and what it prints.
//!
//! Every file that gets a digest passes through [`Run::process`], with its work and its rows. What saves or slows
//! down reading for all commands belongs there, before the files are read.

use std::cell::Cell;
use std::ffi::CString;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use ftk_cache::{Cache, Stored};
use ftk_file::Failure;
use ftk_hash::{Algorithm, Platform};
use ftk_inventory::{Budget, FileNo, Full, Inventory, Keep};
use ftk_process::{Failed, Progress, Report, Resources, Rows, Watch, Work, process};
use ftk_read::Span;
use ftk_sched::{Backend, Choice, Limits, Model, Reason, Sample, Stop};
use ftk_select::Selection;
use ftk_walk::Follow;
use indicatif::DecimalBytes;

use crate::cache::CacheArgs;
use crate::console::{Console, Outcome};
use crate::costs::Costs;
use crate::globals::Globals;
use crate::progress::Course;
use crate::scan::{Scan, Within, scan, walker};
use crate::stats::Phase;
use crate::{algorithm, cache, calibrate, human};

/// What all steps of a run share.
#[derive(Debug)]
pub(crate) struct Run<'c> {
    pub(crate) model: Model,
    costs: Costs,
    pub(crate) limits: Limits,
    pub(crate) platform: Platform,
    /// The memory for tables.
    pub(crate) budget: Budget,
    pub(crate) stop: Stop,
    /// The progress of work that is done in parts; otherwise each part has its own.
    pub(crate) course: Option<Course>,
    /// The start of the time in the summary. A command that first waits for other input sets it again.
    pub(crate) start: Instant,
    /// The digests of earlier runs, if they are used.
    cache: Option<Cache>,
    /// Files whose digests were reused.
    reused: Cell<u64>,
    /// Whether a message has said that the store cannot be used.
    is_unusable: Cell<bool>,
    pub(crate) globals: &'c Globals,
    pub(crate) console: &'c Console,
}

/// The result of reading files.
#[derive(Debug)]
pub(crate) struct Hashed {
    pub(crate) rows: Rows,
    /// Files and bytes, including failed ones.
    pub(crate) done: Progress,
    /// Files that could not be read completely, sorted by number.
    pub(crate) failed: Vec<Failed>,
}

impl Hashed {
    /// Returns why a file could not be read, or `None` if it was read.
    pub(crate) fn failure(&self, file: FileNo) -> Option<&Failure> {
        let at = self.failed.binary_search_by_key(&file, |failed| failed.file).ok()?;
        Some(&self.failed[at].failure)
    }
}

impl<'c> Run<'c> {
    /// # Errors
    /// If the requested reader or instruction set is not available.
    pub(crate) fn new(globals: &'c Globals, console: &'c Console) -> anyhow::Result<Self> {
        let backend = globals.io.backend();
        if backend == Some(Backend::Uring) {
            ftk_read::Uring::new(1, 1).context("--io uring: io_uring is not available here")?;
        }
        let (constants, is_calibrated) =
            calibrate::in_use(|why| console.verbose(|| format!("costs   built-in figures: {why}")));
        if is_calibrated {
            console.verbose(|| "costs   figures of ftk calibrate".to_owned());
        }
        Ok(Self {
            platform: algorithm::platform(&constants)?,
            model: Model::new(constants),
            costs: Costs::new(is_calibrated),
            limits: Limits { threads: globals.threads.resolve(), backend, ring: true, cpus: 0 },
            budget: Budget::new(globals.memory()),
            stop: Stop::new(),
            course: None,
            start: Instant::now(),
            cache: None,
            reused: Cell::new(0),
            is_unusable: Cell::new(false),
            globals,
            console,
        })
    }

    /// Reuses the digests of earlier runs, if the options say so. Returns the device and inode numbers of the
    /// files of the store, which the walk must skip.
    ///
    /// # Errors
    /// Those of [`CacheArgs::open`].
    pub(crate) fn reuse(&mut self, args: CacheArgs) -> anyhow::Result<Vec<(u64, u64)>> {
        self.cache = args.open(self.console)?;
        Ok(self.cache.as_ref().map_or_else(Vec::new, Cache::identities))
    }

    /// Whether digests of earlier runs are reused.
    pub(crate) fn has_cache(&self) -> bool {
        self.cache.is_some()
    }

    /// Begins to store the digests of this run. No more are looked up.
    pub(crate) fn flush_cache(&self) {
        self.cache.iter().for_each(Cache::flush);
    }

    /// Waits until the digests of this run are stored. Returns how many were reused; `None` without a cache.
    pub(crate) fn close_cache(&mut self) -> Option<u64> {
        let cache = self.cache.take()?;
        let Stored { files, lost, error } = cache.finish();
        self.console.verbose(|| format!("cache   {} stored", human::count(files, "digest")));
        if let Some(error) = error.filter(|_| !self.is_unusable.get()) {
            let (lost, why) = (human::count(lost, "digest"), cache::why(&error));
            self.console.warning(format_args!("cache: {lost} not stored: {why}"));
        }
        Some(self.reused.get())
    }

    /// Walks the starting points, and reports errors and skipped entries. `hint` is appended to the message about
    /// a starting point that is not a regular file.
    ///
    /// # Errors
    /// If the tree does not fit into the allowed memory.
    pub(crate) fn walk(
        &self,
        roots: Vec<CString>,
        follow: Follow,
        selection: &Selection,
        keep: Keep,
        hint: &str,
    ) -> anyhow::Result<Scan> {
        let walker = walker(&roots, follow, self.globals);
        scan(walker, selection, keep, &self.budget, Within::default(), hint, self.console)
    }

    /// Walks a directory like [`walk`](Self::walk), and finds the entries of a part.
    ///
    /// # Errors
    /// If they do not fit into the allowed memory.
    pub(crate) fn walk_within(
        &self,
        root: CString,
        selection: &Selection,
        keep: Keep,
        within: Within<'_>,
    ) -> anyhow::Result<Scan> {
        let walker = walker(&[root], Follow::Roots, self.globals);
        scan(walker, selection, keep, &self.budget, within, "", self.console)
    }

    /// Walks like [`walk`](Self::walk), and keeps the size of every file. If digests may be reused, this keeps the
    /// times too, so that the files are not examined again, unless these need memory that the tree or later tables
    /// need: up to `later` bytes for each file.
    ///
    /// # Errors
    /// If the tree does not fit into the allowed memory.
    pub(crate) fn walk_sizes(
        &mut self,
        roots: Vec<CString>,
        follow: Follow,
        selection: &Selection,
        later: usize,
    ) -> anyhow::Result<Scan> {
        if self.cache.as_ref().is_some_and(|cache| !cache.is_empty()) {
            match self.walk(roots.clone(), follow, selection, Keep::Times, "") {
                Err(error) if error.is::<Full>() => self.budget = Budget::new(self.globals.memory()),
                Err(error) => return Err(error),
                Ok(mut scanned) => {
                    if self.budget.left() < u64::from(scanned.inventory.files()) * later as u64 {
                        self.budget.release(scanned.inventory.forget_times());
                    }
                    return Ok(scanned);
                }
            }
        }
        self.walk(roots, follow, selection, Keep::Sizes, "")
    }

    /// Returns the work of reading the files of `only`, or all of them for `None`, to their end.
    pub(crate) fn whole<'w>(
        &self,
        inventory: &'w Inventory,
        only: Option<&'w [FileNo]>,
        algorithms: &'w [Algorithm],
    ) -> Work<'w> {
        let fixed_sizes = inventory.has_sizes();
        let (platform, span) = (self.platform, Span::Whole);
        Work { inventory, algorithms, platform, only, span, fixed_sizes, prefix: None }
    }

    /// Reserves memory for the results of `work`, and creates their rows: digests, and the metadata of each file
    /// if `has_stats`.
    ///
    /// # Errors
    /// If they do not fit into the allowed memory.
    pub(crate) fn rows(&self, work: &Work<'_>, has_stats: bool) -> Result<Rows, Full> {
        let (files, algorithms) = (work.files(), work.algorithms);
        self.budget.reserve(bytes_of_rows(files.into(), algorithms, has_stats))?;
        Ok(if has_stats { Rows::with_stats(files, algorithms) } else { Rows::new(files, algorithms) })
    }

    /// Gives back the memory of rows with metadata that were dropped.
    pub(crate) fn release_rows(&self, files: u64, algorithms: &[Algorithm]) {
        self.budget.release(bytes_of_rows(files, algorithms, true));
    }

    /// Processes the files of `work`, shows the progress, and records it for `--stats`. `phase` is a verb.
    pub(crate) fn process(&self, phase: &'static str, work: &Work<'_>, rows: &mut Rows) -> Report {
        let start = Instant::now();
        let (learned, place) = self.costs.model(self, work).unzip();
        let model = learned.as_ref().unwrap_or(&self.model);
        let work_on = |watch: Watch<'_>| {
            let memory = self.globals.memory();
            process(
                work,
                rows,
                &Resources {
                    model,
                    limits: self.limits,
                    memory,
                    stop: &self.stop,
                    watch: Some(watch),
                    cache: self.cache.as_ref(),
                },
            )
        };
        let report = match &self.course {
            Some(course) => course.files(work_on),
            None => self.console.progress.files(phase, u64::from(work.files()), work_on),
        };
        let (done, failed) = (report.done, report.failed.len() as u64);
        self.console.stats.phase(Phase {
            reused: self.cache.is_some().then_some(report.reused),
            ..Phase::of_files(phase, start, done.files, failed, done.bytes)
        });
        self.console.stats.plan(work, &report);
        self.reused.set(self.reused.get() + report.reused);
        if let Some(error) = report.unusable.as_ref().filter(|_| !self.is_unusable.replace(true)) {
            cache::say_unusable(error, self.console);
        }
        self.costs.keep(self, model, place.flatten().as_deref(), work, &report);
        let plan = &report.plan;
        let kernel = |it: &Algorithm| format!("{it} {}", it.kernel_name(work.platform));
        let kernels = || work.algorithms.iter().map(kernel).collect::<Vec<_>>().join(" + ");
        self.say_plan(&plan.sample, plan.choice, plan.took_nanos, Some(&kernels));
        if plan.large > 0 {
            self.console
                .verbose(|| format!("large   {} processed last", human::count(plan.large as u64, "file")));
        }
        report
    }

    /// Processes files in one pass, and returns the results.
    ///
    /// # Errors
    /// If a file was not processed.
    pub(crate) fn read(&self, work: &Work<'_>, mut rows: Rows) -> anyhow::Result<Hashed> {
        let Report { done, failed, .. } = self.process("hash", work, &mut rows);
        self.flush_cache();
        let pending = (0..work.files()).filter(|&row| rows.is_pending(row)).count();
        ensure!(pending == 0, "internal error: {pending} files were not processed");
        Ok(Hashed { rows, done, failed })
    }

    /// With `-v`, prints the measurements on the first files, the plan, its predicted and its real duration.
    /// `kernels`: the implementations of the digests, if there are any.
    pub(crate) fn say_plan(
        &self,
        sample: &Sample,
        choice: Option<Choice>,
        took_nanos: u64,
        kernels: Option<&dyn Fn() -> String>,
    ) {
        let time = |nanos| human::time(Duration::from_nanos(nanos));
        self.console.verbose(|| {
            format!(
                "sample  {}, {} in {}, {}: {}",
                human::count(u64::from(sample.files), "file"),
                DecimalBytes(sample.bytes),
                time(sample.nanos),
                human::count(u64::from(sample.waits), "wait"),
                match (sample.is_cold(), sample.remote_cpu) {
                    (false, _) => "cached",
                    (true, None) => "from the disk",
                    (true, Some(_)) => "from a network or FUSE file system",
                },
            )
        });
        self.console.verbose(|| {
            let Some(choice) = choice else {
                let kernels = kernels.map_or_else(String::new, |kernels| kernels() + "; ");
                return format!("plan    {kernels}the sample covered all files");
            };
            let reader = if choice.backend == Backend::Uring { "io_uring" } else { "plain" };
            format!(
                "plan    {}{}: {}; predicted {}, took {}",
                human::count(choice.workers as u64, "worker"),
                kernels.map_or_else(String::new, |kernels| format!(", {reader} reader, {}", kernels())),
                why(choice.reason),
                time(choice.forecast_nanos),
                time(took_nanos),
            )
        });
    }

    /// Prints the last line of the summary: what was done, bytes, time, rate and algorithms.
    pub(crate) fn say_done(&self, what: &str, bytes: u64, algorithms: &[Algorithm]) {
        let names: Vec<_> = algorithms.iter().map(|it| it.name()).collect();
        let done = human::rate(bytes, self.start.elapsed());
        self.console.summary(format_args!("{what}, {done}   {}", names.join(" + ")));
    }

    /// Prints one line that counts the files that could not be read, if there are any, and returns the outcome.
    /// `so` is the consequence for them, such as `not hashed`.
    pub(crate) fn say_unread(&self, files: u64, so: &str) -> Outcome {
        self.say_unread_with(files, 0, so)
    }

    /// Does the same, and counts directories that could not be listed.
    pub(crate) fn say_unread_with(&self, files: u64, directories: u64, so: &str) -> Outcome {
        let Some(files) = human::files_and_directories(files, directories) else { return Outcome::Success };
        self.console.summary(format_args!("{files} {so} (listed above; status 2)"));
        Outcome::Error
    }
}

/// Returns the memory that rows need.
fn bytes_of_rows(files: u64, algorithms: &[Algorithm], has_stats: bool) -> u64 {
    let stat = if has_stats { Rows::BYTES_PER_STAT } else { 0 };
    files * (Rows::bytes_per_file(algorithms) + stat) as u64
}

fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::BelowBreakEven => "starting more would take longer than they save",
        Reason::Warm => "the files are cached",
        Reason::ColdRing => "the files come from a disk, and io_uring keeps it busy",
        Reason::ColdThreads => "the files come from a disk, and io_uring is not available",
        Reason::Remote => "the files are on a network or FUSE file system, and most of the time is waiting",
        Reason::Asked => "as requested",
    }
}
