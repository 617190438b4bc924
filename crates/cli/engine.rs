//! What a command needs to process files: the model, its limits, progress, and the lines of `-v`.

use std::time::Duration;

use anyhow::Context as _;
use ftk_hash::Algorithm;
use ftk_process::{Env, Progress, Report, Watch, Work};
use ftk_sched::{Backend, Constants, Limits, Model, Reason, Stop};
use indicatif::{DecimalBytes, HumanCount};

use crate::args::{Globals, When};
use crate::calibrate;
use crate::console::Console;
use crate::human;
use crate::progress::Bar;

/// What every run of the processing phase has in common.
#[derive(Debug)]
pub(crate) struct Engine {
    model: Model,
    limits: Limits,
    memory: u64,
    shows_progress: bool,
    delay: Duration,
}

impl Engine {
    pub(crate) fn new(globals: &Globals, console: &Console) -> anyhow::Result<Self> {
        let backend = globals.io.backend();
        if backend == Some(Backend::Uring) {
            ftk_read::Uring::new(1, 1).context("io_uring was asked for and cannot be had here")?;
        }
        let limits = Limits { threads: globals.threads.resolve(), backend, ring: true, cpus: 0 };
        let (shows_progress, delay) = match globals.progress {
            When::Auto => (Console::is_terminal(), Duration::from_secs(1)),
            When::Always => (true, Duration::ZERO),
            When::Never => (false, Duration::ZERO),
        };
        let model = Model::new(constants(console));
        Ok(Self { model, limits, memory: globals.memory(), shows_progress, delay })
    }

    pub(crate) fn env<'e>(&'e self, stop: &'e Stop, watch: Option<Watch<'e>>) -> Env<'e> {
        Env { model: &self.model, limits: self.limits, memory: self.memory, stop, watch }
    }

    /// Runs `work` with a progress bar for `files` files, if one is wanted.
    pub(crate) fn watch<T>(&self, files: u32, work: impl FnOnce(Option<Watch<'_>>) -> T) -> T {
        if !self.shows_progress {
            return work(None);
        }
        let bar = Bar::new(u64::from(files));
        let show = |progress: Progress| bar.show(progress);
        let done = work(Some(Watch { delay: self.delay, tick: Duration::from_millis(100), show: &show }));
        bar.clear();
        done
    }

    /// The lines of `-v`: what was measured, what was decided, how it came out.
    pub(crate) fn say_plan(&self, work: &Work<'_>, report: &Report, console: &Console) {
        let plan = &report.plan;
        let sample = plan.sample;
        console.verbose(|| {
            format!(
                "sample  {} files, {} in {}, {} waits: {}",
                sample.files,
                DecimalBytes(sample.bytes),
                human::time(Duration::from_nanos(sample.nanos)),
                sample.waits,
                if sample.is_cold() { "from the disk" } else { "cached" },
            )
        });
        let kernel = |it: &Algorithm| format!("{it} {}", it.kernel_name(work.platform));
        let kernels = || work.algorithms.iter().map(kernel).collect::<Vec<_>>().join(" + ");
        console.verbose(|| match plan.choice {
            Some(choice) => format!(
                "plan    {} workers, {} reader, {}: {}; predicted {}, took {}",
                choice.workers,
                if choice.backend == Backend::Uring { "io_uring" } else { "plain" },
                kernels(),
                why(choice.reason),
                human::time(Duration::from_nanos(choice.forecast_nanos)),
                human::time(Duration::from_nanos(plan.took_nanos)),
            ),
            None => format!("plan    {}; the sample was all there was", kernels()),
        });
        if plan.large > 0 {
            console.verbose(|| format!("large   {} files came last", HumanCount(plan.large as u64)));
        }
    }

    /// The line that closes a run.
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

/// Those of `ftk calibrate`, or the built-in ones: whatever is wrong with a stored file is no error.
fn constants(console: &Console) -> Constants {
    match calibrate::file().map(|path| Constants::load(&path)) {
        Some(Ok(constants)) => constants,
        Some(Err(error)) => {
            console.verbose(|| format!("costs   built-in: {error}"));
            Constants::default()
        }
        None => Constants::default(),
    }
}

fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::BelowBreakEven => "more would take longer to start than they save",
        Reason::Warm => "the files are cached",
        Reason::ColdRing => "the files come from a disk, and a ring keeps it busy",
        Reason::ColdThreads => "the files come from a disk, and there is no ring",
        Reason::Asked => "as asked",
    }
}
