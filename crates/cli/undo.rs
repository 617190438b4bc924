//! `ftk undo`, also `ftk dup undo`: reverts a run by its journal.

mod journals;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use ftk_apply::{
    ActError, ActionKind, Foreseen, Refusal, Shortfall, Side, Undo, UndoOptions, Undone,
    open_journal_to_undo, preview, undo_with,
};
use ftk_record::quote;
use serde::Serialize;

use crate::colour::Tone;
use crate::console::{Console, Outcome, reason};
use crate::globals::Globals;
use crate::human;
use crate::journal;
use crate::signals::DeferredSignals;
use crate::stdout::Stdout;
use crate::step_lines::{Done, StepLines, Weight, rest};
use crate::undo::journals::{last, list, remade};

/// Undo a run of dup, du --interactive or repair, at once
///
/// There is no --yes: undo changes files as soon as it starts. --dry-run only prints what it would do.
///
/// ftk undoes the last step first. A hard or symbolic link becomes a separate file again, with the content, owner,
/// permissions and times that it had; moved files move back, and directories that became empty are made again.
/// Directories that ftk made for moved files are removed when they are empty. A repaired file gets its damaged or newer
/// content back, a file that repair created is removed, and an entry gets the metadata back that it had before `repair
/// --metadata`. A deleted file is copied back from a kept copy, as long as one is unchanged. Files that changed after
/// the run are not overwritten. Steps that were undone before are skipped, so that you can repeat an interrupted undo.
/// If a file cannot be restored, the exit status is 2. The times of directories in which names change are not restored.
///
/// Undo does not trust names. The starting points and the directories of the files must be those of the run, and what
/// is copied back must have the digest that the journal records. A journal of an older ftk lacks both: its steps are
/// undone only if no user except you and root can change a directory above the file, and if nothing is copied.
///
/// The summary says how many files are left to restore, so you can see whether a repeated or interrupted undo is
/// complete. --quiet prints only problems.
///
/// The journal must be a regular file that belongs to you or to root and that no other user can write to. Set-user-ID
/// bits, set-group-ID bits and capabilities are restored only if the file that provides the content has them. If the
/// permissions at the path were changed after the run, the restored file gets only what both permit. Undo adds records
/// of what it has done to the journal.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UndoArgs {
    /// The journal, whose path the run printed
    #[arg(value_name = "JOURNAL", conflicts_with_all = ["last", "list"])]
    journal: Option<OsString>,

    /// Undo the most recent run that is not undone yet
    ///
    /// Finds the newest journal with steps that are not undone in $XDG_STATE_HOME/ftk, or else in ~/.local/state/ftk.
    /// Journals written with --journal to other places are not found, and runs that changed nothing do not count. If
    /// the run was not in the working directory, its directory and journal are named, and nothing is undone. Repeat it
    /// to go back one run at a time.
    #[arg(long, conflicts_with = "list")]
    last: bool,

    /// List the runs whose journals are found, the newest first
    ///
    /// Changes nothing. Each line has the start of the run, the number of its steps and of those that are undone, and
    /// its journal.
    #[arg(long)]
    list: bool,

    /// Only print what would be undone; change nothing
    ///
    /// Prints the steps that are not undone, in the order in which they would be. Makes the checks of the undo, except
    /// that a kept copy with the recorded size and time is not read: its content may have changed.
    #[arg(long, conflicts_with = "list")]
    dry_run: bool,

    /// Also copy from a kept directory that was replaced
    ///
    /// If a starting point of the kept copies is another directory than that of the run, such as a copy of it on a new
    /// disk, undo refuses to use it. With this option, it copies back what has the recorded digest there. The
    /// directories of the files to restore must still be those of the run.
    #[arg(long, conflicts_with = "list")]
    other_root: bool,
}

/// The last object of JSON.
#[derive(Serialize)]
struct Summary {
    is_plan: bool,
    /// Steps that were undone, or would be.
    undone: u64,
    /// Those of them, or of earlier undos, after which something is not as it was.
    incomplete: u64,
    failed: u64,
    /// Steps that are still to be undone.
    left: u64,
    #[serde(flatten)]
    journal: BTreeMap<String, String>,
}

/// Width of the path column, which most paths fit into.
const PATH_WIDTH: usize = 46;

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error, or a file could not be restored

Examples:
  ftk undo --list       the runs that can be undone
  ftk undo --last --dry-run
                        what would be undone
  ftk undo --last       undo the most recent run
  ftk undo ~/.local/state/ftk/dup-20260102T030405Z-Ab3dE6.jsonl";

pub(crate) fn run(args: &UndoArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    if args.list {
        return list(globals, console);
    }
    let path = match &args.journal {
        Some(path) => PathBuf::from(path),
        None if !args.last => {
            bail!(
                "name a JOURNAL, or use --last for the most recent run (with --dry-run first, to see what it would do), \
                 or --list to list the runs"
            )
        }
        None => {
            let path = last(args.dry_run, globals, console)?;
            Console::note(format_args!("journal: {}", quote(path.as_os_str().as_bytes())));
            path
        }
    };
    let shown = quote(path.as_os_str().as_bytes());
    let file = open_journal_to_undo(&path).with_context(|| format!("cannot undo {shown}"))?;
    let journal = journal::member(&path);
    let options = UndoOptions {
        remade: remade(globals).collect(),
        memory: globals.memory(),
        other_root: args.other_root,
    };
    if args.dry_run {
        return print_plan(file, journal, options, globals, console)
            .with_context(|| format!("cannot undo {shown}"));
    }
    let signals = DeferredSignals::begin().context("cannot install a signal handler")?;
    if let Some(directory) = path.parent() {
        // A killed repair leaves computed contents next to its journal.
        let state = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        journal::remove_abandoned(state, console);
    }
    let out = Stdout::default();
    let mut lines = StepLines::new(&out, globals.json, globals.quiet, PATH_WIDTH);
    let (mut counts, mut removed, mut failed, mut untouched) = ([0; 3], 0, 0, 0);
    let (mut stopped, mut incomplete) = (0, 0);
    let (mut reduced, mut lesser, mut of_caller, mut apart, mut elsewhere) = (0, 0, 0, 0, 0);
    let ended = undo_with(file, options, &signals.stop, |step, result| {
        let mut weight = match result {
            Ok(Undone::Restored | Undone::Removed | Undone::AsItWas) => Weight::Plain,
            Ok(_) => Weight::Problem,
            Err(ref error) => weight_of(error),
        };
        let (word, tone, why) = match result {
            Ok(Undone::Restored) => {
                counts[Restored::of(step.action) as usize] += 1;
                ("restore", Tone::Good, String::new())
            }
            Ok(Undone::RestoredExcept(shortfall) | Undone::LeftExcept(shortfall)) => {
                let is_new = matches!(result, Ok(Undone::RestoredExcept(_)));
                counts[Restored::File as usize] += u64::from(is_new);
                reduced += u64::from(shortfall.rights);
                lesser += u64::from(shortfall.permission && !shortfall.rights);
                of_caller += u64::from(shortfall.owner.is_some());
                apart += u64::from(shortfall.apart);
                if shortfall.rights || shortfall.permission || shortfall.owner.is_some() || shortfall.apart {
                    console.stats.error("undo");
                    incomplete += 1;
                    weight = Weight::Error;
                }
                let what = shown_shortfall(&shortfall);
                if is_new {
                    ("restore", Tone::Good, what)
                } else {
                    ("leave", Tone::Notable, format!("nothing to undo, but it is {what}"))
                }
            }
            Ok(Undone::Removed) => {
                removed += 1;
                ("remove", Tone::Good, REMOVED.into())
            }
            Ok(Undone::AsItWas) => {
                untouched += 1;
                ("leave", Tone::Notable, "nothing to undo".into())
            }
            Err(ActError::Stopped) => {
                failed += 1;
                stopped += 1;
                ("not done", Tone::Notable, String::new())
            }
            Err(error) => {
                failed += 1;
                elsewhere += u64::from(is_in_other_root(&error));
                console.stats.error("undo");
                ("fail", Tone::Wrong, why_failed(step, &error))
            }
        };
        lines.say(Done { word, tone: Some(tone), path: &step.path, is_directory: false, weight }, &why);
    });
    let undone = removed + counts.iter().sum::<u64>();
    if ended.is_ok() {
        let errors = failed - stopped;
        lines.finish(Summary { is_plan: false, undone, incomplete, failed: errors, left: failed, journal });
    }
    lines.flush();
    let problems = failed + reduced + lesser + of_caller + apart;
    let has_undone = undone > 0;
    if has_undone || problems > 0 && ended.is_ok() {
        let others = rest([
            (removed, format!("removed {}", human::count(removed, "file"))),
            (untouched, as_before(untouched)),
            (reduced, format!("{reduced} without set-ID bits or capabilities")),
            (apart, format!("{} not joined with the other hard links", human::count(apart, "file"))),
            (lesser, format!("{lesser} without metadata that the caller may not set")),
            (of_caller, format!("{of_caller} without the old owner")),
            (failed, format!("{} could not be restored", human::count(failed, "file"))),
        ]);
        console.summary(format_args!("restored {}{others}", restored(counts)));
    }
    if ended.is_ok() {
        console.summary(match failed {
            0 if !has_undone && problems == 0 && untouched > 0 => {
                format!("nothing is left to undo: {}", as_before(untouched))
            }
            0 => "nothing is left to undo".into(),
            n => format!("{} left to undo: {}", human::count(n, "file"), advice(elsewhere)),
        });
    }
    signals.raise_again();
    ended.with_context(|| format!("cannot undo {shown}"))?;
    out.finish()?;
    Ok(Outcome::error_if(problems > 0))
}

/// Prints what would be undone.
fn print_plan(
    file: File,
    journal: BTreeMap<String, String>,
    options: UndoOptions,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let signals = DeferredSignals::begin().context("cannot install a signal handler")?;
    let out = Stdout::default();
    // The plan is the result: --quiet does not omit it.
    let mut lines = StepLines::new(&out, globals.json, false, PATH_WIDTH);
    let (mut counts, mut removed, mut failed, mut elsewhere) = ([0; 3], 0, 0, 0);
    preview(file, options, &signals.stop, |step, foreseen| {
        let is_directory = step.action == ActionKind::RemoveDirectory;
        let weight = foreseen.as_ref().err().map_or(Weight::Plain, weight_of);
        let (word, tone, why) = match foreseen {
            Ok(Foreseen::Restore) => {
                counts[Restored::of(step.action) as usize] += 1;
                ("restore", None, String::new())
            }
            Ok(Foreseen::Remove) => {
                removed += 1;
                ("remove", None, REMOVED.into())
            }
            Ok(_) => return,
            Err(error) => {
                failed += 1;
                elsewhere += u64::from(is_in_other_root(&error));
                console.stats.error("undo");
                ("fail", Some(Tone::Wrong), why_failed(step, &error))
            }
        };
        lines.say(Done { word, tone, path: &step.path, is_directory, weight }, &why);
    })?;
    let undone = removed + counts.iter().sum::<u64>();
    lines.finish(Summary { is_plan: true, undone, incomplete: 0, failed, left: undone + failed, journal });
    out.finish()?;
    signals.raise_again();
    let others = rest([(removed, format!("remove {}", human::count(removed, "file")))]);
    let would = match undone {
        0 => "would restore nothing".into(),
        _ => format!("would restore {}{others}, if the contents are unchanged", restored(counts)),
    };
    console.summary(match (failed, undone) {
        (0, 0) => "nothing is left to undo".into(),
        (0, _) => format!("{would}. Nothing was changed: omit --dry-run to do it."),
        (n, _) => {
            let failed = human::count(n, "file");
            format!("{would}; {failed} could not be restored: {}. Nothing was changed.", advice(elsewhere))
        }
    });
    Ok(Outcome::error_if(failed > 0))
}

/// Returns what a step that is not undone means. After a signal, the exit status is that of the signal.
fn weight_of(error: &ActError) -> Weight {
    if matches!(error, ActError::Stopped) { Weight::Problem } else { Weight::Error }
}

/// Returns why a step could not be undone, and where its file is.
fn why_failed(step: &Undo, error: &ActError) -> String {
    let place = step.moved_to.as_ref().map(|to| format!("; it was moved to {}", human::shown(to)));
    reason(error) + &place.unwrap_or_default()
}

/// Whether the kept copies are below another directory than that of the run.
fn is_in_other_root(error: &ActError) -> bool {
    matches!(error, ActError::Refused(Refusal::OtherStart { side: Side::Keeper, difference: Some(_), .. }))
}

/// Returns what can be done about steps that failed. `elsewhere`: how many of them --other-root may undo.
fn advice(elsewhere: u64) -> &'static str {
    match elsewhere {
        0 => "repeat this command when the cause is gone",
        _ => "--other-root copies from the directory that is there now, if the contents are those of the run",
    }
}

/// What is restored.
#[derive(Clone, Copy)]
enum Restored {
    File,
    Entry,
    Directory,
}

impl Restored {
    fn of(action: ActionKind) -> Self {
        match action {
            ActionKind::RemoveDirectory => Self::Directory,
            ActionKind::MoveEntry | ActionKind::DeleteEntry => Self::Entry,
            _ => Self::File,
        }
    }
}

/// Returns `3 files and 1 directory`, for the numbers of [`Restored`] things.
fn restored([files, entries, directories]: [u64; 3]) -> String {
    let mut restored = match (files, entries) {
        (0, 1..) => human::entries(entries),
        (files, 0) => human::count(files, "file"),
        (files, _) => format!("{} and {}", human::count(files, "file"), human::entries(entries)),
    };
    if directories > 0 {
        restored += &format!(" and {}", human::directories(directories));
    }
    restored
}

/// Why undo removes a file.
const REMOVED: &str = "it was created by the run";

fn as_before(entries: u64) -> String {
    let are = if entries == 1 { "is as it was" } else { "are as they were" };
    format!("{} {are} before the run", human::entries(entries))
}

/// Returns in what a restored file is not as it was.
fn shown_shortfall(shortfall: &Shortfall) -> String {
    let &Shortfall { rights, narrower, owner, access_list, permission, links, apart, .. } = shortfall;
    let mut parts = Vec::new();
    if rights {
        parts.push("without set-ID bits and capabilities: set them yourself".into());
    }
    if let Some(mode) = narrower {
        parts.push(format!("with permissions {mode:04o}"));
    }
    if let Some(uid) = owner {
        parts.push(format!("with owner {uid}"));
    }
    if permission {
        parts.push("without its owner, group or attributes, which the caller may not set".into());
    }
    if access_list {
        parts.push("without its access control list".into());
    }
    if (narrower.is_some() || owner.is_some() || access_list) && !permission {
        parts.push("access was changed after the run, or another user could have replaced the file".into());
    }
    if apart {
        parts.push("a separate file: it could not be joined with its other hard links".into());
    }
    if links > 0 {
        parts.push(format!("no longer joined with {} outside the run", human::count(links, "hard link")));
    }
    parts.join("; ")
}
