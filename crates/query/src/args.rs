//! The command line.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command, ValueEnum};
use ftk_hash::Algorithm;
use ftk_select::{Time, parse_bytes};
use jiff::Zoned;

use crate::engine::Limits;
use crate::own_table::TableFile;
use crate::questions::{self, Parameter, Sides};

/// Returns the definition of all commands.
pub(crate) fn definition() -> Command {
    let of = Command::new;
    let command = of("ftk-query")
        .bin_name("ftk query")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Answer questions about manifests, duplicate reports and S3 Inventory with SQL")
        .long_about(ABOUT)
        .after_help(EXAMPLES)
        .max_term_width(80)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommand(ConvertArgs::augment_args(
            of("convert")
                .about("Convert manifests, duplicate reports or an S3 Inventory to a set of Parquet files"),
        ))
        .subcommand(SqlArgs::augment_args(of("sql").about("Run a SELECT over sets")))
        .subcommand(CheckArgs::augment_args(of("check").about("Compare all bytes of sets with their seals")))
        .subcommand(of("list").about("List the questions"));
    questions::ALL.iter().fold(command, |command, question| {
        let definition = QuestionArgs::augment_args(of(question.name).about(question.about()));
        let definition = match question.parameter {
            None => definition,
            Some(Parameter::Since) => SinceArgs::augment_args(definition),
            Some(Parameter::Name) => NameArgs::augment_args(definition),
            Some(Parameter::At) => AtArgs::augment_args(definition),
            Some(Parameter::Depth) => DepthArgs::augment_args(definition),
            Some(Parameter::ByAndDepth) => DepthArgs::augment_args(ByArgs::augment_args(definition)),
            Some(Parameter::Expected) => ExpectedArgs::augment_args(definition),
        };
        let definition = if question.has_report { ReportArgs::augment_args(definition) } else { definition };
        let sides = question.sides();
        command.subcommand(definition.mut_arg("sets", |sets| match sides {
            Sides::None => sets,
            Sides::Two => sets.num_args(2).value_names(["A", "B"]),
            Sides::Many => sets.num_args(2..).value_names(["A", "B"]),
        }))
    })
}

const ABOUT: &str = "\
Answer questions about manifests, duplicate reports and S3 Inventory with SQL

`ftk query convert` makes a set: a directory of sorted Parquet files. Each question is a SELECT over one or more sets. No \
file of a tree is read. Sets of the same tree at two times are compared with `changed` and `growth`.";

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk query convert disk1.jsonl -o lake/disk1
  ftk query duplicates lake/*
  ftk query missing-in lake/laptop lake/backup
  ftk query sql 'SELECT extension, count(*) FROM entries GROUP BY extension' lake/*";

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Manifests, parts of manifests, duplicate reports, or the manifest.json of an S3 Inventory
    ///
    /// Manifests may be compressed with Zstandard. The parts that `ftk manifest create --shard` made are one input: a
    /// directory with all parts of a tree, or all of them as arguments. The files of an inventory are searched next to
    /// its manifest.json.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) input: Vec<PathBuf>,

    /// The directory of the set: new, or empty
    ///
    /// The files appear when all are complete. The set is complete when it has the file `_set.jsonl`.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    /// The name of the tree in the column `source`; the default is its root
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,

    /// The date of the snapshot, such as 2026-01-31
    ///
    /// It is in the column `snapshot`. `trend` compares the sets of one tree by it, and the table `history` has the
    /// rows of all of them.
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) snapshot: Option<String>,

    /// The algorithm by which contents are compared
    ///
    /// The default is the first algorithm of the first input that all inputs have.
    #[arg(short, long, value_name = "ALGORITHM")]
    pub(crate) algorithm: Option<Algorithm>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) quiet: QuietArgs,
}

#[derive(Debug, Args)]
pub(crate) struct QuestionArgs {
    /// Directories that `ftk query convert` made
    #[arg(required = true, value_name = "DIR")]
    pub(crate) sets: Vec<PathBuf>,

    /// Print the SQL of the question and do nothing else
    #[arg(long)]
    pub(crate) show: bool,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// A SELECT over the tables `entries` and `contents`
    ///
    /// `history` has the rows of several snapshots of one tree. With two sets, `a_entries`, `a_contents`, `b_entries`
    /// and `b_contents` are the tables of the first and the second.
    #[arg(value_name = "SELECT", required_unless_present = "file")]
    pub(crate) sql: Option<String>,

    /// Directories that `ftk query convert` made
    #[arg(value_name = "DIR")]
    pub(crate) sets: Vec<PathBuf>,

    /// A table of its own, such as users=users.csv
    ///
    /// FILE is CSV with names in its first line, Parquet, or JSON Lines, as its name ends: .csv, .parquet, .jsonl. Can
    /// be given several times.
    #[arg(long = "table", value_name = "NAME=FILE", value_parser = TableFile::parse)]
    pub(crate) tables: Vec<TableFile>,

    /// Read the SELECT from FILE; all arguments are then directories
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Directories that `ftk query convert` made
    #[arg(required = true, value_name = "DIR")]
    pub(crate) sets: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) quiet: QuietArgs,
}

/// How an answer is computed and printed.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Print at most N rows
    ///
    /// The default is 50 rows for a table on a terminal, and all rows otherwise.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// The form of the answer
    ///
    /// `csv` is as in RFC 4180. `json` has one object per line.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) quiet: QuietArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Csv,
    Json,
    Parquet,
}

#[derive(Debug, Args)]
pub(crate) struct SinceArgs {
    /// Files that were not verified, or modified, since this time, such as 30d or 2026-01-31
    #[arg(long, value_name = "TIME", required_unless_present = "show", value_parser = time)]
    pub(crate) since: Option<i64>,
}

#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Only files of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AtArgs {
    /// Count ages from this time, such as 2026-01-31; the default is now
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<i64>,
}

impl AtArgs {
    /// Returns the time in nanoseconds.
    ///
    /// # Errors
    /// If the clock is too far from 1970.
    pub(crate) fn at_ns(&self) -> anyhow::Result<i64> {
        let now = || i64::try_from(Zoned::now().timestamp().as_nanosecond());
        self.at.map_or_else(now, Ok).context("the clock is wrong")
    }
}

#[derive(Debug, Args)]
pub(crate) struct DepthArgs {
    /// Directories up to this depth; 0 is the root, and the largest is 99
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i64).range(0..100))]
    pub(crate) depth: i64,
}

#[derive(Debug, Args)]
pub(crate) struct ByArgs {
    /// What the rows are about; --depth is for directories
    #[arg(long, value_name = "WHAT", default_value = "directory")]
    pub(crate) by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    Directory,
    Owner,
    Extension,
}

impl By {
    /// Returns the word that the question compares.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Owner => "owner",
            Self::Extension => "extension",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExpectedArgs {
    /// The files that should be there: a table with the column `path`
    ///
    /// Paths are those below the root. The file is CSV with names in its first line, Parquet, or JSON Lines, as its
    /// name ends: .csv, .parquet, .jsonl.
    #[arg(long, value_name = "FILE", required_unless_present = "show")]
    pub(crate) expected: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Write a report for `ftk dup apply` instead of an answer
    ///
    /// Its paths begin with the roots that the manifests record, so all sets must be of this host. `-`: standard
    /// output.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["limit", "format"])]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Limit for rows that are sorted, grouped or joined, such as 2G
    ///
    /// The default is a quarter of the memory. What does not fit goes to the directory for temporary files.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<u64>,

    /// The directory for temporary files; the default is TMPDIR or /tmp
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> Limits {
        let quarter = || {
            let info = rustix::system::sysinfo();
            info.totalram as u64 * u64::from(info.mem_unit) / 4
        };
        Limits { memory: self.memory.unwrap_or_else(quarter), temp_dir: self.temp_dir.clone() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct QuietArgs {
    /// Print no summary and no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Parses the date of a snapshot. Dates of one length are ordered like their text.
fn date(text: &str) -> Result<String, String> {
    let date: Result<jiff::civil::Date, _> = text.parse();
    match date.is_ok_and(|date| date.to_string() == text) {
        true => Ok(text.to_owned()),
        false => Err("not a date like 2026-01-31".into()),
    }
}

/// Parses a time as `--newer` of `ftk find` does.
fn time(text: &str) -> Result<i64, String> {
    let time = Time::parse(text, &Zoned::now()).map_err(|error| error.to_string())?;
    i64::try_from(time.0).map_err(|_| "the time is too far away".into())
}
