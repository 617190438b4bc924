//! `--progress`: how far a run is, for programs, logs and users.

use std::fs;

use serde_json::Value;

use crate::harness::{Dir, needs};

/// Returns the JSON objects among the lines of standard error.
fn objects(err: &str) -> Vec<Value> {
    let lines = err.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn json_reports_the_end_of_each_phase() {
    let dir = Dir::new();
    dir.file("in/a", b"abc").file("in/b", b"defgh").hole("in/large", 3 << 20);
    for threads in ["mono", "4"] {
        let run = dir.ftk(["hash", "in", "-q", "-j", threads, "--progress", "json"]).run().status(0);
        let objects = objects(&run.err);
        run.check(objects.len() == run.err.lines().count(), "there is nothing else");
        let of = |phase| objects.iter().rfind(|object| object["phase"] == phase).unwrap();
        assert_eq!(of("walk")["entries"], 4);
        let hash = of("hash");
        let total = 8 + (3 << 20);
        assert_eq!([&hash["files"], &hash["files_total"]], [3, 3]);
        assert_eq!([&hash["bytes"], &hash["bytes_total"]], [total, total]);
        assert_eq!(hash["eta_ms"], 0);
        run.check(hash["bytes_per_s"].is_u64() && hash["elapsed_ms"].is_u64(), "rate and time are there");
    }
}

#[test]
fn a_walk_reports_its_entries() {
    let dir = Dir::new();
    dir.file("a", b"").file("d/b", b"");
    for args in [&["find"][..], &["find", "--sort"], &["find", "-c"]] {
        let run = dir.ftk(args).args(["--progress", "json"]).run().status(0);
        assert_eq!(objects(&run.err).last().unwrap()["entries"], 4, "{args:?}");
    }
}

/// Without a terminal nothing is drawn by default, and `always` prints whole lines.
#[test]
fn without_a_terminal() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    for args in [&[][..], &["--progress", "auto"], &["--progress", "never"]] {
        dir.ftk(["hash", "-q", "x"]).args(args).run().status(0).stderr("");
    }
    let run = dir.ftk(["hash", "-q", "x", "--progress", "always"]).run().status(0);
    run.check(!run.err.contains(['\r', '\u{1b}']), "lines only");
}

/// The progress line is removed at the end and is not mixed with the list.
#[test]
fn on_a_terminal() {
    needs!("script");
    let dir = Dir::new();
    dir.file("in/small", b"abc");
    // Large enough to draw progress, however busy the machine is.
    dir.hole("in/large", 256 << 20);
    let ftk = env!("CARGO_BIN_EXE_ftk");
    let run = |args: &str| {
        let line = format!("TERM=xterm '{ftk}' hash -q in {args} > list");
        dir.ftk([] as [&str; 0]).instead(&dir, ["script", "-qec", &line, "/dev/null"]).run().status(0)
    };
    let drawn = run("--progress always -a sha512 -j mono");
    drawn.check(drawn.text().contains("ing  "), "a progress line was drawn");
    let last = drawn.text().rsplit('\r').next().unwrap();
    drawn.check(!last.contains("ing  "), "the progress line is removed");
    assert_eq!(fs::read_to_string(dir.path("list")).unwrap().lines().count(), 2);
    run("--progress never").stdout("");
}

/// The bar and the counters become shorter or disappear, but not the rate and the time left.
#[test]
fn a_narrow_terminal_shows_rate_and_time_left() {
    needs!("script");
    let dir = Dir::new();
    dir.hole("in/large", 256 << 20);
    let ftk = env!("CARGO_BIN_EXE_ftk");
    for width in [40, 80] {
        let args = "hash -q in --progress always --color never -a sha512 -j mono";
        let line = format!("stty rows 24 cols {width}; TERM=xterm '{ftk}' {args} > list");
        let run = dir.ftk([] as [&str; 0]).instead(&dir, ["script", "-qec", &line, "/dev/null"]);
        let run = run.run().status(0);
        let drawn = run.text().split(['\r', '\n', '\u{1b}']).map(|line| line.trim_start_matches("[2K"));
        let drawn: Vec<_> = drawn.filter(|line| line.contains("hashing")).collect();
        let is_complete = |line: &&str| line.contains("eta ") && line.contains("/s");
        run.check(drawn.iter().any(is_complete), "rate and time left are shown");
        run.check(drawn.iter().all(|line| line.chars().count() <= width), "they fit");
    }
}
