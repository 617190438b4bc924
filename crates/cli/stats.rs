//! `--stats FILE`: what a run did, as JSON, for benchmarks and monitoring.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ftk_process::{Report, Work};
use ftk_record::Output;
use ftk_sched::Backend;
use serde::Serialize;

use crate::outcome::Outcome;

/// What is gathered while a command runs. Any thread may add to it.
#[derive(Debug)]
pub(crate) struct Stats {
    start: Instant,
    start_time: SystemTime,
    gathered: Mutex<Gathered>,
}

#[derive(Debug, Default)]
struct Gathered {
    phases: Vec<Phase>,
    plans: Vec<PlanStats>,
    errors: BTreeMap<String, u64>,
    skipped: BTreeMap<String, u64>,
}

impl Default for Stats {
    fn default() -> Self {
        Self { start: Instant::now(), start_time: SystemTime::now(), gathered: Mutex::default() }
    }
}

/// A part of a run. What does not apply is left out.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Phase {
    pub(crate) phase: &'static str,
    pub(crate) elapsed_ns: u64,
    /// Entries that a walk met, whether or not they were wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entries: Option<u64>,
    /// Files that were processed, failed ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
}

/// What the cost model decided on which grounds, and how it came out: the line `plan` of `-v`.
#[derive(Clone, Debug, Serialize)]
struct PlanStats {
    kernels: Vec<String>,
    sample_files: u64,
    sample_bytes: u64,
    sample_ns: u64,
    sample_waits: u64,
    is_cold: bool,
    /// `null` when the sample was all there was.
    choice: Option<Choice>,
    /// Files that came last.
    large_files: u64,
}

#[derive(Clone, Debug, Serialize)]
struct Choice {
    workers: u64,
    reader: &'static str,
    predicted_ns: u64,
    took_ns: u64,
}

impl Stats {
    pub(crate) fn phase(&self, phase: Phase) {
        self.lock().phases.push(phase);
    }

    /// `kind`: what could not be done, as a verb.
    pub(crate) fn error(&self, kind: &str) {
        *self.lock().errors.entry(kind.into()).or_default() += 1;
    }

    /// `kind`: what was left out, in the plural.
    pub(crate) fn skipped(&self, kind: &str, n: u64) {
        *self.lock().skipped.entry(kind.into()).or_default() += n;
    }

    pub(crate) fn plan(&self, work: &Work<'_>, report: &Report) {
        let plan = &report.plan;
        let kernel = |it: &ftk_hash::Algorithm| format!("{it} {}", it.kernel_name(work.platform));
        self.lock().plans.push(PlanStats {
            kernels: work.algorithms.iter().map(kernel).collect(),
            sample_files: u64::from(plan.sample.files),
            sample_bytes: plan.sample.bytes,
            sample_ns: plan.sample.nanos,
            sample_waits: u64::from(plan.sample.waits),
            is_cold: plan.sample.is_cold(),
            choice: plan.choice.map(|choice| Choice {
                workers: choice.workers as u64,
                reader: if choice.backend == Backend::Uring { "uring" } else { "sync" },
                predicted_ns: choice.forecast_nanos,
                took_ns: plan.took_nanos,
            }),
            large_files: plan.large as u64,
        });
    }

    /// Writes all of it, and gives the file its name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, mut output: Output, command: &str, outcome: Outcome) -> io::Result<()> {
        let gathered = self.lock();
        let document = Document {
            ftk: env!("CARGO_PKG_VERSION"),
            command,
            status: outcome as u8,
            start_ns: self.start_time.duration_since(UNIX_EPOCH).map_or(0, nanos),
            elapsed_ns: nanos(self.start.elapsed()),
            cpu_ns: cpu_ns(),
            peak_memory_bytes: peak_memory(),
            phases: &gathered.phases,
            plans: &gathered.plans,
            errors: &gathered.errors,
            skipped: &gathered.skipped,
        };
        serde_json::to_writer_pretty(&mut output, &document)?;
        output.write_all(b"\n")?;
        output.commit()
    }

    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file. Fields keep their names and units; more may come.
#[derive(Serialize)]
struct Document<'s> {
    ftk: &'static str,
    command: &'s str,
    status: u8,
    /// Since 1970.
    start_ns: u64,
    elapsed_ns: u64,
    /// Of all threads.
    cpu_ns: u64,
    /// The most that was in memory at once; `null` where the system does not say.
    peak_memory_bytes: Option<u64>,
    phases: &'s [Phase],
    plans: &'s [PlanStats],
    errors: &'s BTreeMap<String, u64>,
    skipped: &'s BTreeMap<String, u64>,
}

pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).map_or(0, nanos)
}

/// Of this program alone: `getrusage` would count what it was started from, too.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}
