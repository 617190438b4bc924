//! One run of the program under test.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::command::Soak;
use super::figures::Figures;
use crate::bench::interrupt;

/// The result of a run.
#[derive(Debug)]
pub(super) struct Ended {
    /// The exit status; more than 128 for a signal, as in a shell.
    pub(super) code: i32,
    pub(super) out: Vec<u8>,
    pub(super) err: String,
}

impl Ended {
    /// Whether it ended as promised: with a result, or with a reported error.
    pub(super) fn is_orderly(&self) -> bool {
        // The standard library panics with this message if it cannot allocate the signal stack of a thread.
        let panicked =
            self.err.contains("panicked") && !self.err.contains("failed to allocate an alternative stack");
        matches!(self.code, 0..=2) && !panicked && (self.code != 2 || !self.err.is_empty())
    }

    /// Describes the result for a finding: the status, and the beginning of the messages.
    pub(super) fn in_words(&self) -> String {
        let err: String = self.err.chars().take(300).collect();
        format!("status {}, {} bytes, {err:?}", self.code, self.out.len())
    }
}

impl Soak {
    /// Runs `ftk` with these arguments in the directory `place`. Its state and cache directories are there too.
    ///
    /// # Errors
    /// If it cannot be started, or after an interrupt.
    pub(super) fn ftk<A: AsRef<OsStr>>(&self, place: &Path, args: &[A]) -> Result<Ended> {
        end(self.command(place, args))
    }

    /// Returns the command that [`Self::ftk`] runs.
    pub(super) fn command<A: AsRef<OsStr>>(&self, place: &Path, args: &[A]) -> Command {
        let mut command = Command::new(&self.ftk);
        command.args(args);
        inside(place, command)
    }

    /// Like [`Self::ftk`], after `ulimit` with these options, such as `-n 16`.
    pub(super) fn ftk_under<A: AsRef<OsStr>>(&self, limits: &str, place: &Path, args: &[A]) -> Result<Ended> {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit {limits} && exec \"$@\""), "sh"]).arg(&self.ftk).args(args);
        end(inside(place, command))
    }
}

/// Makes a command run in the directory `place`, without `FTK_` variables in its environment.
fn inside(place: &Path, mut command: Command) -> Command {
    let ours = |name: &OsStr| name.as_encoded_bytes().starts_with(b"FTK_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").env("RUST_BACKTRACE", "0").current_dir(place).stdin(Stdio::null());
    command.env("XDG_STATE_HOME", place.join(".state")).env("XDG_CACHE_HOME", place.join(".cache"));
    command
}

/// Runs a command to its end.
fn end(mut command: Command) -> Result<Ended> {
    interrupt::check()?;
    let output = command.output().context("cannot start the command")?;
    let code = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or_default());
    Ok(Ended { code, out: output.stdout, err: String::from_utf8_lossy(&output.stderr).into_owned() })
}

/// Returns those of `all` that ftk supports on this machine.
pub(super) fn usable<'t>(
    figures: &mut Figures,
    all: &[&'t str],
    command: impl Fn(&str) -> Vec<OsString>,
) -> Vec<&'t str> {
    let (usable, others): (Vec<_>, Vec<_>) = all.iter().copied().partition(|it| {
        let output = Command::new("env").args(command(it)).stdin(Stdio::null()).output();
        output.is_ok_and(|output| output.status.success())
    });
    others.iter().for_each(|it| figures.skip(format!("{it}: not supported on this machine")));
    usable
}

/// Returns the SHA-256 of `content`, computed by sha256sum.
pub(super) fn sha256(content: &[u8]) -> Result<String> {
    let mut child = Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().context("stdin is a pipe")?.write_all(content)?;
    first_word(child.wait_with_output()?.stdout)
}

/// Returns the digest that sha256sum printed.
pub(super) fn first_word(said: Vec<u8>) -> Result<String> {
    Ok(String::from_utf8(said)?.split(' ').next().context("sha256sum prints a digest")?.to_owned())
}
