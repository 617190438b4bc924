//! The verdict on a tool in a scenario.

/// The result of one tool in one scenario. All but the first hold the observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passes,
    /// The tool reports, with a status other than 0, that it does not do this, and nothing is lost.
    Refuses(String),
    /// Content, a name or metadata is lost although its removal was not requested.
    LosesData(String),
    /// The output, the exit status or the resulting tree is wrong.
    WrongAnswer(String),
    Hangs(String),
    Crashes(String),
}

impl Verdict {
    /// Returns the word in the table.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Passes => "passes",
            Self::Refuses(_) => "refuses",
            Self::LosesData(_) => "**loses data**",
            Self::WrongAnswer(_) => "**wrong answer**",
            Self::Hangs(_) => "**hangs**",
            Self::Crashes(_) => "**crashes**",
        }
    }

    /// Returns the observation; empty for a pass.
    pub(crate) fn why(&self) -> &str {
        match self {
            Self::Passes => "",
            Self::Refuses(why)
            | Self::LosesData(why)
            | Self::WrongAnswer(why)
            | Self::Hangs(why)
            | Self::Crashes(why) => why,
        }
    }

    /// Whether the failure of the entry happened.
    pub(crate) fn is_failure(&self) -> bool {
        !matches!(self, Self::Passes | Self::Refuses(_))
    }
}

/// Returns [`Verdict::WrongAnswer`] from a judge unless a condition holds.
macro_rules! right {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Verdict::WrongAnswer(format!($($why)+));
        }
    };
}
pub(super) use right;

/// Returns [`Verdict::LosesData`] from a judge unless a condition holds.
macro_rules! kept {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Verdict::LosesData(format!($($why)+));
        }
    };
}
pub(super) use kept;
