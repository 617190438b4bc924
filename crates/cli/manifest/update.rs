//! `ftk manifest update ROOT OLD -o NEW`: a manifest made anew, without reading what did not change.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use ftk_inventory::Keep;
use ftk_manifest::{Header, Sample, Tree, Update};
use ftk_record::quote;

use crate::args::Globals;
use crate::console::Console;
use crate::list::{List, cannot_write};
use crate::manifest::create::{NOT_RECORDED, now_ns, say_left_out, write};
use crate::manifest::input::Input;
use crate::manifest::reading::Surveyor;
use crate::manifest::scope::ScopeArgs;
use crate::manifest::share::share;
use crate::outcome::Outcome;
use crate::stdout::Stdout;

/// Record a tree anew, reading only what changed
///
/// Algorithms, attributes and which entries belong to the tree are those of OLD. A file keeps its digests if device, inode,
/// size and the times of content and inode are what OLD says, and lie before the start of the run that made OLD; every
/// other file is read.
///
/// What goes bad by itself changes none of that, and only reading finds it: verify does, and --check reads a part of the
/// unchanged files too. Where content changed and nothing else, that is said, the status is 1, and NEW keeps the old digest.
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

    /// Read this part of the unchanged files too, such as 5%, other ones in every run
    #[arg(long, value_name = "P%", value_parser = share, help_heading = "What is read")]
    check: Option<Sample>,
}

const EXAMPLES: &str = "\
Examples:
  ftk manifest update /archive archive.jsonl -o archive.jsonl
  ftk manifest update /archive monday.jsonl -o tuesday.jsonl --check 3%    every file about once a month";

pub(super) fn run(args: &UpdateArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let surveyor = Surveyor::new(globals, console)?;
    let old = Input::open(&args.old)?.manifest;
    let name = || quote(args.old.as_bytes());
    let scope = ScopeArgs::of_words(&old.header().options).with_context(name)?;
    let header = Header { root: args.root.as_bytes().to_vec(), start_ns: now_ns(), ..old.header().clone() };
    let stdout = Stdout::default();
    let list = List::create(args.output.as_deref(), &stdout)?;
    // An old manifest that stays where it is is a file like any other.
    let scan = surveyor.walk(&args.root, &scope, Keep::Stats { files: true }, &list.own())?;
    let inventory = &scan.inventory;
    let tree = Tree { inventory, root: args.root.as_bytes(), failed: &scan.failed };
    let update = Update::new(&old, &tree, &header.algorithms, args.check.as_ref(), &surveyor.budget);
    let update = update.with_context(name)?;
    let read = surveyor.read(inventory, Some(&update.files), &header.algorithms, NOT_RECORDED)?;

    let corrupted = update.corrupted(&read.rows);
    for &file in &corrupted {
        let mut path = Vec::new();
        inventory.push_path(file, &mut path);
        let path = quote(&path);
        console.warning(format_args!("{path} is corrupted: the content changed, size and times did not"));
    }
    let unwritten = || cannot_write(args.output.as_deref());
    let written =
        write(&header, &tree, &update.contents(&read.rows), list, console).with_context(unwritten)?;
    stdout.finish().with_context(unwritten)?;

    let failed = read.failed.len() as u64;
    surveyor.say_done(written.entries, read.done, failed, &header.algorithms);
    let told = if corrupted.is_empty() { Outcome::Success } else { Outcome::Negative };
    Ok(scan.outcome.max(told).max(say_left_out(failed + written.failed, console)))
}
