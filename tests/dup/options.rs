//! Which files are scanned, and what is reported about them.

use crate::harness::Dir;

#[test]
fn sizes() {
    let dir = Dir::new();
    for size in [0, 1, 10, 100] {
        dir.file(format!("a{size}"), &vec![b'x'; size]).file(format!("b{size}"), &vec![b'x'; size]);
    }
    dir.ftk(["dup"]).run().stdout("./a100\n./b100\n\n./a10\n./b10\n\n./a1\n./b1\n\n");
    dir.ftk(["dup", "--min-size", "10"]).run().stdout("./a100\n./b100\n\n./a10\n./b10\n\n");
    dir.ftk(["dup", "--max-size", "10"]).run().stdout("./a10\n./b10\n\n./a1\n./b1\n\n");
    dir.ftk(["dup", "--min-size", "10", "--max-size", "10"]).run().stdout("./a10\n./b10\n\n");
    dir.ftk(["dup", "--min-size", "0", "--max-size", "0"]).run().stdout("./a0\n./b0\n\n");
    dir.ftk(["dup", "-S", "-10"]).run().stdout("./a1\n./b1\n\n");
}

#[test]
fn the_selection_of_all_commands() {
    let dir = Dir::new();
    dir.file("a.txt", b"same").file("b.txt", b"same").file("c.jpg", b"same").file(".hidden.txt", b"same");
    dir.ftk(["dup", "-e", "txt"]).run().stdout("./.hidden.txt\n./a.txt\n./b.txt\n\n");
    dir.ftk(["dup", "-e", "txt", "--no-hidden"]).run().stdout("./a.txt\n./b.txt\n\n");
    dir.ftk(["dup", "-E", "*.txt"]).run().stdout("");
    let list = dir.ftk(["dup", "--files-from", "-"]).stdin(b"a.txt\nc.jpg\n").run();
    list.status(0).stdout("a.txt\nc.jpg\n\n");
}

#[test]
fn arguments_are_files_and_directories() {
    let dir = Dir::new();
    dir.file("d/a", b"same").file("f", b"same").file("g", b"same");
    dir.ftk(["dup", "f", "d"]).run().status(0).stdout("d/a\nf\n\n");
    dir.ftk(["dup", "d"]).run().status(0).stdout("");
    let run = dir.ftk(["dup", "f", "missing", "g"]).run().status(2).stdout("f\ng\n\n");
    run.stderr_has("ftk: cannot stat 'missing': no such file or directory");
}

#[test]
fn a_directory_may_have_the_name_of_a_command() {
    let dir = Dir::new();
    dir.file("prune/a", b"same").file("prune/b", b"same");
    dir.ftk(["dup", "./prune"]).run().status(0).stdout("./prune/a\n./prune/b\n\n");
    dir.ftk(["dup", "--", "prune"]).run().status(0).stdout("prune/a\nprune/b\n\n");
    dir.ftk(["dup", "prune"]).run().status(2).stderr_has("missing: --action hardlink");
}

#[test]
fn skipped_entries_are_counted() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same").symlink("a", "link").fifo("fifo");
    let run = dir.ftk(["dup"]).run().status(0).stdout("./a\n./b\n\n");
    run.stderr_has("skipped: 1 symbolic link, 1 FIFO\n")
        .stderr_has("  scanned 2 files in ")
        .stderr_has(", found 2 files in 1 group\n  1 surplus copy; pruning would free 4.10 kB\n");
}

#[test]
fn unreadable_files_are_in_no_group() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same").file("c", b"same").file("d", b"same").lock("c").lock("d");
    let run = dir.ftk(["dup"]).unprivileged(&dir).run().status(2).stdout("./a\n./b\n\n");
    run.stderr_has("ftk: cannot open './c': permission denied\n")
        .stderr_has("ftk: cannot open './d': permission denied\n")
        .stderr_has("; 2 files not compared (listed above; status 2)\n");
}

#[test]
fn progress_and_stats_name_the_passes() {
    let dir = Dir::new();
    dir.file("a", &[1; 1 << 20]).file("b", &[1; 1 << 20]);
    let run = dir.ftk(["dup", "--progress", "json", "--stats", "stats"]).run().status(0);
    let run = run.stderr_has("{\"phase\":\"walk\",").stderr_has("{\"phase\":\"screen\",");
    run.stderr_has("{\"phase\":\"hash\",");
    let stats = std::fs::read_to_string(dir.path("stats")).unwrap();
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!((&stats["command"], &stats["phases"][1]["phase"]), (&"dup".into(), &"screen".into()));
    let args = [
        "dup",
        "prune",
        ".",
        "--action",
        "delete",
        "--yes",
        "--progress",
        "json",
        "--stats",
        "stats",
        "--verify",
    ];
    let run = dir.ftk(args).run().status(0).stderr_has("{\"phase\":\"compare\",");
    run.stderr_has("\"files\":1,\"files_total\":1,\"bytes\":1048576,");
    let stats = std::fs::read_to_string(dir.path("stats")).unwrap();
    assert!(stats.contains("\"phase\": \"act\""));
}

/// Files inside directories that are removed as a whole count too, like those outside.
#[test]
fn progress_counts_the_files_of_directories() {
    let dir = Dir::new();
    for place in ["a", "b"] {
        dir.file(format!("{place}/x"), &[1; 5000]).file(format!("{place}/y"), &[2; 3000]);
        dir.file(format!("{place}2"), &[3; 100]);
    }
    let args = ["dup", "prune", ".", "--dirs", "--action", "delete", "--yes", "--progress", "json"];
    let run = dir.ftk(args).run().status(0).stderr_has("{\"phase\":\"delete\",");
    run.stderr_has("\"files\":3,\"files_total\":3,\"bytes\":8100,");
    assert!(!dir.path("b").exists() && !dir.path("b2").exists());
}

#[test]
fn help_first_says_that_dup_changes_nothing() {
    let dir = Dir::new();
    let run = dir.ftk(["dup", "--help"]).run().status(0);
    let place = |text: &str| run.text().find(text).unwrap_or_else(|| panic!("no {text:?} in the help"));
    assert!(place("It changes\nnothing.") < place("Usage:"));
    assert!(place("Usage:") < place("Comparison:") && place("Comparison:") < place("Examples:"));
    let prune = dir.ftk(["dup", "prune", "--help"]).run().status(0);
    let place = |text: &str| prune.text().find(text).unwrap_or_else(|| panic!("no {text:?} in the help"));
    assert!(place("only prints a plan") < place("Action:") && place("Action:") < place("Kept files:"));
}
