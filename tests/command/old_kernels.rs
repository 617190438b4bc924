//! Kernels from Linux 3.10 on: system calls that came later are refused, as an old kernel does.

use std::ffi::OsString;

use crate::harness::{Dir, Run, needs};

/// Calls that came after Linux 3.10 and that ftk or the C library uses, with the version that brought them.
const LATER: [&str; 13] = [
    "renameat2",       // 3.15
    "getrandom",       // 3.17
    "memfd_create",    // 3.17
    "membarrier",      // 4.3
    "copy_file_range", // 4.5
    "preadv2",         // 4.6
    "statx",           // 4.11
    "rseq",            // 4.18
    "io_uring_setup",  // 5.1
    "clone3",          // 5.3
    "openat2",         // 5.6
    "faccessat2",      // 5.8
    "close_range",     // 5.9
];

/// Runs a command to which the kernel refuses these calls.
fn run(dir: &Dir, refused: &[&str], args: &[&str]) -> Run {
    let ftk = dir.ftk(args);
    if refused.is_empty() {
        return ftk.run();
    }
    let calls = refused.join(",");
    // With the filter, only these calls stop the process.
    let strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e"].map(OsString::from);
    let inject = [format!("trace={calls}"), "-e".into(), format!("inject={calls}:error=ENOSYS")];
    ftk.under(dir, strace.into_iter().chain(inject.map(OsString::from))).run()
}

/// Creates a tree with duplicates, links, a hole, small and large files, and a manifest of it.
fn tree() -> Dir {
    let dir = Dir::new();
    for nth in 0..40 {
        dir.file(format!("t/sub{}/{nth}", nth % 4), format!("content {}", nth % 7).as_bytes());
    }
    dir.file("t/large", &vec![7; 3 << 20]).file("t/copy of large", &vec![7; 3 << 20]).hole("t/hole", 5 << 20);
    dir.hard_link("t/sub0/0", "t/hard").symlink("large", "t/soft").dir("t/empty");
    dir.file("u/sub0/0", b"content 0").file("u/large", &vec![8; 3 << 20]);
    dir.ftk(["manifest", "create", "--xattrs", "t", "-o", "../manifest"]).run().status(0);
    dir.file("t/new", b"new");
    dir
}

/// Returns the output and status of commands that only read.
fn answers(dir: &Dir, refused: &[&str]) -> Vec<(i32, String)> {
    let commands: [&[&str]; 8] = [
        &["hash", "-a", "sha256", "-a", "md5", "-a", "blake3", "-a", "xxh3", "t"],
        &["hash", "--polite", "t/sub0"],
        &["hash", "--tree", "t"],
        &["find", "--sort", "-l", "t"],
        &["dup", "--format", "fdupes", "t"],
        &["du", "-a", "t"],
        &["cmp", "t", "u"],
        &["manifest", "verify", "t", "../manifest"],
    ];
    let answer = |args: &&[&str]| {
        let run = run(dir, refused, args).stderr_lacks("ftk: ").stderr_lacks("warning");
        (run.code(), run.text().to_owned())
    };
    commands.iter().map(answer).collect()
}

/// Deletes the duplicates and restores them by undo.
fn prune_and_undo(dir: &Dir, refused: &[&str]) {
    let names = || dir.ftk(["find", "--sort", "t"]).run().status(0).text().to_owned();
    let all = names();
    for action in ["delete", "hardlink"] {
        let args = ["dup", "prune", "--action", action, "--yes", "--journal", "../journal", "t"];
        run(dir, refused, &args).status(0);
        dir.ftk(["dup", "--format", "fdupes", "t"]).run().status(0).stdout("");
        run(dir, refused, &["dup", "undo", "../journal"]).status(0);
        assert_eq!(names(), all, "{action} without {refused:?}");
        std::fs::remove_file(dir.path("../journal")).ok();
    }
}

#[test]
fn each_later_call_may_be_missing_and_all_of_them() {
    needs!("strace");
    let dir = tree();
    let expected = answers(&dir, &[]);
    assert!(expected.iter().all(|(_, text)| !text.is_empty()), "{expected:?}");
    for call in LATER {
        assert_eq!(answers(&dir, &[call]), expected, "without {call}");
    }
    assert_eq!(answers(&dir, &LATER), expected, "without all of them");
}

#[test]
fn prune_and_undo_work_without_later_calls() {
    needs!("strace");
    let dir = tree();
    for call in LATER {
        prune_and_undo(&dir, &[call]);
    }
    prune_and_undo(&dir, &LATER);
}

#[test]
fn moving_needs_a_rename_that_replaces_nothing() {
    needs!("strace");
    let dir = tree();
    let names = || dir.ftk(["find", "--sort", "-l", "."]).run().status(0).text().to_owned();
    let all = names();
    for action in [&["--action", "move=../away"][..], &["--action", "delete", "--quarantine", "../away"]] {
        let args = [&["dup", "prune", "--yes", "--journal", "../journal"], action, &["t"]].concat();
        let run = run(&dir, &["renameat2"], &args).status(2);
        assert!(run.err.contains("ftk: 't/copy of large': refused: "), "{}", run.err);
        assert_eq!(names(), all, "{action:?}");
        std::fs::remove_file(dir.path("../journal")).ok();
    }
}
