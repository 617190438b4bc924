//! Errors of reading and using plans.

use std::fmt;
use std::io;

use ftk_record::SealError;

/// Why a plan cannot be read or used.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan cannot be read.
    Io(io::Error),
    /// The footer shows that the plan is incomplete or was changed.
    Seal(SealError),
    /// The file is not a plan: what it is, or what is wrong with its first line.
    NotPlan(String),
    /// The plan has a version that only a newer ftk can read.
    Version(u64),
    /// A line is not valid.
    Line {
        /// The line number; the first line is 1.
        number: u64,
        /// What is wrong.
        what: String,
    },
    /// The plan divides the tree into another number of shards.
    OtherCount {
        /// The requested number.
        asked: u32,
        /// The number in the plan.
        planned: u32,
    },
    /// There is no shard of this number.
    NoShard {
        /// The requested shard.
        number: u32,
        /// The number of shards.
        of: u32,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("input or output error"),
            Self::Seal(error) => error.fmt(f),
            Self::NotPlan(why) => write!(f, "not a plan of ftk: {why}"),
            Self::Version(version) => {
                write!(f, "plan version {version} needs a newer ftk; this one reads version 1")
            }
            Self::Line { number, what } => write!(f, "line {number}: {what}"),
            Self::OtherCount { asked, planned } => {
                write!(f, "the plan has {planned} shards, and {asked} are requested")
            }
            Self::NoShard { number, of } => write!(f, "there is no shard {number} of {of}"),
        }
    }
}

impl std::error::Error for PlanError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Seal(error) => error.source(),
            _ => None,
        }
    }
}

impl From<SealError> for PlanError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::Io(error) => Self::Io(error),
            error => Self::Seal(error),
        }
    }
}
