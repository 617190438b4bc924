//! Changes files in ways that are hard to see, in random order, on file systems of several kinds. Every run with
//! `--cache` must print what a checksum tool prints, which reads everything.

use std::fs::{self, File, FileTimes};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::command::Soak;
use super::figures::Figures;
use super::process::usable;
use super::reused::reused;
use super::views::View;
use crate::bench::case::{Pipeline, words};
use crate::bench::shape::mix;

/// The number of changes.
const STEPS: u64 = 3000;
const QUICK_STEPS: u64 = 150;

/// Files in each directory. All have the same size, because changes of the size are easy to see.
const FILES: u64 = 6;
const BYTES: u64 = 5000;

/// Times between a change, the run after it, and the next change. The first ones are within one tick of the clock; the
/// last is enough for files to be remembered.
const PAUSES_MS: [u64; 6] = [0, 0, 1, 4, 20, 60];

const READERS: &[&str] = &["sync", "uring"];
const WORKERS: &[&str] = &["mono", "1", "2"];
/// Algorithms, each with a tool that prints the same lines.
const ALGORITHMS: &[(&str, &str)] = &[("sha256", "sha256sum"), ("md5", "md5sum"), ("blake2b", "b2sum")];

/// A program that writes to a mapping.
const MAPPER: &str = include_str!("../../../tests/cache/mapper.c");

pub(super) fn run(soak: &Soak, figures: &mut Figures) -> Result<()> {
    let steps = if soak.options.common.quick { QUICK_STEPS } else { STEPS };
    let place = soak.scratch.path("stale");
    fs::create_dir_all(&place)?;
    let readers = usable(figures, READERS, |reader| words![&soak.ftk, "hash", "--io", reader, "Cargo.toml"]);
    let mut views = View::all(&place, figures)?;
    let mapper = mapper(&place);
    if let Err(error) = &mapper {
        figures.skip(format!("writes through a mapping: {error:#}"));
    }
    let mut mapped = Vec::new();
    for view in &views {
        for nth in 0..FILES {
            fs::write(file(view, nth), content(nth))?;
        }
        // A file system with mapped files cannot be unmounted.
        if let (Ok(mapper), true) = (&mapper, !view.has_snapshots()) {
            mapped.push((view.name, Mapped::new(mapper, &file(view, 0))?));
        }
    }
    let begun = Instant::now();
    let mut total = 0;
    for step in 0..steps {
        if soak.options.limit().is_some_and(|limit| begun.elapsed() >= limit) {
            break;
        }
        let mut dice = Dice { seed: step, rolls: 0 };
        let at = dice.below(views.len() as u64) as usize;
        let view = &mut views[at];
        let change =
            if view.has_snapshots() && dice.below(3) == 0 { *dice.of(SNAPSHOTS) } else { *dice.of(CHANGES) };
        let reader = *dice.of(&readers);
        // A file system with open files cannot be unmounted.
        let may_race = !matches!(change, Change::Save | Change::Restore);
        let racer =
            (may_race && dice.below(4) == 0).then(|| racing(soak, &place, view, reader)).transpose()?;
        let of_view = mapped.iter_mut().find(|(name, _)| *name == view.name);
        let mapped = of_view.map(|(_, mapped)| mapped);
        if racer.is_some() {
            thread::sleep(Duration::from_micros(dice.below(15_000)));
        }
        let is_done = apply(change, view, mapped, &mut dice)
            .with_context(|| format!("step {step}: {change:?} in {}", view.name))?;
        if let Some(mut racer) = racer {
            racer.wait()?;
            figures.count("changes during a run", u64::from(is_done));
        }
        figures.count(&format!("changes, {change:?}"), u64::from(is_done));
        for _ in 0..=dice.below(2) {
            thread::sleep(Duration::from_millis(*dice.of(&PAUSES_MS)));
            let workers = *dice.of(WORKERS);
            let (algorithm, tool) = *dice.of(ALGORITHMS);
            let args = [
                "hash", "-q", "--cache", "--stats", "stats", "-a", algorithm, "--io", reader, "-j", workers,
                view.name,
            ];
            let found = soak.ftk(&place, &args)?;
            let names = words!["env", "-C", &place, "find", view.name, "-type", "f", "-print0"];
            let names = Pipeline::new(names).pipe(words!["env", "LC_ALL=C", "sort", "-z"]);
            let expected = names.pipe(words!["env", "-C", &place, "xargs", "-0", tool]).output()?;
            let reused = reused(&place.join("stats"))?;
            figures.count("runs", 1);
            figures.count("digests computed by another tool", FILES);
            figures.count(&format!("digests reused, {}", view.name), reused);
            total += reused;
            let what = || format!("step {step}: {change:?} in {}: ftk {}", view.name, args.join(" "));
            if found.code != 0 || !found.err.is_empty() {
                figures.deviation(format!("{}: {}", what(), found.in_words()));
            } else if found.out != expected {
                figures.deviation(format!("{}: not what {tool} prints", what()));
            }
            if reused > 0 && !view.may_store {
                figures.deviation(format!("{}: {reused} digests were reused", what()));
            }
        }
    }
    drop(mapped); // what is mapped keeps its file system busy
    ensure!(total > 0, "no digest was reused, so nothing was tested: use --scratch with ext4, XFS or Btrfs");
    Ok(())
}

/// A change that keeps the size and, except for `Touch`, the mtime.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// Writes the whole file, and sets the old mtime.
    Rewrite,
    /// Writes the whole file at the time of the step.
    RewriteNow,
    /// Changes one byte, and sets the old mtime.
    Byte,
    /// Changes one byte at the time of the step.
    ByteNow,
    /// Changes one byte through a mapping.
    Mapped,
    /// Removes the file and makes another one, which often has its inode number.
    Recreate,
    /// Renames another file to this name.
    Replace,
    /// Exchanges two files.
    Exchange,
    /// Gives the file an mtime in the past or the future.
    Touch,
    /// Keeps a snapshot of the file system.
    Save,
    /// Restores the last snapshot.
    Restore,
}

const CHANGES: &[Change] = &[
    Change::Rewrite,
    Change::RewriteNow,
    Change::Byte,
    Change::ByteNow,
    Change::Mapped,
    Change::Recreate,
    Change::Replace,
    Change::Exchange,
    Change::Touch,
];

const SNAPSHOTS: &[Change] = &[Change::Save, Change::Restore];

/// Returns `false` if the change is impossible here.
fn apply(change: Change, view: &mut View, mapped: Option<&mut Mapped>, dice: &mut Dice) -> Result<bool> {
    // The first file stays mapped.
    let [one, other] = [1 + dice.below(FILES - 1), 1 + dice.below(FILES - 1)].map(|nth| file(view, nth));
    let (new, byte) = (content(dice.next()), [dice.next() as u8]);
    let kept = one.metadata()?.modified()?;
    let set_mtime = |path: &Path, time: SystemTime| -> Result<()> {
        Ok(File::options().write(true).open(path)?.set_times(FileTimes::new().set_modified(time))?)
    };
    let in_place = |bytes: &[u8]| File::options().write(true).open(&one)?.write_all_at(bytes, 0);
    match change {
        Change::Rewrite | Change::RewriteNow => in_place(&new)?,
        Change::Byte | Change::ByteNow => in_place(&byte)?,
        Change::Mapped => match mapped {
            // FUSE may not support shared mappings.
            Some(mapped) => return Ok(mapped.write(byte[0]).is_ok()),
            None => return Ok(false),
        },
        Change::Recreate => {
            fs::remove_file(&one)?;
            fs::write(&one, new)?;
        }
        Change::Replace => {
            let aside = one.with_extension("new");
            fs::write(&aside, new)?;
            set_mtime(&aside, kept)?;
            fs::rename(aside, &one)?;
        }
        // FUSE may not support it.
        Change::Exchange => return Ok(renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).is_ok()),
        Change::Touch => {
            let distance = Duration::from_secs(dice.below(10_000_000));
            let time = if dice.below(2) == 0 { kept + distance } else { kept - distance };
            set_mtime(&one, time)?;
        }
        Change::Save => return view.save(),
        Change::Restore => return view.restore(),
    }
    if matches!(change, Change::Rewrite | Change::Byte | Change::Recreate) {
        set_mtime(&one, kept)?;
    }
    Ok(true)
}

/// Starts a run that reads while the step changes a file. Its result does not count.
fn racing(soak: &Soak, place: &Path, view: &View, reader: &str) -> Result<Child> {
    let args = ["hash", "-q", "--cache", "-a", "sha256,md5,blake2b", "--io", reader, view.name];
    let mut command = soak.command(place, &args);
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

fn file(view: &View, nth: u64) -> PathBuf {
    view.path.join(format!("file_{nth}"))
}

fn content(seed: u64) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        (0..BYTES.div_ceil(8)).flat_map(|at| mix(seed << 20 ^ at).to_le_bytes()).collect();
    bytes.truncate(BYTES as usize);
    bytes
}

/// Builds the program that maps files.
fn mapper(place: &Path) -> Result<PathBuf> {
    let (source, program) = (place.join("mapper.c"), place.join("mapper"));
    fs::write(&source, MAPPER)?;
    let status =
        Command::new("cc").arg("-o").args([&program, &source]).status().context("cannot start cc")?;
    ensure!(status.success(), "cc ended with {status}");
    Ok(program)
}

/// A file that another process has mapped.
struct Mapped(Child);

impl Mapped {
    fn new(mapper: &Path, path: &Path) -> Result<Self> {
        let mut command = Command::new(mapper);
        Ok(Self(command.arg(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?))
    }

    /// Returns when the byte is in the mapping.
    fn write(&mut self, byte: u8) -> Result<()> {
        let (stdin, stdout) = (self.0.stdin.as_mut(), self.0.stdout.as_mut());
        stdin.context("stdin is a pipe")?.write_all(&[byte])?;
        stdout.context("stdout is a pipe")?.read_exact(&mut [0])?;
        Ok(())
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.0.stdin = None;
        _ = self.0.wait();
    }
}

/// Pseudo-random choices of one step, the same in every run.
struct Dice {
    seed: u64,
    rolls: u64,
}

impl Dice {
    fn next(&mut self) -> u64 {
        self.rolls += 1;
        mix(self.seed << 8 | self.rolls)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len() as u64) as usize]
    }
}
