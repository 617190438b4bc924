//! Files that were not read, or that changed, are in no group.

use std::convert::Infallible;
use std::fs;
use std::io::ErrorKind;

use ftk_file::Failure;
use ftk_hash::{Algorithm, Platform};
use ftk_sched::{Backend, Constants, Limits, Model, Stop, Threads};

use super::tree::{SMALL, Settings, Tree, listed, path, run};
use crate::{Funnel, Pass, find};

/// Creates three identical files of `len` bytes, and three others that are identical to each other.
fn tree(len: usize) -> Tree {
    let tree = Tree::new();
    for name in ["a", "b", "c"] {
        tree.write(name, vec![1; len]);
        tree.write(&format!("other/{name}"), vec![2; len]);
    }
    tree
}

#[test]
fn files_that_vanish_are_in_no_group() {
    // The result comes from the first pass, or from the second and third.
    for (len, last) in [(60, Pass::Ends), (300, Pass::Whole), (1000, Pass::Inside), (1000, Pass::Whole)] {
        for backend in [Backend::Sync, Backend::Uring] {
            for threads in [1, 4] {
                let tree = tree(len);
                let inventory = tree.inventory();
                let threads = Threads::Fixed(threads);
                let settings = Settings { backend, threads, ..Settings::default() };
                let found = run(&inventory, settings, 1, &SMALL, |stage| {
                    if stage.pass == last {
                        ["a", "other/a", "other/b"]
                            .iter()
                            .for_each(|name| fs::remove_file(tree.path(name)).unwrap());
                    }
                });
                let failed: Vec<_> =
                    found.failed.iter().map(|failed| path(&inventory, failed.file)).collect();
                assert_eq!(failed, ["a", "other/a", "other/b"].map(|name| tree.path(name)));
                let is_missing = |failure: &Failure| matches!(failure, Failure::Io { op: "open", source } if source.kind() == ErrorKind::NotFound);
                assert!(found.failed.iter().all(|failed| is_missing(&failed.failure)));
                let groups = listed(&inventory, &found.into_groups());
                assert_eq!(groups, [(len as u64, ["b", "c"].map(|name| vec![tree.path(name)]).to_vec())]);
            }
        }
    }
}

#[test]
fn files_that_cannot_be_read_are_in_no_group() {
    let tree = tree(60);
    let inventory = tree.inventory();
    let found =
        run(&inventory, Settings::default(), 1, &SMALL, |_| fs::remove_dir_all(tree.0.path()).unwrap());
    assert_eq!(found.failed.len(), 6);
    assert!(found.into_groups().is_empty());
}

#[test]
fn a_file_whose_size_differs_from_the_walk_has_changed() {
    let tree = tree(60);
    let inventory = tree.inventory();
    // They grow beyond the size that is read whole, and differ in a part that the pass does not read.
    let found = run(&inventory, Settings::default(), 1, &SMALL, |_| {
        for (nth, name) in ["a", "b", "c"].iter().enumerate() {
            let mut bytes = vec![1; 500];
            bytes[200] = nth as u8;
            tree.write(name, bytes);
        }
    });
    assert_eq!(found.failed.len(), 3);
    assert!(found.failed.iter().all(|failed| matches!(failed.failure, Failure::Changed { .. })));
    assert_eq!(found.into_groups().totals().files, 3);
}

#[test]
fn a_file_changed_between_passes_is_grouped_by_the_last_pass() {
    let tree = tree(300);
    let inventory = tree.inventory();
    let found = run(&inventory, Settings::default(), 1, &SMALL, |stage| {
        if stage.pass == Pass::Whole {
            tree.write("a", vec![2; 300]);
        }
    });
    let groups = listed(&inventory, &found.into_groups());
    assert_eq!(groups, tree.really_equal(1));
    assert_eq!(groups[0].1.len(), 4);
}

#[test]
fn a_stopped_run_finds_nothing_and_counts_pending_files() {
    let tree = tree(60);
    let inventory = tree.inventory();
    let (model, stop) = (Model::new(Constants::default()), Stop::new());
    stop.raise();
    let limits = Limits { threads: Threads::Fixed(1), backend: None, ring: false, cpus: 1 };
    let resources = ftk_process::Resources {
        model: &model,
        limits,
        memory: 1 << 20,
        stop: &stop,
        watch: None,
        cache: None,
    };
    let (algorithm, platform) = (Algorithm::Blake3, Platform::detect());
    let funnel = Funnel { inventory: &inventory, algorithm, platform, sizes: 1..=100 };
    let Ok(found) =
        find(&funnel, |stage, rows| Ok::<_, Infallible>(ftk_process::process(&stage.work, rows, &resources)));
    assert_eq!(found.pending, 6);
    assert!(found.into_groups().is_empty());
}

#[test]
fn an_error_returned_by_run_ends_the_search() {
    let tree = tree(60);
    let inventory = tree.inventory();
    let (algorithm, platform) = (Algorithm::Blake3, Platform::detect());
    let funnel = Funnel { inventory: &inventory, algorithm, platform, sizes: 1..=100 };
    assert_eq!(find(&funnel, |_, _| Err("no memory")).unwrap_err(), "no memory");
    // No file has a size in this range, so `run` is not called.
    let funnel = Funnel { sizes: 61..=100, ..funnel };
    assert!(find(&funnel, |_, _| Err("no memory")).unwrap().into_groups().is_empty());
}
