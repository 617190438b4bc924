//! `ftk manifest plan SOURCE`: divides a tree into shards.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::{Args, ValueEnum};
use ftk_hash::Algorithm;
use ftk_inventory::Keep;
use ftk_manifest::{
    Balance, Cost, Header, Parts, Plan, Planner, Root, Shard, WalkedTree, is_plan, named_like_parts,
};
use ftk_record::quote;
use indicatif::{DecimalBytes, HumanCount};

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::list::{List, named};
use crate::manifest::guard::refuse_to_overwrite;
use crate::manifest::input::{Input, joined, open_parts};
use crate::manifest::reading;
use crate::manifest::root;
use crate::manifest::scope::ScopeArgs;
use crate::manifest::shard::normal;
use crate::run::Run;
use crate::stdout::Stdout;
use crate::{human, input};

/// Divide a tree into shards for many hosts
///
/// Cuts the paths of a tree into N ranges that had the same amount of work when SOURCE was made. Each range is a shard:
/// `create --shard K/N --plan PLAN` records it, on any host, and `merge` joins the parts. A path that is new since then
/// belongs to exactly one shard. A large directory is divided between names.
///
/// The plan is for the directory and the selection options of SOURCE.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PlanArgs {
    /// An earlier manifest of the tree, or the directory itself, which is walked then
    #[arg(value_name = "SOURCE", required = true)]
    source: Vec<OsString>,

    /// SOURCE is the parts of all shards, or their directory
    ///
    /// When a tree has changed, its shards are no longer of one size. This makes the next plan, and needs no merge.
    #[arg(long)]
    from_parts: bool,

    /// The number of shards
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(Shard::MOST)))]
    shards: u32,

    /// What the shards have in equal amounts
    #[arg(long, value_enum, value_name = "WHAT", default_value = "cost")]
    by: By,

    /// Write to FILE, which appears only when it is complete
    ///
    /// `-`: standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Replace FILE even if it is a plan or a manifest
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    scope: ScopeArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    /// Time, as `ftk calibrate` has measured it: for each file and each byte
    Cost,
    /// Entries: best if no content is read
    Entries,
    /// Bytes of files: best if disks are slow
    Bytes,
}

impl From<By> for Balance {
    fn from(by: By) -> Self {
        match by {
            By::Cost => Self::Cost,
            By::Entries => Self::Entries,
            By::Bytes => Self::Bytes,
        }
    }
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk manifest plan --shards 64 yesterday.jsonl -o plan.json
                        from the last manifest, without access to the tree
  ftk manifest plan --shards 64 --by entries /lustre -o plan.json
                        walk the tree, and read no file
  ftk manifest plan --shards 64 --from-parts parts -o new.json
                        from the parts of the last run
  ftk manifest create --shard 3/64 --plan plan.json /lustre -o part-3.jsonl
                        record one shard, on any host
  ftk manifest merge part-*.jsonl -o today.jsonl
                        when all parts are there";

pub(super) fn run(args: &PlanArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    if !args.force {
        refuse_to_overwrite(named(args.output.as_deref()), None, false)?;
    }
    let stdout = Stdout::default();
    let mut list = List::create(named(args.output.as_deref()), &stdout)?;
    let run = Run::new(globals, console)?;
    let (plan, outcome) = match &*args.source {
        _ if args.from_parts => (of_parts(args, &run)?, Outcome::Success),
        [source] if Path::new(source).is_dir() => of_tree(source, args, &run, &list.own())?,
        [source] => (of_manifest(source, args, &run)?, Outcome::Success),
        _ => bail!("several files can only be parts: add --from-parts"),
    };
    ensure!(
        plan.root.is_known(),
        "{}: the root of the tree is not known: its path {} is relative, and its file system has no identity \
         (record it with an absolute path)",
        quote(args.source[0].as_bytes()),
        quote(&plan.root.path)
    );
    list.write(&plan.to_bytes());
    list.finish()?;
    say(&plan, console);
    Ok(outcome)
}

/// Makes a plan of a tree.
fn of_tree(
    source: &OsStr,
    args: &PlanArgs,
    run: &Run<'_>,
    own: &[(u64, u64)],
) -> anyhow::Result<(Plan, Outcome)> {
    let options = args.scope.words(source)?;
    let root = root::Root::open(source)?;
    ensure!(
        !has_only_parts(source),
        "{} has only parts of a tree in it: add --from-parts to plan that tree again",
        quote(source.as_bytes())
    );
    let keep = match args.by {
        By::Entries => Keep::All,
        By::Bytes | By::Cost => Keep::Stats { files: true },
    };
    let scan = reading::walk(run, &root, &args.scope, keep, own, None)?;
    let inventory = &scan.inventory;
    let tree = WalkedTree { inventory, root: source.as_bytes(), failed: &scan.failed };
    let mut planner = Planner::new(args.shards, args.by.into(), cost(run, &[Algorithm::Sha256]));
    planner.add_tree(&tree)?;
    let identity = root.identity().clone();
    let root = Root { path: identity.path.clone(), identity: Some(identity) };
    Ok((planner.finish(root, options), scan.outcome))
}

/// Returns whether a directory has parts in it and nothing else, so that it is not the tree to divide.
fn has_only_parts(dir: &OsStr) -> bool {
    // To open a FIFO would block.
    let open = |path: &PathBuf| path.is_file().then(|| input::open_file(path.as_os_str()).ok()).flatten();
    let is_part = |path: &PathBuf| {
        let header = open(path).and_then(|file| Header::of(&file).ok());
        header.is_some_and(|header| header.shard.is_some())
    };
    let is_plan = |path: &PathBuf| open(path).is_some_and(|file| is_plan(&file).unwrap_or(false));
    let is_hidden = |entry: &DirEntry| entry.file_name().as_bytes().starts_with(b".");
    let (Ok(parts), Ok(entries)) = (named_like_parts(Path::new(dir)), fs::read_dir(dir)) else {
        return false;
    };
    let shown = entries.filter(|entry| !entry.as_ref().is_ok_and(is_hidden)).count();
    parts.len() == shown
        && parts.iter().any(is_part)
        && parts.iter().all(|path| is_part(path) || is_plan(path))
}

/// Makes a plan from the parts of all shards.
fn of_parts(args: &PlanArgs, run: &Run<'_>) -> anyhow::Result<Plan> {
    let manifest = match &*args.source {
        [dir] if Path::new(dir).is_dir() => Input::open(dir, run.globals, run.console)?.manifest,
        paths => {
            let parts = open_parts(paths, run.globals, Parts::MAX_SPAN_NS, &mut Vec::new())?;
            joined(parts, paths, run.globals)?
        }
    };
    let header = manifest.header();
    ensure!(args.scope.is_empty(), "the options that select entries are those of the parts");
    let mut planner = Planner::new(args.shards, args.by.into(), cost(run, &header.algorithms));
    planner.add_manifest(&manifest)?;
    Ok(planner.finish(normal_root(Root::of(header)), header.options.clone()))
}

/// Makes a plan from a manifest.
fn of_manifest(source: &OsStr, args: &PlanArgs, run: &Run<'_>) -> anyhow::Result<Plan> {
    let name = || quote(source.as_bytes());
    ensure!(args.scope.is_empty(), "the options that select entries are those of the manifest {}", name());
    let file = input::open(source).with_context(|| format!("cannot open {}", name()))?;
    let planner = |algorithms: &[Algorithm]| Planner::new(args.shards, args.by.into(), cost(run, algorithms));
    let (planner, header, root) = Planner::of_manifest(file, planner).with_context(name)?;
    Ok(planner.finish(normal_root(root), header.options))
}

fn normal_root(root: Root) -> Root {
    let path = if root.path.starts_with(b"/") { normal(&root.path) } else { root.path };
    Root { path, ..root }
}

fn cost(run: &Run<'_>, algorithms: &[Algorithm]) -> Cost {
    Cost::new(run.model.constants(), algorithms, run.platform)
}

/// Prints `64 shards, 15,600,000 entries and 1.2 TB on average; the largest has 1.8 % more cost than that`.
fn say(plan: &Plan, console: &Console) {
    let shards = plan.shards.len() as u64;
    let total = |of: fn(&ftk_manifest::PlannedShard) -> u64| {
        plan.shards.iter().fold(0_u64, |sum, shard| sum.saturating_add(of(shard)))
    };
    let (entries, bytes) = (total(|it| it.entries), total(|it| it.bytes));
    let most = |of: fn(&ftk_manifest::PlannedShard) -> u64| plan.shards.iter().map(of).max().unwrap_or(0);
    console.summary(format_args!(
        "{} with {} entries and {} on average; at most {} entries and {}",
        human::count(shards, "shard"),
        HumanCount(entries / shards),
        DecimalBytes(bytes / shards),
        HumanCount(most(|it| it.entries)),
        DecimalBytes(most(|it| it.bytes)),
    ));
}
