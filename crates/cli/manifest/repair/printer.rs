//! Prints a plan or a run of `repair`: a line for each file, and a summary.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use ftk_file::Version;
use ftk_manifest::{Entry, Field, OtherMetadata, Recorded, Shift, Unasked};
use indicatif::{DecimalBytes, HumanCount};
use serde::Serialize;

use crate::colour::Tone;
use crate::console::{Console, Outcome};
use crate::human;
use crate::manifest::fields;
use crate::manifest::shift::push_json;
use crate::rules::{Rules, UnusedRules};
use crate::stats::{Phase, nanos};
use crate::stdout::Stdout;
use crate::step_lines::{Done, NOTHING_CHANGED, StepLines, Weight, rest};

/// Width of the path column, which most paths fit into.
const PATH_WIDTH: usize = 40;

/// The first word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A damaged file is replaced.
    Repair,
    /// A missing file is created.
    Restore,
    /// A modified file is replaced.
    Replace,
    /// Recorded metadata is put back.
    Metadata,
    /// A name becomes a hard link again.
    Join,
    /// The file has its recorded content again.
    Healed,
    /// The file was changed since it was marked.
    Changed,
    /// The file is missing, and missing files are not restored.
    Missing,
    /// The file was renamed.
    Moved,
    Unreadable,
    /// The file lacks rights, which are never given, or attributes that only root can set.
    LacksRights,
    /// The names of a recorded file lead to several, or those of several to one.
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
            Self::Replace => ("replace", Tone::Good, Outcome::Success),
            Self::Metadata => ("metadata", Tone::Good, Outcome::Success),
            Self::Join => ("join", Tone::Good, Outcome::Success),
            Self::Healed => ("healed", Tone::Good, Outcome::Success),
            Self::Moved => ("leave", Tone::Notable, Outcome::Success),
            Self::Changed | Self::Missing | Self::LacksRights => ("leave", Tone::Notable, Outcome::Negative),
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
    replaced: u64,
    metadata: u64,
    joined: u64,
    bytes: u64,
    healed: u64,
    without_copy: u64,
    left: u64,
    refused: u64,
    failed: u64,
    not_done: u64,
    respelled: u64,
    /// The marks of damage that are removed from the manifest.
    marks_removed: u64,
    /// Files that have grown and were not compared.
    grown: u64,
    unasked: UnaskedCounts,
    #[serde(flatten)]
    journal: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unused_rules: UnusedRules,
}

/// What could be restored with other options.
#[derive(Serialize)]
struct UnaskedCounts {
    missing: u64,
    modified: u64,
    metadata: u64,
    links: u64,
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
    respelled: u64,
    unasked: Unasked,
    outcome: Outcome,
    /// The marks of damage that are removed from the manifest.
    pub(super) marks_removed: u64,
    /// Files that have grown as their rules permit, and were not compared.
    pub(super) grown: u64,
    /// The member that names the journal, if it has steps.
    pub(super) journal: BTreeMap<String, String>,
}

impl<'o> Printer<'o> {
    pub(super) fn new(out: &'o Stdout, json: bool, acts: bool, console: &Console) -> Self {
        Self {
            lines: StepLines::new(out, json, acts && console.is_quiet(), PATH_WIDTH),
            acts,
            counts: [0; Word::COUNT],
            bytes: 0,
            others: 0,
            respelled: 0,
            unasked: Unasked::default(),
            outcome: Outcome::Success,
            marks_removed: 0,
            grown: 0,
            journal: BTreeMap::new(),
        }
    }

    /// Prints a shift of nearly all times as JSON.
    pub(super) fn shift(&mut self, shift: Option<&Shift>) {
        if let Some(shift) = shift {
            self.lines.object(|out| push_json(out, "action", shift));
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

    /// Prints a modified file that is or would be replaced: `replace  a.txt    0 B of 2026-11-26T10:00:00+00:00
    /// → 812 B of 2026-01-02T03:04:05+00:00 from /backup/a.txt`
    pub(super) fn modified(&mut self, path: &[u8], from: From<'_>, now: &Version, recorded: &Recorded) {
        let (size, mtime_ns) = (recorded.stat.size, recorded.stat.mtime_ns);
        let mtime_ns = recorded.knows(Field::Mtime).then_some(mtime_ns);
        let from_shown = match from {
            From::Copy(from) => {
                self.bytes += size;
                format!("from {}", human::shown(from))
            }
            From::Link(to) => link_text(to),
        };
        let shown = |size, time: Option<i128>| match time {
            Some(time) => format!("{} of {}", DecimalBytes(size), human::local_time(time)),
            None => DecimalBytes(size).to_string(),
        };
        let (now_shown, then) = (shown(now.size, Some(now.mtime_ns)), shown(size, mtime_ns));
        let why = format!("{now_shown} {} {then} {from_shown}", human::ARROW);
        let done = self.count(Word::Replace, path);
        self.lines.print(done, why, |record| {
            match from {
                From::Copy(from) => record.path("from", from),
                From::Link(to) => record.path("link_of", to),
            };
            record.member("size_bytes", size).member("mtime_ns", mtime_ns);
            record.member("now_size_bytes", now.size).member("now_mtime_ns", now.mtime_ns);
        });
    }

    /// Prints an entry whose metadata is or would be put back: `metadata a.txt    mode 0600 → 0644`
    pub(super) fn metadata(&mut self, other: &OtherMetadata) {
        let [now, recorded] = &other.entries();
        let changes = other.changed.iter().map(|field| fields::change(*field, [now, recorded], [&[]; 2]));
        let mut why = changes.collect::<Vec<_>>().join(", ");
        if other.lacks_rights {
            why += ", without set-ID bits and capabilities";
            self.outcome = self.outcome.max(Outcome::Negative);
        }
        let weight = if other.lacks_rights { Weight::Problem } else { Weight::Plain };
        let done = Done { weight, ..self.count(Word::Metadata, &other.path) };
        self.lines.print(done, why, |record| {
            let value = |field: Field, entry: &Entry<'_>| {
                let mut json = Vec::new();
                field.write_value(&mut json, entry, &[]);
                serde_json::from_slice(&json).unwrap_or(serde_json::Value::Null)
            };
            let change = |field: &Field| Change {
                field: field.name(),
                old: value(*field, now),
                new: value(*field, recorded),
            };
            record.member("changes", other.changed.iter().map(change).collect::<Vec<_>>());
        });
    }

    /// Prints a name that is or would be a hard link of another one.
    pub(super) fn link(&mut self, word: Word, path: &[u8], to: &[u8]) {
        let done = self.count(word, path);
        self.lines.print(done, link_text(to), |record| _ = record.path("link_of", to));
    }

    /// Counts a line.
    fn count<'p>(&mut self, word: Word, path: &'p [u8]) -> Done<'p> {
        self.counts[word as usize] += 1;
        let (word, tone, outcome) = word.shown();
        self.outcome = self.outcome.max(outcome);
        let weight = match word {
            "refuse" | "fail" => Weight::Error,
            // A file that cannot be read was reported when it was read.
            _ if outcome > Outcome::Success => Weight::Problem,
            _ => Weight::Plain,
        };
        Done { word, tone: Some(tone), path, is_directory: false, weight }
    }

    /// Counts missing entries that cannot be restored: links and special files.
    pub(super) fn others(&mut self, others: u64) {
        self.others = others;
        if others > 0 {
            self.outcome = self.outcome.max(Outcome::Negative);
        }
    }

    /// Counts names in another normal form than the recorded ones. They stay as they are.
    pub(super) fn respelled(&mut self, names: u64) {
        self.respelled = names;
        if names > 0 {
            self.outcome = self.outcome.max(Outcome::Negative);
        }
    }

    /// Counts what could be restored with other options.
    pub(super) fn unasked(&mut self, unasked: Unasked) {
        self.unasked = unasked;
        if unasked != Unasked::default() {
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
            files: Some(
                self.sum(&[Word::Repair, Word::Restore, Word::Replace, Word::Metadata, Word::Join]) + failed,
            ),
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
            replaced: self.sum(&[Word::Replace]),
            metadata: self.sum(&[Word::Metadata]),
            joined: self.sum(&[Word::Join]),
            bytes: self.bytes,
            healed: self.sum(&[Word::Healed]),
            without_copy: self.sum(&[Word::NoCopy]),
            left: self.sum(LEFT) + self.others,
            refused: self.sum(&[Word::Refuse]),
            failed: self.sum(&[Word::Fail]),
            not_done: self.sum(&[Word::NotDone]),
            respelled: self.respelled,
            marks_removed: self.marks_removed,
            grown: self.grown,
            unasked: UnaskedCounts {
                missing: self.unasked.missing,
                modified: self.unasked.modified,
                metadata: self.unasked.metadata,
                links: self.unasked.links,
            },
            journal: std::mem::take(&mut self.journal),
            unused_rules: rules.unused_json(),
        });
        console.summary(self.summary());
        if self.others > 0 {
            let others = match self.others {
                1 => "1 missing link, special file or empty directory".into(),
                n => format!("{} missing links, special files or empty directories", HumanCount(n)),
            };
            console.summary(format_args!("{others} cannot be restored by repair"));
        }
        if self.grown > 0 {
            let files = human::count(self.grown, "file");
            let [stay, them] =
                if self.grown == 1 { ["stays as it is", "it"] } else { ["stay as they are", "them"] };
            console.summary(format_args!(
                "{files} grew, as the rules permit, and {stay}: `ftk manifest verify` compares what was recorded of \
                 {them}"
            ));
        }
        if self.respelled > 0 {
            let names = human::count(self.respelled, "name");
            console.summary(format_args!(
                "{names} in another Unicode normal form than recorded: repair renames nothing, update records them"
            ));
        }
        self.outcome
    }

    /// Returns `would repair 2 files and restore 1 file, 96.40 MB; 1 without a good copy. Nothing was changed: add
    /// --yes to do it.`
    fn summary(&self) -> String {
        let parts = [
            (Word::Repair, "repair", "repaired", "file"),
            (Word::Replace, "replace", "replaced", "modified file"),
            (Word::Restore, "restore", "restored", "missing file"),
            (Word::Metadata, "put back the metadata of", "put back the metadata of", "entry"),
            (Word::Join, "join", "joined", "hard link"),
        ];
        let parts = parts.into_iter().map(|(word, plan, done, what)| (self.sum(&[word]), plan, done, what));
        let parts: Vec<_> = parts
            .filter(|(n, ..)| *n > 0)
            .map(|(n, plan, done, what)| {
                let what = if what == "entry" { human::entries(n) } else { human::count(n, what) };
                format!("{} {what}", if self.acts { done } else { plan })
            })
            .collect();
        let unasked = self.unasked_text();
        let is_damaged = self.sum(&[
            Word::Changed,
            Word::NoCopy,
            Word::Missing,
            Word::Unreadable,
            Word::Refuse,
            Word::Fail,
        ]) > 0;
        let mut text = match &parts[..] {
            [] if is_damaged && self.acts => "nothing was repaired".to_owned(),
            [] if is_damaged => "nothing would be repaired".to_owned(),
            [] if unasked.is_empty() && self.others + self.respelled == 0 => "nothing to do".to_owned(),
            [] => "no damage".to_owned(),
            [first, rest @ ..] => {
                let would = if self.acts { "" } else { "would " };
                let rest: String = rest.iter().map(|part| format!(" and {part}")).collect();
                let bytes = format!(", {}", DecimalBytes(self.bytes));
                // Names that become hard links need no bytes.
                format!("{would}{first}{rest}{}", if self.bytes > 0 { &bytes } else { "" })
            }
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
        if !unasked.is_empty() {
            text += &format!("; {unasked}");
        }
        if !self.acts && !parts.is_empty() {
            text += NOTHING_CHANGED;
        }
        text
    }

    /// Returns `1 missing (--missing restores it), 3 with other metadata (--metadata restores it)`.
    fn unasked_text(&self) -> String {
        let Unasked { missing, modified, metadata, links } = self.unasked;
        let counts = [
            (missing, "missing (--missing restores it)"),
            (modified, "modified (--modified restores it)"),
            (metadata, "with other metadata (--metadata restores it)"),
            (links, "whose hard links are separate files (--metadata joins them)"),
        ];
        let counts = counts.iter().filter(|(n, _)| *n > 0);
        counts.map(|(n, what)| format!("{} {what}", HumanCount(*n))).collect::<Vec<_>>().join(", ")
    }
}

/// Where the content of a file comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum From<'f> {
    /// A file of a copy.
    Copy(&'f [u8]),
    /// Another name in the tree.
    Link(&'f [u8]),
}

fn link_text(to: &[u8]) -> String {
    format!("as a hard link of {}", human::shown(to))
}

/// The words for files that are deliberately not repaired.
const LEFT: &[Word] =
    &[Word::Changed, Word::Missing, Word::Moved, Word::Unreadable, Word::LacksRights, Word::Conflict];

/// The change of a field in JSON.
#[derive(Serialize)]
struct Change {
    field: &'static str,
    /// The present value.
    old: serde_json::Value,
    /// The recorded value.
    new: serde_json::Value,
}
