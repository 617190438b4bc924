//! `ftk manifest merge PART...`: joins the manifests of all shards.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use clap::Args;
use ftk_manifest::{Failed, MergeError};
use ftk_record::quote;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::input;
use crate::list::{List, cannot_write, named};
use crate::manifest::create::write_with;
use crate::manifest::input::{joined, open_parts};
use crate::manifest::output::OutputArgs;
use crate::number::period;
use crate::stdout::Stdout;

/// Join the manifests of all shards into one
///
/// The parts may be given in any order. All N shards of one plan, or of one N without a plan, must be there, each once.
/// Entry by entry, the result is the manifest that a single run of `create` would have made. It reads no files.
/// A plan among the arguments is skipped. Parts of different roots are refused, and so are parts with different file
/// systems mounted below the root.
///
/// Parts without a plan are read at the same time. If that needs more than `--memory`, groups of them are first merged
/// to temporary files in TMPDIR.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MergeArgs {
    /// The manifests of all shards
    #[arg(value_name = "PART", required = true)]
    parts: Vec<OsString>,

    /// Refuse parts whose runs began more than TIME apart
    ///
    /// They would be of different runs, such as those of yesterday and today.
    #[arg(long, value_name = "TIME", default_value = "12h", value_parser = period)]
    max_span: Duration,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk manifest merge part-*.jsonl -o whole.jsonl
                        the order of the parts does not matter";

pub(super) fn run(args: &MergeArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    args.output.check()?;
    let output = named(args.output.output.as_deref());
    let stdout = Stdout::default();
    let list = List::create(output, &stdout)?;
    let max_span_ns = i128::try_from(args.max_span.as_nanos()).unwrap_or(i128::MAX);
    let mut paths = Vec::new();
    for path in &args.parts {
        if !is_plan(path)? {
            paths.push(path.clone());
        }
    }
    ensure!(!paths.is_empty(), "all arguments are plans: merge needs the manifests of all shards");
    let parts = open_parts(&paths, globals, max_span_ns, &mut Vec::new())?;
    let parts = joined(parts, &paths, globals)?;
    let named = |error| match error {
        MergeError::Output(_) => anyhow!(error).context(cannot_write(output)),
        error => error.into(),
    };
    let failed = parts.header().failed.clone();
    let merged = write_with(parts.header(), list, output, |writer| parts.merge(writer).map_err(named))?;
    let (entries, parts) = (human::entries(merged.entries), human::count(paths.len() as u64, "part"));
    console.summary(format_args!("{entries} of {parts}"));
    merged.renames.messages(human::number).iter().for_each(|message| console.warning(message));
    Ok(say_failed(&failed, console))
}

/// Returns whether an argument is a regular file with a plan of shards. Anything else cannot be read twice.
fn is_plan(path: &OsStr) -> anyhow::Result<bool> {
    let name = || quote(path.as_bytes());
    if path == "-" || !fs::metadata(path).with_context(|| format!("cannot open {}", name()))?.is_file() {
        return Ok(false);
    }
    let file = input::open_file(path).with_context(|| format!("cannot open {}", name()))?;
    ftk_manifest::is_plan(&file).with_context(|| format!("cannot read {}", name()))
}

/// Says what the shards could not read. Returns the outcome.
fn say_failed(failed: &Failed, console: &Console) -> Outcome {
    if failed.is_empty() {
        return Outcome::Success;
    }
    for path in failed.paths() {
        console
            .error_of("read", format_args!("{} could not be read when its shard was recorded", quote(path)));
    }
    let paths = human::count(failed.paths().len() as u64, "path");
    console.summary(format_args!("{paths} could not be read: what is below is unknown   (status 2)"));
    Outcome::Error
}
