//! `--log FILE`: a line about each run.

use std::fs;
use std::os::unix::fs::symlink;

use crate::harness::{Dir, sha256};

fn lines(dir: &Dir) -> Vec<serde_json::Value> {
    let log = fs::read_to_string(dir.path("t/log")).unwrap();
    log.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A year of checks in a file that lies in the tree.
#[test]
fn each_run_appends_a_line() {
    let dir = Dir::new();
    dir.file("t/a", b"abc").file("t/b", b"abd");
    dir.ftk(["hash", "t", "-o", "list"]).run().status(0);
    dir.ftk(["manifest", "create", "t", "-o", "m.jsonl"]).run().status(0);
    let verify = || dir.ftk(["manifest", "verify", "t", "m.jsonl", "--log", "t/log"]).run();
    verify().status(0);
    fs::write(dir.path("t/b"), b"abX").unwrap();
    verify().status(1);
    dir.ftk(["hash", "--check", "list", "--log", "t/log", "-q"]).run().status(1);
    dir.ftk(["manifest", "verify", "missing", "m.jsonl", "--log", "t/log"]).run().status(2);
    let log = lines(&dir);
    let of = |name: &str| log.iter().map(|line| line[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("status"), [0, 1, 1, 2]);
    assert_eq!(of("command"), ["manifest verify", "manifest verify", "hash", "manifest verify"]);
    assert_eq!([&log[0]["results"]["ok"], &log[0]["results"]["new"]], [3, 0], "the log is skipped");
    assert_eq!([&log[1]["results"]["modified"], &log[2]["results"]["failed"]], [1, 1], "{log:?}");
    assert!(log[2]["line"].as_str().unwrap().ends_with(" hash --check list --log t/log -q"), "{log:?}");
    let manifest = fs::read(dir.path("m.jsonl")).unwrap();
    let footer = manifest.windows(10).rposition(|at| at == b"{\"footer\":").unwrap();
    assert_eq!(log[0]["seal"], sha256(&manifest[..footer]));
    assert_eq!((&log[0]["manifest"], &log[2]["seal"]), (&"m.jsonl".into(), &serde_json::Value::Null));
    assert!(log.windows(2).all(|two| two[0]["start_ns"].as_u64() < two[1]["start_ns"].as_u64()));
}

#[test]
fn a_torn_line_is_ended_and_other_files_are_left_alone() {
    let dir = Dir::new();
    dir.file("t/a", b"abc");
    let hash = |log: &str| dir.ftk(["hash", "t/a", "--log", log]).run();
    hash("t/log").status(0);
    let whole = fs::read(dir.path("t/log")).unwrap();
    for torn in [&whole[..5], &whole[..whole.len() - 1]] {
        fs::write(dir.path("t/log"), torn).unwrap();
        hash("t/log").status(0);
        let log = fs::read(dir.path("t/log")).unwrap();
        let rest = log.strip_prefix(torn).and_then(|rest| rest.strip_prefix(b"\n")).unwrap();
        assert!(rest.starts_with(b"{\"ftk\":\"run\",") && rest.ends_with(b"}\n"));
    }
    dir.ftk(["manifest", "create", "t", "-o", "m.jsonl"]).run().status(0);
    dir.ftk(["hash", "t", "-o", "list"]).run().status(0);
    symlink("t/log", dir.path("link")).unwrap();
    for (file, why) in [
        ("m.jsonl", "'m.jsonl' is not a log of ftk: nothing is appended to it"),
        ("list", "'list' is not a log of ftk"),
        ("t/a", "ftk: 't/a' is both input and output"),
        ("link", "cannot open the log 'link'"),
        ("t", "cannot open the log 't'"),
        ("missing/log", "cannot open the log 'missing/log'"),
        ("/dev/null", "the log '/dev/null' is not a regular file"),
        ("-", "`-` is not a file here"),
    ] {
        let before = fs::read(dir.path("m.jsonl")).unwrap();
        hash(file).status(2).stdout("").stderr_has(why);
        assert_eq!(fs::read(dir.path("m.jsonl")).unwrap(), before);
    }
    for (command, why) in [
        (
            &["manifest", "verify", "t", "m.jsonl", "--log", "m.jsonl"][..],
            "'m.jsonl' is both input and output",
        ),
        (&["hash", "t", "--stats", "x", "--log", "x"], "name the same file"),
    ] {
        dir.ftk(command).run().status(2).stderr_has(why);
    }
}
