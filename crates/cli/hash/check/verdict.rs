//! The verdict on one file.

use std::io::Write as _;

use ftk_hash::{Algorithm, Digest};
use ftk_record::{End, sanitize, write_name, write_path, write_string};

use crate::colour::Tone;
use crate::console::Outcome;

/// The result of checking one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckResult {
    Ok,
    /// The content of the file does not match the list.
    Failed,
    /// The file does not exist.
    Missing,
    /// The file cannot be read.
    Unreadable,
    /// The file changed while being read.
    Changed,
    /// The file is in the tree but not in any list.
    New,
    /// The file of `--only` is not in any list.
    NotListed,
}

impl CheckResult {
    pub(super) const ALL: [Self; 7] =
        [Self::Ok, Self::Failed, Self::Missing, Self::Unreadable, Self::Changed, Self::New, Self::NotListed];

    /// Returns the word for JSON, and for the summary with blanks instead of underscores.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Changed => "changed",
            Self::New => "new",
            Self::NotListed => "not_listed",
        }
    }

    /// Returns the text that follows the name in a line. The coreutils print the same words, except for
    /// `NEW` and `NOT LISTED`.
    fn text(self) -> &'static [u8] {
        match self {
            Self::Ok => b": OK",
            Self::Failed => b": FAILED",
            Self::Missing | Self::Unreadable | Self::Changed => b": FAILED open or read",
            Self::New => b": NEW",
            Self::NotListed => b": NOT LISTED",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Ok => Tone::Good,
            Self::New => Tone::Notable,
            Self::Failed | Self::Missing | Self::Unreadable | Self::Changed | Self::NotListed => Tone::Wrong,
        }
    }

    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Ok => Outcome::Success,
            Self::Failed | Self::Missing | Self::New | Self::NotListed => Outcome::Negative,
            Self::Unreadable | Self::Changed => Outcome::Error,
        }
    }
}

/// A verdict with its details.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'r> {
    pub(super) path: &'r [u8],
    pub(super) verdict: CheckResult,
    /// The digest in the list; `None` for a new file.
    pub(super) expected: Option<(Algorithm, &'r [u8])>,
    /// Whether the line names the algorithm if the content differs.
    pub(super) names_algorithm: bool,
    /// The computed digest.
    pub(super) found: Option<&'r [u8]>,
    /// Why there is no computed digest.
    pub(super) error: Option<&'r str>,
}

impl Record<'_> {
    /// Appends a line such as `name: OK`. `is_shown`: the output goes to a terminal, so control characters
    /// are escaped.
    pub(super) fn push_text(&self, out: &mut Vec<u8>, end: End, is_shown: bool, is_coloured: bool) {
        let start = out.len();
        write_name(out, self.path, end);
        if is_shown {
            let name = sanitize(&out[start..]).into_owned();
            out.truncate(start);
            out.extend_from_slice(name.as_bytes());
        }
        let (colon, word) = self.verdict.text().split_at(2);
        out.extend_from_slice(colon);
        let style = self.verdict.tone().style(is_coloured);
        // Writing to a Vec cannot fail.
        let _ = write!(out, "{style}{}{style:#}", word.escape_ascii());
        if let (true, Some((algorithm, _))) = (self.names_algorithm, self.expected)
            && self.verdict == CheckResult::Failed
        {
            let _ = write!(out, " ({})", algorithm.tag());
        }
        out.push(match end {
            End::Newline => b'\n',
            End::Nul => 0,
        });
    }

    /// Appends `{"path":"name","verdict":"ok","algorithm":"sha256","expected":"...","found":"..."}`. Members
    /// without a value are omitted.
    pub(super) fn push_json(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        write_path(out, "path", self.path);
        // Writing to a Vec cannot fail.
        let _ = write!(out, ",\"verdict\":\"{}\"", self.verdict.word());
        if let Some((algorithm, expected)) = self.expected {
            let expected = Digest::from_bytes(expected);
            let _ = write!(out, ",\"algorithm\":\"{algorithm}\",\"expected\":\"{expected}\"");
        }
        if let Some(found) = self.found {
            let _ = write!(out, ",\"found\":\"{}\"", Digest::from_bytes(found));
        }
        if let Some(error) = self.error {
            out.extend_from_slice(b",\"error\":");
            write_string(out, error);
        }
        out.extend_from_slice(b"}\n");
    }
}
