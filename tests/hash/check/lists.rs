//! Unusual and partly wrong lists.

use crate::harness::{Dir, needs, sha256};

#[test]
fn comments_empty_lines_and_blanks_as_in_the_coreutils() {
    needs!("sha256sum");
    let dir = Dir::new();
    dir.file("x", b"1").file("#y", b"1");
    let digest = sha256(b"1");
    let upper = digest.to_uppercase();
    for list in [
        format!("# a comment\n{digest}  x\n"),
        format!("\n\n{digest}  x\n\n"),
        format!(" \t{digest}  x\n"),
        format!("{upper} *x\n"),
        format!("{digest}  x"),
        format!("{digest}  #y\n"),
        format!("  # no comment\n{digest}  x\n"),
        format!("\\{digest}  x\n"),
        format!("SHA256 (x) = {digest}\nMD5 (x) = nonsense\n"),
    ] {
        dir.file("list", list.as_bytes());
        let theirs = dir.ftk(["--version"]).instead(&dir, ["sha256sum", "-c", "list"]).run().status(0);
        let ours = dir.ftk(["hash", "-c", "list"]).run().status(0).stdout(&theirs.out);
        let warns = |err: &str| err.contains("improperly formatted");
        ours.check(warns(&ours.err) == warns(&theirs.err), "both warn, or none does");
    }
}

/// Invalid lists do not prevent the check of the others.
#[test]
fn an_invalid_list_does_not_stop_the_others() {
    let dir = Dir::new();
    dir.file("x", b"1").file("good", format!("{}  x\n", sha256(b"1")).as_bytes()).file("empty", b"").dir("d");
    let run = dir.ftk(["hash", "-c", "missing", "good", "empty", "d", "good"]).run().status(2);
    run.stdout("x: OK\nx: OK\n")
        .stderr_has("ftk: cannot open 'missing': no such file or directory\n")
        .stderr_has("ftk: 'empty': no properly formatted checksum lines found: it is empty\n")
        .stderr_has("ftk: cannot read 'd': is a directory\n");
}

/// A path may occur several times, with the same digest, another one, or another algorithm.
#[test]
fn a_path_may_come_twice() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    let (good, bad) = (sha256(b"abc"), sha256(b"abd"));
    let list = format!("{good}  x\n{bad}  x\n{good}  x\nMD5 (x) = 900150983cd24fb0d6963f7d28e17f72\n");
    let run = dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(1);
    run.stdout("x: OK\nx: FAILED\nx: OK\nx: OK\n").stderr_has("3 ok, 1 failed, 3 B in ");
}

/// Paths that no file can have are checked like others.
#[test]
fn impossible_paths() {
    let dir = Dir::new();
    dir.file("x", b"1");
    let digest = sha256(b"1");
    let long = "n".repeat(70_000);
    let deep = "d/".repeat(50_000);
    let list = format!("{digest}  x/\n{digest}  {long}\n{digest}  {deep}x\n{digest}  x\n");
    let run = dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(2);
    let mut lines = run.text().lines();
    assert_eq!(lines.next(), Some("x/: FAILED open or read"));
    assert_eq!(lines.next().unwrap().len(), long.len() + ": FAILED open or read".len());
    assert_eq!(lines.next().unwrap().len(), deep.len() + "x: FAILED open or read".len());
    assert_eq!((lines.next(), lines.next()), (Some("x: OK"), None));
}
