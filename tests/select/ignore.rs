//! `--ignore-files`. The tests of `ftk-ignore` compare all patterns with git.

use std::process::Command;

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

use crate::harness::{Dir, needs, records, sorted};

#[test]
fn files_that_git_ignores_are_skipped() {
    needs!("git");
    let dir = Dir::new();
    dir.file(".gitignore", b"*.o\n!keep.o\n/build/\na/**/x\n").file("a/.gitignore", b"!*.o\n/b/*.[ch]\n");
    for path in ["x.o", "keep.o", "build/x", "a/x.o", "a/build/y", "a/b/c.c", "a/b/c.d", "a/b/x", "a/c.c"] {
        dir.file(path, b"");
    }
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(dir.path("")).output().unwrap();
        assert!(output.status.success());
        output.stdout
    };
    git(&["init", "-q"]);
    let files = git(&["ls-files", "--others", "--exclude-standard", "-z"]);
    let expected = sorted(records(&files, 0).into_iter().map(|path| [b"./", &*path].concat()).collect());
    for threads in ["mono", "2"] {
        let args = ["find", "-0", "--ignore-files", "-E", "/.git", "-t", "f", "-j", threads];
        let run = dir.ftk(args).run().status(0);
        assert_eq!(sorted(records(&run.out, 0)), expected);
    }
}

#[test]
fn ignored_paths_are_counted_and_need_the_option() {
    let dir = Dir::new();
    dir.file(".gitignore", b"*.o\n/build/\n").file(".ignore", b"!keep.o\n").file("sub/.ignore", b"*.tmp\n");
    dir.file("x.o", b"")
        .file("keep.o", b"")
        .file("build/deep/x", b"")
        .file("sub/build/x", b"")
        .file("sub/x.tmp", b"");
    dir.file("x.tmp", b"");
    let left = "./.gitignore\n./.ignore\n./keep.o\n./sub/.ignore\n./sub/build/x\n./x.tmp\n";
    let run = dir.ftk(["find", "--sort", "-t", "f", "--ignore-files"]).run().status(0).stdout(left);
    run.stderr("  skipped: 3 ignored paths\n");
    dir.ftk(["find", "-c", "-t", "f"]).run().status(0).stdout("9\n").stderr("");
    let run = dir.ftk(["hash", "--ignore-files", "."]).run().status(0);
    run.check(records(&run.out, b'\n').len() == 6, "the same files");
    run.stderr_has("skipped: 3 ignored paths");
}

#[test]
fn unreadable_ignore_files_are_errors() {
    let dir = Dir::new();
    dir.file("a/.gitignore", b"x\n").file("a/x", b"").file("d/x", b"");
    dir.lock("a/.gitignore").fifo("d/.ignore").dir("d/.gitignore");
    let run = dir.ftk(["find", "--sort", "-n", "[xy]", "--ignore-files"]).unprivileged(&dir).run().status(2);
    run.stdout("./a/x\n./d/x\n")
        .stderr_has("ftk: cannot read './a/.gitignore': permission denied\n")
        .stderr_lacks("d/");
}

/// Ignore files are read at depths beyond the longest path that a system call accepts.
#[test]
fn h52_ignore_files_at_any_depth() {
    let dir = Dir::new();
    let name = "d".repeat(200);
    let mut deepest = openat(CWD, dir.path(""), OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..30 {
        mkdirat(&deepest, &*name, Mode::from_raw_mode(0o755)).unwrap();
        deepest = openat(&deepest, &*name, OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    for (name, content) in [(".gitignore", "x\n"), ("x", ""), ("y", ""), ("z", "")] {
        let file =
            openat(&deepest, name, OFlags::CREATE | OFlags::WRONLY, Mode::from_raw_mode(0o644)).unwrap();
        rustix::io::write(&file, content.as_bytes()).unwrap();
    }
    dir.file(".ignore", b"**/dd*/z\n");
    for limit in ["-n 256", "-n 16"] {
        let args = ["find", "-c", "-n", "[xyz]", "--ignore-files", "-j", "2"];
        dir.ftk(args).limit(&dir, limit).run().status(0).stdout("1\n").stderr("  skipped: 2 ignored paths\n");
    }
}
