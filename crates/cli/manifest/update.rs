//! `ftk manifest update ROOT OLD -o NEW`: records a tree again, without reading unchanged files.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use ftk_inventory::Keep;
use ftk_manifest::{Field, Finding, Header, Sample, Update, Updated, Verdict, WalkedTree};
use ftk_record::quote;

use crate::args::Globals;
use crate::console::Console;
use crate::human;
use crate::list::{List, cannot_write};
use crate::manifest::create::{now_ns, say_no_xattrs, say_not_recorded, write};
use crate::manifest::fields::change;
use crate::manifest::guard::{GuardArgs, refuse_swapped, refuse_to_overwrite};
use crate::manifest::input::Input;
use crate::manifest::reading::Surveyor;
use crate::manifest::scope::ScopeArgs;
use crate::manifest::share::share;
use crate::outcome::Outcome;
use crate::stdout::Stdout;

/// Record a tree again, reading only what changed
///
/// Algorithms, attributes and which entries belong to the tree are those of OLD. A file keeps its digests if device, inode,
/// size and the times of content and inode are what OLD says, and lie before the start of the run that made OLD; every
/// other file is read. What cannot be read keeps its old record, and the status is 2.
///
/// If content changed but size and mtime did not, the file is corrupted: update says so, keeps the old record and ends with
/// status 1, on every run until the file is repaired or accepted. Rot that leaves all times alone is found only by reading:
/// verify does, and --check reads a part of the unchanged files too.
///
/// Update stops before it changes anything if ROOT is not the recorded directory or more than half of its entries are
/// missing, as on an empty mount point.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct UpdateArgs {
    /// The directory; a link is followed
    #[arg(value_name = "ROOT")]
    root: OsString,

    /// The manifest as it was; `-`: standard input
    #[arg(value_name = "OLD")]
    old: OsString,

    /// Write to this file, which appears only when it is complete; it may be OLD
    #[arg(short, long, value_name = "NEW", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Replace a manifest other than OLD that is already there
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,

    /// Read this part of the unchanged files too, such as 5%, other ones in every run
    #[arg(long, value_name = "P%", value_parser = share, help_heading = "What is read")]
    check: Option<Sample>,

    /// Record this corrupted file as it is now; a path below ROOT as verify prints it; repeatable
    #[arg(long, value_name = "PATH", help_heading = "What is read")]
    accept: Vec<OsString>,

    #[command(flatten)]
    guard: GuardArgs,
}

const EXAMPLES: &str = "\
Examples:
  ftk manifest update /archive archive.jsonl -o archive.jsonl
  ftk manifest update /archive monday.jsonl -o tuesday.jsonl --check 3%    every file about once a month
  ftk manifest update /archive archive.jsonl -o archive.jsonl --accept film/reel-03.mov";

pub(super) fn run(args: &UpdateArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    refuse_swapped(&args.root, &args.old)?;
    let surveyor = Surveyor::new(globals, console)?;
    let Input { manifest: old, own } = Input::open(&args.old)?;
    if !args.force {
        refuse_to_overwrite(args.output.as_deref(), own)?;
    }
    let name = || quote(args.old.as_bytes());
    let scope = ScopeArgs::of_words(&old.header().options).with_context(name)?;
    let algorithms = &old.header().algorithms;
    let now_ns = now_ns();
    let stdout = Stdout::default();
    let list = List::create(args.output.as_deref(), &stdout)?;
    // If OLD lies in the tree and is not replaced, it is recorded like any other file.
    let scan = surveyor.walk(&args.root, &scope, Keep::Stats { files: true }, &list.own())?;
    let tree = WalkedTree { inventory: &scan.inventory, root: args.root.as_bytes(), failed: &scan.failed };
    let accept = args.accept.iter().map(|path| below(path.as_bytes())).collect::<BTreeSet<_>>();
    let update = Update::new(&old, &tree, args.check.as_ref(), &accept, &surveyor.budget);
    let update = update.with_context(name)?;
    args.guard.check(&update, &args.root)?;
    if let Some(path) = update.unknown.first() {
        let (path, old) = (quote(path), name());
        bail!("cannot accept {path}: it is not a regular file both in ROOT and, with digests, in {old}");
    }
    let read = surveyor.read(&scan.inventory, Some(&update.files), algorithms, "not read")?;

    let start_ns = update.start_ns(&read.rows, now_ns);
    let header = Header { root: args.root.as_bytes().to_vec(), start_ns, ..old.header().clone() };
    let mut each = |finding: &Finding<'_>| match (finding.error, finding.old, finding.new) {
        (None, Some(old), Some(new)) => {
            let digests = change(Field::Digests, [&old, &new], [algorithms; 2]);
            let (path, verdict) = (quote(finding.path), Verdict::Corrupted);
            console.warning(format_args!("{path} is {verdict}: size and mtime are unchanged, {digests}"));
        }
        (None, Some(_), None) => {
            let path = quote(finding.path);
            console.warning(format_args!("{path} was corrupted and is missing now, perhaps renamed"));
        }
        (Some(error), ..) => say_no_xattrs(tree.root, finding.path, error, console),
        _ => {}
    };
    let unwritten = || cannot_write(args.output.as_deref());
    let updated = write(&header, list, |writer| update.write(&read.rows, now_ns, writer, &mut each));
    let updated = updated.with_context(unwritten)?;
    stdout.finish().with_context(unwritten)?;

    if update.missing > 0 {
        let paths = human::count(update.missing, "recorded path");
        console.summary(format_args!("{paths} not found (removed or moved)"));
    }
    surveyor.say_done(updated.entries, read.done, read.failed.len() as u64, algorithms);
    Ok(scan.outcome.max(say_kept(updated, console)).max(say_not_recorded(updated.failed, console)))
}

/// Returns a path below the root in the form of a manifest.
fn below(path: &[u8]) -> Vec<u8> {
    path.strip_prefix(b"./").unwrap_or(path).to_vec()
}

/// Prints how many entries kept their old record, and returns the outcome.
fn say_kept(updated: Updated, console: &Console) -> Outcome {
    let Updated { kept, corrupted, .. } = updated;
    if corrupted > 0 {
        let files = human::count(corrupted, "corrupted file");
        console.summary(format_args!(
            "{files} kept as recorded; --accept PATH records one as it is now   (status 1)"
        ));
    }
    if kept > 0 {
        let records = human::count(kept, "old record");
        console.summary(format_args!("{records} kept for entries that could not be read (status 2)"));
    }
    match (kept, corrupted) {
        (0, 0) => Outcome::Success,
        (0, _) => Outcome::Negative,
        _ => Outcome::Error,
    }
}
