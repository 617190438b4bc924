//! Which copy is kept.

use std::fs;

use crate::harness::{Dir, Mounted};

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
        (&[][..], "two/b"),
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
        (&["--keep", "path=nowhere/*", "--keep", "oldest", "--allow-unused-rules"], "two/b"),
    ] {
        let dir = copies();
        prune(&dir, &[rules, &["one", "two", "three"]].concat());
        assert_eq!(left(&dir), [stays], "{rules:?}");
    }
}

#[test]
fn arguments_are_ordered_before_paths() {
    let dir = copies();
    prune(&dir, &["--keep", "first", "three", "two", "one"]);
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
    let run = dir.ftk(["dup", "prune", ".", "--action", "delete", "--yes"]).run().status(0);
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
    for more in [&[][..], &["--yes", "--allow-unused-rules"], &["--script", "--allow-unused-rules"]] {
        let dir = copies();
        dir.dir("empty");
        let run = dir.ftk(["dup", "prune", "--action", "delete", "one", "two"]).args(args).args(more).run();
        run.status(0)
            .stderr_has("--keep 'path=tow/*' matched nothing\n")
            .stderr_has("--keep shortest decided nothing\n")
            .stderr_has("--keep-one-per 'empty' matched nothing\n")
            .stderr_lacks("tow/* decided")
            .stderr_lacks("oldest decided");
    }
    plan().args(["-q"]).run().status(0).stderr_lacks("decided");
    let nothing = dir.ftk(["dup", "prune", "--action", "delete", "--keep", "oldest", "three"]).run();
    nothing.status(0).stderr_lacks("decided");
}

/// Creates two copies, and returns the one that stays by default, and why.
fn preferred(copies: [&str; 2], dates: [&str; 2], args: &[&str]) -> (String, String) {
    let dir = Dir::new();
    for (path, date) in copies.iter().zip(dates) {
        dir.file(path, b"the same");
        dir.ftk([""; 0]).instead(&dir, ["touch", "-d", date, path]).run().status(0);
    }
    let plan = dir.ftk(["dup", "prune", "--action", "delete", "p"]).args(args).run().status(0);
    let why = plan.text().lines().find_map(|line| line.strip_prefix("  keep ")).unwrap().to_owned();
    dir.ftk(["dup", "prune", "--action", "delete", "p", "--yes"]).args(args).run().status(0);
    let left: Vec<_> = copies.into_iter().filter(|path| dir.path(path).exists()).collect();
    assert_eq!(left.len(), 1, "{copies:?}");
    let why = why.trim().strip_prefix(left[0]).expect("the plan keeps the same file").trim();
    (left[0].to_owned(), why.to_owned())
}

/// The directory of a test is a hidden one.
const HIDDEN: &str = "in fewer hidden directories";

#[test]
fn the_default_order_keeps_the_original() {
    const SAME: [&str; 2] = ["2020-01-01"; 2];
    for (copies, dates, args, stays, why) in [
        // The first path in byte order would be wrong in each case.
        (["p/Copy of photo.png", "p/photo.png"], SAME, &[][..], 1, "shortest path"),
        (["p/.thumbnails/x.png", "p/pictures/x.png"], SAME, &[], 1, HIDDEN),
        (["p/#recycle/IMG_1.JPG", "p/camera/IMG_1.JPG"], SAME, &[], 1, "not in a trash or system directory"),
        (["p/a", "p/b"], ["2021-01-01", "2020-01-01"], &[], 1, "oldest (2020-01-01 00:00)"),
        (["p/a", "p/b"], SAME, &[], 0, "first in byte order"),
        // A hidden file in a visible directory is like any other.
        (["p/.a", "p/bbb"], SAME, &[], 0, "shortest path"),
        (
            ["p/.git/x", "p/@Recycle/x"],
            ["2021-01-01", "2020-01-01"],
            &[],
            0,
            "not in a trash or system directory",
        ),
        // Rules come first, but not before the trash.
        (["p/a", "p/b"], ["2021-01-01", "2020-01-01"], &["--keep", "newest"], 0, "newest (2021-01-01 00:00)"),
        (["p/a", "p/b"], ["2021-01-01", "2020-01-01"], &["--keep", "first"], 0, "first"),
        (["p/.Trash-1000/a", "p/b"], SAME, &["--keep", "first"], 1, "not in a trash or system directory"),
        (["p/lost+found/a", "p/b"], SAME, &["--keep", "path=*/lost+found/*"], 0, "matches --keep path="),
        (["p/$RECYCLE.BIN/a", "p/b"], SAME, &["--reference", "p/$RECYCLE.BIN"], 0, "below a --reference"),
    ] {
        let kept = preferred(copies, dates, args);
        assert_eq!(kept, (copies[stays].to_owned(), why.to_owned()), "{copies:?} {args:?}");
    }
}

#[test]
fn whole_directories_have_the_same_order_without_the_time() {
    for (dirs, stays, why) in [
        (["p/Copy of trip", "p/trip"], 1, "shortest path"),
        (["p/#recycle/trip", "p/old/2019/trip"], 1, "not in a trash or system directory"),
        (["p/.cache/trip", "p/pictures/trip"], 1, HIDDEN),
        (["p/b", "p/a"], 1, "first in byte order"),
    ] {
        let dir = Dir::new();
        for (name, unique) in dirs.iter().zip([b"a", b"b"]) {
            dir.file(format!("{name}/x"), b"the same").file(format!("{name}/../unique"), unique);
        }
        // The other one is older.
        dir.ftk([""; 0]).instead(&dir, ["touch", "-d", "2001-01-01", dirs[1 - stays]]).run().status(0);
        let run = dir.ftk(["dup", "prune", "--dirs", "--action", "delete", "p", "--yes"]).run().status(0);
        assert!(dir.path(dirs[stays]).exists() && !dir.path(dirs[1 - stays]).exists(), "{dirs:?}");
        let kept = run.text().lines().find(|line| line.starts_with("  keep ")).unwrap();
        assert!(kept.contains(dirs[stays]) && kept.ends_with(why), "{kept}");
    }
}

#[test]
fn a_copy_on_a_read_only_file_system_is_not_preferred() {
    let dir = Dir::new();
    dir.file("p/a/x", b"the same").file("p/b/longer name", b"the same");
    dir.dir("p/ro");
    let from = dir.path("p/a");
    let Some(_bound) = Mounted::at(&dir.path("p/ro"), ["--bind".as_ref(), from.as_os_str()]) else { return };
    let remount = ["mount", "-o", "remount,bind,ro", "p/ro"];
    if dir.ftk([""; 0]).instead(&dir, remount).run().code() != 0 {
        return;
    }
    let plan = dir.ftk(["dup", "prune", "--action", "delete", "p/b", "p/ro"]).run();
    plan.check(plan.text().contains("  keep     p/b/longer name "), "the copy that can be written");
    let left = "  leave    p/ro/x                                         on a read-only file system, mount or subvolume";
    plan.check(plan.text().contains(left), "the other one is left");
}

#[test]
fn two_starting_points_are_treated_alike() {
    let dir = Dir::new();
    dir.file("c/x", b"the same").file("d/x", b"the same").file("a b/x", b"the same").file("other/y", b"y");
    let plan = |args: &[&str]| dir.ftk(["dup", "prune", "--action", "delete"]).args(args).run().status(0);
    plan(&["c", "a b"]).stderr_has("  c and 'a b' are treated alike: --reference c keeps all of c\n");
    // Directories as a whole are a plan too.
    plan(&["--dirs", "c", "d"]).stderr_has("alike");
    for args in [
        &["a b", "c", "d"][..],
        &["a b"],
        &["a b", "c", "--reference", "d"],
        &["a b", "c", "--isolate"],
        &["a b", "c", "--keep", "argument"],
        &["a b", "c", "-q"],
        &["c", "other"],
        &["a b", "c", "--yes"],
    ] {
        plan(args).stderr_lacks("alike");
    }
}

/// A shell reads the option in the last line as it is meant, whatever the name.
#[test]
fn the_option_that_keeps_a_starting_point_can_be_pasted() {
    let dir = Dir::new();
    dir.file("c/x", b"the same");
    for name in ["a b", "it's", "$(touch x)", "-n", "new\nline", "\u{1b}[31m", "d"] {
        dir.file(format!("{name}/x"), b"the same");
        let run = dir.ftk(["dup", "prune", "--action", "delete", "--", name, "c"]).run().status(0);
        let last = run.err.lines().last().unwrap_or_default();
        let option =
            last.split_once(" and c are treated alike: ").and_then(|it| it.1.split_once(" keeps all of "));
        let (option, _) = option.expect("the last line has the option");
        let command = format!("\"$FTK\" dup prune --action delete {option} -- \"$NAME\" c");
        let (ftk, name) = (format!("FTK={}", env!("CARGO_BIN_EXE_ftk")), format!("NAME={name}"));
        let shell = dir.ftk([] as [&str; 0]).instead(&dir, ["env", &ftk, &name, "bash", "-c", &command]);
        let run = shell.run().status(0);
        run.check(run.text().contains("  delete   c/x "), "the other copy goes");
    }
}
