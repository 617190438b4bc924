//! Output for people and for programs.

use std::fs::{self, File};

use serde_json::{Value, json};

use crate::harness::{Dir, bytes};

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn mismatches_as_json() {
    let dir = Dir::new();
    dir.file("a", b"ab\ncdef").file("b", b"ab\nxyefg");
    let run = dir.ftk(["cmp", "--json", "a", "b"]).run().status(1);
    let end = json!({"equal": false, "mismatches": 2, "first_byte": 4, "line": 2, "shorter": "a", "shorter_bytes": 7});
    let expected = [json!({"byte": 4, "a": 99, "b": 120}), json!({"byte": 5, "a": 100, "b": 121}), end];
    assert_eq!(objects(run.text()), expected);
    let run = dir.ftk(["cmp", "--json", "--ranges", "a", "b"]).run().status(1);
    let range = json!({"first_byte": 4, "last_byte": 5, "length_bytes": 2});
    assert_eq!(objects(run.text())[0], range);
    let run = dir.ftk(["cmp", "--json", "--max-mismatches", "1", "a", "b"]).run().status(1);
    let end = json!({"equal": false, "mismatches": 1, "first_byte": 4, "line": 2, "stopped_at_byte": 4});
    assert_eq!(objects(run.text())[1], end);
    let run = dir.ftk(["cmp", "--json", "a", "a"]).run().status(0);
    assert_eq!(objects(run.text()), [json!({"equal": true, "mismatches": 0})]);
}

/// Names are raw bytes on a pipe, and escaped on a terminal and in messages.
#[test]
fn odd_names() {
    let dir = Dir::new();
    let odd = b"\x1b[31m\n\xff";
    dir.raw_file(odd, b"abc").file("x", b"abd").file("short", b"a");
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(odd);
    let run = dir.ftk(["cmp"]).arg("x").arg(name).run().status(1);
    run.stdout([&b"x "[..], odd, b" differ: byte 3, line 1\n3 0x64 0x63\n"].concat());
    fs::write(dir.path(name), b"a").unwrap();
    let run = dir.ftk(["cmp"]).arg(name).arg("x").run().status(1).stdout("");
    run.stderr("ftk: EOF on \\x1b[31m\\n\\xff after byte 1, in line 1\n");
}

/// A reader that has seen enough closes the pipe.
#[test]
fn a_closed_pipe_is_no_error() {
    let dir = Dir::new();
    dir.file("a", &bytes(1, 3 << 20)).file("b", &bytes(2, 3 << 20));
    for nth in 0..3000 {
        dir.file(format!("t/{nth}-{}", "long".repeat(40)), b"");
    }
    dir.dir("u").file("u/x", b"");
    for args in [
        &["-l", "a", "b"][..],
        &["--max-mismatches", "0", "a", "b"],
        &["-l", "--json", "a", "b"],
        &["t", "u"],
    ] {
        let pipe = "{ \"$@\"; echo $? >&3; } 3>../status | head -n 2";
        let run = dir.ftk(["cmp"]).args(args).under(&dir, ["sh", "-c", pipe, "sh"]).run().status(0);
        run.check(run.out.iter().filter(|&&byte| byte == b'\n').count() == 2, "two lines came");
        let status = fs::read_to_string(dir.aside("status")).unwrap();
        run.check(status == "1\n", &format!("the status is {status}"));
        run.check(!run.err.contains("roken pipe"), "nothing is said");
    }
}

/// The output file is not read as an input.
#[test]
fn h17_the_own_output() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"abd").file("t/x", b"a").file("u/x", b"a");
    let append = |path: &str| File::options().append(true).open(dir.path(path)).unwrap();
    let run = dir.ftk(["cmp", "a", "b"]).stdout(append("b")).run().status(2);
    run.stderr("ftk: 'b' is both input and output\n");
    let list = File::create(dir.path("t/list")).unwrap();
    let run = dir.ftk(["cmp", "t", "u"]).stdout(list).run().status(0);
    run.stderr_has("skipped: 1 own output file");
    assert_eq!(fs::read(dir.path("t/list")).unwrap(), b"");
}

#[test]
fn progress_and_stats() {
    let dir = Dir::new();
    dir.file("t/x", b"abc").file("u/x", b"abd").file("t/y", b"abc").file("u/y", b"abc");
    let run = dir.ftk(["cmp", "t", "u", "--progress", "json", "--stats", "stats"]).run().status(1);
    let line = run.err.lines().find(|line| line.contains("\"phase\":\"compare\"")).unwrap();
    let last: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&last["files"], &last["files_total"], &last["bytes"]), (&json!(2), &json!(2), &json!(12)));
    let stats: Value = serde_json::from_slice(&fs::read(dir.path("stats")).unwrap()).unwrap();
    assert_eq!((&stats["command"], &stats["status"]), (&json!("cmp"), &json!(1)));
    let phase = &stats["phases"][2];
    assert_eq!(
        (&phase["phase"], &phase["files"], &phase["bytes"]),
        (&json!("compare"), &json!(4), &json!(12))
    );
    let run = dir.ftk(["cmp", "t/x", "u/x", "--progress", "json", "--stats", "stats"]).run().status(1);
    run.stderr_has("\"phase\":\"compare\"");
    let stats: Value = serde_json::from_slice(&fs::read(dir.path("stats")).unwrap()).unwrap();
    assert_eq!((&stats["phases"][0]["phase"], &stats["phases"][0]["files"]), (&json!("compare"), &json!(2)));
}
