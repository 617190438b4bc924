//! The report for `ftk dup apply`: from a tree to an action, without trust in any row.

use std::fs;

use ftk_harness::ino;

use crate::harness::Dir;

/// A tree with two equal files, its set and its report.
fn reported() -> Dir {
    let dir = Dir::new();
    dir.file("t/a", b"same content").file("t/d/b\n\"", b"same content").file("t/c", b"other");
    dir.file("t/e1", b"").file("t/e2", b"");
    let set = dir.set("t", &[]);
    dir.ask(&["duplicates", &set, "-o", "report.jsonl"]);
    dir
}

#[test]
fn apply_acts_on_the_report() {
    let dir = reported();
    dir.ftk(&["dup", "apply", "report.jsonl", "--action", "hardlink", "--yes"]).status(0);
    assert_eq!(ino(&dir.path("t/a")), ino(&dir.path("t/d/b\n\"")));
    assert_ne!(ino(&dir.path("t/a")), ino(&dir.path("t/c")));
    assert_ne!(ino(&dir.path("t/e1")), ino(&dir.path("t/e2")));
}

#[test]
fn apply_refuses_a_file_that_changed() {
    let dir = reported();
    fs::write(dir.path("t/a"), b"SAME content").unwrap();
    let applied = dir.ftk(&["dup", "apply", "report.jsonl", "--action", "hardlink", "--yes"]);
    assert_ne!(applied.code(), 0, "{applied:?}");
    assert_ne!(ino(&dir.path("t/a")), ino(&dir.path("t/d/b\n\"")));
    assert_eq!(fs::read(dir.path("t/d/b\n\"")).unwrap(), b"same content");
}

#[test]
fn files_of_several_sets_are_in_one_report() {
    let dir = Dir::new();
    dir.file("x/a", b"same").file("y/b", b"same");
    let sets = [dir.set("x", &[]), dir.set("y", &[])];
    dir.ask(&["duplicates", &sets[0], &sets[1], "-o", "report.jsonl"]);
    let report = fs::read_to_string(dir.path("report.jsonl")).unwrap();
    assert!(
        report.contains("\"path\":\"x/a\",\"root\":0") && report.contains("\"path\":\"y/b\",\"root\":1"),
        "{report}"
    );
    let applied = dir.ftk(&["dup", "apply", "report.jsonl", "--action", "hardlink", "--yes"]);
    assert_eq!((applied.code(), ino(&dir.path("x/a"))), (0, ino(&dir.path("y/b"))), "{applied:?}");
}

#[test]
fn a_report_needs_a_strong_digest_and_known_inodes() {
    let dir = Dir::new();
    dir.file("t/a", b"same").file("t/b", b"same");
    dir.ftk(&["manifest", "create", "-a", "md5", "t", "-o", "t.jsonl"]).status(0);
    dir.ask(&["convert", "t.jsonl", "-o", "weak"]);
    assert!(dir.refused(&["duplicates", "weak", "-o", "r"]).contains("not by md5"));
    let sums = dir.ftk(&["hash", "t"]);
    dir.file("SUMS", &sums.out);
    dir.ftk(&["manifest", "import", "--format", "sha256", "SUMS", "-o", "i.jsonl"]).status(0);
    dir.ask(&["convert", "i.jsonl", "--source", "list", "-o", "list"]);
    let error = dir.refused(&["duplicates", "list", "-o", "r"]);
    assert!(error.contains("needs manifests that ftk made"), "{error}");
    assert!(!dir.path("r").exists());
}
