//! `ftk manifest diff`: the differences of two manifests.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::records::{create, json as objects};
use crate::harness::{Dir, Run, needs};

/// Creates a tree, and next to it manifests of it before and after changes.
fn before_and_after() -> Dir {
    let dir = Dir::new();
    for name in ["gone", "kept", "edited", "from", "sub/swapped", "sub/traded", "mode"] {
        dir.file(name, name.as_bytes());
    }
    dir.symlink("kept", "link");
    fs::rename(create(&dir, &["-a", "sha256,md5"]), dir.aside("old")).unwrap();
    fs::remove_file(dir.path("gone")).unwrap();
    fs::rename(dir.path("from"), dir.path("sub/to")).unwrap();
    fs::set_permissions(dir.path("mode"), Permissions::from_mode(0o600)).unwrap();
    dir.file("sub/swapped", b"sub/traded").file("sub/traded", b"sub/swapped");
    dir.file("edited", b"other").file("fresh", b"fresh").file("copy", b"kept").dir("empty");
    fs::rename(create(&dir, &["-a", "xxh3,sha256"]), dir.aside("new")).unwrap();
    dir
}

fn diff(dir: &Dir, old: &str, new: &str, args: &[&str]) -> Run {
    dir.ftk(["manifest", "diff"]).args([dir.aside(old), dir.aside(new)]).args(args).run()
}

#[test]
fn every_change_is_listed_by_path() {
    let dir = before_and_after();
    let run = diff(&dir, "old", "new", &[]).status(1);
    let columns: Vec<Vec<_>> = run.text().lines().map(|line| line.split('\t').collect()).collect();
    let (words, details): (Vec<_>, Vec<_>) =
        columns.iter().map(|it| ((it[0], it[1]), it.get(2).copied().unwrap_or_default())).unzip();
    let expected = [
        ("added", "copy"),
        ("modified", "edited"),
        ("added", "empty"),
        ("added", "fresh"),
        ("moved", "from"),
        ("removed", "gone"),
        ("metadata", "mode"),
        ("modified", "sub/swapped"),
        ("modified", "sub/traded"),
    ];
    run.check(words == expected, "what happened");
    run.check(details[4] == "\u{2192} sub/to" && details[6] == "mode 0644 \u{2192} 0600", "the details");
    // The sizes of files; `empty` is a directory.
    run.check(
        [details[0], details[2], details[3], details[5]] == ["size 4", "", "size 5", "size 4"],
        "sizes",
    );
    run.check(details[1].starts_with("size 6 \u{2192} 5, mtime "), "the details");
    run.check(details[1].contains("sha256 ") && !details[1].contains("md5"), "the digest that both have");
    run.stderr("  4 of 13 the same; 3 modified, 1 metadata, 1 moved, 3 added, 1 removed   (status 1)\n");
    for plan in [["-j", "mono"], ["-j", "4"]] {
        diff(&dir, "old", "new", &plan).status(1).stdout(run_of(&dir));
    }
    diff(&dir, "old", "old", &[]).status(0).stdout("").stderr("  10 of 10 the same\n");
    diff(&dir, "new", "new", &["-q"]).status(0).stdout("").stderr("");
}

fn run_of(dir: &Dir) -> Vec<u8> {
    diff(dir, "old", "new", &[]).out
}

#[test]
fn as_json() {
    let dir = before_and_after();
    let run = diff(&dir, "old", "new", &["--json"]).status(1);
    let records = objects(&run);
    assert_eq!(records.len(), 9);
    assert_eq!(records[4], json!({"change": "moved", "path": "from", "new_path": "sub/to"}));
    assert_eq!(records[0], json!({"change": "added", "path": "copy", "size_bytes": 4}));
    assert_eq!(records[2], json!({"change": "added", "path": "empty"}));
    assert_eq!(records[5], json!({"change": "removed", "path": "gone", "size_bytes": 4}));
    let changes = json!([{"field": "mode", "old": "0644", "new": "0600"}]);
    assert_eq!(records[6]["changes"], changes);
    let fields: Vec<_> = records[1]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["size_bytes", "mtime_ns", "digests"]);
}

#[test]
fn mode_and_ignore_select_what_is_compared() {
    let dir = before_and_after();
    let lines = |args: &[&str]| diff(&dir, "old", "new", args).text().lines().count();
    assert_eq!(lines(&["--mode", "content"]), 8, "the mode is not compared");
    assert_eq!(lines(&["--ignore", "mode"]), 8);
    assert_eq!(lines(&["--ignore", "size,mtime,digest,mode"]), 6, "neither metadata nor content is compared");
}

/// Verifying a tree is the same as comparing its manifest with a new one.
#[test]
fn diff_agrees_with_verify() {
    let dir = before_and_after();
    let verify = dir.ftk(["manifest", "verify", "."]).arg(dir.aside("old")).run().status(1);
    let (diff, verify) = (run_of(&dir), verify.out);
    let words = |out: &[u8]| -> Vec<String> {
        let out = String::from_utf8(out.to_vec()).unwrap().replace("removed\t", "missing\t");
        let two = |line: &str| line.split('\t').take(2).collect::<Vec<_>>().join(" ");
        out.replace("added\t", "new\t").lines().map(two).collect()
    };
    assert_eq!(words(&diff), words(&verify));
}

#[test]
fn checksum_lists() {
    needs!("sha256sum");
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"b").file("sub/c", b"c");
    fs::rename(create(&dir, &[]), dir.aside("manifest")).unwrap();
    dir.ftk(["hash", ".", "-o"]).arg(dir.aside("list")).run().status(0);
    let same = "  3 files the same\n";
    diff(&dir, "list", "list", &[]).status(0).stdout("").stderr(same);
    diff(&dir, "list", "manifest", &[]).status(0).stdout("").stderr(same);
    diff(&dir, "manifest", "list", &[]).status(0).stdout("").stderr(same);
    dir.file("a", b"other");
    fs::rename(dir.path("sub/c"), dir.path("d")).unwrap();
    dir.ftk(["hash", ".", "-o"]).arg(dir.aside("list")).run().status(0);
    let run = diff(&dir, "manifest", "list", &[]).status(1);
    run.stdout("modified a\nmoved    sub/c \u{2192} d\n")
        .stderr_has("1 file the same; 1 modified, 1 moved   (status 1)");
    let sums = dir.ftk([] as [&str; 0]).instead(&dir, ["sha256sum", "a", "b", "d"]).run().status(0);
    fs::write(dir.aside("sums"), &sums.out).unwrap();
    diff(&dir, "list", "sums", &[]).status(0).stderr_has("files the same");
    for nothing in [&["--mode", "metadata"][..], &["--ignore", "mtime,digest"]] {
        let run = diff(&dir, "manifest", "sums", nothing).status(2);
        run.stdout("").stderr_has("a checksum list records only content");
    }
    diff(&dir, "manifest", "sums", &["--ignore", "mtime"]).status(1);
    diff(&dir, "manifest", "sums", &["--json"]).status(1).stderr_has("1 file the same; 1 modified, 1 moved");
}

#[test]
fn empty_files_of_checksum_lists_do_not_move() {
    let dir = Dir::new();
    dir.file("a/__init__.py", b"");
    dir.ftk(["hash", ".", "-o"]).arg(dir.aside("old")).run().status(0);
    fs::rename(dir.path("a/__init__.py"), dir.path(".lock")).unwrap();
    dir.ftk(["hash", ".", "-o"]).arg(dir.aside("new")).run().status(0);
    let run = diff(&dir, "old", "new", &[]).status(1);
    run.stdout("added    ./.lock\nremoved  ./a/__init__.py\n");
}

#[test]
fn lists_that_cannot_be_compared_are_errors() {
    let dir = before_and_after();
    fs::write(dir.aside("empty"), b"").unwrap();
    fs::write(dir.aside("noise"), b"no list at all\n").unwrap();
    for bad in ["empty", "noise", "missing"] {
        diff(&dir, bad, "new", &[]).status(2).stdout("").stderr_has("ftk: ");
        diff(&dir, "old", bad, &[]).status(2).stdout("").stderr_has("ftk: ");
    }
    fs::rename(create(&dir, &["-a", "blake3"]), dir.aside("other")).unwrap();
    diff(&dir, "old", "other", &[]).status(2).stdout("").stderr_has("no algorithm in common");
    diff(&dir, "old", "other", &["--mode", "metadata"]).status(1);
    dir.ftk(["manifest", "diff", "-", "-"]).run().status(2).stderr_has("read only once");
}

#[test]
fn one_of_them_from_standard_input() {
    let dir = before_and_after();
    let old = fs::read(dir.aside("old")).unwrap();
    let run = dir.ftk(["manifest", "diff", "-"]).arg(dir.aside("new")).stdin(&old).run().status(1);
    run.stdout(run_of(&dir));
}

/// A named pipe is opened only once, since data written between two openings would be lost.
#[test]
fn one_of_them_from_a_named_pipe() {
    let dir = before_and_after();
    dir.fifo("pipe");
    let old = fs::read(dir.aside("old")).unwrap();
    for _ in 0..20 {
        let (pipe, old) = (dir.path("pipe"), old.clone());
        let writer = std::thread::spawn(move || fs::write(pipe, old));
        dir.ftk(["manifest", "diff", "pipe"]).arg(dir.aside("new")).run().status(1).stdout(run_of(&dir));
        writer.join().unwrap().unwrap();
    }
}

/// What is not selected is neither added nor removed, and does not count as the same.
#[test]
fn a_part_is_compared() {
    let dir = before_and_after();
    for (args, expected, said) in [
        (&["-E", "sub", "-E", "e*"][..], &["copy", "fresh", "from", "gone", "mode"][..], "6 entries were"),
        (&["--path", "sub/*"], &["sub/swapped", "sub/to", "sub/traded"], "11 entries were"),
        (&["--path", "fresh"], &["fresh"], "13 entries were"),
    ] {
        for mode in ["strict", "content", "metadata"] {
            let run = diff(&dir, "old", "new", &[args, &["--mode", mode]].concat()).status(1);
            let run = run.stderr_has(&format!("  {said} not selected\n"));
            let paths: Vec<_> = run.text().lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
            let mut expected = expected.to_vec();
            if mode == "content" {
                expected.retain(|path| *path != "mode");
            }
            assert_eq!(paths, expected, "{args:?} {mode}");
        }
    }
    let run = diff(&dir, "old", "new", &["-E", "nothing"]).status(1);
    run.stderr_has("--exclude 'nothing' matched nothing\n");
    diff(&dir, "old", "new", &["-E", "a", "--by-directory"]).status(2);
    let other = dir.aside("other");
    dir.ftk(["manifest", "create", "-E", "sub", ".", "-o"]).arg(&other).run().status(0);
    let run = diff(&dir, "old", "other", &[]).status(1);
    run.stderr_has("  NEW was recorded with --exclude=sub\n").stderr_lacks("OLD was recorded");
}

/// A trial: two builds with fixed times differ, and one was called corrupted although times were ignored.
#[test]
fn ignored_times_are_no_evidence_of_damage() {
    let dir = Dir::new();
    let build = |content: &[u8], manifest: &str| {
        dir.file("t/a", content).file("t/b", b"same");
        for path in ["t/a", "t/b"] {
            let file = fs::File::options().write(true).open(dir.path(path)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
        }
        dir.ftk(["manifest", "create", "t", "-o", manifest]).run().status(0);
    };
    build(b"one", "old.jsonl");
    build(b"two", "new.jsonl");
    dir.ftk([""; 0]).instead(&dir, ["tar", "-cf", "t.tar", "-C", "t", "."]).run().status(0);
    for command in [
        &["diff", "old.jsonl", "new.jsonl"][..],
        &["verify", "t", "old.jsonl"],
        &["verify", "--tar", "t.tar", "old.jsonl"],
    ] {
        let run = |args: &[&str]| dir.ftk(["manifest"]).args(command).args(args).run();
        for args in [&[][..], &["--mode", "content"], &["--ignore", "mode,owner"]] {
            run(args).status(1).stdout_has("corrupted\ta\t").stderr_has("1 corrupted");
            run(&[args, &["--status-corrupted", "7"]].concat()).status(7);
        }
        let ignored =
            run(&["--ignore", "mtime"]).status(1).stdout_has("modified\ta\t").stderr_has("1 modified");
        ignored.stderr_lacks("corrupted");
        // Nothing shows that it is an edit either.
        run(&["--ignore", "mtime", "--status-corrupted", "7"]).status(7);
    }
    // `scrub` and `repair` do not ignore times.
    dir.ftk(["manifest", "scrub", "t", "old.jsonl"]).run().status(1).stdout_has("corrupted\ta\t");
}
