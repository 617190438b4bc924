//! Prints a plan or a run of `repair`: a line for each file, and a summary.

use std::fmt::Display;
use std::time::Duration;

use ftk_record::{RecordWriter, sanitize, write_record};
use indicatif::{DecimalBytes, HumanCount};
use serde::Serialize;

use crate::colour::{self, Tone};
use crate::console::{Console, Outcome};
use crate::human;
use crate::rules::{Rules, UnusedRules};
use crate::stats::{Phase, nanos};
use crate::stdout::{Lines, Stdout};

/// Width of the path column, which most paths fit into.
const PATH_WIDTH: usize = 40;

/// The first word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A damaged file is replaced.
    Repair,
    /// A missing file is created.
    Restore,
    /// The file has its recorded content again.
    Healed,
    /// The file was changed since it was marked.
    Changed,
    /// The file is missing, and missing files are not restored.
    Missing,
    /// The file was renamed.
    Moved,
    Unreadable,
    /// Two contents are recorded for one file.
    Conflict,
    /// No copy has the content.
    NoCopy,
    Refuse,
    Fail,
    /// The run ended before this file.
    NotDone,
}

impl Word {
    const COUNT: usize = Self::NotDone as usize + 1;

    fn text(self) -> &'static str {
        match self {
            Self::Repair => "repair",
            Self::Restore => "restore",
            Self::Healed => "healed",
            Self::NoCopy => "no copy",
            Self::Changed | Self::Missing | Self::Moved | Self::Unreadable | Self::Conflict => "leave",
            Self::Refuse => "refuse",
            Self::Fail => "fail",
            Self::NotDone => "not done",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Repair | Self::Restore | Self::Healed => Tone::Good,
            Self::Changed | Self::Missing | Self::Moved | Self::NotDone => Tone::Notable,
            Self::Unreadable | Self::Conflict | Self::NoCopy | Self::Refuse | Self::Fail => Tone::Wrong,
        }
    }

    fn outcome(self) -> Outcome {
        match self {
            Self::Repair | Self::Restore | Self::Healed | Self::Moved => Outcome::Success,
            Self::Changed | Self::Missing | Self::Conflict | Self::NoCopy => Outcome::Negative,
            Self::Unreadable | Self::Refuse | Self::Fail | Self::NotDone => Outcome::Error,
        }
    }
}

/// The summary as the last line of JSON.
#[derive(Serialize)]
struct Summary {
    is_plan: bool,
    repaired: u64,
    restored: u64,
    bytes: u64,
    healed: u64,
    without_copy: u64,
    left: u64,
    refused: u64,
    failed: u64,
    not_done: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unused_rules: UnusedRules,
}

/// Prints lines and counts them.
#[derive(Debug)]
pub(super) struct Printer<'o> {
    lines: Lines<'o>,
    json: bool,
    is_coloured: bool,
    /// Whether the plan is carried out.
    acts: bool,
    counts: [u64; Word::COUNT],
    bytes: u64,
    others: u64,
    outcome: Outcome,
}

impl<'o> Printer<'o> {
    pub(super) fn new(out: &'o Stdout, json: bool, acts: bool) -> Self {
        Self {
            lines: Lines::new(out),
            json,
            is_coloured: colour::wanted(),
            acts,
            counts: [0; Word::COUNT],
            bytes: 0,
            others: 0,
            outcome: Outcome::Success,
        }
    }

    /// Prints a file that is not restored, and why.
    pub(super) fn say(&mut self, word: Word, path: &[u8], why: impl Display) {
        let why = why.to_string();
        self.print(word, path, &why, |record| {
            if !why.is_empty() {
                record.member("why", &why);
            }
        });
    }

    /// Prints a file that is or would be restored: `repair   film/reel-03.mov    48.20 MB from /backup/reel-03.mov`
    pub(super) fn file(&mut self, word: Word, path: &[u8], from: &[u8], size: u64) {
        self.bytes += size;
        let why = format!("{} from {}", DecimalBytes(size), human::shown(from));
        self.print(word, path, &why, |record| {
            record.path("from", from).member("size_bytes", size);
        });
    }

    /// Prints a further hard link of a file that is or would be restored.
    pub(super) fn link(&mut self, word: Word, path: &[u8], to: &[u8]) {
        let why = format!("as a hard link of {}", human::shown(to));
        self.print(word, path, &why, |record| {
            record.path("link_of", to);
        });
    }

    fn print(&mut self, word: Word, path: &[u8], why: &str, add: impl FnOnce(&mut RecordWriter<'_, '_>)) {
        self.counts[word as usize] += 1;
        self.outcome = self.outcome.max(word.outcome());
        let text = word.text();
        if self.json {
            self.lines
                .line(|out| write_record(out, |record| add(record.member("do", text).path("path", path))));
            return;
        }
        let (path, style) = (sanitize(path), word.tone().style(self.is_coloured));
        self.lines.line(|out| {
            let line = format!("  {style}{text:<8}{style:#} {path:<PATH_WIDTH$} {why}");
            out.extend_from_slice(line.trim_end().as_bytes());
            out.push(b'\n');
        });
    }

    /// Counts missing entries that cannot be restored: links and special files.
    pub(super) fn others(&mut self, others: u64) {
        self.others = others;
        if others > 0 {
            self.outcome = self.outcome.max(Outcome::Negative);
        }
    }

    /// Notes that hard links of a repaired file keep the damaged content.
    pub(super) fn note_other_links(&mut self) {
        self.outcome = self.outcome.max(Outcome::Negative);
    }

    /// Returns the entry for `--stats`.
    pub(super) fn phase(&self, elapsed: Duration) -> Phase {
        let failed = self.count(&[Word::Refuse, Word::Fail]);
        Phase {
            phase: "repair",
            elapsed_ns: nanos(elapsed),
            files: Some(self.count(&[Word::Repair, Word::Restore]) + failed),
            failed: Some(failed),
            bytes: Some(self.bytes),
            ..Phase::default()
        }
    }

    fn count(&self, words: &[Word]) -> u64 {
        words.iter().map(|word| self.counts[*word as usize]).sum()
    }

    /// Ends the list, prints the summary, and returns the outcome of all lines. `rules` are those of the walk.
    pub(super) fn finish(&mut self, rules: &Rules, console: &Console) -> Outcome {
        if self.json {
            let summary = Summary {
                is_plan: !self.acts,
                repaired: self.count(&[Word::Repair]),
                restored: self.count(&[Word::Restore]),
                bytes: self.bytes,
                healed: self.count(&[Word::Healed]),
                without_copy: self.count(&[Word::NoCopy]),
                left: self.count(LEFT) + self.others,
                refused: self.count(&[Word::Refuse]),
                failed: self.count(&[Word::Fail]),
                not_done: self.count(&[Word::NotDone]),
                unused_rules: rules.unused_json(),
            };
            self.lines.line(|out| write_record(out, |record| _ = record.member("summary", summary)));
        }
        self.lines.flush();
        console.summary(self.summary());
        if self.others > 0 {
            let others = human::count(self.others, "missing link or special file");
            console.summary(format_args!("{others} cannot be restored by repair"));
        }
        self.outcome
    }

    /// Returns `would repair 2 files and restore 1 file, 96.40 MB; 1 without a good copy. Nothing was changed: add
    /// --yes to do it.`
    fn summary(&self) -> String {
        let [repaired, restored] = [Word::Repair, Word::Restore].map(|word| self.count(&[word]));
        let (repair, restore) =
            if self.acts { ("repaired", "restored") } else { ("would repair", "would restore") };
        let mut parts = Vec::new();
        if repaired > 0 {
            parts.push(format!("{repair} {}", human::count(repaired, "file")));
        }
        if restored > 0 {
            let restore = if repaired > 0 && !self.acts { "restore" } else { restore };
            parts.push(format!("{restore} {}", human::count(restored, "missing file")));
        }
        let mut text = match parts.len() {
            0 => "nothing to do".to_owned(),
            _ => format!("{}, {}", parts.join(" and "), DecimalBytes(self.bytes)),
        };
        let rest = [
            (self.count(&[Word::Healed]), "healed"),
            (self.count(&[Word::NoCopy]), "without a good copy"),
            (self.count(LEFT), "left"),
            (self.count(&[Word::Refuse]), "refused"),
            (self.count(&[Word::Fail]), "failed"),
            (self.count(&[Word::NotDone]), "not done"),
        ];
        for (n, what) in rest.into_iter().filter(|(n, _)| *n > 0) {
            text += &format!("; {} {what}", HumanCount(n));
        }
        if !self.acts && repaired + restored > 0 {
            text += ". Nothing was changed: add --yes to do it.";
        }
        text
    }
}

/// The words for files that are deliberately not repaired.
const LEFT: &[Word] = &[Word::Changed, Word::Missing, Word::Moved, Word::Unreadable, Word::Conflict];
