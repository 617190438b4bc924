//! The exit status for damage.

use anyhow::ensure;
use clap::{Args, value_parser};
use ftk_hash::Algorithm;
use ftk_manifest::{Criteria, Field};

use crate::console::Outcome;

/// The option for callers that only need the exit status.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct StatusArg {
    /// Print nothing; only set the exit status
    ///
    /// Errors are printed nevertheless.
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(super) status: bool,
}

/// The option that tells damage from other differences by the exit status.
#[derive(Debug, Args)]
pub(super) struct CorruptedArgs {
    /// Exit with status N if anything is corrupted
    ///
    /// Without this option, damage has the same status as other differences. N is from 3 to 125, because other numbers
    /// have a meaning. Errors take precedence: a run that failed ends with status 2. A file with other content also
    /// counts as corrupted if nothing shows whether it was edited: its record has no size or no mtime, or it was marked
    /// as damaged before. For repair, the damage counts that is left; in a plan, that is all of it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(3..=125), help_heading = "Output")]
    status_corrupted: Option<u8>,
}

impl CorruptedArgs {
    pub(super) fn is_given(&self) -> bool {
        self.status_corrupted.is_some()
    }

    /// Returns the outcome of a run that found damage.
    pub(super) fn outcome(&self) -> Outcome {
        self.outcome_or(Outcome::Negative)
    }

    /// Returns the outcome of a run that found damage, which is `usual` without the option.
    pub(super) fn outcome_or(&self, usual: Outcome) -> Outcome {
        self.status_corrupted.map_or(usual, Outcome::Corrupted)
    }

    /// Refuses the option if no content is compared, so that damage cannot be found. `algorithms`: those of each
    /// manifest.
    ///
    /// # Errors
    /// If it is given, and the contents are excluded or not recorded.
    pub(super) fn check(&self, criteria: &Criteria, algorithms: &[&[Algorithm]]) -> anyhow::Result<()> {
        let is_compared =
            criteria.compares(Field::Digests) && algorithms.iter().all(|algorithms| !algorithms.is_empty());
        ensure!(
            is_compared || !self.is_given(),
            "--status-corrupted needs a comparison of content, which finds damage: no content is compared"
        );
        Ok(())
    }
}
