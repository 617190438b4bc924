//! `--metrics FILE`: the result of a run for Prometheus.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::harness::{Dir, needs};

/// Returns the values of a file by metric and label, without the labels that all metrics have. `labels` are those.
fn metrics(dir: &Dir, name: &str, labels: &str) -> BTreeMap<String, f64> {
    let path = dir.path(name);
    let file = fs::File::open(&path).unwrap();
    let promtool =
        Command::new("promtool").args(["check", "metrics"]).stdin(Stdio::from(file)).output().unwrap();
    let said = [promtool.stdout, promtool.stderr].concat();
    assert!(promtool.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));

    let text = fs::read_to_string(path).unwrap();
    let series = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (series, value) = line.rsplit_once(' ').unwrap();
        assert!(series.contains(labels), "{series}");
        (series.replace(labels, ""), value.parse().unwrap_or_else(|_| panic!("{line}")))
    });
    series.collect()
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

#[test]
fn of_hash() {
    needs!("promtool");
    let dir = Dir::new();
    dir.file("in/a", b"abc").file("in/b", b"de").fifo("in/fifo");
    let start = now();
    dir.ftk(["hash", "in", "--metrics", "nightly.prom"]).run().status(0);
    let end = now();
    let mut values = metrics(&dir, "nightly.prom", "task=\"nightly\",command=\"hash\"");
    let mut take = |name: &str| values.remove(name).unwrap_or_else(|| panic!("{name} is missing"));
    // Times are cut off to milliseconds.
    for name in ["ftk_end_timestamp_seconds{}", "ftk_last_success_timestamp_seconds{}"] {
        assert!((start - 0.001..=end).contains(&take(name)), "{name}");
    }
    assert!((0.0..=end - start).contains(&take("ftk_duration_seconds{}")));
    let expected = [
        ("ftk_bytes{,phase=\"hash\"}", 5.0),
        ("ftk_entries{}", 4.0),
        ("ftk_errors{}", 0.0),
        ("ftk_failed_files{,phase=\"hash\"}", 0.0),
        ("ftk_files{,phase=\"hash\"}", 2.0),
        ("ftk_skipped_entries{}", 1.0),
        ("ftk_status{}", 0.0),
        ("ftk_unused_rules{}", 0.0),
    ];
    assert_eq!(values, expected.map(|(name, value)| (name.to_owned(), value)).into());
}

/// A failed run keeps the time of the last success, but not that of another command or task.
#[test]
fn the_last_success_outlives_failures() {
    needs!("promtool");
    const LAST: &str = "ftk_last_success_timestamp_seconds{}";
    let dir = Dir::new();
    dir.file("a", b"abc");
    let run = |command: &[&str], file: &str, status| {
        dir.ftk([command, &["--metrics", file]].concat()).run().status(status);
        let task = file.trim_end_matches(".prom");
        metrics(&dir, file, &format!("task=\"{task}\",command=\"{}\"", command[0]))
    };
    let good = run(&["hash", "a"], "x.prom", 0);
    assert!(good.contains_key(LAST));
    let failed = run(&["hash", "missing"], "x.prom", 2);
    assert_eq!((failed["ftk_status{}"], failed["ftk_errors{}"]), (2.0, 1.0));
    assert_eq!(failed[LAST], good[LAST]);
    assert_eq!(run(&["hash", "missing"], "x.prom", 2)[LAST], good[LAST], "it is carried along");
    assert!(!run(&["dup", "missing"], "x.prom", 2).contains_key(LAST), "another command");
    assert!(!run(&["hash", "missing"], "y.prom", 2).contains_key(LAST), "another task");
}

#[test]
fn of_findings() {
    needs!("promtool");
    let dir = Dir::new();
    dir.file("in/a", b"abc").file("in/b", b"abc").file("in/c", b"abc");
    let run = |command: &str, rest: &[&str], status, results: &[(&str, f64)]| {
        let words: Vec<_> = command.split(' ').collect();
        dir.ftk([&words, rest, &["--metrics", "m.prom"]].concat()).run().status(status);
        let mut found = metrics(&dir, "m.prom", &format!("task=\"m\",command=\"{command}\""));
        found.retain(|name, _| name.starts_with("ftk_results"));
        let name = |result: &str| format!("ftk_results{{,result=\"{result}\"}}");
        assert_eq!(
            found,
            results.iter().map(|&(result, value)| (name(result), value)).collect(),
            "{command}"
        );
    };
    run("manifest create", &["in", "-o", "m.jsonl"], 0, &[]);
    let block = fs::metadata(dir.path("in/a")).unwrap();
    let space = std::os::unix::fs::MetadataExt::blocks(&block) as f64 * 512.0;
    let dup = [
        ("files", 3.0),
        ("groups", 1.0),
        ("waste_bytes", 6.0),
        ("freed_bytes", 2.0 * space),
        ("shared_bytes", 0.0),
        ("surplus_files", 2.0),
    ];
    run("dup", &["in", "--min-size", "0", "--summary"], 0, &dup);
    let mtime = block.modified().unwrap();
    fs::write(dir.path("in/a"), b"abd").unwrap();
    fs::File::options().write(true).open(dir.path("in/a")).unwrap().set_modified(mtime).unwrap();
    fs::remove_file(dir.path("in/b")).unwrap();
    dir.file("in/new", b"x");
    let verdicts = |ok, unread| {
        let some = [("ok", ok), ("unread", unread), ("corrupted", 1.0), ("missing", 1.0), ("new", 1.0)];
        let none = ["metadata", "modified", "moved", "respelled", "unknown", "unreadable"];
        [&some[..], &none.map(|verdict| (verdict, 0.0))].concat()
    };
    run("manifest verify", &["in", "m.jsonl"], 1, &verdicts(2.0, 0.0));
    let some = [("corrupted", 1.0), ("missing", 1.0), ("added", 1.0), ("removed", 1.0)];
    let update =
        [&some[..], &["kept", "modified", "moved", "metadata", "rewritten"].map(|kind| (kind, 0.0))].concat();
    run("manifest update", &["in", "m.jsonl", "-o", "n.jsonl"], 1, &update);
    let scrub = [("ok", 1.0), ("corrupted", 1.0), ("unreadable", 0.0), ("never_read", 0.0), ("new", 1.0)];
    let left = [("changed", 0.0), ("missing", 1.0), ("respelled", 0.0)];
    let start = now();
    run("manifest scrub", &["in", "m.jsonl"], 1, &[&scrub[..], &left].concat());
    let values = metrics(&dir, "m.prom", "task=\"m\",command=\"manifest scrub\"");
    let oldest = values["ftk_oldest_verification_timestamp_seconds{}"];
    assert!((start - 0.001..=now()).contains(&oldest), "{oldest}");
}

/// The page describes exactly the metrics that exist.
#[test]
fn the_page_lists_every_metric() {
    let page = include_str!("../../docs/metrics.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<_> = rows.collect();
    let dir = Dir::new();
    dir.file("in/a", b"abc");
    dir.ftk(["hash", "in", "-o", "list"]).run().status(0);
    dir.ftk(["hash", "--check", "list", "--metrics", "a.prom"]).run().status(0);
    dir.ftk(["manifest", "create", "in", "-o", "m.jsonl"]).run().status(0);
    let changed = ["manifest", "update", "in", "m.jsonl", "-o", "m.jsonl", "--changed", "-"];
    dir.ftk(changed).stdin(b"a\n").run().status(0);
    dir.ftk(["manifest", "scrub", "in", "m.jsonl", "--metrics", "c.prom"]).run().status(0);
    dir.ftk(["hash", "in", "--cache", "--metrics", "b.prom"]).run().status(0);
    let text =
        ["a.prom", "b.prom", "c.prom"].map(|name| fs::read_to_string(dir.path(name)).unwrap()).concat();
    let written = text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next());
    assert_eq!(written.collect::<BTreeSet<_>>(), listed);
}

/// A file that cannot be written is an error, and the old file stays until the new one is complete.
#[test]
fn files_that_cannot_be_written() {
    let dir = Dir::new();
    dir.file("x", b"abc").file("old.prom", b"not metrics\n");
    let missing = dir.ftk(["hash", "x", "--metrics", "missing/m.prom"]).run().status(2).stdout("");
    missing.stderr("ftk: cannot write 'missing/m.prom': no such file or directory\n");
    let full = dir.ftk(["hash", "x", "--metrics", "/dev/full"]).run().status(2);
    full.check(!full.out.is_empty(), "the work was done");
    full.stderr_has("ftk: cannot write '/dev/full'");
    let both = dir.ftk(["hash", "x", "--metrics", "m", "--stats", "m"]).run().status(2).stdout("");
    both.stderr("ftk: --metrics and --stats name the same file\n");
    dir.ftk(["hash", "x", "--no-such-option", "--metrics", "old.prom"]).run().status(2);
    assert_eq!(
        fs::read(dir.path("old.prom")).unwrap(),
        b"not metrics\n",
        "wrong arguments leave the old file"
    );
    dir.ftk(["hash", "missing", "--metrics", "old.prom"]).run().status(2);
    let text = fs::read_to_string(dir.path("old.prom")).unwrap();
    assert!(text.starts_with("# HELP") && !text.contains("last_success"), "{text}");
}
