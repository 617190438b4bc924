//! `ftk manifest repair`, killed before each system call that changes anything, and with calls that fail. Every
//! name leads to the old file or to the complete new one. `undo` restores the tree, and another repair
//! completes the work.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::kills::changes;
use super::prunes::problem;
use super::scene::{Extent, faults};
use super::trace::{Fault, calls, can_inject, failing};
use crate::harness::{Dir, Ftk, is_root};
use crate::manifest::repair::{damage, keep};

/// A tree with a damaged file that has two names, another damaged file, a truncated one, a missing file in a missing
/// directory, and a file and a directory with other metadata. Of three hard links, one was edited as a separate file and one is
/// missing. One of two others is a separate file with other permissions.
struct Stage {
    dir: Dir,
    /// What the repair restores from, next to the tree: a copy or a parity file.
    from: &'static str,
    damaged: [(&'static str, Vec<u8>); 5],
}

const GOOD: [(&str, &[u8]); 11] = [
    ("a", b"good"),
    ("b", b"good"),
    ("e", b"other"),
    ("d/gone", b"gone"),
    ("sub/cut", b"whole"),
    ("sub/m", b"m"),
    ("h/1", b"links"),
    ("h/2", b"links"),
    ("h/3", b"links"),
    ("p/1", b"pair"),
    ("p/2", b"pair"),
];

/// The recorded permissions of entries, and the present ones.
const MODES: [(&str, u32, u32); 2] = [("sub/m", 0o640, 0o604), ("sub", 0o750, 0o707)];

/// The recorded mtime of these, in seconds.
const TIME: u64 = 1_000_000_000;

fn set_mode(dir: &Dir, name: &str, mode: u32) {
    fs::set_permissions(dir.path(name), fs::Permissions::from_mode(mode)).unwrap();
}

fn set_time(dir: &Dir, name: &str, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    fs::File::open(dir.path(name)).unwrap().set_modified(time).unwrap();
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The sources of the repairs.
const SOURCES: [&str; 2] = ["copy", "parity"];

impl Stage {
    fn new(from: &'static str) -> Self {
        let dir = Dir::new();
        dir.file("a", b"good").hard_link("a", "b").file("e", b"other").file("d/gone", b"gone");
        dir.file("sub/cut", b"whole").file("sub/m", b"m");
        dir.file("h/1", b"links").hard_link("h/1", "h/2").hard_link("h/1", "h/3");
        dir.file("p/1", b"pair").hard_link("p/1", "p/2");
        for (name, recorded, _) in MODES {
            set_mode(&dir, name, recorded);
            set_time(&dir, name, TIME);
        }
        keep(&dir);
        // All contents share one block, which one recovery block restores.
        let protect = dir.ftk(["manifest", "protect", "."]).arg(dir.aside("manifest"));
        protect.arg("-o").arg(dir.aside("parity")).run().status(0);
        damage(&dir.path("a"));
        damage(&dir.path("e"));
        fs::remove_dir_all(dir.path("d")).unwrap();
        fs::write(dir.path("sub/cut"), "").unwrap();
        fs::remove_file(dir.path("h/3")).unwrap();
        for (name, content) in [("h/1", "edited"), ("p/1", "pair")] {
            fs::remove_file(dir.path(name)).unwrap();
            fs::write(dir.path(name), content).unwrap();
        }
        set_mode(&dir, "p/1", 0o600);
        for (name, _, present) in MODES {
            if is_root() {
                chown(dir.path(name), Some(12), None).unwrap();
            }
            set_mode(&dir, name, present);
            set_time(&dir, name, TIME + 5);
        }
        let damaged = ["a", "b", "e", "sub/cut", "h/1"].map(|name| (name, fs::read(dir.path(name)).unwrap()));
        Self { dir, from, damaged }
    }

    fn repair(&self, journal: &str) -> Ftk {
        let dir = &self.dir;
        let words = ["manifest", "repair", ".", "--missing", "--modified", "--metadata", "--yes"];
        let ftk = dir.ftk(words).args(["-j", "1", "--io", "sync", "--other-root"]);
        ftk.arg(dir.aside("manifest"))
            .arg("--from")
            .arg(dir.aside(self.from))
            .arg("--journal")
            .arg(dir.aside(journal))
    }

    fn undo(&self) -> Ftk {
        self.dir.ftk(["undo"]).arg(self.dir.aside("journal"))
    }

    /// Returns permissions, owner and mtime.
    fn metadata(&self, name: &str) -> (u32, u32, i64) {
        let it = fs::metadata(self.dir.path(name)).unwrap();
        (it.mode() & 0o7777, it.uid(), it.mtime())
    }

    fn links(&self, name: &str) -> u64 {
        fs::metadata(self.dir.path(name)).unwrap().nlink()
    }

    fn content(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.dir.path(name)).ok()
    }

    /// Checks that every name leads to a complete file.
    fn check(&self) -> Result<(), String> {
        for (name, good) in GOOD {
            let content = self.content(name);
            let old = self.damaged.iter().find(|(damaged, _)| *damaged == name).map(|(_, content)| content);
            let is_gone = content.is_none() && ["d/gone", "h/3"].contains(&name);
            if content.as_deref() != Some(good) && content.as_ref() != old && !is_gone {
                return Err(format!("{name} is neither old nor new"));
            }
        }
        for (name, recorded, present) in MODES {
            let (mode, uid, _) = self.metadata(name);
            if ![recorded, present, recorded & present].contains(&mode) || ![0, 12, user()].contains(&uid) {
                return Err(format!("{name} has mode {mode:o} and owner {uid}"));
            }
        }
        Ok(())
    }

    fn check_old(&self) -> Result<(), String> {
        let is_old = self.damaged.iter().all(|(name, content)| self.content(name).as_ref() == Some(content))
            && ["d/gone", "h/3"].iter().all(|name| self.content(name).is_none())
            && self.metadata("p/1").0 == 0o600
            && ["h/1", "h/2", "p/1", "p/2"].iter().all(|name| self.links(name) == 1);
        let uid = if is_root() { 12 } else { user() };
        let [file, directory] = MODES.map(|(name, ..)| self.metadata(name));
        // The time of a directory changes when names in it do.
        let is_old = is_old
            && file == (MODES[0].2, uid, TIME as i64 + 5)
            && (directory.0, directory.1) == (MODES[1].2, uid);
        if is_old && self.strays().is_empty() {
            Ok(())
        } else {
            Err(format!("not undone: {:?}", self.strays()))
        }
    }

    /// Repairs what is left, and verifies the tree.
    fn complete(&self) -> Result<(), String> {
        let run = self.repair("second").run();
        let is_good = GOOD.iter().all(|(name, good)| self.content(name).as_deref() == Some(*good));
        let has_metadata =
            MODES.iter().all(|(name, mode, _)| self.metadata(name) == (*mode, user(), TIME as i64));
        if run.code() != 0 || !is_good || !has_metadata {
            return Err(format!("not completed: status {}\n{}{}", run.code(), run.text(), run.err));
        }
        let manifest = self.dir.aside("manifest");
        let verified = self.dir.ftk(["manifest", "verify", ".", "--ignore", "mode"]).arg(manifest).run();
        match verified.text().lines().find(|line| !line.contains(".ftk-")) {
            None => Ok(()),
            Some(line) => Err(format!("after the repair: {line}")),
        }
    }

    fn strays(&self) -> Vec<PathBuf> {
        let directories = ["", "d", "sub", "h", "p"].map(|name| self.dir.path(name));
        let entries = directories.iter().filter_map(|path| fs::read_dir(path).ok()).flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.to_string_lossy().contains(".ftk-")).collect()
    }

    /// Returns whether the journal has a complete line.
    fn has_journal(&self) -> bool {
        fs::read(self.dir.aside("journal")).is_ok_and(|journal| journal.contains(&b'\n'))
    }
}

#[test]
fn h06_killed_while_repairing() {
    kill(SOURCES[0]);
}

#[test]
fn h06_killed_while_repairing_with_parity() {
    kill(SOURCES[1]);
}

fn kill(from: &'static str) {
    if !can_inject() {
        return;
    }
    let stage = Stage::new(from);
    let (_, calls) = calls(stage.repair("journal"), &stage.dir);
    let calls: Vec<_> = calls.iter().filter(|call| changes(call)).collect();
    assert!(calls.len() > 30, "{calls:?}");
    let mut problems = Vec::new();
    for (nth, call) in calls.iter().enumerate() {
        let stage = Stage::new(from);
        let run = failing(stage.repair("journal"), &stage.dir, call, Fault::Kill).run();
        let check = || {
            if run.code() != 128 + 9 {
                return Err(format!("it was not killed: status {}", run.code()));
            }
            stage.check()?;
            // Every other time the repair is repeated without an undo.
            if stage.has_journal() && nth % 2 == 0 {
                for turn in ["undo", "undo once more"] {
                    let undone = stage.undo().run();
                    let what = || format!("{turn}: {}{}", undone.text(), undone.err);
                    stage.check_old().map_err(|why| format!("{why}\n{}", what()))?;
                    if undone.code() != 0 {
                        return Err(what());
                    }
                }
                _ = fs::remove_dir(stage.dir.path("d"));
            }
            stage.complete()
        };
        if let Err(why) = check() {
            problems.push(format!("before {} number {}: {why}\n  {}", call.name, call.nth, call.line));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn h06_killed_while_a_repair_is_undone() {
    if !can_inject() {
        return;
    }
    let repaired = || {
        let stage = Stage::new(SOURCES[0]);
        stage.repair("journal").run().status(0);
        stage
    };
    let stage = repaired();
    let (_, calls) = calls(stage.undo(), &stage.dir);
    let calls: Vec<_> = calls.iter().filter(|call| changes(call)).collect();
    assert!(calls.len() > 10, "{calls:?}");
    let mut problems = Vec::new();
    for call in &calls {
        let stage = repaired();
        let run = failing(stage.undo(), &stage.dir, call, Fault::Kill).run();
        let undone = stage.undo().run();
        let check = || {
            if (run.code(), undone.code()) != (128 + 9, 0) {
                return Err(format!("status {} and {}\n{}", run.code(), undone.code(), undone.text()));
            }
            stage.check_old()
        };
        if let Err(why) = check() {
            problems.push(format!("before {} number {}: {why}\n  {}", call.name, call.nth, call.line));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn play(from: &'static str, extent: Extent) {
    if !can_inject() {
        return;
    }
    let stage = Stage::new(from);
    let (_, mut calls) = calls(stage.repair("journal"), &stage.dir);
    // Local times are printed. The standard library panics if the directory of time zones cannot be closed.
    // So it does for that of computed contents, when all is done.
    let is_std =
        |line: &str| line.contains("zoneinfo") || line.starts_with("close(") && line.contains("/computed-");
    calls.retain(|call| !is_std(&call.line));
    let faults = faults(&calls, extent);
    assert!(faults.len() > 30, "{}", faults.len());
    let (mut reported, mut problems) = (0, Vec::new());
    for &(call, error) in &faults {
        let stage = Stage::new(from);
        let run = failing(stage.repair("journal"), &stage.dir, call, Fault::Error(error)).run();
        // What cannot be read of a tree or a parity file counts as lost, and perhaps too much is lost then.
        let is_left = from == "parity" && run.code() == 1 && run.text().contains("too much is lost");
        let has_failed =
            is_left || run.code() == 2 || (run.code() == 134 && run.err.contains("memory allocation of "));
        let check = || {
            stage.check()?;
            if run.err.contains("panicked") {
                return Err("it panics".into());
            }
            if let Some(stray) = stage.strays().first() {
                let name = stray.file_name().unwrap().to_str().unwrap();
                if !run.says(name) {
                    return Err(format!("{name} is left"));
                }
            }
            let is_good = GOOD.iter().all(|(name, good)| stage.content(name).as_deref() == Some(*good));
            if !has_failed && !is_good {
                return Err("it is neither right nor a failure".into());
            }
            if stage.has_journal() {
                let undone = stage.undo().run();
                stage.check_old().map_err(|why| format!("{why}\n{}{}", undone.text(), undone.err))?;
                _ = fs::remove_dir(stage.dir.path("d"));
            }
            stage.complete()
        };
        reported += usize::from(has_failed);
        if let Err(why) = check() {
            problems.push(problem(call, error, &run, &why));
        }
    }
    let n = problems.len();
    problems.truncate(30);
    assert!(n == 0, "{n} of {}:\n{}", faults.len(), problems.join("\n"));
    assert!(reported > 0);
}

#[test]
fn some_calls_of_a_repair_fail() {
    SOURCES.iter().for_each(|from| play(from, Extent::Some));
}

#[test]
#[ignore = "takes minutes: every call and every error, which a soak runs"]
fn all_calls_of_a_repair_fail() {
    SOURCES.iter().for_each(|from| play(from, Extent::All));
}
