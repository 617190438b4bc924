//! What a check says of one file.

use std::io::Write as _;

use ftk_hash::{Algorithm, Digest};
use ftk_record::{End, sanitize, write_name, write_path, write_string};

use crate::colour::Tone;
use crate::outcome::Outcome;

/// What a check says of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckResult {
    Ok,
    /// Its content is not what the list says.
    Failed,
    /// It is not there.
    Missing,
    /// It cannot be read.
    Unreadable,
    /// It changed while it was read.
    Changed,
    /// It is in the tree and in no list.
    New,
}

impl CheckResult {
    pub(super) const ALL: [Self; 6] =
        [Self::Ok, Self::Failed, Self::Missing, Self::Unreadable, Self::Changed, Self::New];

    /// The word for it, in JSON and in the summary.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Changed => "changed",
            Self::New => "new",
        }
    }

    /// What follows the name in a line of text: the words of the coreutils, who do not know new files.
    fn text(self) -> &'static [u8] {
        match self {
            Self::Ok => b": OK",
            Self::Failed => b": FAILED",
            Self::Missing | Self::Unreadable | Self::Changed => b": FAILED open or read",
            Self::New => b": NEW",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Ok => Tone::Good,
            Self::New => Tone::Notable,
            Self::Failed | Self::Missing | Self::Unreadable | Self::Changed => Tone::Wrong,
        }
    }

    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Ok => Outcome::Success,
            Self::Failed | Self::Missing | Self::New => Outcome::Negative,
            Self::Unreadable | Self::Changed => Outcome::Error,
        }
    }
}

/// One verdict with all that can be said of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'r> {
    pub(super) path: &'r [u8],
    pub(super) verdict: CheckResult,
    /// What the list says; not of a file that is in none.
    pub(super) expected: Option<(Algorithm, &'r [u8])>,
    /// The digest of what was read.
    pub(super) found: Option<&'r [u8]>,
    /// Why there is none.
    pub(super) error: Option<&'r str>,
}

impl Record<'_> {
    /// Appends `name: OK` or one of its like. `is_shown`: to a person, whom a name must not harm.
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
        out.push(match end {
            End::Newline => b'\n',
            End::Nul => 0,
        });
    }

    /// Appends `{"path":"name","verdict":"ok","algorithm":"sha256","expected":"...","found":"..."}`, without
    /// what there is not.
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
