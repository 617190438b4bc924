//! `--metrics FILE`: the result of a run in the text format of Prometheus, for the textfile collector of node_exporter.
//!
//! The format: <https://prometheus.io/docs/instrumenting/exposition_formats/>. `docs/metrics.md` describes every
//! metric.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use crate::console::Outcome;
use crate::input;
use crate::line::CommandLine;
use crate::stats::{Phase, Stats};

/// Bytes of an older file that are searched for the time of the last success. A file of this module has a few KiB.
const MAX_OLD: u64 = 1 << 20;

const INFALLIBLE: &str = "writing to a string cannot fail";

/// The metric whose value outlives a failed run.
const LAST_SUCCESS: &str = "ftk_last_success_timestamp_seconds";

impl Stats {
    /// Appends the metrics. `path` is the name of the file: its stem is the label `task`, and an older file under this
    /// name has the time of the last success.
    pub(crate) fn write_metrics(&self, output: &mut Vec<u8>, path: &Path, outcome: Outcome) {
        let task = path.file_stem().unwrap_or_default().to_string_lossy();
        let command = &CommandLine::of_process().command;
        let labels = format!("task=\"{}\",command=\"{}\"", escaped(&task), escaped(command));
        let end = seconds(self.start_time().saturating_add(self.elapsed()));
        let last_success =
            if outcome == Outcome::Success { Some(end.clone()) } else { last_success(path, &labels) };
        let mut text = Text { out: String::new(), labels };

        text.value("ftk_end_timestamp_seconds", "End of the run, in seconds since 1970.", &end);
        if let Some(time) = last_success {
            text.value(LAST_SUCCESS, "End of the last run that ended with status 0.", time);
        }
        text.value("ftk_duration_seconds", "Duration of the run.", seconds(self.elapsed()));
        let statuses = "Exit status: 0 success, 1 differences, 2 errors, or that of --status-corrupted.";
        text.value("ftk_status", statuses, outcome.status());
        let gathered = self.lock();
        text.value("ftk_errors", "Number of error messages.", gathered.errors.values().sum::<u64>());
        text.value(
            "ftk_skipped_entries",
            "Number of entries that the run skipped.",
            gathered.skipped.values().sum::<u64>(),
        );
        let unused_rules = gathered.unused_rules.len();
        text.value("ftk_unused_rules", "Number of rules that matched nothing.", unused_rules);
        let entries = gathered.phases.iter().filter_map(|phase| phase.entries).sum::<u64>();
        text.value("ftk_entries", "Number of entries that the walk found.", entries);
        let phases = &gathered.phases;
        let of_phases = |value: fn(&Phase) -> Option<u64>| by_phase(phases, value);
        text.values("ftk_files", "Number of files processed in a phase.", "phase", of_phases(|it| it.files));
        let failed = of_phases(|it| it.failed);
        text.values("ftk_failed_files", "Number of files that could not be read.", "phase", failed);
        text.values("ftk_bytes", "Number of bytes read in a phase.", "phase", of_phases(|it| it.bytes));
        let reused = of_phases(|it| it.reused);
        text.values("ftk_reused_files", "Number of files whose digests were reused.", "phase", reused);
        text.values("ftk_results", "What the command found, by kind.", "result", gathered.results.clone());
        if let Some(ns) = gathered.oldest_verified_ns {
            let time = Duration::from_nanos(u64::try_from(ns).unwrap_or_default());
            let name = "ftk_oldest_verification_timestamp_seconds";
            text.value(name, "When the longest unverified file was last read.", seconds(time));
        }
        if let Some(ns) = gathered.fully_examined_ns {
            let time = Duration::from_nanos(u64::try_from(ns).unwrap_or_default());
            let name = "ftk_last_full_examination_timestamp_seconds";
            text.value(name, "When the whole tree of a manifest was last examined.", seconds(time));
        }
        output.extend_from_slice(text.out.as_bytes());
    }
}

/// The text of the file.
struct Text {
    out: String,
    /// The labels of every metric.
    labels: String,
}

impl Text {
    /// Appends a metric with one value.
    fn value(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, help);
        writeln!(self.out, "{name}{{{}}} {value}", self.labels).expect(INFALLIBLE);
    }

    /// Appends a metric with a value for each of the keys, which become the label `by`. Appends nothing if there are
    /// none.
    fn values(&mut self, name: &str, help: &str, by: &str, values: BTreeMap<&'static str, u64>) {
        if values.is_empty() {
            return;
        }
        self.head(name, help);
        for (key, value) in values {
            let key = escaped(key);
            writeln!(self.out, "{name}{{{},{by}=\"{key}\"}} {value}", self.labels).expect(INFALLIBLE);
        }
    }

    fn head(&mut self, name: &str, help: &str) {
        write!(self.out, "# HELP {name} {help}\n# TYPE {name} gauge\n").expect(INFALLIBLE);
    }
}

/// Adds up a number of all phases with the same name, such as the passes of `dup`.
fn by_phase(phases: &[Phase], value: impl Fn(&Phase) -> Option<u64>) -> BTreeMap<&'static str, u64> {
    let mut sums = BTreeMap::new();
    for phase in phases {
        if let Some(value) = value(phase) {
            *sums.entry(phase.phase).or_default() += value;
        }
    }
    sums
}

/// Returns a time in the form of Prometheus, with milliseconds.
fn seconds(time: Duration) -> String {
    format!("{}.{:03}", time.as_secs(), time.subsec_millis())
}

/// Returns the time of the last success in an older file, if the file has one for the same labels.
fn last_success(path: &Path, labels: &str) -> Option<String> {
    // Reading a FIFO would wait, and a device may have no end.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut old = String::new();
    input::open_file(path.as_os_str()).ok()?.take(MAX_OLD).read_to_string(&mut old).ok()?;
    let start = format!("{LAST_SUCCESS}{{{labels}}} ");
    let value = old.lines().find_map(|line| line.strip_prefix(&start))?;
    value.parse::<f64>().ok().filter(|time| time.is_finite())?;
    Some(value.into())
}

/// Escapes a label: `\`, `"` and newlines.
fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(seconds(Duration::from_micros(1_002_999)), "1.002");
    }
}
