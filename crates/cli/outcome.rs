//! The result of a run.

use std::process::ExitCode;

/// The result of a run, which is its exit status. If several apply, the largest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Everything succeeded.
    Success = 0,
    /// No match, or differences or failed checks were found.
    Negative = 1,
    /// At least one error occurred.
    Error = 2,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome as u8)
    }
}
