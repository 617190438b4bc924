//! `--interactive`: shows the result of a command in a browser, and acts when the user has typed the word for it.

use std::env;
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use ftk_apply::QUARANTINES;
use ftk_browse::{Browser, Request, Source, Word, run as show, wait_for_key};
use ftk_sched::Stop;
use jiff::Timestamp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::colour;
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::signals::DeferredSignals;

/// The words that carry out a plan.
pub(crate) const QUARANTINE: &str = "quarantine";
pub(crate) const DELETE: &str = "delete";

/// Returns the directory that this run moves entries to: a new one in `asked`, or in `.ftk-quarantine` in the starting
/// point.
pub(crate) fn quarantine_of_run(asked: Option<&Path>, start: &[u8]) -> PathBuf {
    let start = Path::new(OsStr::from_bytes(start));
    // A file is moved to a directory next to it.
    let start = if start.is_dir() { Some(start) } else { start.parent() };
    let directory = match asked {
        Some(directory) => directory.to_owned(),
        None => start.unwrap_or(Path::new("")).join(QUARANTINES),
    };
    directory.join(format!("{}-{}", Timestamp::now().strftime("%Y%m%dT%H%M%SZ"), std::process::id()))
}

/// Returns the word that moves entries to the directories `to`.
pub(crate) fn quarantine_word(to: &str) -> Word {
    let what = format!("moves away and frees no space; `ftk undo` moves back; to {to}");
    Word { word: QUARANTINE, what }
}

/// Checks that a browser can be shown.
///
/// # Errors
/// If standard input or output is not a terminal, or one that cannot move its cursor, or the output is to be JSON.
pub(crate) fn require_terminal(globals: &Globals) -> anyhow::Result<()> {
    ensure!(
        io::stdin().is_terminal() && io::stdout().is_terminal(),
        "--interactive needs a terminal: standard input and standard output must not be redirected"
    );
    ensure!(
        env::var_os("TERM").is_none_or(|term| !term.is_empty() && term != "dumb"),
        "--interactive needs a terminal that can move its cursor, and TERM says that this one cannot"
    );
    ensure!(!globals.json, "--interactive cannot be used with --json");
    Ok(())
}

/// Shows a browser until the user quits. `act` carries out the plan for the marked rows, after the word was typed, and
/// prints what it does on the usual screen.
///
/// # Errors
/// If the terminal cannot be used.
pub(crate) fn browse<S: Source>(
    mut browser: Browser<S>,
    console: &Console,
    mut act: impl FnMut(&mut S, &'static str, &Stop) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Outcome> {
    let signals = DeferredSignals::begin_with(&[SIGHUP, SIGINT, SIGQUIT, SIGTERM])
        .context("cannot install a signal handler")?;
    let is_over = || signals.stop.is_raised();
    let mut outcome = Outcome::Success;
    loop {
        let request = show(&mut browser, colour::wanted(), is_over).context("cannot use the terminal");
        signals.raise_again();
        match request? {
            Request::Quit => return Ok(outcome),
            Request::Nothing => {}
            Request::Act(word) => {
                let acted = act(browser.source(), word, &signals.stop);
                outcome = outcome.max(acted.unwrap_or_else(|error| console.fatal(&error)));
                signals.raise_again();
                Console::line("  press a key to go back to the list");
                wait_for_key(is_over).context("cannot use the terminal")?;
                signals.raise_again();
                browser.refresh();
            }
        }
    }
}
