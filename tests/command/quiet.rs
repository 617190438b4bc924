//! `--quiet` has one meaning in all commands: results, findings and errors are printed, and nothing else.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::{Dir, sha256};

/// A run of a command.
struct Case {
    /// The names of the command and its subcommands.
    command: &'static str,
    args: &'static [&'static str],
    status: i32,
    /// Whether a line of the output says of something only that it is as it should be. `-q` omits it.
    is_fine: fn(&str) -> bool,
    /// Whether it changes files, so that each run needs its own scene.
    acts: bool,
}

const fn reads(command: &'static str, args: &'static [&'static str], status: i32) -> Case {
    Case { command, args, status, is_fine: |_| false, acts: false }
}

const fn acts(command: &'static str, args: &'static [&'static str], status: i32) -> Case {
    Case { command, args, status, is_fine: |_| true, acts: true }
}

const CASES: &[Case] = &[
    reads("du", &["t"], 0),
    reads("du", &["--since", "t.jsonl", "u"], 0),
    reads("hash", &["t"], 0),
    reads("hash", &["t", "missing"], 2),
    Case { is_fine: |line| line.ends_with(": OK"), ..reads("hash", &["--check", "bad"], 1) },
    reads("hash", &["--diff", "bad", "sums"], 1),
    reads("hash", &["--tree", "t"], 0),
    reads("hash", &["--lines", "sums"], 0),
    reads("hash", &["--bag", "--create", "--dry-run", "t"], 0),
    acts("hash", &["--bag", "--create", "t"], 0),
    Case { is_fine: |_| false, ..acts("hash", &["--update", "t/sums"], 0) },
    reads("dup", &["t"], 0),
    reads("dup", &["--summary", "t"], 0),
    reads("dup", &["--dirs", "t", "u"], 0),
    reads("dup prune", &["--action", "delete", "t"], 0),
    acts("dup prune", &["--action", "delete", "--yes", "t"], 0),
    acts("dup apply", &["dup.json", "--action", "delete", "--yes"], 0),
    reads("dup apply", &["dup.json", "--action", "delete"], 0),
    reads("dup undo", &["--list"], 0),
    reads("undo", &["--list"], 0),
    reads("undo", &["--last", "--dry-run"], 0),
    acts("undo", &["--last"], 0),
    acts("dup undo", &["--last"], 0),
    reads("manifest create", &["t", "-o", "made.jsonl", "--force"], 0),
    reads("manifest verify", &["u", "t.jsonl"], 1),
    reads("manifest verify", &["t", "t.jsonl"], 0),
    reads("manifest diff", &["t.jsonl", "u.jsonl"], 1),
    reads("manifest diff", &["--by-directory", "t.jsonl", "u.jsonl"], 1),
    reads("manifest update", &["t", "damaged.jsonl", "--dry-run"], 1),
    reads("manifest update", &["t", "t.jsonl", "-o", "made.jsonl", "--force"], 0),
    acts("manifest scrub", &["t", "t.jsonl"], 0),
    reads("manifest scrub", &["t", "damaged.jsonl"], 1),
    reads("manifest export", &["t.jsonl", "--format", "sha256"], 0),
    reads("manifest import", &["sums", "-o", "made.jsonl", "--force"], 0),
    reads("manifest merge", &["part.jsonl", "-o", "made.jsonl", "--force"], 0),
    Case { is_fine: |_| false, ..acts("manifest protect", &["t", "t.jsonl", "-o", "made.parity"], 0) },
    reads("manifest plan", &["--shards", "2", "t.jsonl", "-o", "made.jsonl", "--force"], 0),
    reads("manifest unique", &["t.jsonl", "u.jsonl"], 1),
    reads("manifest unique", &["t", "u"], 1),
    reads("manifest repair", &["t", "damaged.jsonl", "--from", "u"], 1),
    reads("cmp", &["t", "u"], 1),
    reads("cmp", &["t/a", "t/c"], 1),
    reads("cmp", &["t/a", "missing"], 2),
    reads("report", &["t", "-o", "made.html"], 0),
    reads("query", &["growth", "x", "y"], 2),
    reads("cache stats", &[], 0),
    reads("cache trim", &["--max-size", "1G"], 0),
    reads("cache forget", &["t"], 0),
    acts("cache clear", &[], 0),
    reads("calibrate", &["--show"], 0),
    reads("completions", &["bash"], 0),
    acts("man", &["--install", "pages"], 0),
    reads("help", &["hash"], 0),
];

/// Two trees with their manifests, lists, and the journal of a run.
fn scene() -> Dir {
    let dir = Dir::new();
    dir.file("t/a", b"same").file("t/b", b"same").file("t/c", b"other").file("t/d/e", b"below");
    dir.file("u/a", b"same").file("u/c", b"changed").file("away/x", b"twice").file("away/y", b"twice");
    let sums = |c: &[u8]| format!("{}  t/a\n{}  t/c\n", sha256(b"same"), sha256(c));
    dir.file("sums", sums(b"other").as_bytes()).file("bad", sums(b"tampered").as_bytes());
    dir.file("t/sums", format!("{}  a\n", sha256(b"same")).as_bytes());
    for args in [
        &["manifest", "create", "t", "-o", "t.jsonl"][..],
        &["manifest", "create", "u", "-o", "u.jsonl"],
        &["manifest", "create", "--shard", "1/1", "t", "-o", "part.jsonl"],
        &["dup", "t", "--json", "-o", "dup.json"],
        &["dup", "prune", "--action", "delete", "--yes", "away"],
    ] {
        dir.ftk(args).run().status(0);
    }
    // The record of another content with the same size and time.
    let recorded = std::fs::metadata(dir.path("t/c")).unwrap().modified().unwrap();
    dir.file("t/c", b"OTHER");
    let file = std::fs::File::options().write(true).open(dir.path("t/c")).unwrap();
    file.set_modified(recorded).unwrap();
    dir.ftk(["manifest", "scrub", "t", "t.jsonl"]).run().status(1);
    std::fs::rename(dir.path("t.jsonl"), dir.path("damaged.jsonl")).unwrap();
    dir.ftk(["manifest", "create", "t", "-o", "t.jsonl"]).run().status(0);
    dir
}

#[test]
fn only_results_findings_and_errors_are_printed() {
    let shared = scene();
    for Case { command, args, status, is_fine, acts } in CASES {
        let words: Vec<_> = command.split(' ').chain(args.iter().copied()).collect();
        let of_loud = if *acts { &scene() } else { &shared };
        let loud = of_loud.ftk(&words).run().status(*status);
        let of_quiet = if *acts { &scene() } else { &shared };
        let quiet = of_quiet.ftk(&words).arg("-q").run().status(*status);
        let expected: Vec<_> = loud.text().lines().filter(|line| !is_fine(line)).collect();
        quiet.check(quiet.text().lines().eq(expected), "the output is that without --quiet");
        // Where ftk-query is not installed, `ftk` itself says so.
        let is_error = |line: &str| line.starts_with("ftk: ") || line.starts_with("ftk query: ");
        let errors =
            |text: &str| text.lines().filter(|line| is_error(line)).map(str::to_owned).collect::<Vec<_>>();
        quiet.check(errors(&quiet.err) == errors(&loud.err), "the errors are those without --quiet");
        // How to undo a run is no summary.
        let undo = ["  to undo this: ftk undo '", "  journal: '"];
        let others =
            quiet.err.lines().find(|line| !is_error(line) && !undo.iter().any(|it| line.starts_with(it)));
        quiet.check(others.is_none(), "nothing else is printed");
    }
}

/// `find` would list its results, which `fd -q` does not, so it names the option.
#[test]
fn find_refuses_it() {
    for args in [
        &["find", "-q"][..],
        &["-q", "find"],
        &["find", "--quiet", "-n", "x"],
        &["find", "-q", "--exec", "ls"],
    ] {
        let run = scene().ftk(args).run().status(2).stdout("");
        run.stderr(
            "ftk: --quiet never hides results: to print nothing and only set the exit status, use --status\n",
        );
    }
}

#[test]
fn every_command_is_tried() {
    fn names(command: &Value, above: &str, all: &mut BTreeSet<String>) {
        for command in command["commands"].as_array().into_iter().flatten() {
            let name = format!("{above}{}", command["name"].as_str().unwrap());
            names(command, &format!("{name} "), all);
            all.insert(name);
        }
    }
    let described: Value = serde_json::from_str(Dir::new().ftk(["--describe"]).run().text()).unwrap();
    let mut all = BTreeSet::new();
    names(&described, "", &mut all);
    // These only have subcommands.
    let all: BTreeSet<_> =
        all.iter().map(String::as_str).filter(|it| !["manifest", "cache"].contains(it)).collect();
    let tried = CASES.iter().map(|case| case.command).chain(["find"]).collect();
    assert_eq!(all, tried);
}

/// Progress is drawn with `-q` only if it is asked for.
#[test]
fn progress_must_be_asked_for() {
    let dir = scene();
    let run = dir.ftk(["hash", "-q", "--progress", "json", "t"]).run().status(0);
    run.stderr_has("\"phase\":\"hash\"");
    dir.ftk(["hash", "-q", "t"]).run().status(0).stderr("");
}
