//! Trees that change while they are counted.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::harness::{Dir, Run, bytes, needs};

/// Runs `du` as another program removes or replaces an entry: one system call for a name fails.
fn faulty(dir: &Dir, command: &[&str], (calls, name, error): (&str, &str, &str)) -> Run {
    let inject = format!("inject={calls}:error={error}");
    let log = dir.aside("log");
    let strace = ["strace", "-f", "-o", log.to_str().unwrap(), "-P", name, "-e", &inject];
    match command {
        ["ftk", args @ ..] => dir.ftk(args).under(dir, strace).run(),
        _ => dir.ftk([] as [&str; 0]).instead(dir, strace).args(command).run(),
    }
}

/// What is left counts, as in GNU du. The entry is an error if it was replaced, and with `--strict-races`.
#[test]
fn entries_that_vanish_or_are_replaced() {
    needs!("du", "strace");
    let dir = Dir::new();
    dir.file("d/file", &bytes(1, 9000)).file("d/dir/x", &bytes(2, 5000)).file("e/y", &bytes(3, 100));
    let stat = "newfstatat,statx";
    for (fault, message) in [
        ((stat, "file", "ENOENT"), "cannot stat './d/file': no such file or directory"),
        ((stat, "dir", "ENOENT"), "cannot stat './d/dir': no such file or directory"),
        (("openat", "dir", "ENOENT"), "cannot open './d/dir': no such file or directory"),
        (("openat", "dir", "ENOTDIR"), "cannot open './d/dir': not a directory"),
        (("openat", "dir", "ELOOP"), "cannot open './d/dir': too many levels of symbolic links"),
    ] {
        let run = faulty(&dir, &["ftk", "du", "-s", "--strict-races"], fault).status(2);
        let run = run.stderr_has(message).stderr_has("; 1 unreadable (status 2)");
        // GNU du does not enter a directory that it cannot examine; ftk counts what it contains.
        if fault.0 == "openat" || fault.1 == "file" {
            let theirs = faulty(&dir, &["du", "-s", "--block-size=1"], fault).status(1);
            run.stdout(&theirs.out);
        }
        let run = faulty(&dir, &["ftk", "du", "-s"], fault);
        if fault.2 == "ENOENT" {
            run.status(0).stderr_has("  1 entry vanished during the run\n").stderr_lacks(message);
        } else {
            run.status(2).stderr_has(message).stderr_lacks("vanished");
        }
    }
}

#[test]
fn a_tree_that_changes_all_the_time() {
    let dir = Dir::new();
    for nth in 0..50 {
        dir.file(format!("stays/{nth}/x"), &bytes(nth, 1000)).dir(format!("changes/{nth}"));
    }
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for nth in (0..50).cycle().take_while(|_| !has_ended.load(Ordering::Relaxed)) {
                let path = dir.path(format!("changes/{nth}"));
                fs::create_dir_all(path.join("a/b")).unwrap();
                fs::write(path.join("a/b/c"), b"new").unwrap();
                fs::remove_dir_all(&path).unwrap();
                fs::write(&path, b"a file").unwrap();
                fs::remove_file(&path).unwrap();
            }
        });
        let runs: Vec<_> =
            (0..20).map(|_| dir.ftk(["du", "--apparent-size", "-t", "f", "-d1"]).run()).collect();
        has_ended.store(true, Ordering::Relaxed);
        for run in runs {
            run.check(run.text().contains("50000\t./stays\n"), "what does not change is counted");
            let errors = run.err.lines().filter(|line| line.starts_with("ftk: "));
            let errors: Vec<_> = errors.collect();
            run.check(errors.iter().all(|line| line.contains("'./changes")), "errors only where it changes");
            run.check(run.code() == if errors.is_empty() { 0 } else { 2 }, "errors reach the status");
        }
    });
}
