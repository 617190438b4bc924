//! `ftk query` runs another program, which has the same directory or is in PATH.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::harness::Dir;

/// Runs a copy of ftk, whose directory has no `ftk-query` unless a test puts one there.
fn ftk(dir: &Dir, path: &Path, args: &[&str]) -> Output {
    let copy = dir.path("bin/ftk");
    fs::create_dir_all(dir.path("bin")).unwrap();
    if !copy.exists() {
        make(&["cp", env!("CARGO_BIN_EXE_ftk"), copy.to_str().unwrap()]);
    }
    Command::new(copy).args(args).env("PATH", path).output().unwrap()
}

/// Makes a program that prints its name and arguments.
fn program(dir: &Dir, folder: &str) {
    let path = dir.path(folder).join("ftk-query");
    fs::create_dir_all(dir.path(folder)).unwrap();
    let text = format!("#!/bin/sh\nprintf '{folder}'; printf ' <%s>' \"$@\"; exit 7\n");
    fs::write(dir.path("text"), text).unwrap();
    make(&["install", "-m", "755", dir.path("text").to_str().unwrap(), path.to_str().unwrap()]);
}

/// Makes a program with a tool. If this process wrote it, a child of another test could still have it open for writing,
/// and the kernel would not execute it.
fn make(words: &[&str]) {
    assert!(Command::new(words[0]).args(&words[1..]).status().unwrap().success());
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_missing_program_is_explained() {
    let dir = Dir::new();
    let run = ftk(&dir, &dir.path("empty"), &["query", "duplicates", "lake"]);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(2), String::new()));
    let error = text(&run.stderr);
    assert!(error.contains("cargo install --profile query") && error.lines().count() == 1, "{error}");
}

#[test]
fn help_and_questions_need_no_program() {
    let dir = Dir::new();
    let sql = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/query/sql");
    let questions: Vec<_> = fs::read_dir(sql).unwrap().map(|it| it.unwrap().path()).collect();
    for args in [&["query"][..], &["query", "-h"], &["query", "--help"], &["query", "list"]] {
        let run = ftk(&dir, &dir.path("empty"), args);
        assert_eq!((run.status.code(), text(&run.stderr)), (Some(0), String::new()), "{args:?}");
        let page = text(&run.stdout);
        assert!(page.contains("Usage: ftk query") && page.contains("cargo install"), "{page}");
        assert!(page.lines().all(|line| line.len() <= 80), "{page}");
        let listed = page.split("answers:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let mut names: Vec<_> = listed.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
        let mut expected: Vec<_> =
            questions.iter().map(|it| it.file_stem().unwrap().to_str().unwrap()).collect();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}

#[test]
fn the_program_gets_every_word_and_gives_the_status() {
    let dir = Dir::new();
    program(&dir, "path");
    let args = ["query", "--json", "-q", "", "a b", "--help", "--", "--version"];
    let run = ftk(&dir, &dir.path("path"), &args);
    let expected = "path <--json> <-q> <> <a b> <--help> <--> <--version>";
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(7), expected.to_owned()));
    program(&dir, "bin");
    let run = ftk(&dir, &dir.path("path"), &["query", "x"]);
    assert_eq!(text(&run.stdout), "bin <x>", "the program next to ftk comes first");
}

#[test]
fn options_before_the_command_are_refused() {
    let dir = Dir::new();
    program(&dir, "path");
    let run = ftk(&dir, &dir.path("path"), &["--json", "query", "x"]);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(2), String::new()));
    assert!(text(&run.stderr).contains("follow the word"));
}
