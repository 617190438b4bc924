//! Progress of a run on standard error: a bar on a terminal, JSON for programs, or a line every ten seconds
//! for logs.
#![expect(unsafe_code, reason = "progress is shown by a thread that has only the standard streams")]

use std::env;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use ftk_process::{Progress as Done, Report, Watch, meanwhile};
use ftk_sched::Counters;
use indicatif::{DecimalBytes, HumanCount};
use rustix::termios::tcgetwinsize;
use serde::Serialize;

use crate::asked::{self, Watched};
use crate::console::Console;
use crate::globals::ProgressArg;
use crate::human;
use crate::meter::Meter;
use crate::stdout::Stdout;

/// How progress is shown, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    face: Option<Face>,
    /// A run that ends earlier shows nothing.
    delay: Duration,
    is_coloured: bool,
    /// Whether an option requested it.
    is_asked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Face {
    Bar,
    /// For a log: separate lines, and no control characters.
    Lines,
    Json,
}

impl Progress {
    pub(crate) fn new(when: ProgressArg) -> Self {
        let (face, delay) = match when {
            ProgressArg::Never => (None, Duration::ZERO),
            ProgressArg::Json => (Some(Face::Json), Face::Json.tick()),
            ProgressArg::Auto => (can_draw().then_some(Face::Bar), Duration::from_secs(1)),
            ProgressArg::Always if can_draw() => (Some(Face::Bar), Duration::ZERO),
            ProgressArg::Always => (Some(Face::Lines), Duration::ZERO),
        };
        let is_coloured = face == Some(Face::Bar) && Console::is_coloured();
        Self { face, delay, is_coloured, is_asked: when != ProgressArg::Auto }
    }

    /// Returns the progress for work that prints lines on standard output. It is shown only if an option
    /// requested it, because a bar would disturb the lines.
    pub(crate) fn during_output(self) -> Self {
        Self { face: self.face.filter(|_| self.is_asked), ..self }
    }

    /// Returns the progress for work that prints a line for each file: on a terminal, that of
    /// [`during_output`](Self::during_output).
    pub(crate) fn between_lines(self) -> Self {
        if Stdout::is_terminal() { self.during_output() } else { self }
    }

    /// Runs a walk that counts its entries. `work` calls its argument with the number so far, to answer a
    /// request for progress.
    pub(crate) fn walk<T>(self, entries: &AtomicU64, work: impl FnOnce(&(dyn Fn(u64) + Sync)) -> T) -> T {
        let _watched = Watched::begin();
        let shown = Shown::new(self, "walk");
        let status = |entries| Status { entries: Some(entries), ..shown.status() };
        // No thread waits for a request by SIGUSR1: a visitor polls for it.
        let work = || work(&|entries| shown.answer(&status(entries)));
        let Some(face) = self.face else { return work() };
        let so_far = || status(entries.load(Ordering::Relaxed));
        // SAFETY: `show` reads a counter and writes to standard error. It uses no other descriptor.
        let result = unsafe { meanwhile(self.delay, face.tick(), &|| shown.show(&so_far(), None), work) };
        shown.finish(&so_far());
        result
    }

    /// Runs `work` on `files` files; `work` reports its progress to the watch. `phase`: what is done, as a
    /// verb.
    pub(crate) fn files(
        self,
        phase: &'static str,
        files: u64,
        work: impl FnOnce(Watch<'_>) -> Report,
    ) -> Report {
        let course = self.course(phase, files, None);
        let report = course.files(work);
        course.finish();
        report
    }

    /// Starts the progress of work on `files` files that is done in several parts. `limit`: the time after which it
    /// ends in any case.
    pub(crate) fn course(self, phase: &'static str, files: u64, limit: Option<Duration>) -> Course {
        let meter = Mutex::new(Meter::new(files).until(limit));
        Course { shown: Shown::new(self, phase), meter, done: Mutex::default() }
    }

    /// Like [`files`](Self::files), for work that only counts what it has done. Short work (`is_short`) starts no
    /// thread unless progress is shown.
    pub(crate) fn counted<T>(
        self,
        phase: &'static str,
        files: u64,
        is_short: bool,
        counters: WorkCounters<'_>,
        work: impl FnOnce() -> T,
    ) -> T {
        if is_short && self.face.is_none() {
            asked::doing(&"comparing");
            return work();
        }
        self.metered(phase, files, |look| {
            // SAFETY: `look` writes to standard error and uses no other descriptor; `sum` reads counters.
            let result = unsafe { meanwhile(LOOK, LOOK, &|| look(counters.sum()), work) };
            (result, counters.sum())
        })
    }

    /// Runs a phase that calls its argument now and then with what is done. It returns its result and what was done
    /// at its end.
    fn metered<T>(
        self,
        phase: &'static str,
        files: u64,
        run: impl FnOnce(&(dyn Fn(Done) + Sync)) -> (T, Done),
    ) -> T {
        let course = self.course(phase, files, None);
        let result = course.part(run);
        course.finish();
        result
    }
}

/// The counters of work that is running.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WorkCounters<'c> {
    /// Those of a team of workers.
    Team(&'c Counters),
    /// Those of files.
    Files(&'c FileCounters),
    /// The bytes that were read of a pair of files, and those of both files together.
    Pair(&'c AtomicU64, u64),
}

impl WorkCounters<'_> {
    /// Returns what is done.
    fn sum(self) -> Done {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        match self {
            Self::Team(counters) => counters.sum(),
            Self::Files(FileCounters { files, bytes }) => {
                Done { files: load(files), bytes: load(bytes), ..Done::default() }
            }
            Self::Pair(bytes, total) => {
                let bytes = load(bytes).min(total);
                Done { files: 0, bytes, large_files: 1, large_bytes: total - bytes }
            }
        }
    }
}

/// Counts files that are done, and their bytes.
#[derive(Debug, Default)]
pub(crate) struct FileCounters {
    pub(crate) files: AtomicU64,
    bytes: AtomicU64,
}

impl FileCounters {
    /// Counts a file of this many bytes.
    pub(crate) fn add(&self, bytes: u64) {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The progress of work that is done in parts.
pub(crate) struct Course {
    shown: Shown,
    meter: Mutex<Meter>,
    /// What the parts before have done.
    done: Mutex<Done>,
}

impl Course {
    /// Runs a part of the work, which reports its progress to the watch.
    pub(crate) fn files(&self, work: impl FnOnce(Watch<'_>) -> Report) -> Report {
        self.part(|look| {
            // SAFETY: `look` writes to standard error and uses no other descriptor.
            let watch = unsafe { Watch::new(LOOK, LOOK, look) };
            // If nothing is shown, no thread waits for a request by SIGUSR1: the workers poll for it.
            let is_hidden = self.shown.face.is_none();
            let report = work(if is_hidden { watch.when(&asked::is_asked) } else { watch });
            let done = report.done;
            (report, done)
        })
    }

    /// Runs a part that calls its argument now and then with what it has done, and returns its result and what was
    /// done at its end.
    fn part<T>(&self, run: impl FnOnce(&(dyn Fn(Done) + Sync)) -> (T, Done)) -> T {
        let _watched = Watched::begin();
        let before = *lock(&self.done);
        let sum =
            |done: Done| Done { files: before.files + done.files, bytes: before.bytes + done.bytes, ..done };
        let (result, done) = run(&|done| self.shown.look(&self.meter, sum(done)));
        *lock(&self.done) = sum(done);
        result
    }

    /// Removes the bar, or prints the last object.
    pub(crate) fn finish(&self) {
        let mut meter = lock(&self.meter);
        meter.update(self.shown.start.elapsed(), *lock(&self.done));
        self.shown.finish(&self.shown.status().of(&meter));
    }
}

impl std::fmt::Debug for Course {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Course").field("phase", &self.shown.phase).finish_non_exhaustive()
    }
}

/// Interval at which a thread checks whether something must be shown.
const LOOK: Duration = Duration::from_millis(100);

impl Face {
    fn tick(self) -> Duration {
        Duration::from_millis(match self {
            Self::Bar => 100,
            Self::Json => 500,
            Self::Lines => 10_000,
        })
    }
}

/// The progress of a phase. As JSON it is one line; unknown members are omitted.
#[derive(Debug, Default, Serialize)]
struct Status {
    phase: &'static str,
    elapsed_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u64>,
    #[serde(flatten)]
    files: Option<Files>,
}

#[derive(Debug, Serialize)]
struct Files {
    files: u64,
    files_total: u64,
    bytes: u64,
    /// Known once every file has been opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_total: Option<u64>,
    bytes_per_s: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    eta_ms: Option<u64>,
}

impl Status {
    fn of(self, meter: &Meter) -> Self {
        let done = meter.done();
        let files = Files {
            files: done.files,
            files_total: meter.files(),
            bytes: done.bytes,
            bytes_total: meter.bytes_total(),
            bytes_per_s: meter.bytes_per_s(),
            eta_ms: meter.eta().map(|eta| eta.as_millis() as u64),
        };
        Self { files: Some(files), ..self }
    }

    /// Returns the text without a bar: `eta 5 min   1.21 of 1.95 TB   2.30 GB/s   184,201 of 291,770 files`
    fn text(&self) -> String {
        self.parts(true, true)
    }

    /// Returns the time left and the rate, with these other parts.
    fn parts(&self, has_bytes: bool, has_files: bool) -> String {
        if let Some(entries) = self.entries {
            return format!("{} entries", HumanCount(entries));
        }
        let Some(it) = &self.files else { return String::new() };
        let eta = it.eta_ms.map(|ms| format!("eta {}", human::rough_time(Duration::from_millis(ms))));
        let bytes = || match it.bytes_total {
            Some(total) => human::part(it.bytes, total),
            None => DecimalBytes(it.bytes).to_string(),
        };
        let files = || format!("{} of {}", HumanCount(it.files), human::count(it.files_total, "file"));
        let parts = [
            eta,
            has_bytes.then(bytes),
            Some(format!("{}/s", DecimalBytes(it.bytes_per_s))),
            has_files.then(files),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("   ")
    }
}

/// The line of a terminal: a bar, and the text after it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Layout {
    /// Whether the phase comes first.
    has_phase: bool,
    /// Columns of the bar; 0: no bar.
    bar: usize,
    has_percent: bool,
}

impl Layout {
    /// Chooses the fullest line that fits into `width` columns, and its text. `doing`: the phase. The time
    /// left and the rate are never dropped.
    fn fitting(width: usize, doing: &str, has_bar: bool, status: &Status) -> (Self, String) {
        // Bar, percentage, phase, bytes, files.
        const CHOICES: [(usize, bool, bool, bool, bool); 8] = [
            (24, true, true, true, true),
            (12, true, true, true, true),
            (24, true, true, true, false),
            (12, true, true, true, false),
            (12, true, true, false, false),
            (0, true, true, false, false),
            (0, false, true, false, false),
            (0, false, false, false, false),
        ];
        let choice = |(bar, has_percent, has_phase, has_bytes, has_files)| {
            let bar = if has_bar { bar } else { 0 };
            let layout = Self { has_phase, bar, has_percent: has_percent && has_bar };
            (layout, status.parts(has_bytes, has_files))
        };
        let mut choices = CHOICES.into_iter().map(choice);
        let fits = |(layout, text): &(Self, String)| layout.columns(doing) + text.chars().count() <= width;
        choices.find(fits).unwrap_or_else(|| choice(CHOICES[CHOICES.len() - 1]))
    }

    /// Columns before the text.
    fn columns(&self, doing: &str) -> usize {
        let phase = if self.has_phase { doing.chars().count() + 2 } else { 0 };
        let bar = if self.bar > 0 { self.bar + 2 } else { 0 };
        2 + phase + bar + if self.has_percent { 8 } else { 0 }
    }

    /// Returns the line. `fraction`: the part of the work that is done.
    fn line(&self, doing: &str, fraction: f64, text: &str, is_coloured: bool) -> String {
        let mut line = String::from("  ");
        if self.has_phase {
            line.extend([doing, "  "]);
        }
        if self.bar > 0 {
            let filled = fraction * self.bar as f64;
            let full = (filled as usize).min(self.bar);
            let end = usize::from(filled > 0.0 && full < self.bar);
            let cyan =
                if is_coloured { Style::new().fg_color(Some(AnsiColor::Cyan.into())) } else { Style::new() };
            let [before, at, after] =
                [("━", full), ("╸", end), ("─", self.bar - full - end)].map(|(c, n)| c.repeat(n));
            line += &format!("{cyan}{before}{at}{cyan:#}{after}  ");
        }
        if self.has_percent {
            line += &format!("{:>3} %   ", (fraction * 100.0) as u64);
        }
        line + text
    }
}

/// Whether standard error is a terminal that can move its cursor.
fn can_draw() -> bool {
    Console::is_terminal() && env::var_os("TERM").is_some_and(|term| term != "dumb")
}

/// Returns the columns of the terminal that is standard error.
fn width() -> usize {
    match tcgetwinsize(io::stderr()) {
        Ok(size) if size.ws_col > 0 => size.ws_col.into(),
        _ => 80,
    }
}

/// A phase that is running.
struct Shown {
    face: Option<Face>,
    phase: &'static str,
    start: Instant,
    /// The line that is on the terminal, if any.
    drawn: Mutex<Option<String>>,
    is_coloured: bool,
    /// When progress is shown next.
    due: Mutex<Instant>,
}

impl Shown {
    /// Starts a phase. Nothing is drawn before the first [`show`](Self::show).
    fn new(progress: Progress, phase: &'static str) -> Self {
        let Progress { face, is_coloured, delay, .. } = progress;
        let start = Instant::now();
        Self { face, phase, start, drawn: Mutex::default(), is_coloured, due: Mutex::new(start + delay) }
    }

    fn status(&self) -> Status {
        Status { phase: self.phase, elapsed_ms: self.start.elapsed().as_millis() as u64, ..Status::default() }
    }

    /// Updates the progress, answers a request for it, and shows it if it is due.
    fn look(&self, meter: &Mutex<Meter>, done: Done) {
        let mut meter = lock(meter);
        meter.update(self.start.elapsed(), done);
        let status = self.status().of(&meter);
        if asked::take() {
            self.answer(&status);
        }
        let (now, mut due) = (Instant::now(), lock(&self.due));
        if let Some(face) = self.face
            && now >= *due
        {
            *due = now + face.tick();
            self.show(&status, Some(meter.fraction()));
        }
    }

    /// Prints one line in answer to a request, whether or not progress is shown.
    fn answer(&self, status: &Status) {
        let took = human::time(self.start.elapsed());
        let line = format!("  {}  {}   after {took}", self.doing(), status.text());
        let drawn = lock(&self.drawn);
        match &*drawn {
            Some(drawn) => Console::draw(&format!("{CLEAR}{line}\n{drawn}")),
            None => Console::line(line),
        }
    }

    fn doing(&self) -> String {
        format!("{}ing", self.phase.trim_end_matches('e'))
    }

    /// Shows the progress. `fraction`: the part of the work that is done, if known.
    fn show(&self, status: &Status, fraction: Option<f64>) {
        match self.face {
            None => {}
            Some(Face::Json) => {
                Console::line(serde_json::to_string(status).expect("numbers and names are JSON"));
            }
            Some(Face::Lines) => Console::line(format_args!("  {}  {}", self.doing(), status.text())),
            Some(Face::Bar) => {
                let (width, doing) = (width(), self.doing());
                let (layout, text) = Layout::fitting(width, &doing, fraction.is_some(), status);
                let line = layout.line(&doing, fraction.unwrap_or_default(), &text, self.is_coloured);
                // Only text without a bar and colours can be too long.
                let line = if layout.bar > 0 { line } else { line.chars().take(width).collect() };
                let mut drawn = lock(&self.drawn);
                Console::draw(&format!("{CLEAR}{line}"));
                *drawn = Some(line);
            }
        }
    }

    /// Removes the bar, or prints the last object.
    fn finish(&self, status: &Status) {
        match self.face {
            Some(Face::Json) => self.show(status, None),
            Some(Face::Bar) if lock(&self.drawn).take().is_some() => Console::draw(CLEAR),
            Some(Face::Bar | Face::Lines) | None => {}
        }
    }
}

/// Removes the line on the terminal.
const CLEAR: &str = "\r\x1b[2K";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(done: Done, files: u64) -> Status {
        let mut meter = Meter::new(files);
        meter.update(Duration::from_secs(10), done);
        Status { phase: "hash", elapsed_ms: 10_000, ..Status::default() }.of(&meter)
    }

    #[test]
    fn people_get_a_line_of_text() {
        let done = Done { files: 100, bytes: 2_000_000, large_files: 0, large_bytes: 0 };
        let text = status(done, 300).text();
        assert_eq!(text, "eta 20 s   2.00 MB   200.00 kB/s   100 of 300 files");
        let done = Done { files: 2, bytes: 1_210_000_000, large_files: 1, large_bytes: 740_000_000 };
        let text = status(done, 3).text();
        assert_eq!(text, "eta 6 s   1.21 of 1.95 GB   121.00 MB/s   2 of 3 files");
    }

    #[test]
    fn counters_of_all_kinds() {
        let counters = Counters::default();
        counters.of(0).add_file(false);
        counters.of(0).add_bytes(7, false);
        assert_eq!(WorkCounters::Team(&counters).sum(), Done { files: 1, bytes: 7, ..Done::default() });
        let counters = FileCounters::default();
        counters.add(5);
        counters.add(4);
        assert_eq!(WorkCounters::Files(&counters).sum(), Done { files: 2, bytes: 9, ..Done::default() });
        // A file may grow while it is compared.
        for (read, bytes, large_bytes) in [(0, 0, 10), (6, 6, 4), (12, 10, 0)] {
            let expected = Done { files: 0, bytes, large_files: 1, large_bytes };
            assert_eq!(WorkCounters::Pair(&AtomicU64::new(read), 10).sum(), expected);
        }
    }

    /// A status whose parts are all long.
    fn long_status() -> Status {
        let files = Files {
            files: 184_201_555,
            files_total: 291_770_123,
            bytes: 999_990_000_000,
            bytes_total: Some(1_950_000_000_000),
            bytes_per_s: 999_990_000,
            eta_ms: Some((23 * 60 + 59) * 60_000),
        };
        Status { phase: "compare", files: Some(files), ..Status::default() }
    }

    #[test]
    fn rate_and_time_left_fit_every_width() {
        let status = long_status();
        for (width, bar, text) in [
            (40, 0, "eta 23 h 59 min   999.99 MB/s"),
            (60, 0, "eta 23 h 59 min   999.99 MB/s"),
            (64, 12, "eta 23 h 59 min   999.99 MB/s"),
            (80, 12, "eta 23 h 59 min   999.99 MB/s"),
            (90, 12, "eta 23 h 59 min   999.99 GB of 1.95 TB   999.99 MB/s"),
            (120, 24, "eta 23 h 59 min   999.99 GB of 1.95 TB   999.99 MB/s"),
            (140, 24, &*status.text()),
        ] {
            let (layout, fitting) = Layout::fitting(width, "comparing", true, &status);
            assert_eq!((layout.bar, &*fitting), (bar, text), "{width}");
            assert!(layout.columns("comparing") + fitting.chars().count() <= width, "{width}");
        }
        let usual = super::tests::status(
            Done { files: 2_000, bytes: 1_210_000_000, large_files: 1, large_bytes: 740_000_000 },
            2_001,
        );
        for (width, text) in [
            (40, "eta 6 s   121.00 MB/s"),
            (60, "eta 6 s   121.00 MB/s"),
            (80, "eta 6 s   1.21 of 1.95 GB   121.00 MB/s"),
            (120, "eta 6 s   1.21 of 1.95 GB   121.00 MB/s   2,000 of 2,001 files"),
        ] {
            assert_eq!(Layout::fitting(width, "hashing", true, &usual).1, text, "{width}");
        }
        let walk = Status { phase: "walk", entries: Some(123_456_789), ..Status::default() };
        let (layout, text) = Layout::fitting(40, "walking", false, &walk);
        assert_eq!((layout.bar, &*text), (0, "123,456,789 entries"));
    }

    #[test]
    fn lines_of_a_terminal() {
        let line = |has_phase, bar, has_percent, fraction, is_coloured| {
            Layout { has_phase, bar, has_percent }.line("hashing", fraction, "eta 6 s", is_coloured)
        };
        assert_eq!(line(true, 0, false, 0.5, true), "  hashing  eta 6 s");
        assert_eq!(line(false, 0, true, 0.059, false), "    5 %   eta 6 s");
        for (fraction, bar) in [
            (0.0, "────    0 %"),
            (0.01, "╸───    1 %"),
            (0.5, "━━╸─   50 %"),
            (0.99, "━━━╸   99 %"),
            (1.0, "━━━━  100 %"),
        ] {
            assert_eq!(line(true, 4, true, fraction, false), format!("  hashing  {bar}   eta 6 s"));
        }
        assert_eq!(line(false, 3, false, 0.4, true), "  \u{1b}[36m━╸\u{1b}[0m─  eta 6 s");
        for bar in [0, 12, 24] {
            let layout = Layout { has_phase: true, bar, has_percent: bar > 0 };
            let drawn = layout.line("hashing", 0.7, "", false).chars().count();
            assert_eq!(drawn, layout.columns("hashing"), "{bar}");
        }
    }

    #[test]
    fn programs_get_json() {
        let json = |status: &Status| serde_json::to_string(status).unwrap();
        let done = Done { files: 2, bytes: 1000, large_files: 1, large_bytes: 500 };
        let expected = r#"{"phase":"hash","elapsed_ms":10000,"files":2,"files_total":3,"bytes":1000,"bytes_total":1500,"bytes_per_s":100,"eta_ms":5000}"#;
        assert_eq!(json(&status(done, 3)), expected);
        let walk = Status { phase: "walk", elapsed_ms: 7, entries: Some(12), files: None };
        assert_eq!(json(&walk), r#"{"phase":"walk","elapsed_ms":7,"entries":12}"#);
        assert_eq!(walk.text(), "12 entries");
    }
}
