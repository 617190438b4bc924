//! Options for what is scanned, what counts as equal, and how groups are printed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::{Args, ValueEnum};
use ftk_hash::Algorithm;
use ftk_record::quote;
use ftk_select::parse_bytes;

use crate::cache::CacheArgs;
use crate::dup::dirs::DirArgs;
use crate::line::Line;
use crate::selection::{RecursiveArg, SelectionArgs};

/// Options of the scan and the comparison, for both the report and pruning.
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Starting points: files and directories [default: .]
    ///
    /// A file or directory reached through several PATHs is read once and is not a copy of itself. The summary counts
    /// the paths that were skipped for this reason.
    #[arg(value_name = "PATH", help_heading = None::<&str>)]
    pub(super) paths: Vec<OsString>,

    #[command(flatten)]
    pub(super) equal: EqualArgs,

    #[command(flatten)]
    pub(super) dirs: DirArgs,

    #[command(flatten)]
    pub(super) sizes: SizeArgs,

    #[command(flatten)]
    pub(super) cache: CacheArgs,

    #[command(flatten)]
    pub(super) selection: SelectionArgs,

    #[command(flatten)]
    pub(super) recursive: RecursiveArg,
}

impl SearchArgs {
    /// Rejects arguments that mean something else in fdupes, jdupes or rmlint.
    ///
    /// # Errors
    /// If `-n` looks like the flag of fdupes: in a cluster such as `-nr`, or followed by a directory or an
    /// option. Or if a PATH is `//`.
    pub(super) fn refuse_misread(&self) -> anyhow::Result<()> {
        let options =
            || Line::of_process().words.iter().filter(|word| word.is_option()).map(|word| &word.text);
        // A cluster of fdupes, such as `-nr`. Users who mean a file name `r` can write `-n r`.
        let is_cluster = |word: &&OsString| {
            let letters = word.to_str().and_then(|word| word.strip_prefix("-n")).unwrap_or_default();
            !letters.is_empty() && letters.bytes().all(|byte| b"rRsHSAdN1qmfoIipv".contains(&byte))
        };
        let names = self.selection.names();
        if !names.is_empty()
            && let Some(word) = options().find(is_cluster)
        {
            let word = quote(word.as_encoded_bytes());
            bail!(
                "in ftk, -n is --name, and {word} selects files by name: drop the -n, since empty files are skipped \
                 anyway; to select files by name, write --name"
            );
        }
        ensure!(
            !self.paths.iter().any(|path| path == "//"),
            "'//' is rmlint syntax: use ftk dup prune --reference DIR for the directories after it"
        );
        let is_long = |word: &OsString| word.as_encoded_bytes().starts_with(b"--name");
        for name in names {
            let is_option = name.as_encoded_bytes().starts_with(b"-");
            if (is_option || Path::new(name).is_dir()) && !options().any(is_long) {
                let name = quote(name.as_encoded_bytes());
                bail!(
                    "in ftk, -n is --name, and {name} would be its value: drop the -n, since empty files are skipped \
                     anyway; to select files of that name, write --name"
                );
            }
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub(super) struct EqualArgs {
    /// Digest for comparing contents
    ///
    /// ftk first compares the sizes, then a digest of parts of each file, then a digest of the whole file. xxh128 is fast
    /// but not cryptographic: files can be crafted to deceive it. blake3 and sha256 are cryptographic. `prune` always
    /// compares the bytes as well.
    #[arg(short, long, value_name = "ALGO", value_enum, default_value_t)]
    pub(super) algorithm: AlgorithmArg,

    /// Also compare the bytes before a group is reported
    #[arg(long)]
    pub(super) verify: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Sizes")]
pub(super) struct SizeArgs {
    /// Skip smaller files; 0 includes empty files
    ///
    /// Examples: 4096, 64K, 1.5MB.
    // All empty files are equal, and removing them frees nothing.
    #[arg(long, value_name = "SIZE", default_value_t = 1, value_parser = parse_bytes)]
    pub(super) min_size: u64,

    /// Skip larger files
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(super) max_size: Option<u64>,
}

/// Algorithms whose digests are long enough to tell files apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum AlgorithmArg {
    #[default]
    Xxh128,
    Blake3,
    Sha256,
}

impl AlgorithmArg {
    pub(super) fn algorithm(self) -> Algorithm {
        match self {
            Self::Xxh128 => Algorithm::Xxh128,
            Self::Blake3 => Algorithm::Blake3,
            Self::Sha256 => Algorithm::Sha256,
        }
    }
}

/// Format and destination of the report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Format of the report
    ///
    /// The default is `screen` on a terminal, else `fdupes`. `screen` is for people. `fdupes` prints one path per line and an empty line after each group; for hard links of
    /// one file it prints only the first. `json` is a report for `ftk dup apply`; `csv` is a table. Both contain every
    /// path with size, times, device and inode.
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with_all = ["json", "summary"])]
    format: Option<Format>,

    /// Print only the space that pruning would free
    ///
    /// With --json, also the numbers of files and groups, the space they waste, and the space they already share.
    #[arg(long)]
    summary: bool,

    /// Like fdupes, with NUL after each path and each group
    #[arg(short = '0', long = "null", conflicts_with_all = ["json", "summary", "format"])]
    pub(super) null: bool,

    /// Write to FILE, which appears only when it is complete
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

impl OutputArgs {
    /// Returns the format of the report. `is_shown`: whether it goes to a terminal.
    pub(super) fn format(&self, json: bool, is_shown: bool) -> Format {
        match self.format {
            _ if self.summary => Format::Summary,
            Some(format) => format,
            None if json => Format::Json,
            None if is_shown && !self.null => Format::Screen,
            None => Format::Fdupes,
        }
    }

    /// Rejects a value of `-o` that is the name of a file in ftk, but means something else in fdupes or
    /// rmlint.
    ///
    /// # Errors
    /// If the value is a sort order of fdupes or a formatter of rmlint.
    pub(super) fn refuse_misread(&self) -> anyhow::Result<()> {
        const ORDERS: [&str; 3] = ["name", "time", "ctime"];
        const FORMATTERS: [&str; 11] = [
            "sh",
            "json",
            "csv",
            "py",
            "fdupes",
            "summary",
            "pretty",
            "progressbar",
            "equal",
            "uniques",
            "stats",
        ];
        let Some(file) = self.output.as_deref().and_then(Path::to_str) else { return Ok(()) };
        let shown = quote(file.as_bytes());
        ensure!(
            !ORDERS.contains(&file),
            "in ftk, -o is --output, and {shown} is a sort order of fdupes: paths are always sorted; for a file of \
             that name, use -o ./{file}"
        );
        ensure!(
            !FORMATTERS.contains(&file.split(':').next().unwrap_or_default()),
            "in ftk, -o is --output, and {shown} is rmlint syntax: use --format; for a file of that name, use -o \
             ./{file}"
        );
        Ok(())
    }
}

/// The format of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Screen,
    Fdupes,
    Json,
    Csv,
    /// The totals, as text or JSON: `--summary`, not a value of `--format`.
    #[value(skip)]
    Summary,
}
