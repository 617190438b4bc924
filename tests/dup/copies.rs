//! The copies that rules count on are proven when a step is carried out.

use std::fs;
use std::path::Path;

use super::apply::sealed;
use crate::harness::{Dir, Run};

/// Creates four copies in two directories. By the default order `m/1/a` is preferred, then `m/1/b`.
fn copies() -> Dir {
    let dir = Dir::new();
    for (path, date) in
        [("m/1/a", "2018-01-01"), ("m/1/b", "2019-01-01"), ("m/2/c", "2020-01-01"), ("m/2/d", "2021-01-01")]
    {
        dir.file(path, b"same");
        dir.ftk([""; 0]).instead(&dir, ["touch", "-d", date, path]).run().status(0);
    }
    dir
}

fn report(dir: &Dir, args: &[&str]) {
    dir.ftk(["dup", "--json", "-o"]).arg(dir.aside("report")).args(args).arg("m").run().status(0);
}

fn apply(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["dup", "apply"]).arg(dir.aside("report")).args(args).run()
}

type Change = fn(&Dir);

/// Ways in which `m/1/b` stops being a copy.
const CHANGES: [(&str, Change); 6] = [
    ("removed", |dir| fs::remove_file(dir.path("m/1/b")).unwrap()),
    ("renamed", |dir| fs::rename(dir.path("m/1/b"), dir.path("m/1/x")).unwrap()),
    ("written", |dir| fs::write(dir.path("m/1/b"), "SAME").unwrap()),
    ("replaced", |dir| {
        fs::remove_file(dir.path("m/1/b")).unwrap();
        dir.file("m/1/b", b"same");
    }),
    ("a symbolic link", |dir| {
        fs::remove_file(dir.path("m/1/b")).unwrap();
        dir.symlink("a", "m/1/b");
    }),
    ("a hard link of the keeper", |dir| {
        fs::remove_file(dir.path("m/1/b")).unwrap();
        dir.hard_link("m/1/a", "m/1/b");
    }),
];

fn exists(dir: &Dir, path: &str) -> bool {
    Path::exists(&dir.path(path))
}

#[test]
fn h86_a_copy_that_is_not_there_any_more_does_not_count() {
    for (what, change) in CHANGES {
        for action in ["delete", "hardlink", "symlink", "move=away"] {
            let dir = copies();
            report(&dir, &[]);
            change(&dir);
            let before = fs::read_dir(dir.path("m/2")).unwrap().count();
            let plan = apply(&dir, &["--action", action, "--min-copies", "2"]).status(2);
            let run = apply(&dir, &["--action", action, "--min-copies", "2", "--yes"]).status(2);
            for run in [&plan, &run] {
                run.check(run.err.contains("ftk: 'm/2/c': refused: "), what);
                // A new link changes the ctime of the keeper, which is not as it was seen then.
                let why = match what {
                    "a hard link of the keeper" => "the keeper changed (its time of change)",
                    _ => "1 of the 2 copies that must stay can be proven; 'm/1/b': ",
                };
                run.check(run.says(why), what);
            }
            run.check(fs::read_dir(dir.path("m/2")).unwrap().count() == before, what);
            run.check(!dir.path("m/2/c").is_symlink() && !exists(&dir, "away/m"), what);
        }
    }
}

#[test]
fn with_enough_other_copies_the_step_is_done() {
    let dir = copies();
    dir.ftk(["dup", "--json", "-o"]).arg(dir.aside("report")).arg("m").run().status(0);
    fs::remove_file(dir.path("m/1/b")).unwrap();
    // Three copies stay by the reference, and two of them are needed.
    let args = ["--action", "delete", "--reference", "m/1", "--min-copies", "2", "--yes"];
    let run = apply(&dir, &args).status(2);
    run.check(exists(&dir, "m/2/c") && exists(&dir, "m/2/d"), "the reference has one copy left");
    let dir = copies();
    dir.file("m/1/z", b"same");
    report(&dir, &[]);
    fs::remove_file(dir.path("m/1/b")).unwrap();
    let run = apply(&dir, &args).status(0);
    run.check(!exists(&dir, "m/2/c") && !exists(&dir, "m/2/d"), "two of three copies are left");
}

#[test]
fn the_copy_below_each_directory_is_proven() {
    let dir = copies();
    report(&dir, &[]);
    fs::remove_file(dir.path("m/2/c")).unwrap();
    let args = ["--action", "delete", "--keep-one-per", "m/1", "--keep-one-per", "m/2", "--yes"];
    let run = apply(&dir, &args).status(2);
    run.check(run.says("0 of the 1 copies that must stay can be proven; 'm/2/c': "), "its name");
    run.check(exists(&dir, "m/2/d") && exists(&dir, "m/1/b"), "nothing is removed");
}

#[test]
fn every_file_that_decisions_keep_is_proven() {
    let dir = copies();
    report(&dir, &[]);
    let text = fs::read_to_string(dir.aside("report")).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.pop();
    lines[0] = lines[0].replace("dup-report", "dup-decisions");
    lines[1] = lines[1].replace("\"members\":", "\"keep\":[0,2],\"members\":");
    fs::write(dir.aside("report"), sealed(&lines)).unwrap();
    fs::remove_file(dir.path("m/2/c")).unwrap();
    let run = apply(&dir, &["--action", "delete", "--yes"]).status(2);
    run.check(run.says("1 of the 2 copies that must stay can be proven; 'm/2/c': "), "its name");
    run.check(exists(&dir, "m/1/b") && exists(&dir, "m/2/d"), "nothing is removed");
}

#[test]
fn copies_of_whole_directories_are_proven() {
    for action in ["delete", "hardlink", "move=away"] {
        for (what, is_hurt) in [("intact", false), ("changed", true)] {
            let dir = Dir::new();
            for name in ["a", "b", "c"] {
                dir.file(format!("m/{name}/x"), b"one").file(format!("m/{name}/sub/y"), b"two");
            }
            report(&dir, &["--dirs"]);
            if is_hurt {
                fs::write(dir.path("m/b/sub/y"), "TWO").unwrap();
            }
            let args = ["--action", action, "--min-copies", "2", "--yes"];
            let run = apply(&dir, &args).status(if is_hurt { 2 } else { 0 });
            let is_linked = || same_inode(&dir, "m/a/sub/y", "m/c/sub/y");
            let is_done = if action == "hardlink" { is_linked() } else { !exists(&dir, "m/c") };
            run.check(is_done != is_hurt, &format!("{action} {what}"));
            if is_hurt {
                run.check(fs::read(dir.path("m/c/sub/y")).unwrap() == b"two", what);
                run.check(run.says("1 of the 2 copies that must stay can be proven"), what);
            }
        }
    }
}

fn same_inode(dir: &Dir, a: &str, b: &str) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let ino = |path: &str| fs::metadata(dir.path(path)).unwrap().ino();
    ino(a) == ino(b)
}

#[test]
fn a_script_counts_copies() {
    let write = |dir: &Dir, args: &[&str]| {
        let file = fs::File::create(dir.aside("script")).unwrap();
        let args = [&["dup", "prune", "--action", "delete", "--script", "m"], args].concat();
        dir.ftk(args).stdout(file).run().status(0);
    };
    let run =
        |dir: &Dir| dir.ftk([""; 0]).instead(dir, ["sh".as_ref(), dir.aside("script").as_os_str()]).run();
    for (what, change) in CHANGES {
        let dir = copies();
        write(&dir, &["--min-copies", "2"]);
        change(&dir);
        // A script knows no inode of the plan. An equal file with the name is a copy.
        let is_copy = what == "replaced";
        let run = run(&dir).status(if is_copy { 0 } else { 2 });
        run.check(exists(&dir, "m/2/c") != is_copy, what);
        run.check(is_copy || run.err.contains("1 of the 2 copies that must stay can be proven"), what);
    }
    let dir = copies();
    write(&dir, &["--min-copies", "2"]);
    run(&dir).status(0);
    assert!(!exists(&dir, "m/2/c") && !exists(&dir, "m/2/d") && exists(&dir, "m/1/b"));
}
