//! `--ignore-files`, compared with git.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Command;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::bytes_regex;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

use crate::harness::{Dir, needs, records, sorted};

/// Runs git in the tree, without the user's settings, and returns its output.
fn git(dir: &Dir, args: &[&str]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.args(args).current_dir(dir.path(""));
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", "/nonexistent");
    let output = command.env("LC_ALL", "C").env_remove("GIT_DIR").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Checks that ftk and git list the same files, for several numbers of workers.
fn same_as_git(dir: &Dir) {
    let files = records(&git(dir, &["ls-files", "--others", "--exclude-standard", "-z"]), 0);
    let expected = sorted(files.into_iter().map(|path| [b"./", &*path].concat()).collect());
    for threads in ["mono", "2"] {
        let args = ["find", "-0", "--ignore-files", "-E", "/.git", "-t", "f", "-j", threads];
        let run = dir.ftk(args).run().status(0);
        let all = sorted(records(&run.out, 0));
        let shown = |paths: &[Vec<u8>]| String::from_utf8_lossy(&paths.concat()).into_owned();
        run.check(all == expected, &format!("git lists {:?}, we {:?}", shown(&expected), shown(&all)));
    }
}

#[test]
fn files_that_git_ignores_are_skipped() {
    needs!("git");
    let names = || select(NAMES.to_vec());
    let files = vec((vec(names(), 0..4), names()), 1..24);
    let lines = || bytes_regex(LINE).unwrap();
    let ignores = vec((vec(names(), 0..3), vec(lines(), 1..5)), 1..5);
    let exclude = vec(lines(), 0..3);
    let below = |dir: &Dir, names: &[&[u8]]| {
        names.iter().fold(dir.path(""), |path: PathBuf, name| path.join(OsStr::from_bytes(name)))
    };
    let config = ProptestConfig::with_cases(32);
    proptest!(config, |(files in files, ignores in ignores, exclude in exclude)| {
        let dir = Dir::new();
        git(&dir, &["init", "-q"]);
        fs::write(dir.path(".git/info/exclude"), exclude.join(&b'\n')).unwrap();
        // Names of existing directories, or below files, are not created.
        for (dirs, name) in &files {
            let path = below(&dir, dirs);
            if fs::create_dir_all(&path).is_ok() {
                _ = fs::write(path.join(OsStr::from_bytes(name)), b"");
            }
        }
        for (dirs, lines) in &ignores {
            let path = below(&dir, dirs);
            if fs::create_dir_all(&path).is_ok() {
                fs::write(path.join(".gitignore"), lines.join(&b'\n')).unwrap();
            }
        }
        same_as_git(&dir);
    });
}

const NAMES: [&[u8]; 18] = [
    b"a",
    b"b",
    b"c",
    b"ab",
    b"abc",
    b"a.c",
    b"b.c",
    b".h",
    b"a b",
    b"a ",
    b"{a,b}",
    b"[a]",
    b"*",
    b"\\a",
    b"a\\",
    b"c\xc3\xa9",
    b"a\xff",
    b"\xff",
];

/// Every construct of a pattern, and some patterns that never match.
const LINE: &str = concat!(
    r"(?s-u)!?/?(?:[abc*?.]|\*\*|\*\*/|/\*\*/|/\*\*|\[[!^]?[]]?[a-c]{1,2}\]|\[a-c\]|\[\[:alpha:\]\]|\[[-!^:\\]",
    r"|\[[!^]?[\xfe\xff\-a]{1,3}\]|\[[!^]?\[:(?:space|graph|no)?:?\]|\\[abc*!\[ /\\]|\{a,b\}|/|#| |\t|\x00",
    r"|\xff|\xc3\xa9|\xc3|a/b|\*/b|ab\*\*/c){1,5}/?[ ]{0,2}\\{0,2}/?\r?"
);

#[test]
fn special_patterns_of_git() {
    needs!("git");
    for lines in [
        "a\n!a",
        "*\n!*/\n!*.c",
        "/a",
        "a/",
        "a/b",
        "**/b",
        "a/**",
        "a/**/b",
        "*.c\n!/a/*.c",
        "# a\n\\#a",
        "\\!a\n!b",
        "a \nb\\ ",
        "a\\ ",
        "a\t",
        "\u{feff}a",
        "a\r\nb\r",
        "{a,b}",
        "[[:alpha:]]",
        "[!a]",
        "[]a]",
        "[a-]",
        "[z-a]",
        "[a",
        "a\\",
        "[[:nonsense:]]",
        "\\a",
        "a[/]b",
        "a[!x]b",
        "a?b",
        "/",
        "!",
        "//",
        "/*",
        "**",
        "*",
        "a//b",
        "*/b",
        "./a",
        "a/./b",
        "**a",
        "a**",
        "a**b",
        "**/",
        "/**",
        "[\\]a]",
        "[^a-c]",
        "[[a]",
        "[[:a]",
        "[--a]",
        "[a\\-c]",
        "\\[a]",
        "a\\\\/",
        "a\\/",
        "\\\\a/",
        "ab**/c",
        "d/a**/x",
        "d/[a]**/x",
        "files/sub**",
        "files/s*b**/a",
        "**\\/a",
        "files/**\\/b.c",
        "a\0b",
        "[[:space:]]",
        "[a-\\c]",
        "[!a-]",
        "[[:digit:]-a]",
    ] {
        let dir = Dir::new();
        git(&dir, &["init", "-q"]);
        for name in [
            "a", "b", "c", "#a", "!a", "a ", "b ", "a\t", "{a,b}", "[a", "]", "-", "a\\", "\\a", "a.c", "axb",
        ] {
            dir.file(format!("files/{name}"), b"").file(format!("d/{name}/b/x"), b"");
        }
        dir.file("files/sub/a", b"")
            .file("files/sub/b.c", b"")
            .file("a/b/c", b"")
            .file("a/c.c", b"")
            .file("b", b"");
        dir.file(".gitignore", lines.as_bytes()).file("files/.gitignore", lines.as_bytes());
        same_as_git(&dir);
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

/// `.ignore` files take precedence over `.gitignore` files, even over deeper ones.
#[test]
fn ignore_files_take_precedence_over_gitignore() {
    let dir = Dir::new();
    dir.file(".ignore", b"a\n!b\n").file("d/.gitignore", b"!a\nb\nc\n");
    dir.file("d/a", b"").file("d/b", b"").file("d/c", b"");
    let run = dir.ftk(["find", "--sort", "-t", "f", "--ignore-files", "d"]).run().status(0);
    // Ignore files above a root count only within a repository.
    run.stdout("d/.gitignore\nd/a\n");
    dir.ftk(["find", "--sort", "-t", "f", "--ignore-files"])
        .run()
        .status(0)
        .stdout("./.ignore\n./d/.gitignore\n./d/b\n");
}

#[test]
fn patterns_of_a_repository_apply_in_all_of_it_only() {
    needs!("git");
    let dir = Dir::new();
    dir.file("outer/.gitignore", b"a\n").file("outer/.ignore", b"c\n");
    dir.file("outer/repo/.gitignore", b"/x/y/b\n*.o\n");
    for name in ["a", "b", "c", "z.o"] {
        dir.file(format!("outer/repo/x/y/{name}"), b"");
    }
    let repo = dir.path("outer/repo");
    let status = Command::new("git").args(["init", "-q"]).arg(&repo).status().unwrap();
    assert!(status.success());
    fs::write(repo.join(".git/info/exclude"), "*.x\n!z.o\n").unwrap();
    // A .gitignore above the repository does not count in it; an .ignore in the walked tree does.
    let run = dir.ftk(["find", "--sort", "-t", "f", "--ignore-files", "-E", ".git", "outer"]).run().status(0);
    run.stdout("outer/.gitignore\nouter/.ignore\nouter/repo/.gitignore\nouter/repo/x/y/a\n");
    // From inside, the patterns are relative to the top of the repository, for every spelling of the root.
    for root in ["outer/repo/x", "outer/repo/x/y", "./outer/repo/x/y/", "outer/repo/x/../x"] {
        let run = dir.ftk(["find", "--sort", "-t", "f", "-c", "--ignore-files", root]).run().status(0);
        run.stdout("2\n").stderr_has("skipped: 2 ignored paths");
    }
    dir.symlink("outer/repo/x/y", "link");
    dir.ftk(["find", "--sort", "-t", "f", "--ignore-files", "link/"])
        .run()
        .status(0)
        .stdout("link/a\nlink/c\n");
    // Starting points are never skipped.
    dir.ftk(["find", "--ignore-files", "outer/repo/x/y/b"])
        .run()
        .status(0)
        .stdout("outer/repo/x/y/b\n")
        .stderr("");
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
