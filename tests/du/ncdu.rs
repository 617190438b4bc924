//! The JSON of ncdu: what ncdu and gdu read and write.

use serde_json::Value;

use super::tree;
use crate::harness::{Dir, Run, needs};

fn tool(dir: &Dir, words: &[&str], input: &[u8]) -> Run {
    dir.ftk([] as [&str; 0]).instead(dir, words).stdin(input).run()
}

/// Sum of the allocated and the apparent bytes.
fn sums(run: &Run) -> [u64; 2] {
    let line: Value = serde_json::from_str(run.text().lines().next().unwrap()).unwrap();
    ["allocated_bytes", "apparent_bytes"].map(|name| line[name].as_u64().unwrap())
}

#[test]
fn ncdu_reads_it_and_writes_the_same_sums() {
    needs!("ncdu");
    let dir = tree();
    let expected = sums(&dir.ftk(["du", "-s", "--json", "."]).run().status(0));
    for threads in ["mono", "8"] {
        let ours = dir.ftk(["du", "--format", "ncdu", "-j", threads]).run().status(0);
        assert_eq!(
            sums(&dir.ftk(["du", "-s", "--json", "--from", "-"]).stdin(&ours.out).run().status(0)),
            expected
        );
        let theirs = tool(&dir, &["ncdu", "-0", "-f", "-", "-o", "-"], &ours.out).status(0);
        let read = dir.ftk(["du", "-s", "--json", "--from", "-"]).stdin(&theirs.out).run().status(0);
        assert_eq!(sums(&read), expected);
    }
    let theirs = tool(&dir, &["ncdu", "-0", "-o", "-", "."], b"").status(0);
    let read = dir.ftk(["du", "-s", "--json", "--from", "-"]).stdin(&theirs.out).run().status(0);
    assert_eq!(sums(&read), expected);
}

/// gdu writes no sizes of directories, and marks all links of an inode except the first.
#[test]
fn what_gdu_writes_has_the_sums_of_files() {
    needs!("gdu");
    let dir = tree();
    let expected = sums(&dir.ftk(["du", "-s", "--json", "-t", "f,l", "."]).run().status(0));
    let theirs = tool(&dir, &["gdu", "-n", "-o", "-", "."], b"").status(0);
    let read = dir.ftk(["du", "-s", "--json", "--from", "-"]).stdin(&theirs.out).run().status(0);
    // ncdu and gdu count FIFOs and sockets too, which use nothing.
    assert_eq!(sums(&read), expected);
    // gdu reads what ftk wrote. It adds 4 KiB for each directory.
    let ours = dir.ftk(["du", "--format", "ncdu"]).run().status(0);
    tool(&dir, &["gdu", "-n", "-p", "-f", "-"], &ours.out).status(0);
}

#[test]
fn the_output_is_the_same_for_every_number_of_workers() {
    let dir = tree();
    let without_time = |run: Run| {
        let start = run.out.iter().position(|byte| *byte == b'\n').unwrap();
        run.out[start..].to_vec()
    };
    let first = without_time(dir.ftk(["du", "--format", "ncdu", "-j", "mono"]).run().status(0));
    for threads in ["2", "8"] {
        assert!(without_time(dir.ftk(["du", "--format", "ncdu", "-j", threads]).run().status(0)) == first);
    }
    let filtered = dir.ftk(["du", "--format", "ncdu", "-n", "x"]).run().status(0);
    let root = dir.path("").canonicalize().unwrap();
    assert!(filtered.out.ends_with(b"}]]]\n") || filtered.out.ends_with(b"]]\n"));
    filtered.check(
        filtered.text().contains(&format!("{{\"name\":\"{}\"}}", root.display())),
        "no size of the root",
    );
}

#[test]
fn what_is_read_back_is_listed_like_the_disk() {
    let dir = tree();
    let root = dir.path("").canonicalize().unwrap();
    let tree = dir.ftk(["du", "--format", "ncdu"]).arg(&root).run().status(0);
    for args in
        [&["-d9"][..], &["-a"], &["-a", "--top", "25"], &["--json"], &["--apparent-size", "-a", "--top", "9"]]
    {
        let disk = dir.ftk(["du"]).arg(&root).args(args).run().status(0);
        dir.ftk(["du", "--from", "-"]).args(args).stdin(&tree.out).run().status(0).stdout(&disk.out);
    }
}

#[test]
fn unreadable_entries_are_marked() {
    let dir = Dir::new();
    dir.file("locked/x", b"x").file("listed/z", b"z").file("y", b"y").lock("locked").lock("listed");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o444);
    std::fs::set_permissions(dir.path("listed"), mode).unwrap();
    let run = dir.ftk(["du", "--format", "ncdu"]).unprivileged(&dir).run().status(2);
    run.check(run.text().contains("{\"name\":\"locked\",\"asize\":"), "listed");
    run.check(run.text().contains("\"read_error\":true}]]]\n"), "marked");
    run.check(run.text().contains(",\n{\"name\":\"z\",\"read_error\":true}]"), "marked");
    let read = dir.ftk(["du", "-s", "--from", "-"]).stdin(&run.out).run().status(2);
    read.stderr_has("2 entries could not be read when it was written")
        .stderr_has("; 2 unreadable (status 2)");
}

#[test]
fn only_one_directory_can_be_written() {
    let dir = Dir::new();
    dir.file("a/x", b"").file("b/x", b"");
    for (args, why) in [
        (&["a", "b"][..], "needs one PATH"),
        (&["a/x"], "needs a directory, which 'a/x' is not"),
        (&["nothing"], "cannot stat 'nothing'"),
        (&["a", "--json"], "--json cannot be used with --format"),
        (&["a", "-s"], "cannot be used with"),
    ] {
        dir.ftk(["du", "--format", "ncdu"]).args(args).run().status(2).stdout("").stderr_has(why);
    }
}

#[test]
fn a_tree_larger_than_the_memory_is_an_error() {
    let dir = tree();
    for args in [&["--format", "ncdu"][..], &["-a"]] {
        let run = dir.ftk(["du", "--memory", "1K"]).args(args).run().status(2).stdout("");
        run.stderr_has("the tree is too large (raise --memory to at least ");
    }
}
