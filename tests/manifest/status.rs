//! `--status-corrupted N`: scripts tell damage from an edited file by the exit status.

use std::fs;

use super::damage::flip;
use super::records::{create, json as objects, lines, seal, verify};
use super::repair::{copy, mark, repair};
use crate::harness::{Dir, Run};

const STATUS: [&str; 2] = ["--status-corrupted", "7"];

/// Returns a recorded tree with a copy.
fn recorded() -> Dir {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def").file("c", b"ghi").file("d", b"jkl");
    create(&dir, &[]);
    copy(&dir, "copy");
    dir
}

fn run(dir: &Dir, command: &str, args: &[&str]) -> Run {
    dir.ftk(["manifest", command, "."]).arg(dir.aside("manifest")).args(args).args(STATUS).run()
}

/// Records the tree again. The records of damaged files stay.
fn update(dir: &Dir, args: &[&str]) -> Run {
    run(dir, "update", &[&["-o", "../manifest"], args].concat())
}

#[test]
fn verify_tells_damage_from_other_differences() {
    let dir = recorded();
    run(&dir, "verify", &[]).status(0);
    dir.file("a", b"edited");
    fs::remove_file(dir.path("b")).unwrap();
    dir.file("new", b"new");
    run(&dir, "verify", &[]).status(1);
    flip(&dir.path("c"));
    let said = "  2 of 6 as recorded; 1 corrupted, 1 modified, 1 new, 1 missing   (status 7)\n";
    run(&dir, "verify", &[]).status(7).stderr_has(said);
    run(&dir, "verify", &["--mode", "content", "-q"]).status(7).stderr("");
    // Without the option, nothing changes.
    verify(&dir, &[]).status(1).stderr_has("(status 1)");
    // A run that failed is not complete, whatever it found.
    dir.lock("d");
    let failed = dir.ftk(["manifest", "verify", ".", "../manifest"]).args(STATUS).unprivileged(&dir).run();
    failed.status(2).stderr_has("1 unreadable, 1 corrupted, 1 modified, 1 new, 1 missing   (status 2)\n");
}

#[test]
fn scrub_and_update_tell_damage_until_it_is_accepted() {
    let dir = recorded();
    flip(&dir.path("a"));
    run(&dir, "scrub", &[])
        .status(7)
        .stderr_has("  1 damaged file: see `ftk manifest repair`")
        .stderr_has("   (status 7)\n");
    run(&dir, "scrub", &["--bytes", "1"]).status(7);
    let said = "  1 corrupted file kept as recorded; --accept PATH records one as it is now   (status 7)\n";
    update(&dir, &[]).status(7).stderr_has(said);
    // Changes that `--append-only` reports are no damage; both together are.
    dir.file("b", b"edited");
    update(&dir, &["--append-only"])
        .status(7)
        .stderr_has("1 entry missing or changed: the old records are kept   (status 1)\n");
    update(&dir, &["--accept", "a"]).status(0);
    dir.file("b", b"edited again");
    update(&dir, &["--append-only"]).status(1);
    // Nothing was verified: no damage, and no success.
    for name in ["a", "b", "c", "d"] {
        dir.file(name, b"now all are edited");
    }
    run(&dir, "scrub", &[]).status(1).stderr_has("nothing was verified");
}

#[test]
fn diff_tells_damage_from_other_differences() {
    let dir = recorded();
    let diff =
        |args: &[&str]| dir.ftk(["manifest", "diff", "../old", "../manifest"]).args(args).args(STATUS).run();
    fs::rename(dir.aside("manifest"), dir.aside("old")).unwrap();
    dir.file("a", b"edited");
    create(&dir, &[]);
    diff(&[]).status(1).stderr_has("1 modified   (status 1)\n");
    flip(&dir.path("b"));
    create(&dir, &[]);
    diff(&[]).status(7).stderr_has("1 corrupted, 1 modified   (status 7)\n");
    diff(&["--mode", "content"]).status(7);
}

/// A manifest without digests cannot show damage.
#[test]
fn an_update_without_content_is_refused() {
    let dir = Dir::new();
    dir.file("a", b"abc");
    create(&dir, &["--no-content"]);
    update(&dir, &[]).status(2).stderr_has("--status-corrupted needs a comparison of content");
}

/// In a plan, all damage is left; a run that repairs everything leaves none.
#[test]
fn repair_tells_damage_that_is_left() {
    let dir = recorded();
    repair(&dir, &STATUS).status(0);
    flip(&dir.path("a"));
    repair(&dir, &[]).status(0);
    repair(&dir, &STATUS).status(7);
    repair(&dir, &[&["--yes"], &STATUS[..]].concat()).status(0);
    // No copy has the content.
    flip(&dir.path("b"));
    flip(&dir.aside("copy").join("b"));
    mark(&dir);
    for args in [&[][..], &["--yes"]] {
        repair(&dir, &[args, &STATUS].concat()).status(7);
    }
    // A missing file without a copy is no damage.
    let dir = recorded();
    fs::remove_file(dir.path("a")).unwrap();
    fs::remove_file(dir.aside("copy").join("a")).unwrap();
    repair(&dir, &[&["--missing"], &STATUS[..]].concat()).status(1);
}

/// What may be damage is never taken for an edit.
#[test]
fn other_content_without_a_sign_of_an_edit_counts_as_damage() {
    let said = "  1 modified file perhaps corrupted: the record shows neither an edit nor damage\n";
    let dir = recorded();
    let untimed: Vec<_> = lines(&dir.aside("manifest"))
        .iter()
        .map(|line| regex::Regex::new(r#","mtime_ns":-?[0-9]+"#).unwrap().replace(line, "").into_owned())
        .collect();
    fs::write(dir.aside("manifest"), seal(&untimed)).unwrap();
    flip(&dir.path("a"));
    let verify = run(&dir, "verify", &["--json"]).status(7).stderr_has(said);
    assert_eq!(objects(&verify)[0]["verdict"], "modified");
    for (old, new) in [("manifest", "now"), ("now", "manifest")] {
        let path = dir.aside("now");
        let _ = dir.ftk(["manifest", "create", ".", "--force", "-o"]).arg(&path).run().status(0);
        let diff = dir.ftk(["manifest", "diff"]).args([dir.aside(old), dir.aside(new)]).args(STATUS).run();
        diff.status(7).stderr_has(said);
    }
    run(&dir, "scrub", &[]).status(7);
    update(&dir, &[]).status(7);
    repair(&dir, &STATUS).status(7);
    // Another size is an edit.
    dir.file("a", b"a longer text");
    run(&dir, "verify", &[]).status(1).stderr_lacks("perhaps");
}

#[test]
fn values_that_mean_something_else_are_refused() {
    let dir = recorded();
    flip(&dir.path("a"));
    let run = |value: &str| {
        let option = format!("--status-corrupted={value}");
        dir.ftk(["manifest", "verify", ".", "../manifest", &option]).run()
    };
    for value in ["0", "1", "2", "126", "127", "130", "256", "-1", "many", ""] {
        run(value).status(2).stdout("").stderr_has("--status-corrupted <N>");
    }
    for (value, status) in [("3", 3), ("125", 125)] {
        run(value).status(status);
    }
}

/// Where no content is compared, damage cannot be found.
#[test]
fn a_comparison_without_content_is_refused() {
    let dir = recorded();
    let said = "--status-corrupted needs a comparison of content";
    for args in [["--mode", "metadata"], ["--ignore", "digest"]] {
        run(&dir, "verify", &args).status(2).stdout("").stderr_has(said);
        let diff = dir.ftk(["manifest", "diff", "../manifest", "../manifest"]).args(args).args(STATUS).run();
        diff.status(2).stderr_has(said);
    }
    run(&dir, "verify", &["--exit-on-first"]).status(2).stderr_has("cannot be used with");
    create(&dir, &["--no-content"]);
    run(&dir, "verify", &["--mode", "metadata"]).status(2).stderr_has(said);
    dir.ftk(["hash", "a", "-o", "../list"]).run().status(0);
    let lists = dir.ftk(["manifest", "diff", "../list", "../list"]).args(STATUS).run();
    lists.status(2).stderr_has("a checksum list has no times");
}

#[test]
fn statistics_have_the_status() {
    let dir = recorded();
    flip(&dir.path("a"));
    let args = ["--stats", "../stats", "--metrics", "../metrics.prom"];
    run(&dir, "verify", &args).status(7);
    let stats: serde_json::Value = serde_json::from_slice(&fs::read(dir.aside("stats")).unwrap()).unwrap();
    assert_eq!(stats["status"], 7);
    let metrics = fs::read_to_string(dir.aside("metrics.prom")).unwrap();
    assert!(metrics.contains("ftk_status{task=\"metrics\",command=\"manifest verify\"} 7\n"), "{metrics}");
    assert!(!metrics.contains("ftk_last_success_timestamp_seconds"), "{metrics}");
}
