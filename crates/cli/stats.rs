//! Statistics of a run, and `--stats FILE`, which writes them as JSON. `--metrics` writes the same figures.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ftk_manifest::Manifest;
use ftk_process::{Report, Work};
use ftk_sched::Backend;
use serde::Serialize;

use crate::console::Outcome;
use crate::rules::UnusedRules;

/// Statistics collected while a command runs. Any thread may add to them.
#[derive(Debug)]
pub(crate) struct Stats {
    start: Instant,
    start_time: SystemTime,
    gathered: Mutex<Gathered>,
}

#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) phases: Vec<Phase>,
    plans: Vec<PlanStats>,
    /// The number of errors, by what failed.
    pub(crate) errors: BTreeMap<String, u64>,
    pub(crate) skipped: BTreeMap<String, u64>,
    /// What the command found, by kind.
    pub(crate) results: BTreeMap<&'static str, u64>,
    /// Rules that matched nothing.
    pub(crate) unused_rules: UnusedRules,
    /// When the longest unverified file of a tree was last read, in nanoseconds since 1970.
    pub(crate) oldest_verified_ns: Option<i128>,
    /// When the whole tree of a manifest was last examined, in nanoseconds since 1970, if the last update examined only
    /// a part; the earliest of several manifests.
    pub(crate) fully_examined_ns: Option<i128>,
    /// The path and the seal of the manifest that was checked.
    pub(crate) sealed: Option<(Vec<u8>, String)>,
}

impl Default for Stats {
    fn default() -> Self {
        Self { start: Instant::now(), start_time: SystemTime::now(), gathered: Mutex::default() }
    }
}

/// A part of a run. Members that do not apply are omitted from the JSON.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Phase {
    pub(crate) phase: &'static str,
    pub(crate) elapsed_ns: u64,
    /// Entries that a walk found, including those that the selection skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entries: Option<u64>,
    /// Processed files, including failed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
    /// Files whose digests an earlier run had stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reused: Option<u64>,
}

impl Phase {
    /// A phase that processed files since `start`. `files` includes failed ones.
    pub(crate) fn of_files(phase: &'static str, start: Instant, files: u64, failed: u64, bytes: u64) -> Self {
        let (files, failed, bytes) = (Some(files), Some(failed), Some(bytes));
        Self { phase, elapsed_ns: nanos(start.elapsed()), files, failed, bytes, ..Self::default() }
    }
}

/// A decision of the cost model, its inputs, and the measured result: the line `plan` of `-v`.
#[derive(Clone, Debug, Serialize)]
struct PlanStats {
    kernels: Vec<String>,
    sample_files: u64,
    sample_bytes: u64,
    sample_ns: u64,
    sample_waits: u64,
    is_cold: bool,
    is_remote: bool,
    /// `null` if the sample covered all files.
    choice: Option<Choice>,
    /// Files that were processed last, each by all workers.
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

    /// Records a phase that processed files since `start`. `files` includes failed ones.
    pub(crate) fn files(&self, phase: &'static str, start: Instant, files: u64, failed: u64, bytes: u64) {
        self.phase(Phase::of_files(phase, start, files, failed, bytes));
    }

    /// Counts an error. `kind` is what failed, as a verb.
    pub(crate) fn error(&self, kind: &str) {
        *self.lock().errors.entry(kind.into()).or_default() += 1;
    }

    /// Adds `n` skipped entries. `kind` is a noun in the plural.
    pub(crate) fn skipped(&self, kind: &str, n: u64) {
        *self.lock().skipped.entry(kind.into()).or_default() += n;
    }

    /// Records what the command found. `kind` is a word of its output, such as a verdict; values of one kind add up.
    pub(crate) fn result(&self, kind: &'static str, n: u64) {
        *self.lock().results.entry(kind).or_default() += n;
    }

    /// Records rules that matched nothing.
    pub(crate) fn unused_rules(&self, mut rules: UnusedRules) {
        self.lock().unused_rules.append(&mut rules);
    }

    /// Records when the longest unverified file of a tree was last read, in nanoseconds since 1970.
    pub(crate) fn oldest_verified(&self, ns: i128) {
        self.lock().oldest_verified_ns = Some(ns);
    }

    /// Records when the whole tree of a manifest was last examined, in nanoseconds since 1970.
    pub(crate) fn fully_examined(&self, ns: i128) {
        let earliest = &mut self.lock().fully_examined_ns;
        *earliest = Some(earliest.map_or(ns, |it| it.min(ns)));
    }

    /// Records the manifest by which a tree is checked.
    pub(crate) fn sealed(&self, path: &OsStr, manifest: &Manifest) {
        self.lock().sealed = manifest.seal().map(|seal| (path.as_encoded_bytes().to_vec(), seal.to_owned()));
    }

    /// Returns the time since the start of the run.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns the start of the run, since 1970 (UTC).
    pub(crate) fn start_time(&self) -> Duration {
        self.start_time.duration_since(UNIX_EPOCH).unwrap_or_default()
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
            is_remote: plan.sample.remote_cpu.is_some(),
            choice: plan.choice.map(|choice| Choice {
                workers: choice.workers as u64,
                reader: if choice.backend == Backend::Uring { "uring" } else { "sync" },
                predicted_ns: choice.forecast_nanos,
                took_ns: plan.took_nanos,
            }),
            large_files: plan.large as u64,
        });
    }

    /// Appends the document.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub(crate) fn write(&self, output: &mut Vec<u8>, command: &str, outcome: Outcome) -> io::Result<()> {
        let gathered = self.lock();
        let document = Document {
            ftk: "stats",
            version: 1,
            program: env!("CARGO_PKG_VERSION"),
            command,
            status: outcome.status(),
            start_ns: nanos(self.start_time()),
            elapsed_ns: nanos(self.elapsed()),
            cpu_ns: cpu_ns(),
            peak_memory_bytes: peak_memory(),
            phases: &gathered.phases,
            plans: &gathered.plans,
            errors: &gathered.errors,
            skipped: &gathered.skipped,
            results: &gathered.results,
            unused_rules: &gathered.unused_rules,
            fully_examined_ns: gathered.fully_examined_ns,
        };
        serde_json::to_writer_pretty(&mut *output, &document)?;
        output.push(b'\n');
        Ok(())
    }

    /// Returns everything that was recorded so far.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The JSON document. Fields keep their names and units; later versions may add some.
#[derive(Serialize)]
struct Document<'s> {
    ftk: &'static str,
    /// The version of the format.
    version: u32,
    /// The version of ftk.
    program: &'static str,
    command: &'s str,
    status: u8,
    /// Start of the run, since 1970 (UTC).
    start_ns: u64,
    elapsed_ns: u64,
    /// CPU time of all threads.
    cpu_ns: u64,
    /// Peak of resident memory; `null` if the system does not report it.
    peak_memory_bytes: Option<u64>,
    phases: &'s [Phase],
    plans: &'s [PlanStats],
    errors: &'s BTreeMap<String, u64>,
    skipped: &'s BTreeMap<String, u64>,
    results: &'s BTreeMap<&'static str, u64>,
    unused_rules: &'s UnusedRules,
    #[serde(skip_serializing_if = "Option::is_none")]
    fully_examined_ns: Option<i128>,
}

pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).map_or(0, nanos)
}

/// Returns the peak of resident memory of this program alone. `getrusage` would include the process that
/// started it.
fn peak_memory() -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}
