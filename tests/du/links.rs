//! Hard links count once, wherever they are found first.

use std::fs;

use crate::harness::{Dir, bytes};

/// Lines without the sizes of directories themselves, which differ between file systems.
fn apparent(dir: &Dir, args: &[&str]) -> Vec<(String, u64)> {
    let run = dir.ftk(["du", "--apparent-size", "-t", "f", "-d9"]).args(args).run().status(0);
    let lines = run.text().lines().map(|line| {
        let (bytes, path) = line.split_once('\t').unwrap();
        (path.to_owned(), bytes.parse().unwrap())
    });
    let mut lines: Vec<_> = lines.collect();
    lines.sort();
    lines
}

#[test]
fn the_first_path_counts() {
    let dir = Dir::new();
    // In byte order: ./a-b/x, ./a/b/x, ./a/z, ./c/x, because `-` sorts before `/`.
    dir.file("c/x", &bytes(1, 1000)).dir("a/b").dir("a-b");
    dir.hard_link("c/x", "a/z").hard_link("c/x", "a/b/x").hard_link("c/x", "a-b/x");
    let names = [".", "./a", "./a-b", "./a/b", "./c"];
    let lines = |sizes: [u64; 5]| names.map(String::from).into_iter().zip(sizes).collect::<Vec<_>>();
    assert_eq!(apparent(&dir, &[]), lines([1000, 0, 1000, 0, 0]));
    fs::remove_file(dir.path("a-b/x")).unwrap();
    dir.file("a-b/y", b"");
    assert_eq!(apparent(&dir, &[]), lines([1000, 1000, 0, 1000, 0]));
    fs::remove_file(dir.path("a/b/x")).unwrap();
    dir.file("a/b/y", b"");
    assert_eq!(apparent(&dir, &[]), lines([1000, 1000, 0, 0, 0]));
}

#[test]
fn the_first_of_several_starting_points_counts() {
    let dir = Dir::new();
    dir.file("b/x", &bytes(1, 1000)).dir("a");
    dir.hard_link("b/x", "a/x");
    for args in [["a", "b"], ["b", "a"]] {
        assert_eq!(apparent(&dir, &args), [("a".into(), 1000), ("b".into(), 0)]);
    }
}

#[test]
fn a_nested_starting_point_counts_only_there() {
    let dir = Dir::new();
    dir.file("a/x", &bytes(1, 1000)).file("a/b/y", &bytes(2, 50));
    for args in [["a", "a/b"], ["a/b", "a"]] {
        assert_eq!(apparent(&dir, &args), [("a".into(), 1000), ("a/b".into(), 50)]);
        let run = dir.ftk(["du"]).args(args).run().status(0);
        run.stderr_has("'a/b' is below 'a' and counts only for itself\n");
    }
    dir.file("a-b/z", b"");
    dir.ftk(["du", "-s", "a", "a-b", "a"]).run().status(0).stderr_lacks("counts only for itself");
    let run = dir.ftk(["du", "-s", "./a/b", "a-b", "a/b/y", "."]).run().status(0);
    run.stderr_has("'./a/b' is below '.' and counts only for itself, and 2 more likewise\n");
}

#[test]
fn only_the_link_that_counts_is_printed() {
    let dir = Dir::new();
    dir.file("b", &bytes(1, 1000)).hard_link("b", "a").hard_link("b", "c");
    for args in [&["-a"][..], &["-a", "--top", "9"]] {
        let run = dir.ftk(["du", "--apparent-size", "-t", "f"]).args(args).run().status(0);
        run.stdout("1000\t./a\n").stderr_has("3 files, 0 directories");
    }
}

#[test]
fn links_that_the_filters_skip_do_not_count() {
    let dir = Dir::new();
    dir.file("b/x.txt", &bytes(1, 1000)).dir("a").hard_link("b/x.txt", "a/x.jpg");
    let run = dir.ftk(["du", "--apparent-size", "-d1", "-e", "txt"]).run().status(0);
    run.stdout("1000\t.\n1000\t./b\n");
}

#[test]
fn cycles_of_symbolic_links_end() {
    let dir = Dir::new();
    dir.file("a/x", &bytes(1, 1000)).symlink("..", "a/up").symlink("a", "b").symlink("self", "self");
    let run = dir.ftk(["du", "-L", "-s", "--apparent-size", "-t", "f"]).run().status(2);
    run.stdout("1000\t.\n").stderr_has("leads back to");
}
