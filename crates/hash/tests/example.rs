//! The program `examples/checksums.rs`, compared with the tools of coreutils, and with others where they are installed.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// The tools that print lines of the same form, with the names of the algorithms.
const TOOLS: &[(&str, &str, &[&str])] = &[
    ("sha1", "sha1sum", &[]),
    ("sha224", "sha224sum", &[]),
    ("sha256", "sha256sum", &[]),
    ("sha384", "sha384sum", &[]),
    ("sha512", "sha512sum", &[]),
    ("md5", "md5sum", &[]),
    ("blake2b", "b2sum", &[]),
    ("blake3", "b3sum", &[]),
    ("xxh64", "xxhsum", &["-H64"]),
    ("xxh128", "xxhsum", &["-H128"]),
];

/// Runs the example below `dir`.
fn sums(dir: &Path, args: &[&str]) -> Output {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/checksums");
    assert!(program.is_file(), "cargo test without --test builds {}", program.display());
    Command::new(program).args(args).current_dir(dir).output().unwrap()
}

fn files() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, len) in
        [("empty", 0), ("one", 1), ("block", 64), ("buffer", 65_536), ("more than a buffer", 200_001)]
    {
        let bytes: Vec<u8> = (0..len).map(|n| (n % 253) as u8).collect();
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    dir
}

#[test]
fn lines_are_those_of_other_tools() {
    let dir = files();
    let names = ["empty", "one", "block", "buffer", "more than a buffer"];
    for (algorithm, tool, options) in TOOLS {
        let expected = match Command::new(tool).args(*options).args(names).current_dir(dir.path()).output() {
            Ok(output) => output,
            Err(error) => {
                // libtest hides the output of `eprintln!`.
                _ = writeln!(std::io::stderr().lock(), "SKIPPED: {algorithm} by {tool}: {error}");
                continue;
            }
        };
        let output = sums(dir.path(), &[&[*algorithm][..], &names].concat());
        assert!(output.status.success() && expected.status.success(), "{tool}");
        assert_eq!(
            output.stdout.escape_ascii().to_string(),
            expected.stdout.escape_ascii().to_string(),
            "{tool}"
        );
    }
}

/// An unreadable file is a message and a status, and the others are still hashed.
#[test]
fn errors_have_no_line() {
    let dir = files();
    let output = sums(dir.path(), &["sha256", ".", "missing", "empty"]);
    assert_eq!(output.status.code(), Some(2));
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty\n";
    assert_eq!(str::from_utf8(&output.stdout).unwrap(), empty);
    let messages = str::from_utf8(&output.stderr).unwrap();
    assert!(messages.contains("cannot read .:") && messages.contains("cannot read missing:"), "{messages}");
    assert_eq!(sums(dir.path(), &["sha", "empty"]).status.code(), Some(2));
}
