//! Failures that file tools have had, by number. Their tests bear the numbers: `h08_a_stale_result`.

use std::sync::LazyLock;

use serde::Deserialize;

/// A failure.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    /// From 1, without a gap.
    pub number: u8,
    /// The failure, not the correct behaviour.
    pub title: String,
    /// The cases that no test covers.
    #[serde(default)]
    pub untested: Vec<Part>,
    /// Why no test covers the whole entry.
    pub waits: Option<String>,
    /// Why there is no scenario. ftk's own tests cover the entry, unless it waits.
    pub not_run: Option<String>,
}

/// A case of an entry that is not tested.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The case.
    pub what: String,
    /// Why it is not tested.
    pub why: String,
}

/// The file with the entries.
#[derive(Deserialize)]
struct File {
    entry: Vec<Entry>,
}

/// Every entry, by number from 1 without a gap.
pub static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("../entries.toml")).expect("a test reads this file");
    file.entry
});
