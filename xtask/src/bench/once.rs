//! Runs one command in a separate process.
//!
//! The kernel reports the largest resident set of all children that a process ever waited for, and counts the memory of
//! the parent at the start of a child as the child's. So each run has a small parent that does nothing else, and no
//! figure is below the few MiB of this parent.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};

use super::case::{Pipeline, words};

/// Separates the processes of a pipeline.
const BAR: &str = "|";

/// The measurements of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) milliseconds: f64,
    /// The CPU time of all processes, in user code and in the kernel.
    pub(crate) cpu_ms: f64,
    /// The largest resident set of any one process.
    pub(crate) memory_kib: u64,
}

/// Runs `pipeline` with the program `helper`, which calls [`run`].
///
/// # Errors
/// If the command cannot be started or fails.
pub(crate) fn measure(helper: &Path, pipeline: &Pipeline) -> Result<Run> {
    let mut words = words!["bench", "once", &pipeline.status.to_string()];
    for (nth, stage) in pipeline.stages.iter().enumerate() {
        words.extend((nth > 0).then(|| BAR.into()));
        words.extend_from_slice(stage);
    }
    let mut command = Command::new(helper);
    command.args(words).env("RUST_LIB_BACKTRACE", "0"); // its errors go into the record
    let output = command.output().context("cannot start the helper")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.trim().trim_start_matches("Error: "));
    }
    let said = String::from_utf8(output.stdout)?;
    let said: Vec<_> = said.split_whitespace().collect();
    let [time, cpu, memory] = said[..] else { bail!("the helper prints three numbers, not {said:?}") };
    Ok(Run { milliseconds: time.parse()?, cpu_ms: cpu.parse()?, memory_kib: memory.parse()? })
}

/// Runs a pipeline whose processes are separated by [`BAR`]. Prints its time and its CPU time in milliseconds, and the
/// largest resident set of any one process in KiB.
pub(crate) fn run(status: &str, words: &[&str]) -> Result<()> {
    let stages =
        words.split(|word| *word == BAR).map(|stage| stage.iter().map(Into::into).collect()).collect();
    let time = Pipeline { stages, status: status.parse()? }.time()?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu = [usage.user_time(), usage.system_time()];
    let cpu_ms: f64 = cpu.iter().map(|time| time.tv_sec() as f64 * 1e3 + time.tv_usec() as f64 / 1e3).sum();
    println!("{} {cpu_ms} {}", time.as_secs_f64() * 1e3, usage.max_rss());
    Ok(())
}
