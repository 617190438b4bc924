//! Prints a plan or a run: a line for each file, and a summary.

use std::collections::BTreeMap;
use std::error::Error;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ftk_apply::{ActError, Action, ActionKind, Refusal, Step, TreeError};
use ftk_dedup::Member;
use ftk_dedup::prune::{Gain, Why};
use ftk_record::{quote, sanitize};
use indicatif::{DecimalBytes, HumanCount};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Serialize, Serializer};

use crate::colour::Tone;
use crate::console::{Console, reason};
use crate::human;
use crate::journal;
use crate::rules::{Rules, UnusedRules};
use crate::stats::{Phase, nanos};
use crate::stdout::Stdout;
use crate::step_lines::{Done, NOTHING_CHANGED, StepLines, Weight, rest};

/// What was done, or would be done. The last line of JSON.
#[derive(Debug, Default, Serialize)]
struct Summary {
    action: String,
    is_plan: bool,
    files: u64,
    /// Directories handled as a whole.
    directories: u64,
    /// Bytes that are freed at most.
    freed_bytes: u64,
    /// Those of them that are freed unless other files share them.
    #[serde(rename = "is_upper_bound", skip_serializing_if = "is_zero", serialize_with = "is_positive")]
    possible: u64,
    refused: u64,
    failed: u64,
    not_done: u64,
    #[serde(skip_serializing_if = "is_zero")]
    emptied_directories: u64,
    #[serde(flatten)]
    journal: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unused_rules: UnusedRules,
}

/// Width of the path column, which most paths fit into.
const PATH_WIDTH: usize = 46;

/// Prints lines and counts them.
#[derive(Debug)]
pub(super) struct StepPrinter<'o> {
    lines: StepLines<'o>,
    kind: ActionKind,
    console: &'o Console,
    summary: Summary,
    /// The directory that files are moved to.
    destination: Option<PathBuf>,
    /// Files that get the mtime of the kept file.
    other_times: u64,
}

/// A line about a file or directory without a completed step:
/// `keep    2019/trip/IMG_2041.CR2    oldest (2019-07-02 18:22)`
#[derive(Debug)]
pub(super) struct Notice {
    pub(super) word: Word,
    pub(super) path: Vec<u8>,
    pub(super) is_directory: bool,
    pub(super) why: String,
}

/// The first word of a line.
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
    /// Returns the text and its colour.
    pub(super) fn shown(self) -> (&'static str, Option<Tone>) {
        match self {
            Self::Keep => ("keep", None),
            Self::Leave => ("leave", None),
            Self::Refuse => ("refuse", Some(Tone::Wrong)),
            Self::Fail => ("fail", Some(Tone::Wrong)),
            Self::NotDone => ("not done", Some(Tone::Notable)),
        }
    }
}

impl Notice {
    /// A step that was not done, or not completely. `whole` is `error`, or contains it and says more.
    pub(super) fn of_error(
        path: &[u8],
        is_directory: bool,
        error: &ActError,
        whole: &(dyn Error + 'static),
    ) -> Self {
        let (word, why) = match error {
            ActError::Stopped => (Word::NotDone, String::new()),
            // The victim is kept, and the following copies are linked to it instead of to the full keeper.
            ActError::Refused(Refusal::TooManyLinks) => (Word::Keep, reason(whole)),
            ActError::Refused(_) => (Word::Refuse, reason(whole)),
            _ => (Word::Fail, reason(whole)),
        };
        Self { word, path: path.to_vec(), is_directory, why }
    }

    /// Returns the line without its reason.
    pub(super) fn done(&self) -> Done<'_> {
        let (word, tone) = self.word.shown();
        let weight = match self.word {
            Word::Keep | Word::Leave => Weight::Plain,
            Word::NotDone => Weight::Problem,
            Word::Refuse | Word::Fail => Weight::Error,
        };
        Done { word, tone, path: &self.path, is_directory: self.is_directory, weight }
    }

    /// A directory that was not handled, or not completely.
    pub(super) fn of_tree(path: &[u8], error: &TreeError) -> Self {
        Self::of_error(path, true, &error.error, error)
    }
}

impl<'o> StepPrinter<'o> {
    /// `acts`: whether the plan is carried out.
    pub(super) fn new(
        out: &'o Stdout,
        action: &Action,
        json: bool,
        acts: bool,
        console: &'o Console,
    ) -> Self {
        let kind = action.kind();
        let summary = Summary { action: kind.to_string(), is_plan: !acts, ..Summary::default() };
        let lines = StepLines::new(out, json, acts && console.is_quiet(), PATH_WIDTH);
        let destination = if let Action::Move(dir) = action { Some(dir.clone()) } else { None };
        Self { lines, kind, console, summary, destination, other_times: 0 }
    }

    /// Prints a directory that became empty: `remove   inbox/trip/    empty`
    pub(super) fn emptied(&mut self, path: &[u8]) {
        self.summary.emptied_directories += 1;
        let done = done(ActionKind::RemoveDirectory, path, true);
        let is_plan = self.summary.is_plan;
        self.lines.print(done, "empty", |record| {
            record.member("is_plan", is_plan).member("is_directory", true);
        });
    }

    /// Adds files of a directory that was not handled completely.
    pub(super) fn add_files(&mut self, files: u64, frees: u64) {
        self.summary.files += files;
        self.summary.freed_bytes += frees;
    }

    /// Prints a directory that was handled or can be handled as a whole:
    /// `delete   backup/trip/    is in 2019/trip/: 1,204 files, frees 8.10 GB`
    pub(super) fn tree(&mut self, step: &Step, files: u64, frees: u64) {
        self.add_files(files, frees);
        self.summary.directories += 1;
        let Step { victim, keeper, .. } = step;
        let freed = match self.kind {
            kind if kind.moves() => String::new(),
            _ => format!(", frees {}", DecimalBytes(frees)),
        };
        let how = format!("is in {}/: {}{freed}", sanitize(&keeper.path), human::count(files, "file"));
        let is_plan = self.summary.is_plan;
        self.lines.print(done(self.kind, &victim.path, true), how, |record| {
            record
                .member("is_plan", is_plan)
                .path("keeper", &keeper.path)
                .member("is_directory", true)
                .member("files", files)
                .member("freed_bytes", frees);
        });
    }

    /// Prints a line without a step.
    pub(super) fn say(&mut self, line: Notice) {
        match line.word {
            Word::Keep | Word::Leave => {}
            Word::Refuse => {
                self.console.stats.error("refused");
                self.summary.refused += 1;
            }
            Word::Fail => {
                self.console.stats.error("act");
                self.summary.failed += 1;
            }
            Word::NotDone => self.summary.not_done += 1,
        }
        self.lines.say(line.done(), &line.why);
    }

    /// Prints a step that was done or can be done: `link    backup/IMG_2041.CR2    frees 48.20 MB`
    pub(super) fn step(&mut self, step: &Step, gain: Gain) {
        let frees = gain.most();
        self.add_files(1, frees);
        let links = matches!(self.kind, ActionKind::Hardlink | ActionKind::Symlink);
        let times = [&step.victim, &step.keeper].map(|file| file.version.mtime_ns);
        self.other_times += u64::from(links && times[0] != times[1]);
        self.summary.possible += gain.possible;
        let how = match (self.kind, frees) {
            (kind, _) if kind.moves() => String::new(),
            (_, 0) if gain.is_held => "frees nothing: other files, as in a snapshot, have its blocks".into(),
            (_, 0) => "frees nothing by itself: the file has other hard links, or no blocks".into(),
            (_, frees) if gain.possible > 0 => format!("frees up to {}", DecimalBytes(frees)),
            (_, frees) => format!("frees {}", DecimalBytes(frees)),
        };
        let is_plan = self.summary.is_plan;
        self.lines.print(done(self.kind, &step.victim.path, false), how, |record| {
            record.member("is_plan", is_plan).path("keeper", &step.keeper.path).member("freed_bytes", frees);
            if gain.possible > 0 {
                record.member("is_upper_bound", true);
            }
            if gain.is_held {
                record.member("is_held", true);
            }
        });
    }

    /// Notes where the steps of the run are recorded.
    pub(super) fn recorded_in(&mut self, journal: &Path) {
        self.summary.journal = journal::member(journal);
    }

    /// Whether any step was refused, failed, or was not done.
    pub(super) fn has_trouble(&self) -> bool {
        self.summary.refused + self.summary.failed + self.summary.not_done > 0
    }

    /// Whether any step was printed as done or possible.
    pub(super) fn has_done(&self) -> bool {
        self.summary.files + self.summary.directories > 0
    }

    /// Returns the entry for `--stats`.
    pub(super) fn phase(&self, elapsed: Duration) -> Phase {
        let failed = self.summary.refused + self.summary.failed;
        Phase {
            phase: "act",
            elapsed_ns: nanos(elapsed),
            files: Some(self.summary.files + failed),
            failed: Some(failed),
            bytes: Some(self.summary.freed_bytes - self.summary.possible),
            ..Phase::default()
        }
    }

    /// Ends the list and prints the summary, with JSON also as an object. `rules` are those of the run.
    pub(super) fn finish(&mut self, rules: &Rules) {
        self.summary.unused_rules = rules.unused_json();
        self.lines.finish(&self.summary);
        self.console.summary(self.summary.text(self.kind));
        if let Some(dir) = self.destination.as_ref().filter(|_| self.has_done()) {
            let dir = quote(dir.as_os_str().as_bytes());
            self.console.summary(format_args!("destination: {dir}, where each file has the path it had"));
        }
        if self.other_times > 0 {
            let files = human::count(self.other_times, "file");
            let get = if self.summary.is_plan { "would get" } else { "got" };
            self.console.summary(format_args!("{files} {get} the mtime of the kept file"));
        }
    }
}

impl Summary {
    /// Returns `would link 7,092 files and free 38.90 GB; 3 refused. Nothing was changed: add --yes to do
    /// it.`
    fn text(&self, kind: ActionKind) -> String {
        let mut files = human::count(self.files, "file");
        if self.directories > 0 {
            files += &format!(" and {}", human::directories(self.directories));
        }
        let up_to = if self.possible > 0 { "up to " } else { "" };
        let most = format!("{up_to}{}", DecimalBytes(self.freed_bytes));
        let free = match (self.is_plan, kind) {
            (_, kind) if kind.moves() => String::new(),
            (true, _) => format!(" and free {most}"),
            (false, _) => format!(" and freed {most}"),
        };
        let has_done = self.files + self.directories > 0;
        let has_trouble = self.refused + self.failed + self.not_done > 0;
        let mut text = match (has_done, self.is_plan) {
            (false, _) if !has_trouble => "nothing to do".into(),
            (false, true) => "nothing would be done".into(),
            (false, false) => "nothing was done".into(),
            (true, true) => format!("would {} {files}{free}", verb(kind)),
            (true, false) => format!("{} {files}{free}", words(kind)[1]),
        };
        if self.emptied_directories > 0 {
            let directories = human::directories(self.emptied_directories);
            text += &format!(", with {}", directories.replacen(' ', " empty ", 1));
        }
        let others = [(self.refused, "refused"), (self.failed, "failed"), (self.not_done, "not done")];
        text += &rest(others.map(|(n, what)| (n, format!("{} {what}", HumanCount(n)))));
        if self.is_plan && has_done {
            text += NOTHING_CHANGED;
        }
        text
    }
}

/// A line about a step that was done or can be done.
fn done(kind: ActionKind, path: &[u8], is_directory: bool) -> Done<'_> {
    Done { word: verb(kind), tone: Some(Tone::Notable), path, is_directory, weight: Weight::Plain }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn is_positive<S: Serializer>(n: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bool(*n > 0)
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
    words(kind)[0]
}

/// Returns the verb for an action, and its past tense.
fn words(kind: ActionKind) -> [&'static str; 2] {
    match kind {
        ActionKind::Hardlink => ["link", "linked"],
        ActionKind::Reflink => ["clone", "cloned"],
        ActionKind::Symlink => ["symlink", "symlinked"],
        ActionKind::Delete => ["delete", "deleted"],
        ActionKind::Move => ["move", "moved"],
        ActionKind::Trash => ["trash", "trashed"],
        ActionKind::Replace => ["repair", "repaired"],
        ActionKind::Create => ["restore", "restored"],
        ActionKind::SetMetadata => ["set metadata", "set metadata"],
        ActionKind::RemoveLink | ActionKind::RemoveDirectory => ["remove", "removed"],
        ActionKind::MoveEntry => words(ActionKind::Move),
        ActionKind::DeleteEntry => words(ActionKind::Delete),
    }
}
