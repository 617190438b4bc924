//! Shared by all commands that process files: the cost model and its limits, progress, and the lines of `-v`.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use ftk_hash::Algorithm;
use ftk_process::{Progress, Report, Resources, Watch, Work};
use ftk_sched::{Backend, Limits, Model, Reason, Sample, Stop};
use indicatif::DecimalBytes;

use crate::args::Globals;
use crate::calibrate;
use crate::console::Console;
use crate::human;
use crate::stats::{Phase, nanos};

/// The settings that all processing phases of a run share.
#[derive(Debug)]
pub(crate) struct Engine<'c> {
    model: Model,
    limits: Limits,
    memory: u64,
    console: &'c Console,
}

impl<'c> Engine<'c> {
    pub(crate) fn new(globals: &Globals, console: &'c Console) -> anyhow::Result<Self> {
        let backend = globals.io.backend();
        if backend == Some(Backend::Uring) {
            ftk_read::Uring::new(1, 1).context("--io uring: io_uring is not available here")?;
        }
        let limits = Limits { threads: globals.threads.resolve(), backend, ring: true, cpus: 0 };
        let constants = calibrate::in_use(|why| console.verbose(|| format!("costs   built-in: {why}")));
        Ok(Self { model: Model::new(constants), limits, memory: globals.memory(), console })
    }

    pub(crate) fn resources<'e>(&'e self, stop: &'e Stop, watch: Option<Watch<'e>>) -> Resources<'e> {
        Resources { model: &self.model, limits: self.limits, memory: self.memory, stop, watch }
    }

    /// Runs `work` on `files` files, shows its progress if enabled, and records it for `--stats`. `phase` is
    /// a verb.
    pub(crate) fn watch(
        &self,
        phase: &'static str,
        files: u32,
        work: impl FnOnce(Option<Watch<'_>>) -> Report,
    ) -> Report {
        let start = Instant::now();
        let report = self.console.progress.files(phase, u64::from(files), work);
        self.console.stats.phase(Phase {
            phase,
            elapsed_ns: nanos(start.elapsed()),
            files: Some(report.done.files),
            failed: Some(report.failed.len() as u64),
            bytes: Some(report.done.bytes),
            ..Phase::default()
        });
        report
    }

    /// Records the plan for `--stats`. With `-v`, prints the measurements on the first files, the plan, its
    /// predicted and its real duration.
    pub(crate) fn say_plan(&self, work: &Work<'_>, report: &Report, console: &Console) {
        console.stats.plan(work, report);
        let plan = &report.plan;
        say_sample(&plan.sample, console);
        let kernel = |it: &Algorithm| format!("{it} {}", it.kernel_name(work.platform));
        let kernels = || work.algorithms.iter().map(kernel).collect::<Vec<_>>().join(" + ");
        console.verbose(|| match plan.choice {
            Some(choice) => format!(
                "plan    {}, {} reader, {}: {}; predicted {}, took {}",
                human::count(choice.workers as u64, "worker"),
                if choice.backend == Backend::Uring { "io_uring" } else { "plain" },
                kernels(),
                why(choice.reason),
                human::time(Duration::from_nanos(choice.forecast_nanos)),
                human::time(Duration::from_nanos(plan.took_nanos)),
            ),
            None => format!("plan    {}; the sample covered all files", kernels()),
        });
        if plan.large > 0 {
            console.verbose(|| format!("large   {} processed last", human::count(plan.large as u64, "file")));
        }
    }

    /// Prints the last line of the summary: bytes, time and rate.
    pub(crate) fn say_done(&self, what: &str, done: Progress, took: Duration, how: &str, console: &Console) {
        let rate = done.bytes as f64 / took.as_secs_f64().max(1e-9);
        console.summary(format_args!(
            "{what}, {} in {} ({}/s)   {how}",
            DecimalBytes(done.bytes),
            human::time(took),
            DecimalBytes(rate as u64),
        ));
    }
}

/// Prints the measurements on the first files, for `-v`.
pub(crate) fn say_sample(sample: &Sample, console: &Console) {
    console.verbose(|| {
        format!(
            "sample  {}, {} in {}, {}: {}",
            human::count(u64::from(sample.files), "file"),
            DecimalBytes(sample.bytes),
            human::time(Duration::from_nanos(sample.nanos)),
            human::count(u64::from(sample.waits), "wait"),
            if sample.is_cold() { "from the disk" } else { "cached" },
        )
    });
}

/// Returns the reason for a choice, for `-v`.
pub(crate) fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::BelowBreakEven => "starting more would take longer than they save",
        Reason::Warm => "the files are cached",
        Reason::ColdRing => "the files come from a disk, and io_uring keeps it busy",
        Reason::ColdThreads => "the files come from a disk, and io_uring is not available",
        Reason::Asked => "as requested",
    }
}
