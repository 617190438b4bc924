//! Prints a plan or a run: a line for each file, and a summary.

use std::fmt::Display;
use std::time::Duration;

use ftk_apply::{ActionKind, Step};
use ftk_dedup::Member;
use ftk_dedup::prune::{Gain, Why};
use ftk_record::{RecordWriter, sanitize, write_record};
use indicatif::{DecimalBytes, HumanCount};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::colour::{self, Tone};
use crate::human;
use crate::rules::{Rules, UnusedRules};
use crate::stats::{Phase, nanos};
use crate::stdout::{Lines, Stdout};

/// The summary as the last line of JSON.
#[derive(Serialize)]
struct Summary {
    action: String,
    is_plan: bool,
    files: u64,
    directories: u64,
    frees_bytes: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_upper_bound: bool,
    refused: u64,
    failed: u64,
    not_done: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    emptied_directories: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unused_rules: UnusedRules,
}

/// Width of the path column, which most paths fit into.
const PATH_WIDTH: usize = 46;

/// Prints lines and counts them.
#[derive(Debug)]
pub(super) struct StepPrinter<'o> {
    lines: Lines<'o>,
    kind: ActionKind,
    json: bool,
    is_coloured: bool,
    /// Whether the plan is carried out.
    acts: bool,
    done: u64,
    /// Directories handled as a whole.
    directories: u64,
    /// Directories that became empty and are removed.
    emptied: u64,
    freed: u64,
    /// Bytes that are freed unless other files share them.
    possible: u64,
    refused: u64,
    failed: u64,
    not_done: u64,
}

/// The first word of a line about a file without a completed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Keep,
    /// Not touched, because of a rule.
    Leave,
    Refuse,
    Fail,
    /// The run ended before this step.
    NotDone,
}

impl Word {
    fn text(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Leave => "leave",
            Self::Refuse => "refuse",
            Self::Fail => "fail",
            Self::NotDone => "not done",
        }
    }

    fn tone(self) -> Option<Tone> {
        match self {
            Self::Keep | Self::Leave => None,
            Self::NotDone => Some(Tone::Notable),
            Self::Refuse | Self::Fail => Some(Tone::Wrong),
        }
    }
}

impl<'o> StepPrinter<'o> {
    pub(super) fn new(out: &'o Stdout, kind: ActionKind, json: bool, acts: bool) -> Self {
        let (done, directories, emptied, freed, possible, refused, failed, not_done) =
            (0, 0, 0, 0, 0, 0, 0, 0);
        Self {
            lines: Lines::new(out),
            kind,
            json,
            is_coloured: colour::wanted(),
            acts,
            done,
            directories,
            emptied,
            freed,
            possible,
            refused,
            failed,
            not_done,
        }
    }

    /// Prints a directory that became empty: `remove   inbox/trip/    empty`
    pub(super) fn emptied(&mut self, path: &[u8]) {
        self.emptied += 1;
        let word = verb(ActionKind::RemoveDirectory);
        match self.json {
            true => self.object(word, path, |record| _ = record.member("is_directory", true)),
            false => self.line(word, Some(Tone::Notable), &[path, b"/"].concat(), "empty"),
        }
    }

    /// Prints a line about a directory without a step.
    pub(super) fn say_dir(&mut self, word: Word, path: &[u8], why: impl Display) {
        match self.json || path.ends_with(b"/") {
            true => self.say(word, path, why),
            false => self.say(word, &[path, b"/"].concat(), why),
        }
    }

    /// Adds files of a directory that was not handled completely.
    pub(super) fn add_files(&mut self, files: u64, frees: u64) {
        self.done += files;
        self.freed += frees;
    }

    /// Prints a directory that was handled or can be handled as a whole:
    /// `delete   backup/trip/    is in 2019/trip/: 1,204 files, frees 8.10 GB`
    pub(super) fn tree(&mut self, step: &Step, files: u64, frees: u64) {
        self.add_files(files, frees);
        self.directories += 1;
        let (word, Step { victim, keeper, .. }) = (verb(self.kind), step);
        if self.json {
            self.object(word, &victim.path, |record| {
                record
                    .path("keeper", &keeper.path)
                    .member("is_directory", true)
                    .member("files", files)
                    .member("frees_bytes", frees);
            });
        } else {
            let path = [&victim.path[..], b"/"].concat();
            let frees = if self.kind == ActionKind::Move {
                String::new()
            } else {
                format!(", frees {}", DecimalBytes(frees))
            };
            let how = format!("is in {}/: {}{frees}", sanitize(&keeper.path), human::count(files, "file"));
            self.line(word, Some(Tone::Notable), &path, &how);
        }
    }

    /// Prints a line without a step: `keep    2019/trip/IMG_2041.CR2    oldest (2019-07-02 18:22)`
    pub(super) fn say(&mut self, word: Word, path: &[u8], why: impl Display) {
        match word {
            Word::Keep | Word::Leave => {}
            Word::Refuse => self.refused += 1,
            Word::Fail => self.failed += 1,
            Word::NotDone => self.not_done += 1,
        }
        let why = why.to_string();
        if self.json {
            self.object(word.text(), path, |record| {
                if !why.is_empty() {
                    record.member("why", why);
                }
            });
        } else {
            self.line(word.text(), word.tone(), path, &why);
        }
    }

    /// Prints a step that was done or can be done: `link    backup/IMG_2041.CR2    frees 48.20 MB`
    pub(super) fn step(&mut self, step: &Step, gain: Gain) {
        self.done += 1;
        self.freed += gain.certain;
        self.possible += gain.possible;
        let frees = gain.most();
        let word = verb(self.kind);
        if self.json {
            self.object(word, &step.victim.path, |record| {
                record.path("keeper", &step.keeper.path).member("frees_bytes", frees);
                if gain.possible > 0 {
                    record.member("is_upper_bound", true);
                }
                if gain.is_held {
                    record.member("is_held", true);
                }
            });
        } else {
            let how = match (self.kind, frees) {
                (ActionKind::Move, _) => String::new(),
                (_, 0) if gain.is_held => {
                    "frees nothing: other files, as in a snapshot, have its blocks".into()
                }
                (_, 0) => "frees nothing by itself: the file has other hard links, or no blocks".into(),
                (_, frees) if gain.possible > 0 => format!("frees up to {}", DecimalBytes(frees)),
                (_, frees) => format!("frees {}", DecimalBytes(frees)),
            };
            self.line(word, Some(Tone::Notable), &step.victim.path, &how);
        }
    }

    fn line(&mut self, word: &str, tone: Option<Tone>, path: &[u8], why: &str) {
        let path = sanitize(path);
        let style = tone.map(|tone| tone.style(self.is_coloured)).unwrap_or_default();
        self.lines.line(|out| {
            let line = format!("  {style}{word:<8}{style:#} {path:<PATH_WIDTH$} {why}");
            out.extend_from_slice(line.trim_end().as_bytes());
            out.push(b'\n');
        });
    }

    fn object(&mut self, word: &str, path: &[u8], add: impl FnOnce(&mut RecordWriter<'_, '_>)) {
        self.lines.line(|out| write_record(out, |record| add(record.member("do", word).path("path", path))));
    }

    /// Whether any step was refused, failed, or was not done.
    pub(super) fn has_trouble(&self) -> bool {
        self.refused + self.failed + self.not_done > 0
    }

    /// Whether any step was printed as done or possible.
    pub(super) fn has_done(&self) -> bool {
        self.done + self.directories > 0
    }

    /// Returns the entry for `--stats`.
    pub(super) fn phase(&self, elapsed: Duration) -> Phase {
        let failed = self.refused + self.failed;
        Phase {
            phase: "act",
            elapsed_ns: nanos(elapsed),
            files: Some(self.done + failed),
            failed: Some(failed),
            bytes: Some(self.freed),
            ..Phase::default()
        }
    }

    /// Ends the list. With JSON, prints a summary object. `rules` are those of the run.
    pub(super) fn finish(&mut self, rules: &Rules) {
        if self.json {
            let Self { kind, acts, done, directories, emptied, freed, possible, .. } = *self;
            let Self { refused, failed, not_done, .. } = *self;
            let (action, is_plan) = (kind.to_string(), !acts);
            let summary = Summary {
                action,
                is_plan,
                files: done,
                directories,
                frees_bytes: freed + possible,
                is_upper_bound: possible > 0,
                refused,
                failed,
                not_done,
                emptied_directories: (emptied > 0).then_some(emptied),
                unused_rules: rules.unused_json(),
            };
            self.lines.line(|out| write_record(out, |record| _ = record.member("summary", summary)));
        }
        self.lines.flush();
    }

    /// Returns `would link 7,092 files and free 38.90 GB; 3 refused. Nothing was changed: add --yes to do
    /// it.`
    pub(super) fn summary(&self) -> String {
        let mut files = human::count(self.done, "file");
        if self.directories > 0 {
            let n = self.directories;
            let noun = if n == 1 { "directory" } else { "directories" };
            files += &format!(" and {} {noun}", HumanCount(n));
        }
        let up_to = if self.possible > 0 { "up to " } else { "" };
        let most = format!("{up_to}{}", DecimalBytes(self.freed + self.possible));
        let free = match (self.acts, self.kind) {
            (_, ActionKind::Move) => String::new(),
            (false, _) => format!(" and free {most}"),
            (true, _) => format!(" and freed {most}"),
        };
        let mut text = match (self.done + self.directories, self.acts) {
            (0, _) => "nothing to do".into(),
            (_, false) => format!("would {} {files}{free}", verb(self.kind)),
            (_, true) => format!("{} {files}{free}", past(self.kind)),
        };
        if self.emptied > 0 {
            let noun = if self.emptied == 1 { "directory" } else { "directories" };
            text += &format!(", with {} empty {noun}", HumanCount(self.emptied));
        }
        let rest = [(self.refused, "refused"), (self.failed, "failed"), (self.not_done, "not done")];
        for (n, what) in rest.into_iter().filter(|(n, _)| *n > 0) {
            text += &format!("; {} {what}", HumanCount(n));
        }
        if !self.acts && self.has_done() {
            text += ". Nothing was changed: add --yes to do it.";
        }
        text
    }
}

/// Returns the reason for keeping a member, such as `oldest (2019-07-02 18:22)`.
pub(super) fn kept_because(why: Why, member: &Member) -> String {
    match why {
        Why::Oldest | Why::Newest => match date(member) {
            Some(date) => format!("{why} ({date})"),
            None => why.to_string(),
        },
        _ => why.to_string(),
    }
}

/// Returns the time of the last content change, such as `2019-07-02 18:22`. `None` if it is outside of the calendar.
pub(super) fn date(member: &Member) -> Option<String> {
    let time = Timestamp::from_nanosecond(member.version.mtime_ns).ok()?;
    Some(time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
}

/// Returns the verb for an action.
pub(super) fn verb(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Hardlink => "link",
        ActionKind::Reflink => "clone",
        ActionKind::Symlink => "symlink",
        ActionKind::Delete => "delete",
        ActionKind::Move => "move",
        ActionKind::Replace => "repair",
        ActionKind::Create => "restore",
        ActionKind::RemoveLink | ActionKind::RemoveDirectory => "remove",
    }
}

fn past(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Hardlink => "linked",
        ActionKind::Reflink => "cloned",
        ActionKind::Symlink => "symlinked",
        ActionKind::Delete => "deleted",
        ActionKind::Move => "moved",
        ActionKind::Replace => "repaired",
        ActionKind::Create => "restored",
        ActionKind::RemoveLink | ActionKind::RemoveDirectory => "removed",
    }
}
