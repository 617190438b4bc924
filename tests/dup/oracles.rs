//! The groups are those found by comparing every byte, and those of fdupes and jdupes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use super::tree::{oracle, plant, printed};
use crate::harness::{Dir, needs, uring};

#[test]
fn groups_are_what_comparing_every_byte_finds() {
    for seed in 0..6 {
        let dir = Dir::new();
        plant(&dir, seed, 120);
        let expected = oracle(&dir, 1);
        assert!(expected.len() > 5, "the tree has groups");
        dir.ftk(["dup"]).run().status(0).stdout(printed(&expected, b'\n'));
        dir.ftk(["dup", "--min-size", "0", "-0"]).run().status(0).stdout(printed(&oracle(&dir, 0), 0));
    }
}

/// The digest, the number of workers and the reader do not change the output.
#[test]
fn h43_options_for_reading_do_not_change_the_output() {
    let dir = Dir::new();
    plant(&dir, 7, 300);
    let expected = printed(&oracle(&dir, 1), b'\n');
    for threads in ["1", "2", "3", "4", "auto"] {
        for algorithm in ["xxh128", "blake3", "sha256"] {
            dir.ftk(["dup", ".", "-j", threads, "-a", algorithm]).run().status(0).stdout(&expected);
        }
        dir.ftk(["dup", "--verify", "-j", threads]).run().status(0).stdout(&expected);
        dir.ftk(["dup", "--io", "sync", "-j", threads]).run().status(0).stdout(&expected);
    }
    if uring() {
        for threads in ["1", "3"] {
            dir.ftk(["dup", "--io", "uring", "-j", threads]).run().status(0).stdout(&expected);
        }
    }
}

/// Returns the set of groups, with inode numbers for names: tools may print any name of several hard links.
fn groups(dir: &Dir, printed: &[u8]) -> BTreeSet<BTreeSet<u64>> {
    let ino = |path: &[u8]| fs::symlink_metadata(dir.path(OsStr::from_bytes(path))).unwrap().ino();
    let lines = printed.split(|&byte| byte == b'\n');
    let mut groups = vec![BTreeSet::new()];
    for line in lines {
        if line.is_empty() {
            groups.push(BTreeSet::new());
        } else {
            groups.last_mut().unwrap().insert(ino(line));
        }
    }
    groups.into_iter().filter(|group| !group.is_empty()).collect()
}

#[test]
fn fdupes_and_jdupes_find_the_same() {
    needs!("fdupes", "jdupes");
    for seed in 20..23 {
        let dir = Dir::new();
        plant(&dir, seed, 150);
        // Neither tool prints a name with a newline so that it can be parsed.
        for path in oracle(&dir, 0).iter().flat_map(|group| group.files.concat()) {
            if path.contains(&b'\n') {
                fs::remove_file(dir.path(OsStr::from_bytes(&path))).unwrap();
            }
        }
        let ours = dir.ftk(["dup"]).run().status(0);
        let ours = groups(&dir, &ours.out);
        assert!(ours.len() > 5);
        for peer in [&["fdupes", "-r", "-n", "-q", "."][..], &["jdupes", "-r", "-q", "."]] {
            let theirs = dir.ftk([""; 0]).instead(&dir, peer).run().status(0);
            assert_eq!(groups(&dir, &theirs.out), ours, "{peer:?}");
        }
    }
}

/// Groups are ordered by waste, then by their first path.
#[test]
fn the_largest_waste_comes_first() {
    let dir = Dir::new();
    dir.file("b/1", &[1; 100]).file("b/2", &[1; 100]).file("a/1", &[2; 100]).file("a/2", &[2; 100]);
    dir.file("few/1", &[3; 250]).file("few/2", &[3; 250]);
    for nth in 0..4 {
        dir.file(format!("many/{nth}"), &[4; 90]);
    }
    // Hard links waste nothing.
    dir.file("links/1", &[5; 80]).file("links/2", &[5; 80]);
    for nth in 3..9 {
        dir.hard_link("links/1", &format!("links/{nth}"));
    }
    let run = dir.ftk(["dup"]).run().status(0);
    let firsts: Vec<_> =
        run.text().split("\n\n").filter(|it| !it.is_empty()).map(|it| it.lines().next().unwrap()).collect();
    assert_eq!(firsts, ["./many/0", "./few/1", "./a/1", "./b/1", "./links/1"]);
    let mut counts = BTreeMap::new();
    run.text().lines().for_each(|line| *counts.entry(line).or_insert(0) += 1);
    assert!(counts.contains_key("./links/2") && !counts.contains_key("./links/3"), "one name of each file");
}
