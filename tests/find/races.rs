//! Entries that vanish between their listing and what `find` does with them. `strace` lets the calls fail.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Dir, Run, needs};

/// Runs `find` as if these names had vanished: `stat` and opening them fail.
fn vanishing(dir: &Dir, names: &[&str], args: &[&str]) -> Run {
    let inject = "inject=openat,newfstatat,statx,readlinkat:error=ENOENT";
    let mut strace = vec!["strace", "-f", "-qq", "-o", "/dev/null", "-e", inject];
    names.iter().for_each(|name| strace.extend(["-P", name]));
    dir.ftk(["find", "-j", "mono"]).args(args).under(dir, strace).run()
}

fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("d/gone", b"x").file("d/left", b"xy").file("lost/inside", b"").symlink("left", "d/passing");
    dir
}

#[test]
fn vanished_entries_are_counted_in_the_summary() {
    needs!("strace");
    let dir = tree();
    let stats = dir.aside("stats");
    // A directory that vanished is one entry, however often it is examined.
    let said = "  2 entries vanished during the run\n";
    let with_stats = ["--stats", stats.to_str().unwrap()];
    for (args, listed) in [
        (&["-S", "+0", "-t", "f"][..], "./d/left\n"),
        (&["-S", "+0", "-t", "f", "--sort"], "./d/left\n"),
        (&["-S", "+0", "-t", "f", "-c"], "1\n"),
        (&["-t", "f", "--format", "{name} {size}"], "left 2\n"),
        (&["-t", "f", "--format", "{name} {size}", "--sort=size", "--max-results", "3"], "left 2\n"),
    ] {
        let run = vanishing(&dir, &["gone", "lost"], &[args, &with_stats].concat());
        let stats: Value = serde_json::from_slice(&fs::read(&stats).unwrap()).unwrap();
        let run = run.status(0).stdout(listed).stderr_has(said).stderr_lacks("ftk: ");
        run.check(stats["skipped"]["vanished entries"] == json!(2), "the number is in the statistics");
        run.check(stats["errors"] == json!({}) || stats["errors"].is_null(), "they are not errors");
        let run = vanishing(&dir, &["gone", "lost"], &[args, &["--strict-races"]].concat());
        let run = run.status(2).stderr_lacks("vanished");
        run.stderr_has("ftk: cannot stat './d/gone': no such file or directory\n")
            .stderr_has("cannot open './lost'");
    }
    // Names alone examine no file.
    let run = vanishing(&dir, &["gone", "lost"], &["-t", "f", "--sort"]).status(0);
    run.stdout("./d/gone\n./d/left\n")
        .stderr_has("  1 entry vanished during the run\n")
        .stderr_lacks("ftk: ");
    let run = vanishing(&dir, &["passing"], &["-t", "l", "--format", "{target}"]).status(0).stdout("");
    run.stderr_has("  1 entry vanished during the run\n").stderr_lacks("ftk: ");
}

#[test]
fn starting_points_that_vanish_are_errors() {
    needs!("strace");
    let dir = tree();
    let run = vanishing(&dir, &["lost"], &["lost", "d", "-t", "f", "--sort"]).status(2);
    run.stdout("d/gone\nd/left\n").stderr_has("ftk: cannot stat 'lost': no such file or directory\n");
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=openat:error=ENOENT", "-P", "lost"];
    let run = dir.ftk(["find", "lost"]).under(&dir, strace).run().status(2).stdout("lost\n");
    run.stderr_has("ftk: cannot open 'lost': no such file or directory\n").stderr_lacks("vanished");
}
