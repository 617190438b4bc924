//! Runs commands and counts their results.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::bail;
use ftk_record::quote;
use ftk_sched::Stop;
use indicatif::HumanCount;
use rustix::io::Errno;

use super::children::Children;
use super::options::Commands;
use super::template::{BatchTemplate, Template};
use crate::console::{Console, Outcome, cause};
use crate::human;
use crate::stdout::Stdout;

/// Failed commands that are named. Further ones are only counted.
const NAMED: u64 = 10;

/// The status by which a command says that the others should not run, as in `xargs`.
const STOPS: i32 = 255;

/// The parsed commands.
#[derive(Debug)]
pub(in crate::find) enum Templates {
    Each(Vec<Template>),
    Batch(Vec<BatchTemplate>),
}

impl Templates {
    /// Parses the commands.
    ///
    /// # Errors
    /// If a command for batches has placeholders in several arguments, or in its program, or if one for each entry has
    /// the `{} +` of `find`, which is for many.
    pub(in crate::find) fn new(commands: &Commands) -> anyhow::Result<Self> {
        if commands.batch.is_empty() {
            let is_plus = |words: &[OsString]| words[1] == "+" && words[0].to_string_lossy().contains("{}");
            if commands.each.iter().any(|command| command.windows(2).any(is_plus)) {
                bail!(
                    "`{{}} +` means one run for many entries, but --exec runs CMD for each: use --exec-batch CMD {{}} +"
                );
            }
            return Ok(Self::Each(commands.each.iter().map(|command| Template::new(command)).collect()));
        }
        let batch = commands.batch.iter().map(|command| Template::new(command).for_batches());
        Ok(Self::Batch(batch.collect::<anyhow::Result<_>>()?))
    }
}

/// Runs commands and counts them.
pub(super) struct Runner<'r> {
    children: Arc<Children>,
    out: &'r Stdout,
    console: &'r Console,
    /// Raised when no more commands should run.
    stop: Stop,
    /// Whether several commands run at a time. They then have no access to the terminal.
    is_parallel: bool,
    /// Held for reading while a command runs, and for writing by a command that must run alone.
    turn: RwLock<()>,
    ran: AtomicU64,
    failed: AtomicU64,
    cannot_start: AtomicBool,
}

impl<'r> Runner<'r> {
    pub(super) fn new(out: &'r Stdout, console: &'r Console, is_parallel: bool) -> io::Result<Self> {
        Ok(Self {
            children: Children::watch()?,
            out,
            console,
            stop: Stop::new(),
            is_parallel,
            turn: RwLock::default(),
            ran: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            cannot_start: AtomicBool::new(false),
        })
    }

    /// Whether no more commands should run.
    pub(super) fn is_over(&self) -> bool {
        self.stop.is_raised()
    }

    /// Runs a command for `paths` to its end, and returns whether it succeeded. `is_fixed`: the program does not
    /// depend on the path. If such a program is not found or not executable, this is reported once and nothing more
    /// runs.
    pub(super) fn run(&self, command: &[OsString], is_fixed: bool, paths: &[Vec<u8>]) -> bool {
        let output = match self.output(command) {
            Ok(output) => output,
            Err(error) => {
                let never =
                    is_fixed && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied);
                let is_first = !self.cannot_start.swap(true, Ordering::Relaxed);
                if is_first || !never {
                    self.console.path_error("run", command[0].as_encoded_bytes(), cause(&error));
                    let has_blank = command[0].as_encoded_bytes().contains(&b' ');
                    if is_first && has_blank && error.kind() == ErrorKind::NotFound {
                        Console::line(
                            "     each word is one argument: --exec CMD WORD {}; or --exec sh -c 'CMD WORD \"$1\"' sh {}",
                        );
                    }
                }
                if never {
                    self.stop.raise();
                }
                return false;
            }
        };
        if !self.out.write(&output.stdout) {
            self.stop.raise();
        }
        let _ = io::stderr().lock().write_all(&output.stderr); // a failure could not be reported anywhere
        let succeeded = output.status.success();
        self.ran.fetch_add(1, Ordering::Relaxed);
        if !succeeded {
            let nth = self.failed.fetch_add(1, Ordering::Relaxed);
            self.say_failed(&command[0], paths, output.status, nth);
        }
        succeeded
    }

    /// Names the first failures, and stops the run if the status says so.
    fn say_failed(&self, program: &OsString, paths: &[Vec<u8>], status: ExitStatus, nth: u64) {
        let stops = status.code() == Some(STOPS);
        let is_first_stop = stops && !self.stop.is_raised();
        if stops {
            self.stop.raise();
        }
        if nth >= NAMED && !is_first_stop {
            return;
        }
        let program = quote(program.as_encoded_bytes());
        let paths = match paths {
            [path] => quote(path),
            [first, ..] => {
                format!("{}, the first of {}", quote(first), human::count(paths.len() as u64, "path"))
            }
            [] => return,
        };
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => format!("status {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => status.to_string(),
        };
        let then = if is_first_stop { ", so no other command is started" } else { "" };
        self.console.warning(format_args!("{program} failed for {paths}: {how}{then}"));
    }

    /// Prints how many commands failed, and returns the outcome.
    pub(super) fn finish(&self) -> Outcome {
        let (ran, failed) = (self.ran.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed));
        if failed > 0 {
            let commands = human::count(ran, "command");
            self.console.summary(format_args!("{} of {commands} failed", HumanCount(failed)));
        }
        let is_complete = failed == 0 && !self.cannot_start.load(Ordering::Relaxed);
        if is_complete { Outcome::Success } else { Outcome::Error }
    }

    /// Runs the command next to others. If the system runs short of descriptors, processes or memory, waits
    /// for the others to end and tries once more.
    fn output(&self, command: &[OsString]) -> io::Result<Output> {
        let shared = self.turn.read().unwrap_or_else(PoisonError::into_inner);
        match self.output_now(command) {
            Err(error) if is_shortage(&error) => {
                drop(shared);
                let _alone = self.turn.write().unwrap_or_else(PoisonError::into_inner);
                self.output_now(command)
            }
            output => output,
        }
    }

    /// Runs the command. Its output is empty if it inherits the streams of ftk.
    fn output_now(&self, command: &[OsString]) -> io::Result<Output> {
        let mut to_run = Command::new(&command[0]);
        to_run.args(&command[1..]);
        if self.is_parallel {
            to_run.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        let (child, _running) = self.children.spawn(&mut to_run)?;
        child.wait_with_output()
    }
}

/// Whether starting a command may succeed once others have ended.
fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|errno| shortages.contains(&errno))
}
