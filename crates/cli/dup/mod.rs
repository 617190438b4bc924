//! `ftk dup`: finds files with the same content, and prunes them on request, after proving that they are
//! identical.

mod act;
mod action;
mod apply;
mod ask;
mod browse;
mod dirs;
mod keep;
mod options;
mod page;
mod preflight;
mod prune;
mod recorded;
mod report;
mod resolve;
mod search;
mod step_printer;
mod tally;

use anyhow::ensure;
use clap::{Args, Subcommand};

pub(crate) use self::action::ACTIONS;
pub(crate) use self::page::TreeDuplicates;

use crate::console::{Console, Outcome};
use crate::dup::apply::ApplyArgs;
use crate::dup::dirs::ShareArg;
use crate::dup::options::{BrowseArgs, OutputArgs, SearchArgs};
use crate::dup::prune::PruneArgs;
use crate::dup::recorded::RecordedArgs;
use crate::globals::Globals;
use crate::undo::{self, UndoArgs};

/// Find identical files; link or remove copies on request
///
/// `ftk dup` prints groups of identical files, the largest waste first. It changes nothing. `ftk dup prune` prints a
/// plan for the surplus copies. With --yes, it carries out the plan, and compares every byte again before each step.
///
/// Only identical files are found, not similar pictures.
///
/// These are never counted as copies: symbolic links, hard links of the same file (the report marks them), files that
/// could not be read, and files that changed while being read. Empty files are skipped unless --min-size is 0.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DupArgs {
    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    browse: BrowseArgs,

    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    recorded: RecordedArgs,

    #[command(flatten)]
    share: ShareArg,

    #[command(subcommand)]
    command: Option<DupCommand>,
}

#[derive(Debug, Subcommand)]
enum DupCommand {
    Prune(Box<PruneArgs>),
    Apply(Box<ApplyArgs>),
    Undo(UndoArgs),
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk dup ~/Pictures                duplicates, the largest waste first
  ftk dup --dirs ~/Pictures         equal directories, then other files
  ftk dup --json -o dup.json a b    a report for `ftk dup apply`
  ftk manifest unique card photos   what is on the card and not in photos
  ftk dup prune -h                  what can be done with duplicates";

pub(crate) fn run(args: &DupArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    // `requires` of the parser has no effect next to an option that excludes --interactive.
    ensure!(
        args.browse.quarantine.is_none() || args.browse.interactive,
        "--quarantine needs --interactive, or `ftk dup prune`"
    );
    match &args.command {
        None if args.browse.interactive => {
            browse::run(&args.search, args.browse.quarantine.as_deref(), globals, console)
        }
        None if !args.recorded.manifests.is_empty() => {
            recorded::run(&args.recorded, &args.search.sizes, &args.output, globals, console)
        }
        None => report::run(&args.search, &args.share, &args.output, globals, console),
        Some(DupCommand::Prune(args)) => prune::run(args, globals, console),
        Some(DupCommand::Apply(args)) => apply::run(args, globals, console),
        Some(DupCommand::Undo(args)) => undo::run(args, globals, console),
    }
}
