//! Failures that file tools have had, by number. Their tests bear the numbers: `h08_a_stale_result`.

use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

/// The effect of a failure on the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    DataLoss,
    Security,
    WrongResult,
    Hang,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DataLoss => "data loss",
            Self::Security => "security",
            Self::WrongResult => "wrong result",
            Self::Hang => "hang",
        })
    }
}

/// A failure.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Entry {
    pub(crate) number: u8,
    pub(crate) kinds: Vec<Kind>,
    /// The failure, not the correct behaviour.
    pub(crate) title: String,
    /// The cases that no test covers.
    #[serde(default)]
    pub(crate) untested: Vec<Part>,
    /// Why no test covers the whole entry.
    pub(crate) waits: Option<String>,
    /// Why there is no scenario. ftk's own tests cover the entry, unless it waits.
    pub(crate) not_run: Option<String>,
}

/// A case of an entry that is not tested.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) what: String,
    pub(crate) why: String,
}

/// The file with the entries.
#[derive(Deserialize)]
struct File {
    entry: Vec<Entry>,
}

/// Every entry, by number from 1 without a gap.
pub(crate) static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let file: File =
        toml::from_str(include_str!("../../horrors/entries.toml")).expect("a test reads this file");
    file.entry
});
