//! The peak memory of one command.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};

/// Runs a command and prints its largest resident set in KiB.
///
/// The kernel reports the largest of all children, so this runs in a process of its own that has one child.
/// It counts what the parent held when the child began as the child's, so no figure is below the few MiB of
/// this process.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let (program, args) = words.split_first().context("peak: no command")?;
    let status = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success(), "{program} ended with {status}");
    println!("{}", getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss());
    Ok(())
}

/// The command that measures `words` with the program at `helper`.
pub(crate) fn wrap(helper: &std::path::Path, words: &[OsString]) -> Vec<OsString> {
    let mut wrapped = super::case::words![helper, "bench", "peak"];
    wrapped.extend_from_slice(words);
    wrapped
}
