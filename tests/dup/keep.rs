//! Which copy is kept.

use std::fs;

use crate::harness::Dir;

/// Creates copies of different ages in three directories.
fn copies() -> Dir {
    let dir = Dir::new();
    for (path, date) in [
        ("one/long name", "2020-01-01"),
        ("two/b", "2018-01-01"),
        ("two/sub/c", "2022-01-01"),
        ("three/d", "2019-01-01"),
    ] {
        dir.file(path, b"the same");
        dir.ftk([""; 0]).instead(&dir, ["touch", "-d", date, path]).run().status(0);
    }
    dir
}

/// Returns the copies that remain.
fn left(dir: &Dir) -> Vec<&'static str> {
    let mut paths = vec!["one/long name", "two/b", "two/sub/c", "three/d"];
    paths.retain(|path| dir.path(path).exists());
    paths
}

fn prune(dir: &Dir, args: &[&str]) {
    dir.ftk(["dup", "prune", "--action", "delete", "--yes"]).args(args).run().status(0);
}

#[test]
fn keep_rules_apply_in_order() {
    for (rules, stays) in [
        (&[][..], "one/long name"),
        (&["--keep", "first"], "one/long name"),
        (&["--keep", "oldest"], "two/b"),
        (&["--keep", "newest"], "two/sub/c"),
        (&["--keep", "shortest"], "two/b"),
        (&["--keep", "argument", "--keep", "newest"], "one/long name"),
        (&["--keep", "deepest"], "two/sub/c"),
        (&["--keep", "shallowest", "--keep", "oldest"], "two/b"),
        (&["--keep", "path=three/*"], "three/d"),
        // Two files match, and the second rule decides between them.
        (&["--keep", "path=two/*", "--keep", "newest"], "two/sub/c"),
        (&["--keep", "path=nowhere/*", "--keep", "oldest"], "two/b"),
    ] {
        let dir = copies();
        prune(&dir, &[rules, &["one", "two", "three"]].concat());
        assert_eq!(left(&dir), [stays], "{rules:?}");
    }
}

#[test]
fn arguments_are_ordered_before_paths() {
    let dir = copies();
    prune(&dir, &["three", "two", "one"]);
    assert_eq!(left(&dir), ["three/d"]);
}

#[test]
fn min_copies_are_kept() {
    let dir = copies();
    prune(&dir, &["--min-copies", "3", "--keep", "newest", "one", "two", "three"]);
    assert_eq!(left(&dir), ["one/long name", "two/sub/c", "three/d"]);
    prune(&dir, &["--min-copies", "4", "one", "two", "three"]);
    assert_eq!(left(&dir).len(), 3);
}

#[test]
fn files_in_a_reference_are_kept() {
    for args in [
        &["--reference", "two", "one", "three"][..],
        &["--reference", "two", "--keep", "path=one/*", "."],
        // The same directory again, a directory in it, and its parent.
        &["--reference", "two", "two", "one", "three"],
        &["--reference", "./two", "one", "two/sub", "three"],
        &["one", "three", "--reference", "three/../two"],
    ] {
        let dir = copies();
        prune(&dir, args);
        assert_eq!(left(&dir), ["two/b", "two/sub/c"], "{args:?}");
    }
    // Copies that are all in references are ignored.
    let dir = copies();
    prune(&dir, &["--reference", "two", "--reference", "one", "--reference", "three", "two"]);
    assert_eq!(left(&dir).len(), 4);
}

#[test]
fn isolated_arguments() {
    let dir = copies();
    // The copies in `two` are under the same argument as the kept file.
    prune(&dir, &["--isolate", "two", "one", "three"]);
    assert_eq!(left(&dir), ["two/b", "two/sub/c"]);
    let dir = copies();
    prune(&dir, &["--isolate", "."]);
    assert_eq!(left(&dir).len(), 4);
}

/// Hard links are one copy: all of them are kept or all are removed.
#[test]
fn hard_links_are_one_copy() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same").hard_link("b", "c").hard_link("b", "d");
    prune(&dir, &["--min-copies", "2", "."]);
    assert!(["a", "b", "c", "d"].iter().all(|path| dir.path(path).exists()));
    prune(&dir, &["--keep", "path=*/c", "."]);
    assert!(!dir.path("a").exists());
    assert!(["b", "c", "d"].iter().all(|path| dir.path(path).exists()));
    let linked = fs::hard_link(dir.path("b"), dir.path("a"));
    assert!(linked.is_ok());
    let run = dir.ftk(["dup", "prune", "--action", "delete", "--yes"]).run().status(0);
    run.stderr_has("  nothing to do\n");
}

#[test]
fn one_copy_is_kept_below_each_directory() {
    let dir = copies();
    dir.symlink("three", "link");
    let args = [
        "--keep",
        "newest",
        "--keep-one-per",
        "two",
        "--keep-one-per",
        "./link/../three",
        "--keep-one-per",
        "link",
    ];
    prune(&dir, &[&args[..], &["one", "two", "three"]].concat());
    assert_eq!(left(&dir), ["two/sub/c", "three/d"]);
    let dir = copies();
    let missing = ["dup", "prune", "--action", "delete", "--keep-one-per", "missing", "one", "two"];
    dir.ftk(missing).run().status(2).stderr_has("'missing'");
}

#[test]
fn rules_that_decided_nothing_are_reported() {
    let dir = copies();
    dir.dir("empty");
    let args = ["--keep", "path=tow/*", "--keep", "oldest", "--keep", "shortest", "--keep-one-per", "empty"];
    let plan = || dir.ftk(["dup", "prune", "--action", "delete", "one", "two"]).args(args);
    for more in [&[][..], &["--yes"], &["--script"]] {
        let dir = copies();
        dir.dir("empty");
        let run = dir.ftk(["dup", "prune", "--action", "delete", "one", "two"]).args(args).args(more).run();
        run.status(0)
            .stderr_has("--keep path=tow/* decided nothing\n")
            .stderr_has("--keep shortest decided nothing\n")
            .stderr_has("--keep-one-per empty decided nothing\n")
            .stderr_lacks("oldest decided");
    }
    plan().args(["-q"]).run().status(0).stderr_lacks("decided");
    let nothing = dir.ftk(["dup", "prune", "--action", "delete", "--keep", "oldest", "three"]).run();
    nothing.status(0).stderr_lacks("decided");
}
