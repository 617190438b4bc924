//! The options of `cargo xtask soak`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;

use super::parts::{self, Part};
use crate::bench::options::Common;

/// Run long tests
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Parts to run; by default all
    #[arg(value_name = "PART", value_parser = PossibleValuesParser::new(parts::ALL.iter().map(|part| part.name)))]
    parts: Vec<String>,
    /// A part that repeats its work ends after this time
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// The number of kills of each kind of run; by default that of the part
    #[arg(long, value_name = "N")]
    pub(super) kills: Option<u64>,
    #[command(flatten)]
    pub(super) common: Common,
    /// The program to test; by default the release build
    #[arg(long, value_name = "PROGRAM")]
    pub(super) ftk: Option<PathBuf>,
}

impl Options {
    /// Returns the parts in the order given, or all.
    pub(super) fn parts(&self) -> Vec<&'static Part> {
        if self.parts.is_empty() {
            return parts::ALL.iter().collect();
        }
        self.parts.iter().filter_map(|name| parts::ALL.iter().find(|part| part.name == name)).collect()
    }

    pub(super) fn limit(&self) -> Option<Duration> {
        self.minutes.map(|minutes| Duration::from_secs(minutes * 60))
    }
}
