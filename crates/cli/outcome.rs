//! How a run ended.

use std::process::ExitCode;

/// How a run ended; when several things happened, the larger counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Done.
    Success = 0,
    /// The answer is no.
    Negative = 1,
    /// Something failed, even once.
    Error = 2,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome as u8)
    }
}
