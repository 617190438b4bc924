//! Entries that vanish between their listing and their examination. `strace` lets the calls fail.

use std::fs;

use serde_json::Value;

use crate::harness::{Dir, bytes, needs};

#[test]
fn vanished_entries_are_counted_in_the_summary() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("t/d/gone", b"x").file("t/d/left", &bytes(1, 5000)).file("t/lost/inside", b"");
    let stats = dir.aside("stats");
    let args =
        ["du", "-j", "mono", "--apparent-size", "-a", "-t", "f", "t", "--stats", stats.to_str().unwrap()];
    let inject = "inject=openat,newfstatat,statx:error=ENOENT";
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", inject, "-P", "gone", "-P", "lost"];
    for more in [&[][..], &["--json"]] {
        let run = dir.ftk(args).args(more).under(&dir, strace).run().status(0).stderr_lacks("ftk: ");
        run.check(run.text().contains("left") && !run.text().contains("gone"), "the other file counts");
        run.stderr_has("  2 entries vanished during the run\n  1 file,").stderr_lacks("unreadable");
        let stats: Value = serde_json::from_slice(&fs::read(&stats).unwrap()).unwrap();
        assert_eq!(stats["skipped"]["vanished entries"], 2);
    }
    let run = dir.ftk(["du", "--format", "ncdu", "t"]).under(&dir, strace).run().status(0);
    run.stderr_has("  2 entries vanished during the run\n");
    let run =
        dir.ftk(args).arg("--strict-races").under(&dir, strace).run().status(2).stderr_lacks("vanished");
    run.stderr_has("ftk: cannot stat 't/d/gone': no such file or directory\n")
        .stderr_has("unreadable (status 2)");
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", inject, "-P", "t"];
    dir.ftk(["du", "t"]).under(&dir, strace).run().status(2).stderr_has("ftk: cannot stat 't'");
}
