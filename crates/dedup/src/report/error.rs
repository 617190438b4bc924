//! Why a report cannot be written or used.

use std::fmt;

use ftk_record::SealError;

/// Why a report cannot be written or used.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReportError {
    /// The starting points and arguments make a header that no reader would take.
    HeaderTooLong,
    /// It is not complete, or not as it was written.
    Seal(SealError),
    /// There is not even a header.
    Empty,
    /// A line makes no sense.
    Line {
        /// Its number, from 1.
        number: u64,
        /// What is wrong with it.
        problem: String,
    },
}

impl ReportError {
    /// Whether all of it could be read, and only the footer does not match: it may have been edited on purpose.
    pub fn is_seal_broken(&self) -> bool {
        matches!(self, Self::Seal(SealError::WrongCount | SealError::WrongDigest))
    }
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderTooLong => f.write_str("there are too many starting points for one report"),
            Self::Seal(_) => f.write_str("not as it was written"),
            Self::Empty => f.write_str("empty: a report begins with a header"),
            Self::Line { number, problem } => write!(f, "line {number}: {problem}"),
        }
    }
}

impl std::error::Error for ReportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Seal(error) => Some(error),
            _ => None,
        }
    }
}
