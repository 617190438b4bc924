//! What is said of an entry that is not as recorded, one line each, and of all of them together.

use std::io;

use ftk_hash::Algorithm;
use ftk_manifest::{Finding, Summary, Verdict};
use ftk_record::write_path;
use indicatif::HumanCount;

use crate::console::Console;
use crate::human;
use crate::list::List;
use crate::manifest::fields::push_change;
use crate::outcome::Outcome;
use crate::shown::{ARROW, shown};

/// How findings are written.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    /// The member of JSON that says what became of an entry, and the words for it.
    pub(super) member: &'static str,
    pub(super) word: fn(Verdict) -> &'static str,
    pub(super) json: bool,
    /// Entries that are as recorded too.
    pub(super) all: bool,
}

/// Writes findings.
pub(super) struct Findings<'a> {
    manner: Manner,
    /// Those of the digests as they were, and as they are.
    algorithms: [&'a [Algorithm]; 2],
    list: List<'a>,
    is_shown: bool,
    written: io::Result<()>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(manner: Manner, algorithms: [&'a [Algorithm]; 2], list: List<'a>) -> Self {
        let is_shown = list.is_shown();
        Self { manner, algorithms, list, is_shown, written: Ok(()) }
    }

    /// Writes it, if it is one to be written.
    pub(super) fn give(&mut self, finding: &Finding<'_>) {
        if (finding.verdict == Verdict::Ok && !self.manner.all) || self.written.is_err() {
            return;
        }
        let Self { manner, algorithms, is_shown, .. } = *self;
        let word = (manner.word)(finding.verdict);
        self.written = self.list.line(|out| match manner.json {
            true => push_json(out, manner.member, word, finding, algorithms),
            false => push_text(out, word, finding, algorithms, is_shown),
        });
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.written.and_then(|()| self.list.finish())
    }
}

/// `  418,113 of 418,118 as recorded; 1 corrupted, 4 new   (status 1)`; gives the outcome, which is at least `outcome`.
/// `good`: what is said of entries in which nothing differs.
pub(super) fn say_counts(
    summary: &Summary,
    good: &str,
    word: fn(Verdict) -> &'static str,
    outcome: Outcome,
    console: &Console,
) -> Outcome {
    let given = SAID.into_iter().filter(|verdict| summary.count(*verdict) > 0);
    let said: Vec<_> = given.map(|it| format!("{} {}", HumanCount(summary.count(it)), word(it))).collect();
    let told = match summary.count(Verdict::Unreadable) {
        0 if said.is_empty() => Outcome::Success,
        0 => Outcome::Negative,
        _ => Outcome::Error,
    };
    let outcome = outcome.max(told);
    let same =
        format!("{} of {} {good}", HumanCount(summary.count(Verdict::Ok)), HumanCount(summary.total()));
    let unread = match summary.unread {
        0 => String::new(),
        n => format!(" ({} not read)", human::count(n, "file")),
    };
    let gap = if said.is_empty() { "" } else { "; " };
    console.summary(match outcome {
        Outcome::Success => format!("{same}{unread}"),
        _ => format!("{same}{unread}{gap}{}   (status {})", said.join(", "), outcome as u8),
    });
    outcome
}

/// What differs, the worst first.
const SAID: [Verdict; 7] = [
    Verdict::Unreadable,
    Verdict::Corrupted,
    Verdict::Modified,
    Verdict::Metadata,
    Verdict::Moved,
    Verdict::New,
    Verdict::Missing,
];

/// Three columns; for programs with tabs between, for people with blanks.
fn push_text(
    out: &mut Vec<u8>,
    word: &str,
    finding: &Finding<'_>,
    algorithms: [&[Algorithm]; 2],
    is_shown: bool,
) {
    let (path, details) = (shown(finding.path), details(finding, algorithms));
    let line = match (is_shown, details.is_empty()) {
        (true, true) => format!("  {word:<10} {path}\n"),
        (true, false) => format!("  {word:<10} {path:<24}   {details}\n"),
        (false, true) => format!("{word}\t{path}\n"),
        (false, false) => format!("{word}\t{path}\t{details}\n"),
    };
    out.extend_from_slice(line.as_bytes());
}

/// What there is to be said beside the verdict.
fn details(finding: &Finding<'_>, algorithms: [&[Algorithm]; 2]) -> String {
    let mut parts = Vec::new();
    if let Some(path) = finding.new_path {
        parts.push(format!("{ARROW} {}", shown(path)));
    }
    if finding.verdict == Verdict::Corrupted {
        parts.push("content changed, size and mtime did not".into());
    }
    if let (Some(old), Some(new)) = (&finding.old, &finding.new) {
        for &field in finding.changed {
            let mut part = String::new();
            push_change(&mut part, field, [old, new], algorithms);
            parts.push(part);
        }
    }
    parts.join(", ")
}

/// `{"verdict":"metadata","path":"a","changes":[{"field":"mode","old":"0644","new":"0600"}]}`
fn push_json(
    out: &mut Vec<u8>,
    member: &str,
    word: &str,
    finding: &Finding<'_>,
    algorithms: [&[Algorithm]; 2],
) {
    out.extend_from_slice(format!("{{\"{member}\":\"{word}\",").as_bytes());
    write_path(out, "path", finding.path);
    if let Some(path) = finding.new_path {
        out.push(b',');
        write_path(out, "new_path", path);
    }
    if let (Some(old), Some(new), false) = (&finding.old, &finding.new, finding.changed.is_empty()) {
        out.extend_from_slice(b",\"changes\":[");
        for (nth, &field) in finding.changed.iter().enumerate() {
            let gap = if nth == 0 { "" } else { "," };
            out.extend_from_slice(format!("{gap}{{\"field\":\"{field}\",").as_bytes());
            field.write_member(out, "old", old, algorithms[0]);
            out.push(b',');
            field.write_member(out, "new", new, algorithms[1]);
            out.push(b'}');
        }
        out.push(b']');
    }
    out.extend_from_slice(b"}\n");
}
