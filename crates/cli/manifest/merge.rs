//! `ftk manifest merge PART...`: joins the manifests of all shards.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use ftk_manifest::{MergeError, Parts};
use ftk_record::quote;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::args::Globals;
use crate::console::{Console, Outcome};
use crate::list::{List, cannot_write, refuse_own_input};
use crate::manifest::create::write_with;
use crate::manifest::guard::refuse_to_overwrite;
use crate::manifest::input::Input;
use crate::stdout::Stdout;
use crate::{human, input};

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

    /// Write to FILE, which appears only when it is complete
    ///
    /// If its name ends in .zst, FILE is compressed with Zstandard.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Replace a manifest that already exists
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk manifest merge part-*.jsonl -o whole.jsonl
                        the order of the parts does not matter";

pub(super) fn run(args: &MergeArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    if !args.force {
        refuse_to_overwrite(args.output.as_deref(), None)?;
    }
    allow_open_files(args.parts.len());
    let stdout = Stdout::default();
    let list = List::create(args.output.as_deref(), &stdout)?;
    refuse_own_input(&args.parts, &list.own())?;
    let manifests = input::all(&args.parts, globals, |path| Ok(Input::open_part(path)?.manifest))?;
    let output = args.output.as_deref();
    let named = |error: MergeError| in_parts(error, &args.parts, &cannot_write(output));
    let parts = Parts::new(manifests).map_err(named)?;
    let entries = write_with(&parts.header(), list, output, |writer| parts.write(writer).map_err(named))?;
    let (entries, parts) = (human::entries(entries), human::count(args.parts.len() as u64, "part"));
    console.summary(format_args!("{entries} of {parts}"));
    Ok(Outcome::Success)
}

/// Raises the limit of open files to what the system allows, if so many parts need it. A lower limit is reported when a
/// part cannot be opened.
fn allow_open_files(parts: usize) {
    /// Descriptors for everything else.
    const OTHERS: u64 = 64;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < parts as u64 + OTHERS) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// Adds the names of the parts that an error is about.
fn in_parts(error: MergeError, paths: &[OsString], unwritten: &str) -> anyhow::Error {
    let name = |at: usize| quote(paths[at].as_bytes());
    let place = match &error {
        MergeError::Whole(part) | MergeError::NotOwn(part, _) | MergeError::Part(part, _) => name(*part),
        MergeError::Differ(a, b, _) | MergeError::Twice(a, b, _) | MergeError::Ranges(a, b) => {
            format!("{} and {}", name(*a), name(*b))
        }
        MergeError::Output(_) => return anyhow!(error).context(unwritten.to_owned()),
        _ => return anyhow!(error),
    };
    anyhow!(error).context(place)
}
