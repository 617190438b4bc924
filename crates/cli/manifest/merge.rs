//! `ftk manifest merge PART...`: joins the manifests of all shards.

use std::ffi::OsString;

use anyhow::anyhow;
use clap::Args;
use ftk_manifest::MergeError;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::list::{List, cannot_write, named};
use crate::manifest::create::write_with;
use crate::manifest::input::open_parts;
use crate::manifest::output::OutputArgs;
use crate::stdout::Stdout;

/// Join the manifests of all shards into one
///
/// The parts may be given in any order. All N shards of one plan, or of one N without a plan, must be there, each once.
/// Entry by entry, the result is the manifest that a single run of `create` would have made. It reads no files.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MergeArgs {
    /// The manifests of all shards
    #[arg(value_name = "PART", required = true)]
    parts: Vec<OsString>,

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
    let parts = open_parts(&args.parts, globals, &mut Vec::new())?;
    let named = |error| match error {
        MergeError::Output(_) => anyhow!(error).context(cannot_write(output)),
        error => error.into(),
    };
    let entries = write_with(parts.header(), list, output, |writer| parts.merge(writer).map_err(named))?;
    let (entries, parts) = (human::entries(entries), human::count(args.parts.len() as u64, "part"));
    console.summary(format_args!("{entries} of {parts}"));
    Ok(Outcome::Success)
}
