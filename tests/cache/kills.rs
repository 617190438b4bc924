//! Runs that are killed: the next one has a right output, and reuses what was stored.

use std::thread;
use std::time::Duration;

use super::{cached, place, settle, stored};
use crate::harness::{Dir, bytes, needs, uring, wait_until};

/// Returns a tree that takes about ten seconds with [`SLOW`].
fn tree() -> Option<Dir> {
    let dir = place()?;
    for nth in 0..100 {
        dir.file(format!("{}/{nth}", nth % 7), &bytes(nth, 40_000));
    }
    settle();
    Some(dir)
}

const SLOW: [&str; 5] = ["hash", ".", "--cache", "--limit-rate", "400K"];

fn readers() -> &'static [&'static str] {
    if uring() { &["sync", "uring"] } else { &["sync"] }
}

#[test]
fn a_run_that_was_killed_is_continued() {
    // Commits are due five seconds after the first file.
    let moments = [3, 40, 700, 2100, 4950, 5010, 5100, 5600];
    thread::scope(|scope| {
        for reader in readers() {
            for moment in moments {
                scope.spawn(move || {
                    let Some(dir) = tree() else { return };
                    let mut child = dir.ftk(SLOW).args(["--io", reader]).spawn();
                    thread::sleep(Duration::from_millis(moment));
                    child.kill().unwrap();
                    assert!(!child.wait().unwrap().success(), "it was not over");
                    let stored = stored(&dir);
                    assert_eq!(cached(&dir, &["hash", ".", "--io", reader]), stored);
                    assert_eq!(cached(&dir, &["hash", ".", "--io", reader]), 100);
                });
            }
        }
    });
}

#[test]
fn what_was_stored_before_a_kill_is_reused() {
    for reader in readers() {
        let Some(dir) = tree() else { return };
        let mut child = dir.ftk(SLOW).args(["--io", reader]).spawn();
        wait_until(|| stored(&dir) > 0);
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "it was not over");
        let stored = stored(&dir);
        assert!((1..100).contains(&stored), "{stored}");
        assert_eq!(cached(&dir, &["hash", "."]), stored);
        assert_eq!(cached(&dir, &["hash", "."]), 100);
    }
}

/// The worker that reads a large file has finished others.
#[test]
fn what_was_read_is_stored_while_a_large_file_is_read() {
    for reader in readers() {
        let Some(dir) = place() else { return };
        for nth in 0..9 {
            dir.file(format!("t/{nth}"), &bytes(nth, 10));
        }
        dir.file("t/large", &bytes(9, 1_000_000));
        settle();
        let args = ["hash", "t", "--cache", "-j", "mono", "--limit-rate", "50K", "--io", reader];
        let mut child = dir.ftk(args).spawn();
        wait_until(|| stored(&dir) >= 9);
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "it was not over");
        assert_eq!(cached(&dir, &["hash", "t"]), 9);
    }
}

/// The store is the same at all moments between two of these calls.
#[test]
fn a_run_killed_before_any_call_that_changes_the_store_leaves_a_good_one() {
    needs!("strace");
    let Some(dir) = place() else { return };
    for call in ["pwrite64", "fsync,fdatasync", "ftruncate", "mkdir"] {
        let mut kills = 0;
        loop {
            // Both a new store and one that changes.
            _ = std::fs::remove_dir_all(dir.aside("cache"));
            for nth in 0..30 {
                dir.file(nth.to_string(), &bytes(nth, 100));
            }
            settle();
            let (log, nth) = (dir.aside("log"), kills + 1);
            let inject = format!("inject={call}:signal=KILL:when={nth}");
            let strace = ["strace", "-f", "-o", log.to_str().unwrap(), "-e", &inject];
            let mut was_killed = false;
            for algorithm in ["md5", "sha1"] {
                let run = dir.ftk(["hash", ".", "-a", algorithm, "--cache"]).under(&dir, strace).run();
                run.check(run.code() == 0 || run.code() == 128 + 9, "it succeeds or is killed");
                was_killed |= run.code() != 0;
                stored(&dir);
                cached(&dir, &["hash", ".", "-a", algorithm]);
                assert_eq!(cached(&dir, &["hash", ".", "-a", algorithm]), 30, "{call} number {nth}");
            }
            if !was_killed {
                break;
            }
            kills += 1;
        }
        assert!(kills > 0, "{call} is made");
    }
}
