//! `ftk undo`, also `ftk dup undo`: reverts a run by its journal.

use std::ffi::OsString;
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use ftk_apply::{ActError, ActionKind, Undone, open_journal, undo};
use ftk_record::{quote, sanitize, write_record};

use crate::args::Globals;
use crate::colour::{self, Tone};
use crate::console::{Console, Outcome, reason};
use crate::human;
use crate::signals::DeferredSignals;
use crate::stdout::{Lines, Stdout};

/// Undo a run of `dup prune`, `dup apply` or `manifest repair`
///
/// ftk undoes the last step first. A hard or symbolic link becomes a separate file again, with the content, owner,
/// permissions and times that it had; moved files move back, and directories that became empty are made again. A repaired file gets its damaged content back, and a
/// file that repair created is removed. Files that changed after the run are not overwritten. Steps that were undone
/// before are skipped, so that you can repeat an interrupted undo. Files that were deleted without a quarantine cannot be
/// restored: the exit status is then 2.
///
/// The journal must be a regular file that belongs to you or to root and that no other user can write to. Set-user-ID
/// bits, set-group-ID bits and capabilities are restored only if the file that provides the content has them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UndoArgs {
    /// The journal, whose path the run printed
    #[arg(value_name = "JOURNAL")]
    journal: OsString,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error, or a file could not be restored

Examples:
  ftk undo ~/.local/state/ftk/dup-20260102T030405Z-Ab3dE6.jsonl";

pub(crate) fn run(args: &UndoArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let shown = quote(args.journal.as_bytes());
    let journal = open_journal(Path::new(&args.journal)).with_context(|| format!("cannot undo {shown}"))?;
    let signals = DeferredSignals::begin().context("cannot install a signal handler")?;
    let out = Stdout::default();
    let mut lines = Lines::new(&out);
    let is_coloured = colour::wanted();
    let (mut restored, mut removed, mut failed, mut reduced) = (0, 0, 0, 0);
    let mut directories = 0;
    let ended = undo(BufReader::new(journal), &signals.stop, |step, result| {
        let (word, why) = match result {
            Ok(Undone::Restored) => {
                let is_directory = step.action == ActionKind::RemoveDirectory;
                *if is_directory { &mut directories } else { &mut restored } += 1;
                ("restore", String::new())
            }
            Ok(Undone::RestoredWithoutRights) => {
                restored += 1;
                reduced += 1;
                console.stats.error("undo");
                ("restore", "without set-ID bits and capabilities: set them yourself".into())
            }
            Ok(Undone::Removed) => {
                removed += 1;
                ("remove", "it was created by the run".into())
            }
            Ok(Undone::AsItWas) => ("leave", "nothing to undo".into()),
            Err(ActError::Stopped) => {
                failed += 1;
                ("not done", String::new())
            }
            Err(error) => {
                failed += 1;
                console.stats.error("undo");
                ("fail", reason(&error))
            }
        };
        lines.line(|out| push_line(out, word, &step.path, &why, globals.json, is_coloured));
    });
    lines.flush();
    let failures = if failed == 0 {
        String::new()
    } else {
        format!("; {} could not be restored", human::count(failed, "file"))
    };
    let reductions =
        if reduced == 0 { String::new() } else { format!("; {reduced} without set-ID bits or capabilities") };
    let removals =
        if removed == 0 { String::new() } else { format!("; removed {}", human::count(removed, "file")) };
    if ended.is_ok() || restored + removed + directories > 0 {
        let mut restored = human::count(restored, "file");
        if directories > 0 {
            let noun = if directories == 1 { "directory" } else { "directories" };
            restored += &format!(" and {directories} {noun}");
        }
        console.summary(format_args!("restored {restored}{removals}{reductions}{failures}"));
    }
    signals.raise_again();
    ended.with_context(|| format!("cannot undo {shown}"))?;
    out.finish()?;
    Ok(if failed + reduced > 0 { Outcome::Error } else { Outcome::Success })
}

fn tone(word: &str) -> Tone {
    match word {
        "restore" | "remove" => Tone::Good,
        "fail" => Tone::Wrong,
        _ => Tone::Notable,
    }
}

fn push_line(out: &mut Vec<u8>, word: &str, path: &[u8], why: &str, json: bool, is_coloured: bool) {
    if json {
        write_record(out, |record| {
            record.member("do", word).path("path", path);
            if !why.is_empty() {
                record.member("why", why);
            }
        });
    } else {
        let style = tone(word).style(is_coloured);
        let line = format!("  {style}{word:<8}{style:#} {:<46} {why}", sanitize(path));
        out.extend_from_slice(line.trim_end().as_bytes());
        out.push(b'\n');
    }
}
