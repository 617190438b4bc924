//! `ftk cmp`: compares two files or two trees, byte by byte.

mod amount;
mod difference;
mod files;
mod input;
mod listing;
mod pair;
mod scope;
mod trees;
mod window;

use std::ffi::OsString;

use anyhow::{bail, ensure};
use clap::{Args, ValueEnum};
use ftk_compare::Method;
use ftk_compare::trees::Ignored;
use ftk_record::quote;
use ftk_select::parse_bytes;

use crate::cmp::amount::{Skip, amount};
use crate::cmp::input::Input;
use crate::cmp::window::window;
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::number::at_least;
use crate::selection::SelectionArgs;

/// Compare two files or two trees, byte by byte
///
/// For two files, prints where they first differ, as cmp does, and the first differing bytes. For two trees, prints
/// what is in only one of them, and what differs in type, size, content, link target or device number, sorted by path.
/// With -s, as in cmp, prints nothing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CmpArgs {
    /// A file or a directory; `-`: standard input
    #[arg(value_name = "A", conflicts_with = "StartArgs")]
    a: OsString,

    /// A file or directory to compare with A
    #[arg(value_name = "B", default_value = "-")]
    b: OsString,

    /// Read every byte, even where both sides share it
    ///
    /// By default, ftk does not read hard links of one file, holes, or blocks that both files share on the disk.
    #[arg(long)]
    no_shortcuts: bool,

    /// Read FIFOs and devices to their end
    #[arg(long)]
    special: bool,

    #[command(flatten)]
    files: FileArgs,

    #[command(flatten)]
    trees: TreeArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Accepted: ftk always recurses into directories
    #[arg(short, long, hide_short_help = true, help_heading = "Two trees")]
    recursive: bool,

    /// Print nothing; only set the exit status (`cmp -s`)
    #[arg(short, long, alias = "silent", help_heading = None::<&str>)]
    pub(crate) status: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Two files")]
#[group(conflicts_with = "TreeArgs")]
struct FileArgs {
    /// Bytes to skip at the start of A, as in GNU cmp
    #[arg(value_name = "SKIP1", help_heading = None::<&str>, value_parser = amount)]
    skip_a: Option<u64>,

    /// Bytes to skip at the start of B, as in GNU cmp
    #[arg(value_name = "SKIP2", help_heading = None::<&str>, value_parser = amount)]
    skip_b: Option<u64>,

    /// Stop after N differing bytes [default: 8]
    ///
    /// 0 means no limit. It is the default with --list and --ranges.
    #[arg(long, value_name = "N", value_parser = at_least(0_u64))]
    max_mismatches: Option<u64>,

    /// Only print offsets and octal bytes (`cmp -l`)
    ///
    /// Each line is the offset of a differing byte and the bytes of A and B.
    #[arg(short, long, conflicts_with = "ranges")]
    list: bool,

    /// Add differing bytes as characters (`cmp -b`)
    #[arg(short = 'b', long, conflicts_with = "ranges")]
    print_bytes: bool,

    /// Only print ranges of differing bytes
    ///
    /// Each line is `FIRST-LAST LENGTH`.
    #[arg(long)]
    ranges: bool,

    /// Skip bytes at the start of A and B
    ///
    /// N applies to both files, N:N to A and B separately.
    ///
    /// Numbers are the same as in GNU cmp: 010 is octal, 0x10 is hexadecimal; K, M, G... are powers of 1,024; kB, MB,
    /// GB... are powers of 1,000.
    #[arg(short, long, value_name = "N[:N]")]
    ignore_initial: Option<Skip>,

    /// Compare at most this many bytes, like `cmp -n`
    ///
    /// Numbers are the same as for --ignore-initial.
    #[arg(long, value_name = "LIMIT", value_parser = amount)]
    bytes: Option<u64>,

    /// Bytes that a worker compares at a time
    ///
    /// 0, the default, lets ftk choose.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    block_size: Option<u64>,

    /// How to read large files
    ///
    /// `mapped`: map them into memory; `stream`: read them into buffers; `auto`, the default: choose. --io has no
    /// effect on cmp.
    #[arg(long, value_name = "HOW")]
    method: Option<MethodArg>,
}

impl FileArgs {
    /// Returns an option that applies to files only, if one was given.
    fn any(&self) -> Option<&'static str> {
        [
            (self.max_mismatches.is_some(), "--max-mismatches"),
            (self.list, "--list"),
            (self.print_bytes, "--print-bytes"),
            (self.skip_a.is_some(), "SKIP1"),
            (self.ranges, "--ranges"),
            (self.ignore_initial.is_some(), "--ignore-initial"),
            (self.bytes.is_some(), "--bytes"),
            (self.block_size.is_some(), "--block-size"),
            (self.method.is_some(), "--method"),
        ]
        .into_iter()
        .find_map(|(is_given, name)| is_given.then_some(name))
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Two trees")]
struct TreeArgs {
    /// Also compare mode, owner, mtime, xattrs, links
    ///
    /// The mtime of directories is not compared. Attributes are all extended attributes: access control lists,
    /// capabilities, SELinux labels and those of users. Which paths are hard links of each other is compared among the
    /// paths that both trees have.
    #[arg(long)]
    metadata: bool,

    /// Like --metadata, without fields such as mtime
    ///
    /// Repeatable; `--ignore mtime,owner` names two. The fields are mtime, mode (permissions), uid, gid, owner (both),
    /// xattrs (extended attributes) and links (which paths are hard links of each other).
    #[arg(long, value_name = "FIELD", value_enum, value_delimiter = ',', hide_possible_values = true)]
    ignore: Vec<MetadataField>,

    /// Read no file: equal size and mtime mean equal
    #[arg(long)]
    quick: bool,

    /// Accept names in another Unicode normal form
    ///
    /// Names that differ only in their normal form, such as those of a copy on HFS+, are one name. By default, they are
    /// a difference, and what is below them is compared in any case. Selection options match names exactly: `-E é`
    /// skips one spelling.
    #[arg(long)]
    normalize_names: bool,

    /// Accept rounded times (--quick, --metadata)
    ///
    /// A copy may have rounded the times of a tree. Without TIME, ftk finds out how the times of one tree were made
    /// from those of the other one: rounded to 2 s (FAT), 1 s, 10 ms, 1 ms, 1 us, 100 ns or another step, passed
    /// through a floating-point number, or all shifted by the same amount. It says so, and accepts only times that
    /// were made like this.
    ///
    /// With TIME, it accepts all times that differ by no more than TIME: 1us, 100ns, 10ms, 2 (seconds).
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, value_parser = window)]
    modify_window: Option<Option<i128>>,

    /// Print only paths of A that B lacks or that differ
    ///
    /// paths: the paths relative to A, one in each line, as rsync reads them (files-from). What only A has is listed
    /// with everything below it. What only B has is not listed, nor A itself. A path that begins with `#` or `;` gets a
    /// leading `./`, since rsync would skip it. Give rsync `-I` too: by default it skips files of equal size and time.
    /// The exit status is the same as without this option.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<TreeFormat>,

    /// With --format: end each path with NUL
    ///
    /// This is safe for every name.
    #[arg(short = '0', long = "null", requires = "format")]
    null: bool,
}

/// The value of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TreeFormat {
    Paths,
}

impl TreeArgs {
    /// Whether metadata is compared.
    fn compares_metadata(&self) -> bool {
        self.metadata || !self.ignore.is_empty()
    }

    /// Returns the metadata that may differ.
    fn ignored(&self) -> Ignored {
        use MetadataField::{Gid, Links, Mode, Mtime, Owner, Uid, Xattrs};
        let has = |fields: &[MetadataField]| self.ignore.iter().any(|field| fields.contains(field));
        Ignored {
            mode: has(&[Mode]),
            uid: has(&[Uid, Owner]),
            gid: has(&[Gid, Owner]),
            mtime: has(&[Mtime]),
            xattrs: has(&[Xattrs]),
            links: has(&[Links]),
        }
    }
}

/// The value of `--ignore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MetadataField {
    Mtime,
    Mode,
    Owner,
    Uid,
    Gid,
    Xattrs,
    Links,
}

/// The value of `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    Auto,
    Mapped,
    Stream,
}

impl MethodArg {
    fn method(self) -> Method {
        match self {
            Self::Auto => Method::Auto,
            Self::Mapped => Method::Mapped,
            Self::Stream => Method::Stream,
        }
    }
}

const EXAMPLES: &str = "\
Exit status: 0: identical; 1: differences found; 2: any error

Examples:
  ftk cmp disk-a.img disk-b.img           the first eight differing bytes
  ftk cmp -s a b && echo identical        only set the exit status
  ftk cmp -E .git --metadata src copy     also owners, modes and times
  ftk cmp --ignore mtime,owner src copy   also modes; times may differ
  ftk cmp --format paths -0 src copy      the paths that rsync -aI0 must copy
  zcat a.gz | ftk cmp - b                 standard input and a file";

pub(crate) fn run(args: &CmpArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    ensure!(args.a != "-" || args.b != "-", "standard input cannot be compared with itself");
    let open = |path| Input::open(path, args, console);
    // Both are opened first, so that errors of each are reported before a mismatch of their types.
    let (Some(a), Some(b)) = (open(&args.a), open(&args.b)) else { return Ok(Outcome::Error) };
    let (name_a, name_b) = (quote(a.name()), quote(b.name()));
    match (a.is_directory(), b.is_directory()) {
        (true, true) => match args.files.any() {
            Some(option) => bail!("{option} is for two files, and {name_a} and {name_b} are directories"),
            None => trees::run(args, globals, console),
        },
        (false, false) => {
            refuse_for_files(args, &format!("{name_a} and {name_b} are files"))?;
            files::run(args, [a, b], globals, console)
        }
        (true, false) => bail!("{name_a} is a directory and {name_b} is not"),
        (false, true) => bail!("{name_b} is a directory and {name_a} is not"),
    }
}

/// Refuses options that have no effect on files, or that mean something else in GNU cmp.
fn refuse_for_files(args: &CmpArgs, are_files: &str) -> anyhow::Result<()> {
    match args.selection.filter() {
        Some("--name") => bail!(
            "--name (-n) selects entries of two trees, and {are_files}: to compare only the first N bytes, use --bytes N"
        ),
        Some(filter) => bail!("{filter} selects entries of two trees, and {are_files}"),
        None => {}
    }
    ensure!(!args.trees.metadata, "--metadata is for two trees, and {are_files}");
    ensure!(args.trees.ignore.is_empty(), "--ignore is for two trees, and {are_files}");
    ensure!(!args.trees.quick, "--quick is for two trees, and {are_files}");
    ensure!(args.trees.format.is_none(), "--format is for two trees, and {are_files}");
    ensure!(!args.trees.normalize_names, "--normalize-names is for two trees, and {are_files}");
    ensure!(args.trees.modify_window.is_none(), "--modify-window is for two trees, and {are_files}");
    ensure!(!(args.files.list && args.status), "--list and --status cannot be used together");
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        cmp: CmpArgs,
    }

    fn parse(line: &[&str]) -> Result<CmpArgs, clap::Error> {
        Alone::try_parse_from([&["alone"], line].concat()).map(|alone| alone.cmp)
    }

    #[test]
    fn options_for_two_files() {
        let args = parse(&["a", "-", "-l", "-i", "1K:2", "--bytes", "7", "--max-mismatches", "0"]).unwrap();
        assert_eq!((args.a, args.b), ("a".into(), "-".into()));
        let files = args.files;
        assert!(files.list && !files.ranges);
        assert_eq!((files.ignore_initial, files.bytes), (Some(Skip([1024, 2])), Some(7)));
        assert_eq!((files.max_mismatches, files.any()), (Some(0), Some("--max-mismatches")));
        let line =
            ["a", "b", "--ranges", "--block-size", "64K", "--method", "mapped", "--ignore-initial", "3"];
        let files = parse(&line).unwrap().files;
        assert!(files.ranges && !files.list);
        assert_eq!((files.block_size, files.method), (Some(65_536), Some(MethodArg::Mapped)));
        assert_eq!(files.ignore_initial, Some(Skip([3, 3])));
    }

    #[test]
    fn operands_of_gnu_cmp() {
        let args = parse(&["a"]).unwrap();
        assert_eq!((args.a, args.b, args.files.any()), ("a".into(), "-".into(), None));
        let files = parse(&["a", "b", "010"]).unwrap().files;
        assert_eq!((files.skip_a, files.skip_b, files.any()), (Some(8), None, Some("SKIP1")));
        let files = parse(&["a", "-b", "b", "1kB", "0x10"]).unwrap().files;
        assert_eq!((files.skip_a, files.skip_b, files.print_bytes), (Some(1000), Some(16), true));
    }

    #[test]
    fn options_for_two_trees() {
        let args = parse(&["a", "b", "--metadata", "--quick", "-E", "x", "-n", "y"]).unwrap();
        assert!(args.trees.metadata && args.trees.quick);
        assert_eq!((args.files.any(), args.trees.modify_window), (None, None));
        for (option, window) in [("--modify-window", None), ("--modify-window=1us", Some(1000))] {
            let args = parse(&[option, "--quick", "a", "b"]).unwrap();
            assert_eq!((args.a, args.trees.modify_window), ("a".into(), Some(window)));
        }
    }

    #[test]
    fn options_for_both_kinds() {
        let args = parse(&["--special", "--no-shortcuts", "a", "b"]).unwrap();
        assert!(args.special && args.no_shortcuts);
    }

    #[test]
    fn conflicting_and_missing_arguments_are_refused() {
        for line in [
            &["a", "b", "-l", "--ranges"][..],
            &["a", "b", "-l", "--metadata"],
            &["a", "b", "--bytes", "1", "--quick"],
            &["a", "b", "-b", "--ranges"],
            &["a", "b", "-b", "--metadata"],
            &["a", "b", "--files-from", "x"],
            &[],
            &["a", "b", "c"],
            &["a", "b", "1", "2", "3"],
        ] {
            assert!(parse(line).is_err(), "{line:?}");
        }
    }
}
