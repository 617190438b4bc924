//! `ftk dup apply`: does the same as `ftk dup prune`, but with the groups of a saved report instead of a
//! scan.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::Args;
use ftk_apply::Action;
use ftk_dedup::report::{DirectoryGroup, Group, read};
use ftk_record::quote;

use crate::args::Globals;
use crate::console::{Console, Outcome};
use crate::dup::act::Job;
use crate::dup::action::ActionArgs;
use crate::dup::dirs::DirPlanner;
use crate::dup::keep::KeepArgs;
use crate::dup::preflight::{pairs_in, preflight};
use crate::dup::prune::journal_of;
use crate::input;

/// Act on a report of `ftk dup --json` (needs --yes)
///
/// Without --yes, ftk only prints a plan. The report only says which files may be identical. ftk makes the same checks before each step as `ftk dup prune`: files
/// that were changed, moved or replaced after the scan are refused. The whole report is read and checked before anything
/// is done. Relative paths are relative to the working directory, which should be that of the scan.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ApplyArgs {
    /// The report; `-`: standard input
    #[arg(value_name = "REPORT")]
    report: OsString,

    /// Accept a report that was edited
    ///
    /// The footer of an edited report does not match its lines. By default, such a report is refused.
    #[arg(long)]
    edited: bool,

    #[command(flatten)]
    act: ActionArgs,

    #[command(flatten)]
    keep: KeepArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error, or a step was refused

Examples:
  ftk dup --json -o dup.json ~/Pictures            save a report
  ftk dup apply dup.json --action hardlink         print the plan
  ftk dup apply dup.json --action hardlink --yes   carry it out
  grep -v /raw/ dup.json | ftk dup apply - --edited --action delete
                                                   only a part of the report";

pub(super) fn run(args: &ApplyArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let action = args.act.action()?;
    let shown = quote(args.report.as_bytes());
    let report = read(open(&args.report)?, args.edited).map_err(|error| {
        let is_edited = error.is_seal_broken();
        let hint = if is_edited { " (if you edited it on purpose, add --edited)" } else { "" };
        anyhow::Error::new(error).context(format!("bad report {shown}{hint}"))
    })?;
    if let Some(directory) = &report.directory
        && report.roots.iter().any(|root| !root.starts_with(b"/"))
        && !is_here(directory)
    {
        console.warning(format_args!(
            "the paths of the report are relative to {}, which is not the working directory: run ftk there",
            quote(directory)
        ));
    }
    let mut roots: Vec<_> = report.roots.iter().map(Vec::len).collect();
    let (mut groups, mut directories) = (report.groups, report.directories);
    ensure!(
        action != Action::Symlink || directories.is_empty(),
        "the report has groups of directories, and --action symlink works on single files only"
    );
    preflight(pairs_in(&groups, &roots), &action, console)?;
    let mut references = if args.keep.references.is_empty() {
        BTreeSet::new()
    } else {
        protect(&mut groups, &mut directories, &mut roots, &args.keep.references)?
    };
    let kept_from = roots.len();
    roots.extend_from_within(..);
    references.extend(kept_from..roots.len());
    let journal = journal_of(&args.act, console)?;
    let (action_options, rules) = (args.act.action_options(), args.keep.rules(references));
    let dirs = DirPlanner { rules: &rules, roots: &roots, kept_from }.report(directories, &mut groups);
    let most = groups.iter().map(|group| group.members.len().saturating_sub(1) as u64).sum();
    let job = Job { action, action_options, rules, roots, kept_from, dirs, most, json: globals.json };
    job.run(&mut groups.into_iter(), journal, args.act.script, console)
}

/// Whether a path leads to the working directory.
fn is_here(directory: &[u8]) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|it| (it.dev(), it.ino()));
    identity(Path::new(OsStr::from_bytes(directory))).is_some_and(|it| identity(Path::new(".")) == Some(it))
}

/// Opens a report; `-` is standard input.
fn open(report: &OsString) -> anyhow::Result<BufReader<File>> {
    let file = input::open(report).with_context(|| format!("cannot open {}", quote(report.as_bytes())))?;
    Ok(BufReader::new(file))
}

/// Assigns members below a reference to extra starting points, which are protected. Resolves symbolic links
/// to find these members. Returns the numbers of the extra starting points.
fn protect(
    groups: &mut [Group],
    directories: &mut [DirectoryGroup],
    roots: &mut Vec<usize>,
    references: &[OsString],
) -> anyhow::Result<BTreeSet<usize>> {
    let canonical = |path: &OsString| {
        fs::canonicalize(path).with_context(|| format!("cannot open {}", quote(path.as_bytes())))
    };
    let references = references.iter().map(canonical).collect::<anyhow::Result<Vec<_>>>()?;
    let n_roots = roots.len();
    roots.extend_from_within(..);
    let mut known: Option<(PathBuf, bool)> = None;
    for member in groups.iter_mut().flat_map(|group| &mut group.members) {
        let parent = Path::new(OsStr::from_bytes(&member.path)).parent().unwrap_or(Path::new(""));
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let is_protected = match &known {
            Some((path, is_protected)) if path == parent => *is_protected,
            // A directory that no longer exists needs no protection: its files will be refused.
            _ => fs::canonicalize(parent)
                .is_ok_and(|parent| references.iter().any(|reference| parent.starts_with(reference))),
        };
        known = Some((parent.to_owned(), is_protected));
        if is_protected {
            member.root += n_roots;
        }
    }
    for member in directories.iter_mut().flat_map(|group| &mut group.members) {
        // A directory that contains a reference stays too.
        let is_protected = fs::canonicalize(OsStr::from_bytes(&member.path)).is_ok_and(|dir| {
            references.iter().any(|reference| dir.starts_with(reference) || reference.starts_with(&dir))
        });
        if is_protected {
            member.root += n_roots;
        }
    }
    Ok((n_roots..2 * n_roots).collect())
}
