//! `ftk dup apply`: does the same as `ftk dup prune`, but with the groups of a saved report instead of a
//! scan.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use clap::Args;
use ftk_apply::{Action, Reach, Sharing};
use ftk_dedup::prune::{Pruning, RecordedMembers, References, recorded_probes};
use ftk_dedup::report::{DirectoryGroup, Group, Report, read};
use ftk_file::Stat;
use ftk_inventory::Budget;
use ftk_record::{quote, sanitize};
use rustix::process::geteuid;

use crate::console::{Console, Outcome};
use crate::dup::act::{Job, seen};
use crate::dup::action::ActionArgs;
use crate::dup::keep::{KeepArgs, below};
use crate::dup::preflight::preflight;
use crate::dup::prune::journal_of;
use crate::dup::resolve::of_manifests;
use crate::globals::Globals;
use crate::input;
use crate::rules::Rules;
use crate::starts::is_here;

/// Act on a report of `ftk dup --json` (needs --yes)
///
/// Without --yes, ftk only prints a plan. REPORT can also be the decisions that were saved in a page of `ftk report`:
/// then exactly the files chosen there stay, and what --reference and --min-copies protect. The report only says which
/// files may be identical. ftk makes the same checks before each step as `ftk dup prune`: files that were changed,
/// moved or replaced after the scan are refused. The whole report is read and checked before anything is done. Relative
/// paths are relative to the working directory, which should be that of the scan. With --quiet, --yes prints only
/// problems and the command that undoes the run.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ApplyArgs {
    /// The report, or decisions about one; `-`: standard input
    #[arg(value_name = "REPORT")]
    report: OsString,

    /// Accept a report that was edited
    ///
    /// The footer of an edited report does not match its lines. By default, such a report is refused.
    #[arg(long)]
    edited: bool,

    /// Find the tree of the manifest FILE in DIR; repeatable
    ///
    /// For a report of `ftk dup --manifests`. FILE is the path of the manifest as in the report, or its last part.
    /// Without this option, the recorded root is used if it is absolute and exists. Files are recognised by the
    /// identity of their file system, inode number, size and times. Files of trees that are not here are not
    /// considered, also not as copies.
    #[arg(long = "root", value_name = "FILE=DIR")]
    pub(super) roots: Vec<OsString>,

    #[command(flatten)]
    act: ActionArgs,

    #[command(flatten)]
    pub(super) keep: KeepArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error, or a step was refused

Examples:
  ftk dup --json -o dup.json ~/Pictures            save a report
  ftk dup apply dup.json --action hardlink         print the plan
  ftk dup apply dup.json --action hardlink --yes   carry it out
  ftk dup apply home.decisions.jsonl --action delete --yes
                                                   decisions made in a page
  ftk dup --manifests --json -o dup.json disk1.jsonl disk2.jsonl
  ftk dup apply dup.json --root disk1.jsonl=/mnt/1 --root disk2.jsonl=/mnt/2 \\
      --reference disk1.jsonl --action delete      what disk 2 has twice
  grep -v /raw/ dup.json | ftk dup apply - --edited --action delete
                                                   only a part of the report";

pub(super) fn run(args: &ApplyArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let action = args.act.action()?;
    let shown = quote(args.report.as_bytes());
    let mut report = read(open(&args.report, args.act.acts())?, args.edited, &Budget::new(globals.memory()))
        .map_err(|error| {
            let is_edited = error.is_seal_broken();
            let hint = if is_edited { " (if you edited it on purpose, add --edited)" } else { "" };
            anyhow::Error::new(error).context(format!("bad report {shown}{hint}"))
        })?;
    if !report.unused_rules.is_empty() {
        let rules: Vec<_> = report.unused_rules.iter().map(|rule| sanitize(rule)).collect();
        let text = format!("the report was made with {}, which matched nothing", rules.join(" "));
        ensure!(
            !args.act.acts() || args.act.allow_unused.allow_unused_rules,
            "{text}, so nothing was changed (--allow-unused-rules permits it)"
        );
        console.summary(text);
    }
    let kept = report.kept.take();
    if kept.is_some() {
        args.keep.refuse_with_decisions()?;
    }
    let Groups { mut groups, directories, roots, references, named, outcome } = match report.recorded {
        Some(recorded) => of_manifests(args, recorded, &report.roots, console)?,
        None => of_trees(args, report, console)?,
    };
    ensure!(
        action != Action::Symlink || directories.is_empty(),
        "the report has groups of directories, and --action symlink works on single files only"
    );
    let mut job = Job::new(action, &args.act, &args.keep, roots, references, None, globals.json)?;
    job.pruning.rules.chosen = kept.unwrap_or_default();
    let members = RecordedMembers { groups: &groups, directories: &directories };
    job.rules = matching(args, &job.pruning, &members, &named)?;
    job.rules.say(console);
    if args.act.acts() {
        job.rules.ensure_used(args.act.allow_unused)?;
    }
    preflight(&recorded_probes(&groups), &job.pruning.root_lens, &job.action, &args.act, console)?;
    let journal = journal_of(&args.act, console)?;
    let directories = job.pruning.recorded_directories(directories, &mut groups);
    job.most = groups.iter().map(|group| group.members.len().saturating_sub(1) as u64).sum();
    let (sharing, mut reach) = (Sharing::default(), Reach::new());
    let mut groups = groups.into_iter().map(|mut group| {
        for member in &mut group.members {
            member.shared = sharing.of_seen(&mut reach, &seen(member, &job.pruning.root_lens));
        }
        group
    });
    let done = job.run(directories, &mut groups, journal, console)?;
    Ok(outcome.max(done))
}

/// The groups of a report.
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    pub(super) directories: Vec<DirectoryGroup>,
    /// The starting points.
    pub(super) roots: Vec<CString>,
    pub(super) references: References,
    /// The manifest that each value of `--reference` stands for, if it is one.
    pub(super) named: Vec<Option<usize>>,
    pub(super) outcome: Outcome,
}

/// Returns the rules, and which of them match a member of the groups. `named` are the manifests that the values of
/// `--reference` stand for.
fn matching(
    args: &ApplyArgs,
    pruning: &Pruning,
    members: &RecordedMembers<'_>,
    named: &[Option<usize>],
) -> anyhow::Result<Rules> {
    let mut in_directories = members.have_files(&pruning.references.directories).into_iter();
    let references = named.iter().map(|manifest| match manifest {
        Some(root) => members.all().any(|file| file.root == *root),
        None => in_directories.next().unwrap_or_default(),
    });
    let (references, one_per) = (references.collect::<Vec<_>>(), members.have_files(&args.keep.one_per()?));
    let has_tree = members.has_tree(&pruning.root_lens);
    let mut rules = Rules::of(args.keep.place_rules(&references, &one_per, has_tree));
    rules.extend(args.keep.path_rules(&pruning.rules, members.all().cloned()));
    Ok(rules)
}

/// Returns the groups of a report of trees.
fn of_trees(args: &ApplyArgs, report: Report, console: &Console) -> anyhow::Result<Groups> {
    ensure!(args.roots.is_empty(), "--root needs a report of `ftk dup --manifests`");
    let Report { directory, roots, groups, directories, .. } = report;
    if let Some(directory) = &directory
        && roots.iter().any(|root| !root.starts_with(b"/"))
        && !is_here(Path::new(OsStr::from_bytes(directory)))
    {
        console.warning(format_args!(
            "the paths of the report are relative to {}, which is not the working directory: run ftk there",
            quote(directory)
        ));
    }
    let references = References { directories: below(&args.keep.references)?, ..References::default() };
    let named = vec![None; args.keep.references.len()];
    let roots = roots.into_iter().map(CString::new).collect::<Result<_, _>>()?;
    Ok(Groups { groups, directories, roots, references, named, outcome: Outcome::Success })
}

/// Opens a report; `-` is standard input. If the run `acts`, a file must be one that only the caller or root can write
/// to: a report names what is removed, wherever that is. What comes through a descriptor is the caller's word.
fn open(report: &OsString, acts: bool) -> anyhow::Result<BufReader<File>> {
    let name = || quote(report.as_bytes());
    let file = input::open(report).with_context(|| format!("cannot open {}", name()))?;
    let stat = Stat::of(&file).with_context(|| format!("cannot examine {}", name()))?;
    let is_trusted = [0, geteuid().as_raw()].contains(&stat.uid) && stat.mode & 0o002 == 0;
    ensure!(
        !acts || report == "-" || is_trusted,
        "another user could have written {}, and a report names the files to change: nothing was changed (look at the plan, \
         then pass the report through `-` or a copy of your own)",
        name()
    );
    Ok(BufReader::new(file))
}
