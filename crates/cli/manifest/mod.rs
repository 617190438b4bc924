//! `ftk manifest`: records trees, and compares them with their records. Each command has its own module.

mod create;
mod diff;
mod fields;
mod guard;
mod input;
mod reading;
mod record;
mod rules;
mod scope;
mod share;
mod unique;
mod update;
mod verify;

use clap::{Args, Subcommand};

use crate::args::Globals;
use crate::console::Console;
use crate::manifest::create::CreateArgs;
use crate::manifest::diff::DiffArgs;
use crate::manifest::unique::UniqueArgs;
use crate::manifest::update::UpdateArgs;
use crate::manifest::verify::VerifyArgs;
use crate::outcome::Outcome;

/// Record what a tree is, and verify it later
///
/// A manifest is a list of every entry of a tree, as JSON lines: type, size, permissions, owner, times, where links
/// point to, and digests of the files. Its last line seals it, so that one that is cut off or damaged is never taken
/// for a good one. `verify` tells files that somebody edited from files that went bad by themselves, and knows what
/// was added, removed and moved.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManifestArgs {
    #[command(subcommand)]
    command: ManifestCommand,

    /// Accepted and ignored: ftk always recurses into directories
    #[arg(short, long, global = true, hide_short_help = true, help_heading = "Where to look")]
    #[arg(overrides_with = "recursive")]
    recursive: bool,
}

#[derive(Debug, Subcommand)]
enum ManifestCommand {
    Create(Box<CreateArgs>),
    Verify(VerifyArgs),
    Diff(DiffArgs),
    Update(UpdateArgs),
    Unique(UniqueArgs),
}

const EXAMPLES: &str = "\
Examples:
  ftk manifest create /archive -o archive.jsonl       record it
  ftk manifest verify /archive archive.jsonl          is all of it as it was?
  ftk manifest update /archive archive.jsonl -o archive.jsonl
                                                      record it anew, reading only what changed
  ftk manifest diff monday.jsonl friday.jsonl         what happened between; reads no file
  ftk manifest unique old-disk.jsonl archive.jsonl    what on the old disk is not in the archive?

Status of verify: 0 all as recorded, 1 something is not, 2 something could not be read.";

pub(crate) fn run(args: &ManifestArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    match &args.command {
        ManifestCommand::Create(args) => create::run(args, globals, console),
        ManifestCommand::Verify(args) => verify::run(args, globals, console),
        ManifestCommand::Diff(args) => diff::run(args, globals, console),
        ManifestCommand::Update(args) => update::run(args, globals, console),
        ManifestCommand::Unique(args) => unique::run(args, globals, console),
    }
}
