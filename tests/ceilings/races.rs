//! A directory is exchanged with a symbolic link to another tree while commands run. Nothing in the other tree is
//! changed, reported, or treated as a copy.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::harness::{Dir, Run, sha256};

const FILES: usize = 8;
/// Runs of each command. A run is long enough for some dozens of exchanges.
const RUNS: usize = 8;
/// A test goes on until there were this many exchanges, however slow the machine makes them.
const EXCHANGES: u64 = 500;

/// In `root`, all content of `work` is also in `kept`. The link `lure` leads to `elsewhere`, whose files have the same
/// names and are copies too, or secret.
fn scene() -> Dir {
    let dir = Dir::new();
    for nth in 0..FILES {
        dir.file(format!("root/kept/{nth}"), &content(nth)).file(format!("root/work/{nth}"), &content(nth));
        dir.file(format!("elsewhere/{nth}"), &if nth % 2 == 0 { content(nth) } else { secret(nth) });
    }
    dir.file("elsewhere/only-there", b"only there").symlink("../elsewhere", "root/lure");
    dir
}

fn content(nth: usize) -> Vec<u8> {
    format!("the content of {nth}, ").repeat(50 + nth).into_bytes()
}

/// Content of the same length that differs only in the middle.
fn secret(nth: usize) -> Vec<u8> {
    let mut secret = content(nth);
    let middle = secret.len() / 2;
    secret[middle] ^= 1;
    secret
}

/// Exchanges `root/work` and `root/lure` until it is stopped, and leaves both as they were.
struct Swapper(Arc<AtomicBool>, JoinHandle<u64>);

impl Swapper {
    fn start(dir: &Dir) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (work, lure, is_over) = (dir.path("root/work"), dir.path("root/lure"), Arc::clone(&over));
        let swap = move || {
            let mut swaps: u64 = 0;
            while !is_over.load(Relaxed) || !swaps.is_multiple_of(2) {
                renameat_with(CWD, &work, CWD, &lure, RenameFlags::EXCHANGE).unwrap();
                swaps += 1;
                // Pauses of many lengths: some exchange falls between any two system calls of the command.
                thread::sleep(Duration::from_micros(swaps * 37 % 200));
            }
            swaps
        };
        Self(over, thread::spawn(swap))
    }

    fn stop(self) -> u64 {
        self.0.store(true, Relaxed);
        self.1.join().unwrap()
    }
}

/// Everything in which a change of the other tree shows.
fn elsewhere(dir: &Dir) -> Vec<(PathBuf, [i128; 8], Vec<u8>)> {
    let mut paths = vec![dir.path("elsewhere")];
    paths.extend(fs::read_dir(&paths[0]).unwrap().map(|entry| entry.unwrap().path()));
    paths.sort();
    let look = |path: PathBuf| {
        let it = fs::symlink_metadata(&path).unwrap();
        let numbers = [it.ino(), it.mode().into(), it.nlink(), it.uid().into(), it.gid().into(), it.size()];
        let [ino, mode, nlink, uid, gid, size] = numbers.map(i128::from);
        let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        let (mtime, ctime) = (nanos(it.mtime(), it.mtime_nsec()), nanos(it.ctime(), it.ctime_nsec()));
        let content = if it.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        (path, [ino, mode, nlink, uid, gid, size, mtime, ctime], content)
    };
    paths.into_iter().map(look).collect()
}

/// Runs a command while names are exchanged, and checks that the other tree is unchanged and nothing is lost.
fn raced(dir: &Dir, args: &[&str]) -> (Run, u64) {
    let before = elsewhere(dir);
    let swapper = Swapper::start(dir);
    let run = dir.ftk(args).run();
    let swaps = swapper.stop();
    run.check(run.code() <= 2 && !run.err.contains("panicked"), "it ends in good order");
    run.check(elsewhere(dir) == before, "nothing elsewhere has changed");
    for nth in 0..FILES {
        let is_there =
            |place| fs::read(dir.path(format!("root/{place}/{nth}"))).is_ok_and(|it| it == content(nth));
        run.check(is_there("kept") || is_there("work"), "a copy of each content is left");
    }
    (run, swaps)
}

/// Repeats a round of races, which returns its number of exchanges.
fn until_exchanged(mut round: impl FnMut() -> u64) {
    let (mut rounds, mut swaps) = (0, 0);
    while rounds < RUNS || swaps < EXCHANGES {
        swaps += round();
        rounds += 1;
    }
}

#[test]
fn h09_nothing_in_another_tree_is_pruned() {
    until_exchanged(|| {
        let mut swaps = 0;
        for action in ["hardlink", "symlink", "delete", "move=away"] {
            swaps += raced(&scene(), &["dup", "prune", "--yes", "--action", action, "root"]).1;
            let dir = scene();
            dir.ftk(["dup", "--json", "root", "-o", "report"]).run().status(0);
            swaps += raced(&dir, &["dup", "apply", "report", "--yes", "--action", action]).1;
        }
        swaps
    });
}

#[test]
fn h09_nothing_in_another_tree_is_restored() {
    for _ in 0..RUNS {
        let dir = scene();
        let prune = ["dup", "prune", "--yes", "--action", "hardlink", "--journal", "journal", "root"];
        dir.ftk(prune).run().status(0);
        raced(&dir, &["dup", "undo", "journal"]);
    }
}

#[test]
fn h25_nothing_in_another_tree_is_reported() {
    let dir = scene();
    let odd = || (0..FILES).filter(|nth| nth % 2 == 1);
    let list = |content: fn(usize) -> Vec<u8>| {
        odd().map(|nth| format!("{}  work/{nth}\n", sha256(&content(nth)))).collect::<String>()
    };
    dir.file("ours", list(content).as_bytes()).file("theirs", list(secret).as_bytes());
    dir.ftk(["manifest", "create", "root", "-o", "manifest"]).run().status(0);
    let commands: [&[&str]; 7] = [
        &["hash", "--check", "--json", "--root", "root", "ours"],
        &["hash", "root"],
        &["hash", "--json", "-j", "4", "root"],
        &["find", "--json", "root"],
        &["manifest", "create", "root"],
        &["manifest", "verify", "--json", "root", "manifest"],
        &["manifest", "update", "root", "manifest"],
    ];
    until_exchanged(|| {
        let mut swaps = 0;
        for command in commands {
            let (run, some) = raced(&dir, command);
            swaps += some;
            let tells = |secret: &str| run.text().contains(secret);
            run.check(!tells("only-there"), "no name that is elsewhere");
            run.check(!odd().any(|nth| tells(&sha256(&secret(nth)))), "no digest of what is elsewhere");
        }
        let (run, some) = raced(&dir, &["hash", "--check", "--json", "--root", "root", "theirs"]);
        swaps += some;
        run.check(
            !run.text().contains("\"verdict\":\"ok\""),
            "what is elsewhere is not taken for what is listed",
        );
        swaps
    });
}
