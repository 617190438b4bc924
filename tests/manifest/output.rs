//! Output for programs, terminals and files, and manifests from standard input.

use std::fs::{self, File};
use std::process::Stdio;

use super::records::{Manifest, create, verify};
use crate::harness::{Dir, needs};

#[test]
fn output_is_complete_or_absent() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("old", b"old");
    dir.ftk(["manifest", "create", ".", "-o", "old"]).run().status(0).stdout("");
    assert_eq!(Manifest::read(&dir.path("old")).paths, [&b"."[..], b"a"]);
    dir.ftk(["manifest", "create", ".", "-o", "no/such/dir"])
        .run()
        .status(2)
        .stderr_has("ftk: cannot write ");
    dir.ftk(["manifest", "create", "missing", "-o", "new"]).run().status(2);
    assert!(!dir.path("new").exists());
}

/// Unreadable entries are named and not recorded; the rest is a valid manifest.
#[test]
fn errors_do_not_hide_the_rest() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def").file("sub/c", b"c").lock("b").lock("sub");
    for threads in ["mono", "4"] {
        let run = dir.ftk(["manifest", "create", ".", "-j", threads]).unprivileged(&dir).run().status(2);
        let manifest = Manifest::parse(&run.out);
        assert_eq!(manifest.paths, [&b"."[..], b"a", b"sub"]);
        let run = run.stderr_has("ftk: cannot open './b': permission denied\n");
        let run = run.stderr_has("ftk: cannot open './sub': permission denied\n");
        run.stderr_has("  1 file and 1 directory not recorded (listed above; status 2)\n");
    }
}

#[test]
fn names_cannot_forge_records() {
    let dir = Dir::new();
    create(&dir, &[]);
    dir.raw_file(b"x\nnew\ty", b"1").raw_file(b"it's", b"2").raw_file(b"\xff", b"3").raw_file(b"a\tb", b"4");
    let run = verify(&dir, &[]).status(1);
    run.stdout("new\t'a\\tb'\nnew\t'it\\'s'\nnew\t'x\\nnew\\ty'\nnew\t'\\xff'\n");
}

#[test]
fn a_manifest_from_standard_input() {
    let dir = Dir::new();
    dir.file("a", b"abc");
    let path = create(&dir, &[]);
    let bytes = fs::read(&path).unwrap();
    dir.ftk(["manifest", "verify", ".", "-"]).stdin(&bytes).run().status(0).stdout("");
    dir.ftk(["manifest", "verify", ".", "-"]).stdin(&bytes[..bytes.len() - 1]).run().status(2).stdout("");
    dir.ftk(["manifest", "verify", ".", "-"]).stdin_from(File::open(&path).unwrap()).run().status(0);
    dir.ftk(["manifest", "verify", ".", "-"]).stdin_from(Stdio::null()).run().status(2);
    let run = dir.ftk(["manifest", "update", ".", "-"]).stdin(&bytes).run().status(0);
    assert_eq!(Manifest::parse(&run.out).untimed().entries, Manifest::parse(&bytes).entries);
}

#[test]
fn a_closed_pipe_is_success() {
    let dir = Dir::new();
    for nth in 0..3000 {
        dir.file(format!("{nth}"), b"");
    }
    let mut child = dir.ftk(["manifest", "create", "."]).spawn();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// On a terminal the output has columns, and names are escaped.
#[test]
fn columns_on_a_terminal() {
    needs!("script");
    let dir = Dir::new();
    create(&dir, &[]);
    dir.file("film/reel", b"x").raw_file(b"\x1b[31mred", b"");
    let manifest = dir.aside("manifest");
    let run = dir.ftk(["manifest", "verify", "."]).arg(&manifest).run();
    run.status(1);
    let command =
        format!("{} manifest verify . {} -q --color never", env!("CARGO_BIN_EXE_ftk"), manifest.display());
    let shown = dir.ftk([] as [&str; 0]).instead(&dir, ["script", "-qec", &command, "/dev/null"]).run();
    let lines: Vec<_> = shown.text().lines().map(str::trim_end).collect();
    assert_eq!(lines, ["  new        '\\x1b[31mred'", "  new        film", "  new        film/reel"]);
}

#[test]
fn plan_progress_and_stats() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def").dir("sub");
    create(&dir, &[]);
    let run = dir.ftk(["manifest", "verify", ".", "-v", "--progress", "json"]).arg(dir.aside("manifest"));
    let stats = dir.aside("stats");
    let run = run.args(["--stats".as_ref(), stats.as_os_str()]).run().status(0);
    run.stderr_has("ftk: plan ").stderr_has("\"phase\":\"walk\"").stderr_has("\"phase\":\"hash\"");
    let stats: serde_json::Value = serde_json::from_slice(&fs::read(stats).unwrap()).unwrap();
    assert_eq!((&stats["command"], &stats["status"]), (&"manifest".into(), &0.into()));
    assert_eq!(stats["phases"][1]["files"], 2);
    assert_eq!(stats["phases"][1]["bytes"], 6);
}

#[test]
fn help_has_examples() {
    let dir = Dir::new();
    for command in ["create", "verify", "diff", "update", "scrub", "repair", "unique", "export", "import"] {
        let run = dir.ftk(["manifest", command, "--help"]).run().status(0).stderr("");
        run.check(run.text().contains("Examples:\n  ftk manifest "), "examples");
        let run = dir.ftk(["manifest", command, "-h"]).run().status(0);
        run.check(run.text().lines().all(|line| line.chars().count() <= 100), "100 columns");
    }
    dir.ftk(["manifest"]).run().status(2).stdout("").stderr_has("Usage: ftk manifest");
    dir.ftk(["manifest", "verify", "."]).run().status(2).stdout("");
}
