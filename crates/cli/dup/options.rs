//! Options for what is scanned, what counts as equal, and how groups are printed.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::ensure;
use clap::{Args, ValueEnum};
use ftk_hash::Algorithm;
use ftk_select::parse_bytes;

use crate::cache::CacheArgs;
use crate::dup::dirs::DirArgs;
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

#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub(super) struct EqualArgs {
    /// Digest for comparing contents
    ///
    /// ftk first compares the sizes, then a digest of parts of each file, then a digest of the whole file. xxh128 is
    /// fast but not cryptographic: files can be crafted to deceive it. blake3 and sha256 are cryptographic. `prune`
    /// always compares the bytes as well.
    #[arg(short, long, value_name = "ALGO", value_enum, default_value_t)]
    pub(super) algorithm: AlgorithmArg,

    /// Also compare the bytes before a group is reported
    #[arg(long)]
    pub(super) verify: bool,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Sizes")]
pub(super) struct SizeArgs {
    /// Skip smaller files; 0 includes empty files [default: 1]
    ///
    /// Examples: 4096, 64K, 1.5MB. `ftk dup --empty` lists empty files only.
    // All empty files are equal, and removing them frees nothing.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(super) min_size: Option<u64>,

    /// Skip larger files
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(super) max_size: Option<u64>,
}

impl SizeArgs {
    /// Returns the smallest size.
    pub(super) fn min(&self) -> u64 {
        self.min_size.unwrap_or(1)
    }

    /// Returns the sizes for this selection: one of empty entries includes size 0.
    pub(super) fn within(&self, selection: &SelectionArgs) -> Self {
        let empty = selection.is_empty().then_some(0);
        Self { min_size: self.min_size.or(empty), ..*self }
    }

    pub(super) fn range(&self) -> anyhow::Result<RangeInclusive<u64>> {
        let range = self.min()..=self.max_size.unwrap_or(u64::MAX);
        ensure!(!range.is_empty(), "--min-size is larger than --max-size");
        Ok(range)
    }
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
    /// Format
    ///
    /// The default is `screen` on a terminal, else `fdupes`. `screen` is for people. `fdupes` prints one path per line
    /// and an empty line after each group; for hard links of one file it prints only the first. `json` is a report for
    /// `ftk dup apply`; `csv` is a table. Both contain every path with size, times, device and inode.
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with_all = ["json", "summary"])]
    format: Option<ReportFormat>,

    /// Print only the space that pruning would free
    ///
    /// With --json, also the numbers of files and groups, the space they waste, and the space they already share.
    #[arg(long)]
    summary: bool,

    /// Like fdupes, with NUL after each path and each group
    #[arg(short = '0', long = "null", conflicts_with_all = ["json", "summary", "format"])]
    pub(super) null: bool,

    /// Write to FILE, which appears only when it is complete
    ///
    /// `-`: standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

/// The browser.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct BrowseArgs {
    /// Browse the groups; remove the copies that you mark
    ///
    /// Arrows and Enter open groups, Space marks copies, or in the list of groups those that `prune` would remove; `d`
    /// shows the plan, `?` all keys. Nothing is changed before you type the word `quarantine` or `delete` and Enter.
    /// Then ftk acts as `ftk dup prune`: it compares each copy with a kept one, byte by byte, and writes a journal for
    /// `ftk undo`. One copy always stays.
    #[arg(long, conflicts_with_all = ["format", "summary", "null", "output", "manifests", "contained"])]
    pub(super) interactive: bool,

    /// With --interactive: the directory for moved copies
    ///
    /// It must be on the same file system. Default: .ftk-quarantine in the first PATH.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(super) quarantine: Option<PathBuf>,
}

impl OutputArgs {
    /// Returns the format of the report. `is_read`: whether people read it, as on a terminal.
    pub(super) fn format(&self, json: bool, is_read: bool) -> ReportFormat {
        match self.format {
            _ if self.summary => ReportFormat::Summary,
            Some(format) => format,
            None if json => ReportFormat::Json,
            None if is_read && !self.null => ReportFormat::Screen,
            None => ReportFormat::Fdupes,
        }
    }
}

/// The format of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    Screen,
    Fdupes,
    Json,
    Csv,
    /// The totals, as text or JSON: `--summary`, not a value of `--format`.
    #[value(skip)]
    Summary,
}
