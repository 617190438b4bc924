//! `--format paths`, for `rsync --files-from`.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::harness::{Dir, needs, records, sorted};

fn scene() -> Dir {
    let dir = Dir::new();
    for tree in ["a", "b"] {
        dir.file(format!("{tree}/same"), b"s")
            .file(format!("{tree}/d/same"), b"s")
            .dir(format!("{tree}/empty"));
        symlink(tree, dir.path(format!("{tree}/link"))).unwrap();
    }
    dir.file("a/content", b"1").file("b/content", b"2").file("a/size", b"12").file("b/size", b"");
    dir.file("a/only/x/y", b"y").file("a/only/z", b"z").dir("a/only/none").file("a/only.txt", b"o");
    dir.file("a/file\nname", b"").file("a/#hash", b"").file("a/d/-dash", b"").fifo("a/d/fifo");
    // What only B has is not listed, whatever it contains.
    dir.file("b/more/x", b"").file("b/d/more", b"");
    // Of another type: a directory in one of them.
    dir.file("a/t/in/x", b"").file("b/t", b"").file("a/u", b"u").dir("b/u");
    dir
}

const EXPECTED: [&str; 18] = [
    "./#hash",
    "content",
    "d/-dash",
    "d/fifo",
    "file\nname",
    "link",
    "only",
    "only.txt",
    "only/none",
    "only/x",
    "only/x/y",
    "only/z",
    "size",
    "t",
    "t/in",
    "t/in/x",
    "u",
    "",
];

#[test]
fn what_a_has_and_b_lacks_is_listed_below_directories_too() {
    let dir = scene();
    let expected = sorted(EXPECTED[..17].iter().map(|path| path.as_bytes().to_vec()).collect());
    for threads in ["1", "4"] {
        let run = dir.ftk(["cmp", "-j", threads, "--format", "paths", "-0", "a", "b"]).run().status(1);
        assert_eq!(records(&run.out, 0), expected);
    }
    let run = dir.ftk(["cmp", "--format=paths", "a", "b"]).run().status(1);
    let listed: Vec<u8> = expected.iter().flat_map(|path| [&path[..], b"\n"].concat()).collect();
    assert_eq!(run.out, listed);
    // A path with several differences is listed once, and the directory itself not at all.
    crate::harness::set_mode(&dir.path("a/content"), 0o600);
    crate::harness::set_mode(&dir.path("a"), 0o700);
    let run =
        dir.ftk(["cmp", "--metadata", "--ignore-files", "--format", "paths", "-0", "a", "b"]).run().status(1);
    let found = records(&run.out, 0);
    assert_eq!(found.iter().filter(|path| *path == b"content").count(), 1);
    assert!(!found.iter().any(|path| path == b"." || path.is_empty()));
    dir.ftk(["cmp", "--format", "paths", "-E", "*", "a/same", "b/same"]).run().status(2);
    dir.ftk(["cmp", "--format", "paths", "a/same", "b/same"]).run().status(2).stderr_has("two trees");
    dir.ftk(["cmp", "--format", "paths", "--json", "a", "b"])
        .run()
        .status(2)
        .stderr_has("--json cannot be used");
    dir.ftk(["cmp", "-0", "a", "b"]).run().status(2);
    dir.ftk(["cmp", "--format", "paths", "a", "a"]).run().status(0).stdout("");
    dir.ftk(["cmp", "-s", "--format", "paths", "a", "b"]).run().status(1).stdout("");
}

#[test]
fn rsync_copies_what_is_listed() {
    needs!("rsync");
    let dir = scene();
    let list = dir.ftk(["cmp", "--format", "paths", "-0", "a", "b"]).run().status(1).out;
    dir.file("list", &list);
    let mut rsync = Command::new("rsync");
    rsync.args(["-aI0", "--files-from=list", "a", "b"]).current_dir(dir.path(""));
    assert!(rsync.status().unwrap().success());
    let left = dir.ftk(["cmp", "a", "b"]).run().status(1);
    left.stdout("only in b\td/more\nonly in b\tmore\n");
    dir.ftk(["cmp", "--format", "paths", "a", "b"]).run().status(1).stdout("");
}
