//! `ftk hash`: computes, checks and compares digests of files. Each mode has its own module.

mod check;
pub(crate) mod diff;
mod lines;
mod list;
mod sums;
pub(crate) mod table;
mod tag;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use ftk_hash::Algorithm;

use crate::algorithm::AlgorithmName;
use crate::args::Globals;
use crate::console::Console;
use crate::hash::check::CheckArgs;
use crate::outcome::Outcome;
use crate::selection::{RecursiveArg, SelectionArgs};

/// Print the digest of every file, sorted by path; check and compare such lists
///
/// The lines are those of sha256sum and its kin, byte for byte. Directories are walked, and every regular file
/// in them is read, hidden and ignored ones too. A file that cannot be read, or changes while it is read, is
/// an error and has no line.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HashArgs {
    /// Files and directories; `-` or none: standard input
    ///
    /// A file or directory that several PATHs lead to is read once, under the path that was given first. How many
    /// were left out for that is reported at the end.
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,

    /// Which digest [default: sha256]; several are computed in one read, and printed as tagged lines
    #[arg(
        short,
        long = "algorithm",
        value_name = "ALGO",
        value_parser = AlgorithmName,
        value_delimiter = ',',
        help_heading = "Output",
    )]
    algorithms: Vec<Algorithm>,

    /// Lines like `SHA256 (name) = digest`, which say the algorithm
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    tag: bool,

    /// End every line with NUL instead of newline, and escape no name; with --diff the lists are such
    #[arg(short, long, visible_short_alias = '0', visible_alias = "null", help_heading = "Output")]
    zero: bool,

    /// Read FIFOs and devices that are PATHs, to their end; filters do not apply to them
    #[arg(long, conflicts_with = "Mode")]
    special: bool,

    /// Write to this file, which appears only when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    mode: Mode,

    #[command(flatten)]
    check: CheckArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    recursive: RecursiveArg,
}

impl HashArgs {
    /// Returns the arguments for paths without options.
    pub(crate) fn of_paths(paths: Vec<OsString>) -> Self {
        Self { paths, ..Self::default() }
    }
}

/// What is done instead of printing digests.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
#[command(next_help_heading = "Instead of printing digests")]
struct Mode {
    /// Read lists from the PATHs and check every file they name
    ///
    /// Prints `name: OK` or `name: FAILED` for each line. The status is 1 if a file is missing or its content is not
    /// what the list says, and 2 if a file could not be read, a line with a digest could not be checked, or a list
    /// holds no checksums. Lists of sha256sum and the like, b3sum, xxhsum, openssl and the BSDs are understood, with
    /// DOS line ends too if every line has them. If neither a tag nor -a names the algorithm, the length of the
    /// digest decides. With --zero, lists and verdicts end their lines with NUL; with --quiet, files that are as the
    /// list says are not reported.
    #[arg(short, long, conflicts_with = "tag")]
    check: bool,

    /// Compare two lists, the PATHs OLD and NEW, without reading a file they name
    #[arg(long, conflicts_with_all = ["NameArgs", "InodeArgs", "WalkArgs", "StartArgs", "tag"])]
    diff: bool,

    /// Print the digest of every line of the one PATH, in input order
    ///
    /// Digests alone, one a line. The newline is no part of a line, a carriage return is; the last line may lack
    /// its newline. With --zero, records and digests end with NUL; with --json there is an object for each line.
    #[arg(long, conflicts_with_all = ["NameArgs", "InodeArgs", "WalkArgs", "StartArgs", "tag"])]
    lines: bool,
}

const EXAMPLES: &str = "\
Examples:
  ftk hash -o SHA256SUMS ~/archive        a list that `sha256sum -c` accepts
  ftk hash --check -q SHA256SUMS          says only what is wrong
  ftk hash -a xxh128 -e iso /srv          fast and not cryptographic, of some files only
  ftk hash --lines keys                   a digest for each line
  tar c . | ftk hash -a blake3            a stream";

pub(crate) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let Mode { check, diff, lines } = args.mode;
    match (check, diff, lines) {
        (true, ..) => check::run(args, globals, console),
        (_, true, _) => diff::run(args, globals, console),
        (.., true) => lines::run(args, globals, console),
        _ => sums::run(args, globals, console),
    }
}
