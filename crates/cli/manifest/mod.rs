//! `ftk manifest`: records trees, and compares them with their records. Each command has its own module.

mod archive;
mod body;
mod changed;
mod checks;
mod corrupted;
mod create;
mod diff;
mod export;
mod fields;
mod format;
mod generation;
mod guard;
mod import;
pub(crate) mod input;
mod merge;
mod output;
mod pace;
mod parity;
mod part;
mod place;
mod plan;
mod protect;
mod reading;
mod record;
mod repair;
mod reprotect;
mod rewrite;
mod root;
mod round;
mod rules;
mod scope;
mod scrub;
mod shard;
mod shift;
mod since;
mod space;
mod unique;
mod update;
mod verify;

use clap::{Args, Subcommand};

pub(crate) use self::archive::refuse_archive;
pub(crate) use self::create::join;
pub(crate) use self::export::{DECLARATION, bag_files, bag_info, payload_manifest};
pub(crate) use self::guard::Limit;
pub(crate) use self::root::Root;
pub(crate) use self::scope::ScopeArgs;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::manifest::create::CreateArgs;
use crate::manifest::diff::DiffArgs;
use crate::manifest::export::ExportArgs;
use crate::manifest::import::ImportArgs;
use crate::manifest::merge::MergeArgs;
use crate::manifest::plan::PlanArgs;
use crate::manifest::protect::ProtectArgs;
use crate::manifest::repair::RepairArgs;
use crate::manifest::scrub::ScrubArgs;
use crate::manifest::unique::UniqueArgs;
use crate::manifest::update::UpdateArgs;
use crate::manifest::verify::VerifyArgs;

/// Record a tree, and verify it later
///
/// A manifest lists every entry of a tree as JSON lines: type, size, permissions, owner, times, link targets, and
/// digests of the files. The last line seals the manifest, so that ftk detects one that is cut off or damaged. `verify`
/// tells edited files from corrupted ones, and reports what was added, removed and moved.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManifestArgs {
    #[command(subcommand)]
    command: ManifestCommand,

    /// Accepted and ignored: ftk always recurses into directories
    #[arg(short, long, global = true, hide_short_help = true)]
    recursive: bool,
}

#[derive(Debug, Subcommand)]
enum ManifestCommand {
    Create(Box<CreateArgs>),
    Verify(VerifyArgs),
    Diff(DiffArgs),
    Update(UpdateArgs),
    Scrub(ScrubArgs),
    Protect(ProtectArgs),
    Repair(RepairArgs),
    Unique(UniqueArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Plan(Box<PlanArgs>),
    Merge(MergeArgs),
}

impl ManifestArgs {
    /// Whether `--status` was given.
    pub(crate) fn prints_nothing(&self) -> bool {
        match &self.command {
            ManifestCommand::Verify(args) => args.status.status,
            ManifestCommand::Diff(args) => args.status.status,
            _ => false,
        }
    }
}

const EXAMPLES: &str = "\
Exit status: 0: success; 1: differences found; 2: any error

Examples:
  ftk manifest create /archive -o archive.jsonl
                        record a tree
  ftk manifest verify /archive archive.jsonl
                        report what changed
  ftk manifest update /archive archive.jsonl -o archive.jsonl
                        record it again, reading only what changed
  ftk manifest scrub --part 1/30 /archive archive.jsonl
                        read the files in turn, a part every night
  ftk manifest protect /archive archive.jsonl -o archive.parity
                        write parity, so that damage heals without a backup
  ftk manifest repair /archive archive.jsonl --from /backup
                        restore damaged files from a backup, or from
                        archive.parity (plan; --yes)
  ftk manifest diff monday.jsonl friday.jsonl
                        compare two manifests, without reading files
  ftk manifest unique old-disk.jsonl archive.jsonl
                        files on the old disk that the archive lacks
  ftk manifest export --format mtree archive.jsonl
                        for other tools
  ftk manifest create --shard 3/16 /lustre -o part-3.jsonl
                        a part of a huge tree; merge joins the parts";

pub(crate) fn run(args: &ManifestArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    match &args.command {
        ManifestCommand::Create(args) => create::run(args, globals, console),
        ManifestCommand::Verify(args) => verify::run(args, globals, console),
        ManifestCommand::Diff(args) => diff::run(args, globals, console),
        ManifestCommand::Update(args) => update::run(args, globals, console),
        ManifestCommand::Scrub(args) => scrub::run(args, globals, console),
        ManifestCommand::Protect(args) => protect::run(args, globals, console),
        ManifestCommand::Repair(args) => repair::run(args, globals, console),
        ManifestCommand::Unique(args) => unique::run(args, globals, console),
        ManifestCommand::Export(args) => export::run(args, globals, console),
        ManifestCommand::Import(args) => import::run(args, globals, console),
        ManifestCommand::Plan(args) => plan::run(args, globals, console),
        ManifestCommand::Merge(args) => merge::run(args, globals, console),
    }
}
