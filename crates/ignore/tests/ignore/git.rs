//! Walks compared with git.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ftk_harness::{Dir, needs, records, sorted};
use ftk_ignore::IgnoreFiles;
use ftk_walk::{FileType, Walker};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::bytes_regex;

/// Runs git in the tree, without the user's settings, and returns its output.
pub(crate) fn git(dir: &Dir, args: &[&str]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.args(args).current_dir(dir.path(""));
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", "/nonexistent");
    let output = command.env("LC_ALL", "C").env_remove("GIT_DIR").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Returns the paths of the files that are not ignored, relative to the starting point, sorted.
pub(crate) fn unignored(root: &Path, threads: usize) -> Vec<Vec<u8>> {
    let walker = Walker::new([root]).threads(threads).filter_entry(|entry| entry.file_name() != ".git");
    let (entries, errors) = walker.filter_with(IgnoreFiles::new()).collect_sorted();
    assert!(errors.is_empty(), "{errors:?}");
    let files = entries.iter().filter(|entry| entry.file_type() == FileType::Regular);
    let below = |path: &Path| path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
    sorted(files.map(|entry| below(entry.path())).collect())
}

/// Checks that git lists the same files, for several numbers of workers.
fn same_as_git(dir: &Dir) {
    let files = records(&git(dir, &["ls-files", "--others", "--exclude-standard", "-z"]), 0);
    let expected = sorted(files);
    for threads in [1, 2] {
        let all = unignored(&dir.path(""), threads);
        let shown = |paths: &[Vec<u8>]| String::from_utf8_lossy(&paths.join(&b'\n')).into_owned();
        assert_eq!(shown(&all), shown(&expected), "{threads} threads");
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
