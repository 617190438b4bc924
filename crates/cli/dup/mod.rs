//! `ftk dup`: finds files with the same content, and prunes them on request, after proving that they are identical.

mod act;
mod action;
mod apply;
mod journal;
mod keep;
mod options;
mod plan;
mod preflight;
mod prune;
mod report;
mod search;
mod sharing;
mod signals;
mod step_printer;
mod tally;
mod undo;

use std::ffi::OsString;

use clap::{Args, Subcommand};

use crate::args::Globals;
use crate::console::Console;
use crate::dup::apply::ApplyArgs;
use crate::dup::options::{OutputArgs, SearchArgs};
use crate::dup::prune::PruneArgs;
use crate::dup::undo::UndoArgs;
use crate::outcome::Outcome;

/// Find files with the same content; prune them only when told, and on proof
///
/// Prints groups of files that are equal, the largest waste first, and changes nothing: no file is written, linked or
/// removed by `ftk dup` alone. `ftk dup prune` shows what it would do with the surplus, and does it with --yes only,
/// after it has compared every byte once more.
///
/// Never counted as a copy: a symbolic link, another name of the same file (hard links are shown as what they are), a
/// file that could not be read or that changed meanwhile. Empty files are left out unless --min-size is 0.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(help_template = EXAMPLES_FIRST, after_help = EXAMPLES)]
pub(crate) struct DupArgs {
    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(subcommand)]
    command: Option<DupCommand>,
}

impl DupArgs {
    /// Returns the arguments for paths without options, or `None` if the first word is a subcommand.
    pub(crate) fn of_paths(paths: Vec<OsString>) -> Option<Self> {
        let is_command = |word: &OsString| word.to_str().is_some_and(DupCommand::has_subcommand);
        let search = SearchArgs { paths, ..SearchArgs::default() };
        let is_report = !search.paths.first().is_some_and(is_command);
        is_report.then(|| Self { search, output: OutputArgs::default(), command: None })
    }
}

#[derive(Debug, Subcommand)]
enum DupCommand {
    Prune(Box<PruneArgs>),
    Apply(ApplyArgs),
    Undo(UndoArgs),
}

/// Help with the examples before the options, since the options are many.
const EXAMPLES_FIRST: &str = "{about}{after-help}\n\n{usage-heading} {usage}\n\n{all-args}";

const EXAMPLES: &str = "\
Examples:
  ftk dup ~/Pictures                      what is there twice, the largest first
  ftk dup --summary /srv                  only how much pruning would free
  ftk dup --json -o dup.json a b          a report to look through, and to act on later
  ftk dup prune --action hardlink ~/Pictures         what would be done
  ftk dup prune --action hardlink ~/Pictures --yes   do it; the journal can undo it
  ftk dup ./prune                         a directory of that name";

pub(crate) fn run(args: &DupArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    match &args.command {
        None => report::run(&args.search, &args.output, globals, console),
        Some(DupCommand::Prune(args)) => prune::run(args, globals, console),
        Some(DupCommand::Apply(args)) => apply::run(args, globals, console),
        Some(DupCommand::Undo(args)) => undo::run(args, globals, console),
    }
}
