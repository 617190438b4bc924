//! What is said of a tool that met a failure.

/// How a tool came through, and for all but the first, what was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passes,
    /// It says that it does not do this, with a status that is not 0, and nothing is lost.
    Refuses(String),
    /// Content, a name or metadata that was there before is gone, without having been asked for.
    LosesData(String),
    /// What it says, or what it did, is not so.
    WrongAnswer(String),
    Hangs(String),
    Crashes(String),
}

impl Verdict {
    /// The word in the table.
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

    /// What was seen; empty if there is nothing to say.
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

    /// Whether this is what the entry is about.
    pub(crate) fn is_failure(&self) -> bool {
        !matches!(self, Self::Passes | Self::Refuses(_))
    }
}

/// Ends a judge with a wrong answer unless a condition holds.
macro_rules! right {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Verdict::WrongAnswer(format!($($why)+));
        }
    };
}
pub(super) use right;

/// The same where data is gone.
macro_rules! kept {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Verdict::LosesData(format!($($why)+));
        }
    };
}
pub(super) use kept;
