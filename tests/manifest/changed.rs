//! `ftk manifest update --changed LIST`.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::records::Manifest;
use crate::harness::{Dir, set_mode};

fn scene() -> Dir {
    let dir = Dir::new();
    dir.file("t/a/x", b"x").file("t/a/y", b"y").file("t/b/z", b"z").file("t/name\nof two lines", b"odd");
    // Files that are as young as the manifest are examined in any case.
    sleep(Duration::from_millis(60));
    dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
    dir.file("t/a/x", b"changed").file("t/b/z", b"changed").file("t/new/deep/file", b"new");
    fs::remove_file(dir.path("t/a/y")).unwrap();
    sleep(Duration::from_millis(60));
    dir
}

/// Names in two normal forms are two entries, and the list is about one of them.
#[test]
fn a_listed_name_replaces_no_other_normal_form() {
    const NFD: &str = "e\u{301}";
    const NFC: &str = "\u{e9}";
    let dir = Dir::new();
    dir.file(format!("t/{NFD}/f"), b"good").file("t/b", b"b").file(NFD, b"x");
    sleep(Duration::from_millis(60));
    dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
    dir.file(format!("t/{NFC}/n"), b"new").file("list", NFC.as_bytes());
    let update = ["manifest", "update", "t", "m", "--force", "-o"];
    dir.ftk(update).args(["listed", "--changed", "list"]).run().status(0).stderr_lacks("normal form");
    dir.ftk(update).arg("full").run().status(0);
    let [listed, full] = ["listed", "full"].map(|name| Manifest::read(&dir.path(name)).untimed().entries);
    assert_eq!(listed, full);
    assert_eq!(full.len(), 6);
}

#[test]
fn a_list_of_changes_updates_a_manifest() {
    let dir = scene();
    let update = ["manifest", "update", "t", "m", "-o", "n", "--force", "--changed"];
    let full_ns = Manifest::read(&dir.path("m")).header["start_ns"].clone();
    dir.file("list", b"./a//x\na/y/\nnew/deep");
    let run = dir.ftk(update).arg("list").run().status(0);
    let run = run.stderr_has("1 modified").stderr_has("3 added").stderr_has("1 removed");
    run.stderr_has("3 records kept as recorded");
    let new = Manifest::read(&dir.path("n")).untimed();
    assert_eq!(
        (&new.header["examined"]["by"], &new.header["examined"]["full_ns"]),
        (&Value::from("list"), &full_ns)
    );
    dir.ftk(["manifest", "update", "t", "m", "-o", "full"]).run().status(0);
    let full = Manifest::read(&dir.path("full")).untimed();
    assert!(full.header["examined"].is_null() && !new.entries.contains_key(&b"a/y"[..]));
    for (path, entry) in &full.entries {
        let is_same = new.entries[path] == *entry;
        let has_unlisted = [&b"."[..], b"b", b"b/z"].contains(&&**path);
        assert_eq!(is_same, !has_unlisted, "{}", String::from_utf8_lossy(path));
    }
    // The rest, from standard input; names with newlines need NULs.
    let stats = dir.aside("stats");
    let rest = ["manifest", "update", "t", "n", "-o", "n", "-0", "--changed", "-", "--stats"];
    dir.ftk(rest).arg(&stats).stdin(b"b\0name\nof two lines\0").run().status(0);
    let new = Manifest::read(&dir.path("n")).untimed();
    assert_eq!(new.entries, full.entries);
    let stats: Value = serde_json::from_slice(&fs::read(&stats).unwrap()).unwrap();
    assert_eq!((&stats["fully_examined_ns"], &stats["results"]["not_examined"]), (&full_ns, &Value::from(5)));
    // Those who read it are told.
    for args in [
        &["manifest", "verify", "t", "n"][..],
        &["manifest", "diff", "n", "full"],
        &["manifest", "scrub", "t", "n"],
    ] {
        dir.ftk(args).run().status(0).stderr_has("'n': the whole tree was last examined on 20");
    }
    assert_eq!(Manifest::read(&dir.path("n")).header["examined"]["full_ns"], full_ns);
    // `.` is everything.
    dir.ftk(rest).arg(dir.aside("stats")).stdin(b".").run().status(0);
    assert!(Manifest::read(&dir.path("n")).header["examined"].is_null());
}

#[test]
fn hostile_lists_are_refused_before_anything_is_written() {
    let dir = scene();
    for (list, why) in [
        (&b"a\n\nb\n"[..], "line 2 is empty"),
        (b"a\n/etc/passwd\n", "line 2: '/etc/passwd' is not relative to ROOT"),
        (b"../t/a\n", "line 1: '../t/a' leads out of a directory"),
        (b"a/../../b\n", "leads out of a directory"),
        (b"a\0b\n", "line 1 contains a NUL: if paths end with NUL, use -0"),
        (&[b'x'; 70_000][..], "line 1 is longer than any path"),
    ] {
        dir.file("list", list);
        let run = dir.ftk(["manifest", "update", "t", "m", "-o", "n", "--changed", "list"]).run().status(2);
        run.stderr_has(why);
        assert!(!dir.path("n").exists());
    }
    for args in [
        &["--changed", "nowhere"][..],
        &["--changed", "t"],
        &["-0"],
        &["--changed", "m", "--append-only"],
        &["--changed", "m", "--shard", "1/2"],
    ] {
        dir.ftk(["manifest", "update", "t", "m", "-o", "n"]).args(args).run().status(2);
    }
    // OLD would be the list.
    let both = ["manifest", "update", "t", "-", "-o", "n", "--changed", "-"];
    dir.ftk(both).stdin(b"a\n").run().status(2).stderr_has("cannot both come from standard input");
    // Names that look like others, names of nothing, and an empty list.
    for list in [&b""[..], b"...\n..a\n-\n \n\xff\n", b"a/x/y\nb/z/deep/er\nnew/missing\n"] {
        dir.file("list", list);
        let run = dir.ftk(["manifest", "update", "t", "m", "-o", "n", "--force", "--changed", "list"]).run();
        run.status(0);
        assert!(Manifest::read(&dir.path("n")).entries.contains_key(&b"a/y"[..]));
    }
    // A link in the tree is not followed.
    dir.file("outside/secret", b"s").symlink("../outside", "t/link").file("list", b"link/secret\n");
    let run = dir.ftk(["manifest", "update", "t", "m", "-o", "n", "--force", "--changed", "list"]).run();
    run.status(0);
    let new = Manifest::read(&dir.path("n"));
    assert!(!new.entries.contains_key(&b"link/secret"[..]) && new.entry("link")["type"] == "symlink");
}

/// The options of OLD hold for listed paths, and what they exclude is not recorded.
#[test]
fn listed_paths_are_selected_by_the_recorded_options() {
    let dir = scene();
    dir.ftk(["manifest", "create", "t", "-E", "*.tmp", "--max-depth", "2", "-o", "m", "--force"])
        .run()
        .status(0);
    dir.file("t/a/n.tmp", b"t").file("t/a/deep/er", b"d").file("t/a/new", b"n");
    dir.file("list", b"a/n.tmp\na/deep/er\na/new\nnew/deep/file\na/y\nnowhere\n");
    let stats = dir.aside("stats");
    let update = ["manifest", "update", "t", "m", "-o", "n", "--changed", "list", "--stats"];
    let run = dir.ftk(update).arg(&stats).run().status(0);
    // The others are new, or do not exist.
    run.stderr_has("3 listed paths ignored: the options of OLD exclude what is there");
    let stats: Value = serde_json::from_slice(&fs::read(&stats).unwrap()).unwrap();
    assert_eq!(stats["results"]["left_out"], 3);
    dir.ftk(["manifest", "update", "t", "m", "-o", "full"]).run().status(0);
    let [new, full] = ["n", "full"].map(|name| Manifest::read(&dir.path(name)).untimed().entries);
    assert_eq!(new, full);
    assert!(new.contains_key(&b"a/new"[..]) && !new.contains_key(&b"a/n.tmp"[..]));
}

/// Only a missing name is removed. What cannot be examined keeps its record, and is reported once.
#[test]
fn what_cannot_be_examined_is_kept() {
    let dir = scene();
    dir.file("list", b"b/z\nnew/deep/file\na/y\n");
    set_mode(&dir.path("t/b"), 0o000);
    let run = dir.ftk(["manifest", "update", "t", "m", "-o", "-", "--changed", "list"]).unprivileged(&dir);
    let run = run.run().status(2).stderr_has("1 old record kept for entries that could not be read");
    set_mode(&dir.path("t/b"), 0o755);
    let errors = run.err.matches("t/b").count();
    run.check(errors == 1, "one message about t/b");
    let new = Manifest::parse(run.text().as_bytes());
    assert!(new.entries.contains_key(&b"b/z"[..]) && !new.entries.contains_key(&b"a/y"[..]));
    assert!(new.entries.contains_key(&b"new/deep/file"[..]));
}
