//! Prints a plan or a run of `repair`: a line for each file, and a summary.

use std::fmt::Display;
use std::time::Duration;

use ftk_manifest::Shift;
use indicatif::{DecimalBytes, HumanCount};
use serde::Serialize;

use crate::colour::Tone;
use crate::console::{Console, Outcome};
use crate::human;
use crate::manifest::shift::push_json;
use crate::rules::{Rules, UnusedRules};
use crate::stats::{Phase, nanos};
use crate::stdout::Stdout;
use crate::step_lines::{Done, NOTHING_CHANGED, StepLines, rest};

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

    /// Returns the text, its colour, and what it means for the outcome.
    fn shown(self) -> (&'static str, Tone, Outcome) {
        match self {
            Self::Repair => ("repair", Tone::Good, Outcome::Success),
            Self::Restore => ("restore", Tone::Good, Outcome::Success),
            Self::Healed => ("healed", Tone::Good, Outcome::Success),
            Self::Moved => ("leave", Tone::Notable, Outcome::Success),
            Self::Changed | Self::Missing => ("leave", Tone::Notable, Outcome::Negative),
            Self::Conflict => ("leave", Tone::Wrong, Outcome::Negative),
            Self::Unreadable => ("leave", Tone::Wrong, Outcome::Error),
            Self::NoCopy => ("no copy", Tone::Wrong, Outcome::Negative),
            Self::Refuse => ("refuse", Tone::Wrong, Outcome::Error),
            Self::Fail => ("fail", Tone::Wrong, Outcome::Error),
            Self::NotDone => ("not done", Tone::Notable, Outcome::Error),
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
    lines: StepLines<'o>,
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
            lines: StepLines::new(out, json, PATH_WIDTH),
            acts,
            counts: [0; Word::COUNT],
            bytes: 0,
            others: 0,
            outcome: Outcome::Success,
        }
    }

    /// Prints a shift of nearly all times as JSON.
    pub(super) fn shift(&mut self, shift: Option<&Shift>) {
        if let Some(shift) = shift {
            self.lines.object(|out| push_json(out, "do", shift));
        }
    }

    /// Prints a file that is not restored, and why.
    pub(super) fn say(&mut self, word: Word, path: &[u8], why: impl Display) {
        let done = self.count(word, path);
        self.lines.say(done, &why.to_string());
    }

    /// Prints a file that is or would be restored: `repair   film/reel-03.mov    48.20 MB from /backup/reel-03.mov`
    pub(super) fn file(&mut self, word: Word, path: &[u8], from: &[u8], size: u64) {
        self.bytes += size;
        let why = format!("{} from {}", DecimalBytes(size), human::shown(from));
        let done = self.count(word, path);
        self.lines.print(done, why, |record| _ = record.path("from", from).member("size_bytes", size));
    }

    /// Prints a further hard link of a file that is or would be restored.
    pub(super) fn link(&mut self, word: Word, path: &[u8], to: &[u8]) {
        let why = format!("as a hard link of {}", human::shown(to));
        let done = self.count(word, path);
        self.lines.print(done, why, |record| _ = record.path("link_of", to));
    }

    /// Counts a line.
    fn count<'p>(&mut self, word: Word, path: &'p [u8]) -> Done<'p> {
        self.counts[word as usize] += 1;
        let (word, tone, outcome) = word.shown();
        self.outcome = self.outcome.max(outcome);
        Done { word, tone: Some(tone), path, is_directory: false }
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
        let failed = self.sum(&[Word::Refuse, Word::Fail]);
        Phase {
            phase: "repair",
            elapsed_ns: nanos(elapsed),
            files: Some(self.sum(&[Word::Repair, Word::Restore]) + failed),
            failed: Some(failed),
            bytes: Some(self.bytes),
            ..Phase::default()
        }
    }

    fn sum(&self, words: &[Word]) -> u64 {
        words.iter().map(|word| self.counts[*word as usize]).sum()
    }

    /// Ends the list, prints the summary, and returns the outcome of all lines. `rules` are those of the walk.
    pub(super) fn finish(&mut self, rules: &Rules, console: &Console) -> Outcome {
        self.lines.finish(Summary {
            is_plan: !self.acts,
            repaired: self.sum(&[Word::Repair]),
            restored: self.sum(&[Word::Restore]),
            bytes: self.bytes,
            healed: self.sum(&[Word::Healed]),
            without_copy: self.sum(&[Word::NoCopy]),
            left: self.sum(LEFT) + self.others,
            refused: self.sum(&[Word::Refuse]),
            failed: self.sum(&[Word::Fail]),
            not_done: self.sum(&[Word::NotDone]),
            unused_rules: rules.unused_json(),
        });
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
        let [repaired, restored] = [Word::Repair, Word::Restore].map(|word| self.sum(&[word]));
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
        let others = [
            (self.sum(&[Word::Healed]), "healed"),
            (self.sum(&[Word::NoCopy]), "without a good copy"),
            (self.sum(LEFT), "left"),
            (self.sum(&[Word::Refuse]), "refused"),
            (self.sum(&[Word::Fail]), "failed"),
            (self.sum(&[Word::NotDone]), "not done"),
        ];
        text += &rest(others.map(|(n, what)| (n, format!("{} {what}", HumanCount(n)))));
        if !self.acts && repaired + restored > 0 {
            text += NOTHING_CHANGED;
        }
        text
    }
}

/// The words for files that are deliberately not repaired.
const LEFT: &[Word] = &[Word::Changed, Word::Missing, Word::Moved, Word::Unreadable, Word::Conflict];
