//! `ftk manifest import LIST`: makes a manifest from a list of another tool.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use clap::Args;
use ftk_file::now_ns;
use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Format, Header, Import};
use ftk_record::{ZstdReader, is_zstd, quote};

use crate::algorithm::AlgorithmName;
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::input;
use crate::list::{List, named};
use crate::manifest::create::write;
use crate::manifest::format::ImportFormat;
use crate::manifest::output::OutputArgs;
use crate::stdout::Stdout;

/// Make a manifest from a list of another tool
///
/// What the list does not record is absent from the manifest, and is not compared: a list of digests has no times and
/// no owners. A manifest from such a list contains only regular files, and verify does not report anything else. Every
/// line must be valid: a list with an absolute path, `..`, a path that appears twice, or a last line without its end is
/// refused. A LIST that is compressed with Zstandard is decompressed.
///
/// The paths in the list are those below the directory in which it was made. For bagit, LIST is a payload manifest, and
/// paths are those below `data`, so the tree to verify is the directory `data` of the bag.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// The list; `-`: standard input
    #[arg(value_name = "LIST")]
    list: OsString,

    /// The format, if it cannot be guessed
    ///
    /// Required for sha256sum and BagIt, whose lines look alike.
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Input")]
    format: Option<ImportFormat>,

    /// Remove DIR, with which all paths in the list begin
    ///
    /// Without it, all paths must be relative. hashdeep writes absolute paths unless it is called with -l.
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    root: Option<OsString>,

    /// The algorithm of a BagIt manifest [default: that in its name]
    #[arg(short, long, value_name = "ALGO", value_parser = AlgorithmName, help_heading = "Input")]
    algorithm: Option<Algorithm>,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk manifest import --format sha256 SHA256SUMS -o archive.jsonl
  mtree -c -K sha256 -p /archive | ftk manifest import --format mtree -
  ftk manifest import --root /archive hashdeep.txt -o archive.jsonl
  ftk manifest verify /archive archive.jsonl
                        moved files are found too";

pub(super) fn run(args: &ImportArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    args.output.check()?;
    let name = || quote(args.list.as_bytes());
    let file = input::open(&args.list).with_context(|| format!("cannot open {}", name()))?;
    let mut list = BufReader::with_capacity(1 << 16, file);
    let start = list.fill_buf().with_context(|| format!("cannot read {}", name()))?;
    if is_zstd(start) {
        let list = ZstdReader::new(list).with_context(name)?;
        return import(BufReader::with_capacity(1 << 16, list), args, globals, console);
    }
    import(list, args, globals, console)
}

fn import(
    mut list: impl BufRead,
    args: &ImportArgs,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let name = || quote(args.list.as_bytes());
    let start = list.fill_buf().with_context(|| format!("cannot read {}", name()))?;
    if let Some(what) = input::foreign_start(start) {
        bail!("{} is {what}: not a list of files", name());
    }
    let format = match args.format {
        Some(format) => format.into(),
        None => Format::guess(start).with_context(|| format!("{}: of which --format is it?", name()))?,
    };
    let algorithm =
        match (format, args.algorithm) {
            (Format::Bagit, None) => Some(algorithm_of_name(Path::new(&args.list)).with_context(|| {
                format!("{} is not named manifest-ALGORITHM.txt: give --algorithm", name())
            })?),
            (Format::Bagit, algorithm) => algorithm,
            (_, Some(_)) => bail!("--algorithm is for BagIt manifests: {format} names its algorithms"),
            (_, None) => None,
        };
    let stdout = Stdout::default();
    let output = named(args.output.output.as_deref());
    let written = List::create(output, &stdout)?;
    let budget = Budget::new(globals.memory());
    let root = args.root.as_ref().map(|root| root.as_bytes());
    let import = Import::read(list, format, root, algorithm, &budget).with_context(name)?;
    let header = Header {
        version: Header::VERSION,
        root: root.unwrap_or(b".").to_vec(),
        algorithms: import.algorithms().to_vec(),
        xattrs: false,
        options: import.options().to_vec(),
        start_ns: now_ns(),
        root_identity: None,
        shard: None,
    };
    let entries = write(&header, written, output, |writer| import.write(writer))?;
    console.summary(format_args!("{} imported", human::entries(entries)));
    Ok(Outcome::Success)
}

/// Returns the algorithm in a name such as `manifest-sha256.txt`.
fn algorithm_of_name(path: &Path) -> Option<Algorithm> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".zst").unwrap_or(name);
    name.strip_prefix("manifest-")?.strip_suffix(".txt")?.parse().ok()
}
