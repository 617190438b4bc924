//! The programs in `examples/`, compared with `wc`, `find` and `du`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Runs an example below `dir`.
fn run<S: AsRef<OsStr>>(dir: &Path, example: &str, args: impl IntoIterator<Item = S>) -> Output {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples").join(example);
    assert!(program.is_file(), "cargo test without --test builds {}", program.display());
    Command::new(program).args(args).current_dir(dir).output().unwrap()
}

/// Returns the lines of what a command of the shell prints, sorted.
fn reference(dir: &Path, command: &str) -> Vec<String> {
    let output =
        Command::new("sh").args(["-c", command]).current_dir(dir).env("LC_ALL", "C").output().unwrap();
    sorted(&output.stdout)
}

fn lines(stdout: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(stdout).lines().map(str::to_owned).collect()
}

fn sorted(stdout: &[u8]) -> Vec<String> {
    let mut lines = lines(stdout);
    lines.sort();
    lines
}

/// Makes a tree with hidden entries, links, a FIFO, and a directory with many files.
fn tree() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("a/one", "needle\nhay\n"),
        ("a/b/two", "hay\nno end"),
        ("a/b/c/three", ""),
        ("a-b/four", "ne\nedle\n"),
        ("a.c", "x\nneedle in hay\n"),
        (".hidden/five", "needle\n"),
        ("a/.six", "needle\n"),
    ] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let many = dir.path().join("many");
    fs::create_dir(&many).unwrap();
    for nth in 0..500 {
        fs::write(many.join(nth.to_string()), format!("{nth}\n").repeat(nth)).unwrap();
    }
    symlink("a", dir.path().join("link")).unwrap();
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("a/fifo"), mode).unwrap();
    dir
}

#[test]
fn lines_is_wc() {
    let dir = tree();
    let output = run(dir.path(), "lines", ["."]);
    assert_eq!(lines(&output.stdout), reference(dir.path(), "find . -type f -exec cat {} + | wc -l"));
    assert!(output.status.success() && output.stderr.is_empty());
    let output = run(dir.path(), "lines", ["a/one", "a", "a.c"]);
    assert_eq!(lines(&output.stdout), reference(dir.path(), "find a a.c -type f -exec cat {} + | wc -l"));
}

#[test]
fn index_is_find_in_path_order() {
    let dir = tree();
    let output = run(dir.path(), "index", ["."]);
    assert_eq!(sorted(&output.stdout), reference(dir.path(), r"find . -type f -printf '%s\t%p\n'"));
    assert!(output.status.success() && output.stderr.is_empty());
    let output = run(dir.path(), "index", ["a.c", "a-b", "a", "a/b"]);
    let paths: Vec<_> =
        lines(&output.stdout).iter().map(|it| it.split_once('\t').unwrap().1.to_owned()).collect();
    assert_eq!(paths, ["a/.six", "a/b/c/three", "a/b/two", "a/one", "a-b/four", "a.c"]);
}

#[test]
fn streams_count_as_find_does() {
    let dir = tree();
    for example in ["stream", "async_count"] {
        let output = run(dir.path(), example, ["."]);
        assert_eq!(lines(&output.stdout), reference(dir.path(), "find . | wc -l"));
        assert!(output.status.success() && output.stderr.is_empty());
    }
}

#[test]
fn sums_is_du_of_files() {
    let dir = tree();
    let command = r"find . -type d | while read -r dir; do
        printf '%s\t%s\n' $(find $dir -type f -printf '%s\n' | awk '{n += $1} END {print n + 0}') $dir; done";
    let output = run(dir.path(), "sums", ["."]);
    assert_eq!(sorted(&output.stdout), reference(dir.path(), command));
    assert!(output.status.success() && output.stderr.is_empty());
    // Besides files, `du` counts what is not a file: directories, the link and the FIFO.
    let total: u64 = lines(&output.stdout).last().unwrap().split_once('\t').unwrap().0.parse().unwrap();
    let du = "du -sb --apparent-size a a-b a.c many .hidden | awk '{n += $1} END {print n}'";
    let dirs = "find a a-b many .hidden ! -type f -printf '%s\n' | awk '{n += $1} END {print n}'";
    let number = |command| reference(dir.path(), command)[0].parse::<u64>().unwrap();
    assert_eq!(total, number(du) - number(dirs));
    // A starting point below another one counts only there.
    let output = run(dir.path(), "sums", ["a", "a/b"]);
    assert_eq!(lines(&output.stdout), ["0\ta/b/c", "10\ta/b", "18\ta"]);
}

#[test]
fn errors_are_reported_and_the_status_is_2() {
    let dir = tree();
    for example in ["lines", "index", "stream", "sums", "async_count"] {
        let with = |paths: &[&str]| run(dir.path(), example, paths);
        let (good, bad) = (with(&["a"]), with(&["missing", "a"]));
        assert_eq!((good.status.code(), bad.status.code()), (Some(0), Some(2)), "{example}");
        assert_eq!(sorted(&good.stdout), sorted(&bad.stdout), "{example}: the rest is done");
        let stderr = String::from_utf8(bad.stderr).unwrap();
        assert_eq!(stderr, "cannot stat \"missing\": No such file or directory (os error 2)\n", "{example}");
        assert_eq!(with(&[]).status.code(), Some(0), "{example}");
    }
}
