//! The verdict on a tool in a scenario.

/// The result of one tool in one scenario. All but the first hold the observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The failure does not happen.
    Passes,
    /// The tool reports, with a status other than 0, that it does not do this, and nothing is lost.
    Refuses(String),
    /// Content, a name or metadata is lost although its removal was not requested.
    LosesData(String),
    /// The output, the exit status or the resulting tree is wrong.
    WrongAnswer(String),
    /// A command did not end.
    Hangs(String),
    /// A command ended by a signal of the processor, an abort or a panic.
    Crashes(String),
}

impl Verdict {
    /// Returns the word in the table, and the observation, which is empty for a pass.
    pub fn words(&self) -> (&'static str, &str) {
        match self {
            Self::Passes => ("passes", ""),
            Self::Refuses(why) => ("refuses", why),
            Self::LosesData(why) => ("**loses data**", why),
            Self::WrongAnswer(why) => ("**wrong answer**", why),
            Self::Hangs(why) => ("**hangs**", why),
            Self::Crashes(why) => ("**crashes**", why),
        }
    }

    /// Whether the failure of the entry happened.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Passes | Self::Refuses(_))
    }
}
