//! One run of the program under test.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::command::Soak;
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
        let mut command = Command::new(&self.ftk);
        command.args(args);
        end(command, place)
    }

    /// Like [`Self::ftk`], after `ulimit` with these options, such as `-n 16`.
    pub(super) fn ftk_under<A: AsRef<OsStr>>(&self, limits: &str, place: &Path, args: &[A]) -> Result<Ended> {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit {limits} && exec \"$@\""), "sh"]).arg(&self.ftk).args(args);
        end(command, place)
    }
}

/// Runs a command to its end, without `FTK_` variables in its environment.
fn end(mut command: Command, place: &Path) -> Result<Ended> {
    interrupt::check()?;
    let ours = |name: &OsStr| name.as_encoded_bytes().starts_with(b"FTK_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").env("RUST_BACKTRACE", "0").current_dir(place).stdin(Stdio::null());
    command.env("XDG_STATE_HOME", place.join(".state")).env("XDG_CACHE_HOME", place.join(".cache"));
    let output = command.output().context("cannot start the command")?;
    let code = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or_default());
    Ok(Ended { code, out: output.stdout, err: String::from_utf8_lossy(&output.stderr).into_owned() })
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
