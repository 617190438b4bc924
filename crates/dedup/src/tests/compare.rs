//! Groups that are proved byte by byte.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use ftk_sched::{Stop, Team};

use super::tree::{SMALL, Settings, Tree, listed, path, run};

/// The contents change after the digests were computed, which looks like a digest collision.
#[test]
fn a_group_of_different_contents_is_split() {
    for workers in [1, 4] {
        let tree = Tree::new();
        let names: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(String::from).to_vec();
        names.iter().for_each(|name| tree.write(name, [0; 500]));
        for group in 1..40 {
            [0, 1].iter().for_each(|nth| tree.write(&format!("others/{group}-{nth}"), [group; 50]));
        }
        let inventory = tree.inventory();
        let mut found = run(&inventory, Settings::default(), 1, &SMALL, |_| ());
        ["b", "e"].iter().for_each(|name| tree.write(name, [100; 500]));
        tree.write("c", [101; 500]);
        let done = AtomicU64::new(0);
        let comparisons = found.comparisons();
        found.compare(Team::new(workers), &Stop::new(), &done);
        assert_eq!((comparisons, done.into_inner()), (5 + 39, 5 + 39));
        assert!(found.failed.is_empty());
        let groups = listed(&inventory, &found.into_groups());
        assert_eq!(groups, tree.really_equal(1));
        assert_eq!(groups.len(), 2 + 39);
    }
}

#[test]
fn files_that_cannot_be_compared_leave_their_group() {
    let tree = Tree::new();
    ["a", "b", "c", "d"].iter().for_each(|name| tree.write(name, [0; 500]));
    ["x", "y"].iter().for_each(|name| tree.write(name, [1; 500]));
    let inventory = tree.inventory();
    let mut found = run(&inventory, Settings::default(), 1, &SMALL, |_| ());
    // The first file of a group, a later one, and the first of a pair.
    ["a", "c", "x"].iter().for_each(|name| fs::remove_file(tree.path(name)).unwrap());
    found.compare(Team::new(2), &Stop::new(), &AtomicU64::new(0));
    let failed: Vec<_> = found.failed.iter().map(|failed| path(&inventory, failed.file)).collect();
    assert_eq!(failed, ["a", "c", "x"].map(|name| tree.path(name)));
    assert_eq!(listed(&inventory, &found.into_groups()), tree.really_equal(1));
}

#[test]
fn a_stopped_proof_keeps_no_group() {
    let tree = Tree::new();
    ["a", "b"].iter().for_each(|name| tree.write(name, [0; 500]));
    let inventory = tree.inventory();
    let mut found = run(&inventory, Settings::default(), 1, &SMALL, |_| ());
    let (stop, done) = (Stop::new(), AtomicU64::new(0));
    stop.raise();
    found.compare(Team::new(1), &stop, &done);
    assert_eq!((found.pending, done.load(Ordering::Relaxed)), (1, 0));
    assert!(found.into_groups().is_empty());
}
