//! How far a run is, on standard error: a bar on a terminal, JSON for programs, now and then a line for logs.
#![expect(
    unsafe_code,
    reason = "progress is shown by a thread that has only the standard streams; and a name of C's"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ftk_process::{Progress as Done, Report, Watch, meanwhile};
use indicatif::{DecimalBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::args::ProgressArg;
use crate::asked::{self, Watched};
use crate::console::Console;
use crate::human;
use crate::meter::Meter;

/// What is shown of a run, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    face: Option<Face>,
    /// A run that is over sooner shows nothing.
    delay: Duration,
    is_coloured: bool,
    /// Whether it was asked for, and not merely thought useful.
    is_asked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Face {
    Bar,
    /// For a log: nothing moves.
    Lines,
    Json,
}

impl Progress {
    pub(crate) fn new(when: ProgressArg) -> Self {
        let (face, delay) = match when {
            ProgressArg::Never => (None, Duration::ZERO),
            ProgressArg::Json => (Some(Face::Json), Face::Json.tick()),
            ProgressArg::Auto => (Console::is_terminal().then_some(Face::Bar), Duration::from_secs(1)),
            // A terminal that cannot move its cursor gets lines.
            ProgressArg::Always if !ProgressDrawTarget::stderr().is_hidden() => {
                (Some(Face::Bar), Duration::ZERO)
            }
            ProgressArg::Always => (Some(Face::Lines), Duration::ZERO),
        };
        let is_coloured = face == Some(Face::Bar) && Console::is_coloured();
        Self { face, delay, is_coloured, is_asked: when != ProgressArg::Auto }
    }

    /// The same for a walk that prints while it goes: a bar would be in the way of the lines.
    pub(crate) fn beside_output(self) -> Self {
        Self { face: self.face.filter(|_| self.is_asked), ..self }
    }

    /// Runs a walk that counts its entries; `work` gets what says how many there are so far, if somebody asks.
    pub(crate) fn walk<T>(self, entries: &AtomicU64, work: impl FnOnce(&(dyn Fn(u64) + Sync)) -> T) -> T {
        let _watched = Watched::begin();
        let shown = Shown::new(self, "walk");
        let status = |entries| Status { entries: Some(entries), ..shown.status() };
        // No thread waits for the question: a visitor looks for it.
        let work = || work(&|entries| shown.answer(&status(entries)));
        let Some(face) = self.face else { return work() };
        let so_far = || status(entries.load(Ordering::Relaxed));
        // SAFETY: what is shown reads a counter and goes to standard error. No other descriptor is used.
        let result = unsafe { meanwhile(self.delay, face.tick(), &|| shown.show(&so_far(), None), work) };
        shown.finish(&so_far());
        result
    }

    /// Runs `work` on `files` files, which tells the watch how far it is. `phase`: what is done, as a verb.
    pub(crate) fn files(
        self,
        phase: &'static str,
        files: u64,
        work: impl FnOnce(Option<Watch<'_>>) -> Report,
    ) -> Report {
        let _watched = Watched::begin();
        let shown = Shown::new(self, phase);
        let meter = Mutex::new(Meter::new(files));
        let show = |done: Done| shown.look(&meter, done);
        // SAFETY: `show` writes to standard error and uses no other descriptor.
        let watch = unsafe { Watch::new(LOOK, LOOK, &show) };
        // Where nothing is shown, no thread waits for the question: workers look for it.
        let watch = if self.face.is_none() { watch.when(&asked::is_asked) } else { watch };
        let report = work(Some(watch));
        let mut meter = lock(&meter);
        meter.update(shown.start.elapsed(), report.done);
        shown.finish(&shown.status().of(&meter));
        report
    }

    /// The same for work that only counts what it does: `done` says at any time how far it is. Work that is over
    /// soon (`is_short`) starts no thread unless progress is shown.
    pub(crate) fn counted<T>(
        self,
        phase: &'static str,
        files: u64,
        is_short: bool,
        done: &(dyn Fn() -> Done + Sync),
        work: impl FnOnce() -> T,
    ) -> T {
        if is_short && self.face.is_none() {
            asked::doing(&"comparing");
            return work();
        }
        let _watched = Watched::begin();
        let shown = Shown::new(self, phase);
        let meter = Mutex::new(Meter::new(files));
        // SAFETY: `look` writes to standard error and uses no other descriptor; every `done` of this program reads counters.
        let result = unsafe { meanwhile(LOOK, LOOK, &|| shown.look(&meter, done()), work) };
        let mut meter = lock(&meter);
        meter.update(shown.start.elapsed(), done());
        shown.finish(&shown.status().of(&meter));
        result
    }
}

/// How often a thread looks whether something is to be shown.
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

/// How far a phase is. As JSON it is one line; what is not known is left out.
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
    /// Not before all files that are left have been looked at.
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

    /// `eta 5 min   1.21 of 1.95 TB   2.30 GB/s   184,201 of 291,770 files`; what a narrow terminal cuts off comes last.
    fn text(&self) -> String {
        let entries = self.entries.map(|n| format!("{} entries", HumanCount(n)));
        let files = self.files.as_ref().map(|it| {
            let bytes = match it.bytes_total {
                Some(total) => human::part(it.bytes, total),
                None => DecimalBytes(it.bytes).to_string(),
            };
            let eta = it.eta_ms.map(|ms| format!("eta {}   ", human::rough_time(Duration::from_millis(ms))));
            format!(
                "{}{bytes}   {}/s   {} of {}",
                eta.unwrap_or_default(),
                DecimalBytes(it.bytes_per_s),
                HumanCount(it.files),
                human::count(it.files_total, "file"),
            )
        });
        entries.or(files).unwrap_or_default()
    }
}

/// One phase on its way.
struct Shown {
    face: Option<Face>,
    phase: &'static str,
    start: Instant,
    bar: ProgressBar,
    is_coloured: bool,
    /// When it is shown next, if somebody wants to see it.
    due: Mutex<Instant>,
}

impl Shown {
    /// Nothing is drawn before the first [`show`](Self::show).
    fn new(progress: Progress, phase: &'static str) -> Self {
        let Progress { face, is_coloured, delay, .. } = progress;
        let bar = ProgressBar::with_draw_target(Some(LENGTH), ProgressDrawTarget::hidden());
        let start = Instant::now();
        Self { face, phase, start, bar, is_coloured, due: Mutex::new(start + delay) }
    }

    fn status(&self) -> Status {
        Status { phase: self.phase, elapsed_ms: self.start.elapsed().as_millis() as u64, ..Status::default() }
    }

    /// Takes in how far it is, answers who asked, and shows it if it is due.
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

    /// One line for who asked, whatever else is shown.
    fn answer(&self, status: &Status) {
        let took = human::time(self.start.elapsed());
        let line = format!("  {}  {}   after {took}", self.doing(), status.text());
        self.bar.suspend(|| Console::line(line));
    }

    fn doing(&self) -> String {
        format!("{}ing", self.phase.trim_end_matches('e'))
    }

    /// `fraction`: how much is done, where that can be said.
    fn show(&self, status: &Status, fraction: Option<f64>) {
        match self.face {
            None => {}
            Some(Face::Json) => {
                Console::line(serde_json::to_string(status).expect("numbers and names are JSON"));
            }
            Some(Face::Lines) => Console::line(format_args!("  {}  {}", self.doing(), status.text())),
            Some(Face::Bar) => {
                if self.bar.is_hidden() {
                    self.bar.set_style(style(fraction.is_some(), self.is_coloured));
                    self.bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                self.bar.set_prefix(self.doing());
                self.bar.set_message(status.text());
                self.bar.set_position((fraction.unwrap_or_default() * LENGTH as f64) as u64);
            }
        }
    }

    /// The bar goes; a program is told how it ended.
    fn finish(&self, status: &Status) {
        match self.face {
            Some(Face::Json) => self.show(status, None),
            Some(Face::Bar) => self.bar.finish_and_clear(),
            Some(Face::Lines) | None => {}
        }
    }
}

/// Steps of the bar: more than it has columns, so that its end moves by eighths.
const LENGTH: u64 = 1000;

fn style(has_bar: bool, is_coloured: bool) -> ProgressStyle {
    let template = match (has_bar, is_coloured) {
        (true, true) => "  {prefix}  {bar:24.cyan}  {percent:>3} %   {wide_msg}",
        (true, false) => "  {prefix}  {bar:24}  {percent:>3} %   {wide_msg}",
        (false, _) => "  {prefix}  {wide_msg}",
    };
    ProgressStyle::with_template(template).expect("the template is sound").progress_chars("━╸─")
}

/// The one function of C's mathematics that is called, by the bar's estimates. Were it not linked in, the library would
/// be loaded by every run.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
// SAFETY: the name is C's, and so is what the function does.
#[unsafe(no_mangle)]
extern "C" fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

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
    fn a_person_reads_what_is_known() {
        let done = Done { files: 100, bytes: 2_000_000, large_files: 0, large_bytes: 0 };
        let text = status(done, 300).text();
        assert_eq!(text, "eta 20 s   2.00 MB   200.00 kB/s   100 of 300 files");
        let done = Done { files: 2, bytes: 1_210_000_000, large_files: 1, large_bytes: 740_000_000 };
        let text = status(done, 3).text();
        assert_eq!(text, "eta 6 s   1.21 of 1.95 GB   121.00 MB/s   2 of 3 files");
    }

    #[test]
    fn a_program_reads_json() {
        let json = |status: &Status| serde_json::to_string(status).unwrap();
        let done = Done { files: 2, bytes: 1000, large_files: 1, large_bytes: 500 };
        let expected = r#"{"phase":"hash","elapsed_ms":10000,"files":2,"files_total":3,"bytes":1000,"bytes_total":1500,"bytes_per_s":100,"eta_ms":5000}"#;
        assert_eq!(json(&status(done, 3)), expected);
        let walk = Status { phase: "walk", elapsed_ms: 7, entries: Some(12), files: None };
        assert_eq!(json(&walk), r#"{"phase":"walk","elapsed_ms":7,"entries":12}"#);
        assert_eq!(walk.text(), "12 entries");
    }
}
