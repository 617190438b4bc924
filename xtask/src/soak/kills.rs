//! Kills runs with `--cache` at random moments. The next run prints what a run without the cache prints, and reuses what
//! was stored: everything that was read more than ten seconds before the kill.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::fs::{Advice, fadvise};

use super::command::Soak;
use super::figures::Figures;
use super::process::usable;
use super::reused::{reused, stored};
use crate::bench::case::{Pipeline, words};
use crate::bench::interrupt;
use crate::bench::scratch;
use crate::bench::shape::{self, Shape, mix};

/// Kills of each kind of run.
const KILLS: u64 = 50;
const QUICK_KILLS: u64 = 4;

/// A killed run loses at most the work of this time.
const MAX_LOSS: Duration = Duration::from_secs(10);

/// Slow runs take about this many seconds.
const SLOW_SECONDS: u64 = 25;
const QUICK_SLOW_SECONDS: u64 = 14;

/// The number of slow runs at a time. They mostly wait.
const SLOW_LANES: u64 = 4;

/// The workers of a run, and the number of files that each may have in progress: in its reader, or finished and not
/// yet sent to the store.
const WORKERS: u64 = 2;
const IN_PROGRESS: u64 = 128;

const READERS: &[&str] = &["sync", "uring"];

/// A kind of run.
#[derive(Clone, Copy)]
struct Kind {
    shape: Shape,
    reader: &'static str,
    /// Whether `--limit-rate` makes it last, so that digests are stored while it runs.
    is_slow: bool,
}

pub(super) fn run(soak: &Soak, figures: &mut Figures) -> Result<()> {
    let is_quick = soak.options.common.quick;
    let kills = soak.options.kills.unwrap_or(if is_quick { QUICK_KILLS } else { KILLS });
    let fast: &[Shape] =
        if is_quick { &[shape::MIXED_SMALL] } else { &[shape::SMALL, shape::MEDIUM, shape::MIXED] };
    let slow: &[Shape] = if is_quick { &[shape::SMALL] } else { &[shape::SMALL, shape::MIXED] };
    let readers = usable(figures, READERS, |reader| words![&soak.ftk, "hash", "--io", reader, "Cargo.toml"]);
    let begun = Instant::now();
    let figures = Mutex::new(figures);
    for (shapes, is_slow) in [(fast, false), (slow, true)] {
        for &shape in shapes {
            let lanes = (0..if is_slow { SLOW_LANES.min(kills) } else { 1 })
                .map(|nth| Lane::new(soak, &shape, nth))
                .collect::<Result<Vec<_>>>()?;
            for reader in &readers {
                let kind = Kind { shape, reader, is_slow };
                let count = lanes.len();
                thread::scope(|scope| {
                    let lanes: Vec<_> = lanes
                        .iter()
                        .enumerate()
                        .map(|(nth, lane)| {
                            let (figures, moments) = (&figures, (nth as u64..kills).step_by(count));
                            scope.spawn(move || lane.kill(kind, moments, begun, figures))
                        })
                        .collect();
                    let ended = lanes.into_iter().map(|lane| lane.join().expect("a lane does not panic"));
                    ended.collect::<Result<Vec<_>>>()
                })?;
            }
            lanes.iter().try_for_each(|lane| scratch::remove(&lane.place))?;
        }
    }
    Ok(())
}

/// A tree with a store of its own.
struct Lane<'s> {
    soak: &'s Soak,
    /// The directory in which runs start. It contains `tree`.
    place: PathBuf,
    files: Vec<PathBuf>,
    bytes: u64,
    /// The list that every complete run writes.
    expected: Vec<u8>,
}

impl<'s> Lane<'s> {
    fn new(soak: &'s Soak, shape: &Shape, nth: u64) -> Result<Self> {
        let place = soak.scratch.path(&format!("kills-{}-{nth}", shape.name));
        let tree = place.join("tree");
        fs::create_dir_all(&tree)?;
        shape.make(&tree)?;
        rustix::fs::sync(); // the pages of a file that is not on the disk cannot be dropped
        let mut lane = Self { soak, place, files: Vec::new(), bytes: 0, expected: Vec::new() };
        let list = Pipeline::new(words!["find", &tree, "-type", "f", "-print0"]).output()?;
        for path in list.split(|&byte| byte == 0).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(std::str::from_utf8(path)?);
            lane.bytes += path.metadata()?.len();
            lane.files.push(path);
        }
        let mut sums = words!["env", "-C", &lane.place, "LC_ALL=C", "xargs", "-0"];
        sums.extend(words!["sha256sum"]);
        let names = words!["env", "-C", &lane.place, "find", "tree", "-type", "f", "-print0"];
        lane.expected =
            Pipeline::new(names).pipe(words!["env", "LC_ALL=C", "sort", "-z"]).pipe(sums).output()?;
        Ok(lane)
    }

    /// Kills a run at each of these moments.
    fn kill(
        &self,
        kind: Kind,
        moments: impl Iterator<Item = u64>,
        begun: Instant,
        figures: &Mutex<&mut Figures>,
    ) -> Result<()> {
        let longest = self.longest(kind)?;
        for nth in moments {
            if self.soak.options.limit().is_some_and(|limit| begun.elapsed() >= limit) {
                break;
            }
            let dice = mix(nth << 8 | u64::from(kind.is_slow));
            let moment = longest.mul_f64((dice >> 32) as f64 / f64::from(u32::MAX));
            let trial = self.trial(kind, moment)?;
            let mut figures = figures.lock().unwrap_or_else(PoisonError::into_inner);
            let name = format!("{} --io {}", kind.shape.name, kind.reader);
            figures.count(&format!("kills, {name}{}", if kind.is_slow { ", slow" } else { "" }), 1);
            figures.count("runs that ended before the kill", u64::from(trial.is_late));
            figures.count("digests reused after a kill", trial.reused);
            figures.count("files that must have been stored", trial.due);
            for fault in trial.faults {
                figures.deviation(format!("{name}, killed after {moment:?}: {fault}"));
            }
        }
        Ok(())
    }

    /// Returns how long a run of this kind takes.
    fn longest(&self, kind: Kind) -> Result<Duration> {
        if kind.is_slow {
            return Ok(Duration::from_secs(self.slow_seconds()));
        }
        self.forget()?;
        let begun = Instant::now();
        let status = self.start(kind, &[])?.wait()?;
        ensure!(status.success(), "the run ended with {status}");
        Ok(begun.elapsed())
    }

    fn slow_seconds(&self) -> u64 {
        if self.soak.options.common.quick { QUICK_SLOW_SECONDS } else { SLOW_SECONDS }
    }

    fn trial(&self, kind: Kind, moment: Duration) -> Result<Trial> {
        self.forget()?;
        let mut trial = Trial::default();
        let slow = ["--limit-rate".to_owned(), (self.bytes / self.slow_seconds()).max(1).to_string()];
        let mut child = self.start(kind, if kind.is_slow { &slow } else { &[] })?;
        if kind.is_slow && moment > MAX_LOSS {
            sleep(moment - MAX_LOSS)?;
            trial.due = self.cached()?.saturating_sub(WORKERS * IN_PROGRESS);
            sleep(MAX_LOSS)?;
        } else {
            sleep(moment)?;
        }
        child.kill()?;
        trial.is_late = child.wait()?.success();
        trial.is_late |= self.check_list(&mut trial.faults, trial.is_late)?;
        let stored = stored(self.soak, &self.place)?;
        if stored < trial.due {
            trial.faults.push(format!("{} files were read ten seconds ago, {stored} are stored", trial.due));
        }
        scratch::remove(&self.place.join("sums"))?;
        self.drop_pages()?;
        let status = self.start(kind, &["--stats".into(), "stats".into()])?.wait()?;
        if !status.success() {
            trial.faults.push(format!("the next run ended with {status}"));
            return Ok(trial);
        }
        self.check_list(&mut trial.faults, true)?;
        trial.reused = reused(&self.place.join("stats"))?;
        // Each name of a file with several names counts.
        if trial.reused < stored {
            trial.faults.push(format!("{stored} digests were stored, and {} reused", trial.reused));
        }
        Ok(trial)
    }

    /// Removes the store, and what the last run wrote, and drops the pages of the tree.
    fn forget(&self) -> Result<()> {
        for name in [".cache", "sums"] {
            scratch::remove(&self.place.join(name))?;
        }
        self.drop_pages()
    }

    fn drop_pages(&self) -> Result<()> {
        for path in &self.files {
            fadvise(File::open(path)?, 0, None, Advice::DontNeed)?;
        }
        Ok(())
    }

    /// Returns how many files have pages in memory.
    fn cached(&self) -> Result<u64> {
        let tree = self.place.join("tree");
        let files = Pipeline::new(words!["find", &tree, "-type", "f", "-size", "+0", "-print0"]);
        let pages = files.pipe(words!["xargs", "-0", "fincore", "-n", "-r", "-o", "PAGES"]).output()?;
        Ok(pages.split(|&byte| byte == b'\n').filter(|line| !matches!(*line, b"" | b"0")).count() as u64)
    }

    fn start(&self, kind: Kind, more: &[String]) -> Result<Child> {
        interrupt::check()?;
        let workers = WORKERS.to_string();
        let mut args: Vec<OsString> =
            words!["hash", "tree", "--cache", "-q", "-o", "sums", "-j", &workers, "--io", kind.reader];
        args.extend(more.iter().map(OsString::from));
        let mut command = self.soak.command(&self.place, &args);
        command.stdout(Stdio::null()).spawn().context("cannot start the command")
    }

    /// Checks the list that a run wrote, and returns whether there is one.
    fn check_list(&self, faults: &mut Vec<String>, must_exist: bool) -> Result<bool> {
        let path = self.place.join("sums");
        if !must_exist && !path.exists() {
            return Ok(false);
        }
        if fs::read(&path)? != self.expected {
            faults.push("the list differs from that of sha256sum".into());
        }
        Ok(true)
    }
}

/// One killed run, and the run after it.
#[derive(Default)]
struct Trial {
    /// Whether the run had written its list.
    is_late: bool,
    /// At least so many files had been read [`MAX_LOSS`] before the kill.
    due: u64,
    reused: u64,
    faults: Vec<String>,
}

/// # Errors
/// After an interrupt.
fn sleep(time: Duration) -> Result<()> {
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        interrupt::check()?;
        thread::sleep(left.min(Duration::from_secs(1)));
    }
    Ok(())
}
