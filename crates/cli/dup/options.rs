//! Options for what is scanned, what counts as equal, and how groups are printed.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::{Args, ValueEnum};
use ftk_hash::Algorithm;
use ftk_record::quote;
use ftk_select::parse_bytes;

use crate::selection::{RecursiveArg, SelectionArgs};

/// What is scanned, and what counts as equal: the same for the report and for pruning.
#[derive(Debug, Default, Args)]
pub(super) struct SearchArgs {
    /// Files and directories [default: .]
    ///
    /// A file or directory that several PATHs lead to is read once, and is no copy of itself. How many were left out
    /// for that is reported at the end.
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<OsString>,

    #[command(flatten)]
    pub(super) equal: EqualArgs,

    #[command(flatten)]
    pub(super) sizes: SizeArgs,

    #[command(flatten)]
    pub(super) selection: SelectionArgs,

    #[command(flatten)]
    pub(super) recursive: RecursiveArg,
}

impl SearchArgs {
    /// Rejects words that have another meaning in fdupes, jdupes or rmlint.
    ///
    /// # Errors
    /// If `-n` looks like the flag of fdupes: in a cluster such as `-nr`, or followed by a directory or an option. Or if
    /// a PATH is `//`.
    pub(super) fn refuse_misread(&self) -> anyhow::Result<()> {
        // A cluster such as `-nr` of fdupes. A name of such letters can be given after a space.
        let is_cluster = |word: &OsString| {
            let letters = word.to_str().and_then(|word| word.strip_prefix("-n")).unwrap_or_default();
            !letters.is_empty() && letters.bytes().all(|byte| b"rRsHSAdN1qmfoIipv".contains(&byte))
        };
        if let Some(word) = env::args_os().take_while(|word| word != "--").find(is_cluster) {
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
        let is_long = |word: OsString| word.as_encoded_bytes().starts_with(b"--name");
        for name in self.selection.names() {
            let is_option = name.as_encoded_bytes().starts_with(b"-");
            if (is_option || Path::new(name).is_dir()) && !env::args_os().any(is_long) {
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

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What counts as equal")]
pub(super) struct EqualArgs {
    /// By which digest contents are compared
    ///
    /// Sizes are compared first, then a part of each file, then the digest of all of it. xxh128 is fast, and does not
    /// resist somebody who makes files to deceive you; blake3 and sha256 do. What prune does rests on bytes anyway.
    #[arg(short, long, value_name = "ALGO", value_enum, default_value_t)]
    pub(super) algorithm: AlgorithmArg,

    /// Compare the bytes as well before a group is reported
    #[arg(long)]
    pub(super) verify: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which sizes")]
pub(super) struct SizeArgs {
    /// Only files of at least this size, such as 4096, 64K or 1.5MB; 0 takes empty ones too
    #[arg(long, value_name = "SIZE", default_value_t = SMALLEST, value_parser = parse_bytes)]
    pub(super) min_size: u64,

    /// Only files of at most this size
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(super) max_size: Option<u64>,
}

/// Empty files are skipped by default: all of them are equal, and removing them frees nothing.
const SMALLEST: u64 = 1;

impl Default for SizeArgs {
    fn default() -> Self {
        Self { min_size: SMALLEST, max_size: None }
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

/// How the report looks, and where it goes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// What the report looks like [default: screen on a terminal, otherwise fdupes]
    ///
    /// `screen` is for people. `fdupes` has a path a line and an empty line after each group; of several hard links of
    /// one file it has the first only. `json` is a report that `ftk dup apply` can act on later, `csv` a table: both
    /// have every path, with sizes, times and identities.
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with_all = ["json", "summary"])]
    pub(super) format: Option<Format>,

    /// Print only the space that pruning would free; with --json also the numbers of files and groups, what they
    /// waste, and what they share already
    #[arg(long)]
    pub(super) summary: bool,

    /// As fdupes, but with a NUL after each path and one more after each group
    #[arg(short = '0', long = "null", conflicts_with_all = ["json", "summary", "format"])]
    pub(super) null: bool,

    /// Write to this file, which appears only when it is complete
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

impl OutputArgs {
    /// Rejects a FILE that fdupes or rmlint would understand in another way.
    ///
    /// # Errors
    /// If FILE is the name of a sort order of fdupes or of a formatter of rmlint.
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

/// The value of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Screen,
    Fdupes,
    Json,
    Csv,
}
