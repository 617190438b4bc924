//! `ftk dup prune`: plans what to do with surplus copies, writes the plan as a script, or carries it out.

use std::collections::BTreeSet;
use std::ffi::{CString, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::Args;
use ftk_apply::Journal;
use ftk_record::quote;

use crate::args::Globals;
use crate::console::Console;
use crate::dup::EXAMPLES_FIRST;
use crate::dup::act::Job;
use crate::dup::action::ActionArgs;
use crate::dup::journal;
use crate::dup::keep::{KeepArgs, protected};
use crate::dup::options::SearchArgs;
use crate::dup::preflight::{pairs_of, preflight};
use crate::dup::search::{SearchContext, search};
use crate::outcome::Outcome;
use crate::stdout::Stdout;

/// Link, clone, move or delete surplus copies: prints the plan, and does it with --yes
///
/// Without --yes nothing is changed. With it, right before each step: both files are what the scan saw, are reached
/// without following a symbolic link, and are equal byte by byte. A copy whose owner, permissions or extended attributes
/// are not those of the kept one is not replaced by a link to it. Where anything is not as it should be, the file keeps
/// its name and content, is listed with the reason, and the status is 2.
///
/// Of every content at least one copy stays, and it is never a symbolic link. Every step is written to a journal
/// before it is taken, and `ftk dup undo` takes all but a delete back. SIGINT and SIGTERM end the run between two
/// steps.
#[derive(Debug, Args)]
#[command(help_template = EXAMPLES_FIRST, after_help = EXAMPLES)]
pub(super) struct PruneArgs {
    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    keep: KeepArgs,

    #[command(flatten)]
    act: ActionArgs,
}

const EXAMPLES: &str = "\
Examples:
  ftk dup prune --action hardlink ~/Pictures              the plan
  ftk dup prune --action hardlink ~/Pictures --yes        done
  ftk dup prune --action delete --keep oldest --keep shortest --quarantine /srv/.away /srv
  ftk dup prune --action delete --reference ~/archive ~/inbox   what the archive has already
  ftk dup prune --action reflink --script . > clone.sh    to read first, and run later";

pub(super) fn run(args: &PruneArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let action = args.act.action()?;
    let references = args.keep.references.iter().map(directory).collect::<anyhow::Result<_>>()?;
    let journal = journal_of(&args.act, console)?;
    let own = Stdout::identity().into_iter();
    let own =
        own.chain(journal.iter().map(|(journal, _)| journal.identity())).chain(args.act.own_directory());
    let context = SearchContext { references, own: own.collect() };

    let mut references = BTreeSet::new();
    let search = search(&args.search, context, globals, console, |inventory, roots| {
        references = protected(&args.keep.references, roots.iter().map(|root| root.as_bytes()))
            .context("cannot resolve a --reference directory")?;
        preflight(pairs_of(inventory, roots, &references), &action, console)
    })?;
    search.say_scanned(console);
    let roots = search.roots.iter().map(|root| root.as_bytes().len()).collect();
    let (action_options, rules) = (args.act.action_options(), args.keep.rules(references));
    let totals = search.groups.totals();
    let most = totals.files - totals.groups;
    let job = Job { action, action_options, rules, roots, most, json: globals.json };
    let mut groups = search.groups(console);
    let outcome = job.run(&mut groups, journal, args.act.script, console)?;
    Ok(outcome.max(groups.outcome()).max(search.outcome))
}

/// Creates the journal if the plan is to be carried out, and prints its path before anything else.
pub(super) fn journal_of(act: &ActionArgs, console: &Console) -> anyhow::Result<Option<(Journal, PathBuf)>> {
    let journal = act.yes.then(|| journal::create(act.journal.as_deref())).transpose()?;
    if let Some((_, path)) = &journal {
        console.summary(format_args!("journal: {}", quote(path.as_os_str().as_bytes())));
    }
    Ok(journal)
}

/// Checks that a reference is a directory. A mistyped name would protect nothing.
fn directory(path: &OsString) -> anyhow::Result<CString> {
    let shown = || quote(path.as_bytes());
    let metadata = fs::metadata(path).with_context(|| format!("cannot open the reference {}", shown()))?;
    ensure!(metadata.is_dir(), "the reference {} is not a directory", shown());
    Ok(CString::new(path.as_bytes())?)
}
