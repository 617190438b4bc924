//! The journals in the state directory.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use ftk_apply::{
    ActionKind, JournalError, JournalSummary, Remade, open_journal, open_trusted_journal, started, summarize,
};
use ftk_record::{quote, sanitize, shell_word, write_record};
use indicatif::HumanCount;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::console::{Console, Outcome, reason};
use crate::globals::Globals;
use crate::human;
use crate::journal;
use crate::starts::is_here;
use crate::stdout::{Lines, Stdout};

/// A journal that was found.
struct Found {
    path: PathBuf,
    summary: JournalSummary,
}

/// A journal that cannot be used.
struct Unusable {
    path: PathBuf,
    /// The start of its run, if its first line can be read.
    start_ns: Option<i128>,
    why: JournalError,
}

impl Unusable {
    fn say(&self, console: &Console) {
        let shown = quote(self.path.as_os_str().as_bytes());
        console.error_of("journal", format_args!("{shown}: {}", reason(&self.why)));
    }
}

/// Lists the journals, the newest first.
///
/// # Errors
/// If the state directory cannot be read. A journal that cannot be used is reported, and the outcome is an error.
pub(super) fn list(globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let (journals, unusable) = find(globals)?;
    unusable.iter().for_each(|journal| journal.say(console));
    let stdout = Stdout::default();
    let mut lines = Lines::new(&stdout);
    for journal in &journals {
        lines.line(|out| push_line(out, journal, globals.json));
    }
    lines.finish()?;
    if journals.is_empty() {
        console.summary("no runs to undo");
    }
    Ok(Outcome::error_if(!unusable.is_empty()))
}

/// Returns the newest journal with a step that is not undone. One that cannot be used, or whose steps cannot be undone,
/// is an error if its run may have been a later one: another run would be undone. `only_looks`: nothing is undone.
///
/// # Errors
/// If no journal is found, or one cannot be used, or the last run cannot be undone. If it had another working
/// directory, unless the caller `only_looks`.
pub(super) fn last(only_looks: bool, globals: &Globals, console: &Console) -> anyhow::Result<PathBuf> {
    let (journals, unusable) = find(globals)?;
    let directory = directory()?;
    let shown = quote(directory.as_os_str().as_bytes());
    let is_empty = journals.is_empty();
    let newest = journals.into_iter().find(|Found { summary: it, .. }| it.left > 0 || it.undone.is_empty());
    let start_ns = newest.as_ref().and_then(|journal| journal.summary.start_ns);
    let may_be_later =
        |it: &&Unusable| it.start_ns.is_none_or(|it| start_ns.is_none_or(|newest| it >= newest));
    let in_doubt: Vec<_> = unusable.iter().filter(may_be_later).collect();
    in_doubt.iter().for_each(|journal| journal.say(console));
    ensure!(in_doubt.is_empty(), "cannot tell which run is the last one: name its journal");
    ensure!(!is_empty, "no journal in {shown}");
    let Found { path, summary } = newest.with_context(|| format!("nothing is left to undo in {shown}"))?;
    if summary.left == 0 {
        let did = steps_of(&summary);
        let why = match summary.steps.keys().all(|kind| *kind == ActionKind::Reflink) {
            true => "needs no undo",
            false => "cannot be undone",
        };
        let left_by_kill = match summary.steps.contains_key(&ActionKind::DeleteEntry) {
            true => {
                let path = shell_word(path.as_os_str().as_bytes());
                format!("if it was killed, `ftk undo {path}` gives what it left its name again; ")
            }
            false => String::new(),
        };
        bail!(
            "the last run {why} ({did}): {left_by_kill}to undo an older run, name its journal (see `ftk undo --list`)"
        );
    }
    let (time, steps) = (time_of(&summary), steps_of(&summary));
    let directory = quote(summary.directory.as_os_str().as_bytes());
    // After a run that changed nothing, the user may expect that one, and not a run in another place.
    ensure!(
        only_looks || is_here(&summary.directory),
        "the last run that is not undone was not here ({time}{steps} in {directory}): nothing was undone; to undo it: \
         ftk undo {}",
        shell_word(path.as_os_str().as_bytes())
    );
    console.summary(format_args!("the last run that is not undone: {time}{steps} in {directory}"));
    Ok(path)
}

/// Returns what undos have made again, from all journals in the state directory that can be used
/// and that no other user could have put there.
pub(super) fn remade(globals: &Globals) -> impl Iterator<Item = Remade> {
    let entries = journal::directory().and_then(|directory| fs::read_dir(directory).ok());
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let journals = paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let read = |path: PathBuf| summary(open_trusted_journal(&path)?, globals);
    journals.filter_map(move |path| read(path).ok()).flat_map(|summary| summary.remade)
}

fn directory() -> anyhow::Result<PathBuf> {
    journal::directory().context("neither XDG_STATE_HOME nor HOME is an absolute path: name the journal")
}

/// Reads all journals in the state directory, the newest first. Journals of runs that changed nothing are omitted.
fn find(globals: &Globals) -> anyhow::Result<(Vec<Found>, Vec<Unusable>)> {
    let directory = directory()?;
    let cannot_list = || format!("cannot list {}", quote(directory.as_os_str().as_bytes()));
    let entries = match fs::read_dir(&directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Vec::new(), Vec::new())),
        entries => entries.with_context(cannot_list)?,
    };
    let (mut journals, mut unusable) = (Vec::new(), Vec::new());
    for entry in entries {
        let path = entry.with_context(cannot_list)?.path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        match open_journal(&path).and_then(|journal| summary(journal, globals)) {
            Ok(summary) if summary.steps.is_empty() => {}
            Ok(summary) => journals.push(Found { path, summary }),
            // The run was killed before it did anything, or another ftk has just removed its journal.
            Err(JournalError::Empty) => {}
            Err(JournalError::Read(error)) if error.kind() == ErrorKind::NotFound => {}
            Err(why) => {
                let start_ns = open_journal(&path).ok().and_then(|journal| started(BufReader::new(journal)));
                unusable.push(Unusable { path, start_ns, why });
            }
        }
    }
    journals.sort_by(|a, b| {
        let key = |found: &Found| (Reverse(found.summary.start_ns), Reverse(found.path.clone()));
        key(a).cmp(&key(b))
    });
    Ok((journals, unusable))
}

fn summary(journal: File, globals: &Globals) -> Result<JournalSummary, JournalError> {
    summarize(BufReader::new(journal), globals.memory())
}

/// Appends `2026-11-23 07:33  3 files linked  in /srv  /home/ann/.local/state/ftk/dup-20261123T073315Z-6kCIYK.jsonl`.
/// After the number of files, it says how many of them are undone.
fn push_line(out: &mut Vec<u8>, journal: &Found, json: bool) {
    let Found { path, summary } = journal;
    let JournalSummary { start_ns, directory, steps, undone, left, .. } = summary;
    let (path, directory) = (path.as_os_str().as_bytes(), directory.as_os_str().as_bytes());
    if json {
        write_record(out, |record| {
            record.path("journal", path).path("directory", directory);
            if let Some(start_ns) = start_ns {
                record.member("start_ns", start_ns);
            }
            let steps: Vec<_> = steps
                .iter()
                .map(|(kind, n)| {
                    let (action, undone) = (kind.to_string(), undone.get(kind).copied().unwrap_or(0));
                    serde_json::json!({"action": action, "files": n, "undone": undone})
                })
                .collect();
            record.member("steps", steps).member("left", left);
        });
        return;
    }
    let (time, steps) = (time_of(summary), steps_of(summary));
    let line = format!("  {time:<18}{steps}  in {}  {}\n", sanitize(directory), sanitize(path));
    out.extend_from_slice(line.as_bytes());
}

/// Returns `2026-11-23 07:33  `, or nothing if the start of the run is not known.
fn time_of(summary: &JournalSummary) -> String {
    let time = summary.start_ns.and_then(|ns| Timestamp::from_nanosecond(ns).ok());
    let time = time.map(|time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M  ").to_string());
    time.unwrap_or_default()
}

/// Returns `3 files linked, 2 files deleted (1 undone)`.
fn steps_of(JournalSummary { steps, undone, .. }: &JournalSummary) -> String {
    let step = |(kind, n): (&ActionKind, &u64)| {
        let undone = match undone.get(kind).copied().unwrap_or(0) {
            0 => String::new(),
            all if all == *n => " (undone)".into(),
            some => format!(" ({} undone)", HumanCount(some)),
        };
        format!("{} {}{undone}", counted(*kind, *n), done(*kind))
    };
    steps.iter().map(step).collect::<Vec<_>>().join(", ")
}

fn counted(kind: ActionKind, n: u64) -> String {
    match kind {
        ActionKind::RemoveDirectory if n > 1 => format!("{} directories", HumanCount(n)),
        ActionKind::RemoveDirectory => "1 directory".into(),
        ActionKind::RemoveLink => human::count(n, "link or special file"),
        ActionKind::SetMetadata | ActionKind::MoveEntry | ActionKind::DeleteEntry => human::entries(n),
        _ => human::count(n, "file"),
    }
}

/// Returns what was done to a file.
fn done(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Hardlink => "linked",
        ActionKind::Reflink => "cloned",
        ActionKind::Symlink => "symlinked",
        ActionKind::Delete => "deleted",
        ActionKind::Move | ActionKind::MoveEntry => "moved",
        ActionKind::Trash => "trashed",
        ActionKind::Replace => "repaired",
        ActionKind::Create => "restored",
        ActionKind::SetMetadata => "given recorded metadata",
        ActionKind::RemoveLink => "removed",
        ActionKind::RemoveDirectory => "removed",
        ActionKind::DeleteEntry => "deleted for good",
    }
}
