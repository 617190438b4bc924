//! The options of `cargo xtask bench`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::builder::PossibleValuesParser;

use super::build::RELEASE;
use super::tables;

/// Options that benchmarks and long tests share.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// Small trees, few repetitions and no record, to check that everything works
    #[arg(long)]
    pub(crate) quick: bool,
    /// The folder for generated trees
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Keep generated trees, and use them again
    #[arg(long)]
    pub(crate) keep: bool,
    /// A folder of peers that is searched first
    #[arg(long, value_name = "DIR")]
    pub(crate) peers: Option<PathBuf>,
    /// The folder for records
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    pub(crate) records: PathBuf,
}

impl Common {
    /// Returns the folder for generated trees.
    pub(crate) fn scratch<'p>(&'p self, default: &'p str) -> &'p Path {
        self.scratch.as_deref().unwrap_or(Path::new(default))
    }
}

/// Options of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Tables to make; by default all
    #[arg(value_name = "TABLE", value_parser = PossibleValuesParser::new(tables::names()))]
    pub(crate) tables: Vec<String>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// A tree of real files; by default the sources that cargo downloaded
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) tree: Option<PathBuf>,
    /// An earlier ftk, whose times are compared with those of this one
    #[arg(long, value_name = "FTK", value_parser = existing)]
    pub(crate) before: Option<PathBuf>,
    /// Number of timed runs of each command; by default 5, or 3 with --quick
    #[arg(long, value_name = "N")]
    runs: Option<usize>,
    /// Algorithms to measure; by default those of each table
    #[arg(short = 'a', long = "algorithm", value_name = "ALGORITHM", value_parser = PossibleValuesParser::new(tables::algorithms()))]
    pub(crate) algorithms: Vec<String>,
    /// The profile that ftk is built with; a record is written only with the default one
    #[arg(long, value_name = "NAME", default_value = RELEASE)]
    pub(crate) profile: String,
}

/// The default folder for records.
pub(crate) const RECORDS: &str = "benches/records";

impl Options {
    pub(crate) fn runs(&self) -> usize {
        self.runs.filter(|runs| *runs > 0).unwrap_or(if self.common.quick { 3 } else { 5 })
    }

    pub(crate) fn wants(&self, table: &str) -> bool {
        self.tables.is_empty() || self.tables.iter().any(|name| name == table)
    }

    /// Whether the run needs `ftk-query`: a quick one only for the table of this name.
    pub(crate) fn wants_query(&self) -> bool {
        self.wants("lake") && !(self.common.quick && self.tables.is_empty())
    }

    /// Whether the run writes a record.
    pub(crate) fn keeps_record(&self) -> bool {
        !self.common.quick && self.profile == RELEASE
    }
}

fn directory(path: &str) -> Result<PathBuf> {
    let path = existing(path)?;
    ensure!(path.is_dir(), "{} is not a directory", path.display());
    Ok(path)
}

fn existing(path: &str) -> Result<PathBuf> {
    PathBuf::from(path).canonicalize().with_context(|| format!("no file {path}"))
}
