//! `--stats FILE`: what a run did, as JSON.

use std::fs;

use serde_json::Value;

use crate::harness::Dir;

/// Returns the content of a stats file.
fn stats(dir: &Dir, name: &str) -> Value {
    let text = fs::read_to_string(dir.path(name)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the phase with this name.
fn phase<'s>(stats: &'s Value, name: &str) -> &'s Value {
    let phases = stats["phases"].as_array().unwrap();
    phases.iter().find(|phase| phase["phase"] == name).unwrap_or_else(|| panic!("no {name}: {stats}"))
}

#[test]
fn of_a_successful_run() {
    let dir = Dir::new();
    dir.file("in/a", b"abc").file("in/d/b", b"").symlink("a", "in/link").fifo("in/fifo");
    dir.ftk(["hash", "in", "--stats", "s.json", "--json"]).run().status(0);
    let stats = stats(&dir, "s.json");
    assert_eq!((&stats["ftk"], &stats["version"]), (&"stats".into(), &1.into()));
    assert_eq!((&stats["program"], &stats["command"]), (&env!("CARGO_PKG_VERSION").into(), &"hash".into()));
    assert_eq!(stats["status"], 0);
    let walk = phase(&stats, "walk");
    assert_eq!(walk["entries"], 6, "the root, a, d, b, the link and the FIFO");
    let hash = phase(&stats, "hash");
    assert_eq!([&hash["files"], &hash["failed"], &hash["bytes"]], [2, 0, 3]);
    assert_eq!(stats["skipped"], serde_json::json!({"symbolic links": 1, "FIFOs": 1}));
    assert_eq!(stats["errors"], serde_json::json!({}));
    assert!(stats["plans"][0]["kernels"][0].as_str().unwrap().starts_with("sha256 "));
    let number = |name: &str| stats[name].as_u64().unwrap_or_else(|| panic!("{name}: {stats}"));
    assert!(
        number("elapsed_ns") >= walk["elapsed_ns"].as_u64().unwrap() + hash["elapsed_ns"].as_u64().unwrap()
    );
    assert!(number("cpu_ns") > 0 && number("start_ns") > 1_700_000_000_000_000_000);
    assert!((1 << 20..1 << 32).contains(&number("peak_memory_bytes")));
}

#[test]
fn of_a_run_that_failed() {
    let dir = Dir::new();
    dir.file("there", b"abc").fifo("fifo");
    dir.ftk(["hash", "there", "missing", "gone", "fifo", "--stats", "s.json"]).run().status(2);
    let failed = stats(&dir, "s.json");
    assert_eq!(failed["status"], 2);
    assert_eq!(phase(&failed, "hash")["files"], 1);
    assert_eq!(failed["errors"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>(), 3);
    // A run that failed before any work writes its stats, too.
    dir.ftk(["find", "-n", "[a", "--stats", "s.json"]).run().status(2);
    let refused = stats(&dir, "s.json");
    assert_eq!((&refused["status"], &refused["command"]), (&2.into(), &"find".into()));
    assert_eq!(refused["phases"], serde_json::json!([]));
}

#[test]
fn of_find() {
    let dir = Dir::new();
    dir.file("a", b"").file("d/b", b"").file("d/c", b"");
    dir.ftk(["find", "--status", "-n", "nothing", "--stats", "s.json"]).run().status(1);
    let stats = stats(&dir, "s.json");
    assert_eq!((&stats["status"], &phase(&stats, "walk")["entries"]), (&1.into(), &5.into()));
}

/// A single file is in the sample, whether or not its worker looks for another one.
#[test]
fn of_a_single_file() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    let ftk = dir.ftk(["hash", "x", "--stats", "s.json"]);
    ftk.under(&dir, ["env", "FTK_SIMD=portable"]).run().status(0);
    let plan = &stats(&dir, "s.json")["plans"][0];
    assert_eq!([&plan["sample_files"], &plan["sample_bytes"]], [1, 3]);
}

/// Standard input and `--lines` are counted, too.
#[test]
fn of_standard_input_and_lines() {
    let dir = Dir::new();
    dir.file("x", b"ab\nc\n");
    dir.ftk(["hash", "--stats", "s.json"]).stdin(b"abc").run().status(0);
    let stdin = stats(&dir, "s.json");
    let stdin = phase(&stdin, "stdin");
    assert_eq!([&stdin["files"], &stdin["failed"], &stdin["bytes"]], [1, 0, 3]);
    dir.ftk(["hash", "--lines", "x", "--stats", "s.json"]).run().status(0);
    let lines = stats(&dir, "s.json");
    let lines = phase(&lines, "lines");
    assert_eq!([&lines["files"], &lines["failed"], &lines["bytes"]], [1, 0, 5]);
}

/// A stats file that cannot be created is an error before the work.
#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    dir.ftk(["hash", "x", "--stats", "missing/s"])
        .run()
        .status(2)
        .stdout("")
        .stderr("ftk: cannot write 'missing/s': no such file or directory\n");
    let run = dir.ftk(["hash", "x", "--stats", "/dev/full"]).run().status(2);
    run.check(run.err.contains("ftk: cannot write '/dev/full'"), "the message is printed");
    run.check(!run.out.is_empty(), "the work was done");
}

/// The old file stays until the new one is complete, and is skipped as input.
#[test]
fn an_old_file_is_replaced() {
    let dir = Dir::new();
    dir.file("in/x", b"abc").file("in/s.json", b"old");
    let run = dir.ftk(["hash", "in", "--stats", "in/s.json"]).run().status(0);
    run.check(!run.text().contains("s.json"), "it is skipped");
    assert_eq!(stats(&dir, "in/s.json")["skipped"], serde_json::json!({"own output files": 1}));
    let run = dir.ftk(["find", "in", "--stats", "in/s.json"]).run().status(0);
    run.check(!run.text().contains("s.json"), "it is skipped");
    assert_eq!(fs::read_dir(dir.path("in")).unwrap().count(), 2);
}
