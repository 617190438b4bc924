//! Errors of writing or reading a report.

use std::fmt;

use ftk_record::SealError;

/// Why a report cannot be written or used.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReportError {
    /// The starting points and arguments make a header that is too long to be read back.
    HeaderTooLong,
    /// The report is incomplete, or has changed since it was written.
    Seal(SealError),
    /// The report has no header.
    Empty,
    /// A line is invalid.
    Line {
        /// The line number, from 1.
        number: u64,
        /// The problem with the line.
        problem: String,
    },
}

impl ReportError {
    /// Whether the report is complete and only its footer does not match. It may have been edited on purpose.
    pub fn is_seal_broken(&self) -> bool {
        matches!(self, Self::Seal(SealError::WrongCount | SealError::WrongDigest))
    }
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderTooLong => f.write_str("the starting points and arguments are too long for a report"),
            Self::Seal(_) => f.write_str("incomplete, or changed since it was written"),
            Self::Empty => f.write_str("the report has no header"),
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
