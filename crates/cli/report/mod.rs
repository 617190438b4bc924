//! `ftk report`: a page that shows a tree in the browser.

mod changes;
mod duplicates;
mod inputs;
mod links;
mod manifest;
mod tree;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::iter;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_file::now_ns;
use ftk_inventory::Budget;
use ftk_manifest::Failed;
use ftk_record::{quote, sanitize};
use ftk_report::{Data, page};
use indicatif::DecimalBytes;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::list::{List, named};
use crate::report::inputs::Input;
use crate::selection::SelectionArgs;
use crate::stdout::Stdout;

/// Write a page that shows a tree in the browser
///
/// INPUT is a directory, a manifest, an older and a newer manifest, or a report of `ftk dup --json`. The page shows as
/// a treemap what uses the space. For manifests it also shows what changed, and when files were last verified.
///
/// For duplicates, the page saves decisions about what to keep, which `ftk dup apply` proves and carries out.
///
/// The page is one file of at most 8 MB, which needs no network. It contains the largest directories and files. Smaller
/// entries of a directory are shown as one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// A directory, one or two manifests, or a dup report [default: .]
    #[arg(value_name = "INPUT", num_args = 0..=2)]
    inputs: Vec<OsString>,

    /// The directory INPUT has the parts of a manifest in it
    ///
    /// The parts of all shards, as `ftk manifest create --shard` writes them. Of two INPUTs, directories always have
    /// parts in them.
    #[arg(long, conflicts_with = "dup")]
    parts: bool,

    /// Write to FILE, which appears only when it is complete
    ///
    /// `-`: standard output. Default: a name in the working directory that no file has, such as photos.html or
    /// photos-2.html. With --json the default is standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Also search the directory for duplicates, like `ftk dup`
    ///
    /// Reads files of the same size. The page shows the groups with the largest waste.
    #[arg(long)]
    dup: bool,

    /// With --dup: compare whole directories first
    ///
    /// The page then shows equal directories, and the duplicate files outside of them.
    #[arg(long, requires = "dup")]
    dirs: bool,

    #[command(flatten)]
    selection: SelectionArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error, or a part of the tree could not be read

Examples:
  ftk report ~/photos                   what uses the space, in photos.html
  ftk report -o archive.html archive.jsonl
                                        also when files were last verified
  ftk report -o week.html monday.jsonl friday.jsonl
                                        also what changed
  ftk report --parts -o lake.html parts/
                                        the parts of a manifest
  ftk report --dup -o home.html ~       also duplicates, to decide what to keep
  ftk report --dup --dirs -o home.html ~
                                        also equal directories
  ftk report -o dup.html dup.json       the duplicates of a report
  ftk report --json /srv | jq .problems the data of the page";

pub(crate) fn run(args: &ReportArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let here = [OsString::from(".")];
    let paths = if args.inputs.is_empty() { &here[..] } else { &args.inputs };
    let stdout = Stdout::default();
    let free_name;
    let mut list = match &args.output {
        None if !globals.json => {
            free_name = free_name_for(&paths[paths.len() - 1]);
            List::create_new(&free_name)?
        }
        output => List::create(named(output.as_deref()), &stdout)?,
    };
    ensure!(!args.dup || paths.len() == 1, "--dup searches one directory: name one that contains both");
    // Two trees cannot be compared here, so two directories are parts of manifests.
    let has_parts = args.parts || paths.len() > 1;
    let own = list.own();
    let inputs = paths.iter().map(|path| Input::open(path, has_parts, globals, console));
    let mut inputs = inputs.collect::<anyhow::Result<Vec<_>>>();
    if paths.len() > 1 {
        inputs = inputs.context("two INPUTs are an older and a newer manifest");
    }
    let mut inputs = inputs?;
    if let (Some(filter), true) =
        (args.selection.filter(), inputs.iter().any(|it| !matches!(it, Input::Directory)))
    {
        bail!("{filter} cannot be used with a manifest or a report");
    }
    ensure!(!args.dup || matches!(*inputs, [Input::Directory]), "--dup searches one directory");
    let mut data = Data {
        program: env!("CARGO_PKG_VERSION").into(),
        inputs: paths.iter().map(|path| sanitize(path.as_bytes()).into()).collect(),
        made_s: seconds(now_ns()),
        ..Data::default()
    };
    let budget = Budget::new(globals.memory());
    let outcome = match &mut *inputs {
        [Input::Directory] => tree::fill(&mut data, &paths[0], args, &own, globals, console)?,
        [Input::Manifest(manifest)] => manifest::fill(&mut data, manifest, &paths[0], &budget)?,
        [Input::Duplicates(file)] => duplicates::of_report(&mut data, file, &paths[0], &budget)?,
        [Input::Manifest(old), Input::Manifest(new)] => {
            let names = [&*paths[0], &*paths[1]];
            changes::fill(&mut data, [old, new], names, &budget, console)?
                .max(manifest::fill(&mut data, new, &paths[1], &budget)?)
        }
        _ => bail!("the input must be one directory, one report of duplicates, or one or two manifests"),
    };
    let headers = inputs.iter().filter_map(|input| match input {
        Input::Manifest(manifest) => Some(&manifest.header().failed),
        _ => None,
    });
    let failed = Failed::union(headers);
    let outcome = if failed.is_empty() {
        outcome
    } else {
        tree::unreadable(&mut data, failed.paths());
        Outcome::Error
    };
    let text = if globals.json { data.to_json() + "\n" } else { page(&data) };
    list.write(text.as_bytes());
    let file = list.path().map(|path| quote(path.as_os_str().as_bytes()));
    list.finish()?;
    let (bytes, took) = (DecimalBytes(text.len() as u64), human::time(start.elapsed()));
    console.summary(match file {
        Some(file) if globals.json => format!("wrote {file}, {bytes}, in {took}"),
        Some(file) => format!("wrote {file}, {bytes}, in {took}: open it in a browser"),
        None => format!("wrote {bytes} in {took}"),
    });
    Ok(outcome)
}

/// Returns a name for the page about `input` that no file in the working directory has: `photos.html`, or
/// `photos-2.html`.
fn free_name_for(input: &OsStr) -> PathBuf {
    let path = Path::new(input);
    let whole = path.file_name().is_none().then(|| fs::canonicalize(path).ok()).flatten();
    let name = whole.as_deref().unwrap_or(path).file_name().filter(|_| input != "-");
    let mut stem = name.map_or(&b"report"[..], OsStr::as_bytes);
    for extension in [".zst", ".jsonl", ".json"] {
        stem = stem.strip_suffix(extension.as_bytes()).unwrap_or(stem);
    }
    // A page whose name begins with a dot is hidden, and a dash begins an option.
    let first = stem.iter().position(|byte| !b".-".contains(byte));
    stem = first.map_or(&b"report"[..], |first| &stem[first..]);
    let numbered = (2_u64..).map(|nth| format!("-{nth}"));
    let names =
        iter::once(String::new()).chain(numbered).map(|number| [stem, number.as_bytes(), b".html"].concat());
    let mut paths = names.map(|name| PathBuf::from(OsString::from_vec(name)));
    paths.find(|path| path.symlink_metadata().is_err()).expect("the numbers are not exhausted")
}

/// Returns whole seconds, rounded down.
fn seconds(ns: i128) -> i64 {
    let seconds = ns.div_euclid(1_000_000_000);
    seconds.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
