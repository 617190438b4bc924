//! The example `search`, compared with git and grep.

use std::path::Path;
use std::process::{Command, Output};

use ftk_harness::{Dir, needs};

use crate::git::git;

fn search(dir: &Dir, args: &[&str]) -> Output {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().and_then(Path::parent).unwrap().join("examples/search");
    assert!(program.is_file(), "cargo test without --test builds {}", program.display());
    Command::new(program).args(args).current_dir(dir.path("")).output().unwrap()
}

fn sorted(stdout: &[u8]) -> Vec<String> {
    let mut lines: Vec<_> = String::from_utf8_lossy(stdout).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn search_is_grep_of_files_that_are_neither_hidden_nor_ignored() {
    needs!("git");
    let dir = Dir::new();
    for (path, text) in [
        (".gitignore", "*.log\n!kept.log\n/build/\n"),
        ("a/.gitignore", "needle"),
        ("a/one", "needle\nhay\n"),
        ("a/needle", "needle\n"),
        ("a/b/two.log", "needle"),
        ("a/b/kept.log", "x\nneedle in hay\n"),
        ("build/three", "needle"),
        ("a-b/four", "ne\nedle\n"),
        (".hidden/five", "needle\n"),
        ("a/.six", "needle\n"),
    ] {
        dir.file(path, text.as_bytes());
    }
    for nth in 0..300 {
        dir.file(format!("many/{nth}"), format!("needle{nth}\n").as_bytes());
    }
    dir.symlink("a", "link").fifo("a/fifo");
    git(&dir, &["init", "-q"]);
    let output = search(&dir, &["needle1", "."]);
    assert_eq!(sorted(&output.stdout).len(), 111);
    let output = search(&dir, &["needle", "."]);
    let reference = Command::new("sh")
        .args(["-c", r"git ls-files --others --exclude-standard | grep -v '\(^\|/\)\.' | grep -v 'link\|fifo' | xargs grep -lF needle | sed 's|^|./|'"])
        .current_dir(dir.path(""))
        .output()
        .unwrap();
    assert_eq!(sorted(&output.stdout), sorted(&reference.stdout));
    assert!(output.status.success() && output.stderr.is_empty());
    // Starting points are searched even if they are hidden or ignored.
    assert_eq!(sorted(&search(&dir, &["needle", ".hidden"]).stdout), [".hidden/five"]);
    assert_eq!(sorted(&search(&dir, &["needle", "build"]).stdout), ["build/three"]);
}

#[test]
fn errors_are_reported_and_the_status_is_2() {
    let dir = Dir::new();
    dir.file("a", b"needle").symlink(".gitignore", ".gitignore");
    let output = search(&dir, &["needle", ".", "missing"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(sorted(&output.stdout), ["./a"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("cannot stat \"missing\": No such file or directory"), "{stderr}");
    assert!(stderr.contains("cannot read \"./.gitignore\": "), "{stderr}");
    assert_eq!(search(&dir, &["needle"]).status.code(), Some(0));
}
