//! `ftk manifest update` of a part of a tree, killed before each system call that changes anything, and with searches of
//! Btrfs that fail.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use super::kills::changes;
use super::trace::{Fault, calls, can_inject, failing};
use crate::harness::{Dir, Ftk};
use crate::manifest::records::Manifest;
use crate::manifest::snapshots::Scene;

/// Kills updates of the manifest `old`, which write a new one or replace it.
fn play(dir: &Dir, old: &str, update: &[&str]) {
    let saved = fs::read(dir.path(old)).unwrap();
    for new in ["new", old] {
        let command = |dir: &Dir| -> Ftk { dir.ftk(update).args(["--force", "-o", new]) };
        let (run, calls) = calls(command(dir), dir);
        run.status(0);
        let expected = Manifest::read(&dir.path(new)).untimed();
        let calls: Vec<_> = calls.into_iter().filter(changes).collect();
        assert!(calls.len() > 2, "{calls:?}");
        for call in &calls {
            fs::write(dir.path(old), &saved).unwrap();
            _ = fs::remove_file(dir.path("new"));
            let run = failing(command(dir), dir, call, Fault::Kill).run();
            run.check(run.code() == 128 + 9, "it was killed");
            if new == "new" {
                assert!(fs::read(dir.path(old)).unwrap() == saved, "{call:?}");
            }
            if let Ok(now) = fs::read(dir.path(new))
                && now != saved
            {
                assert_eq!(Manifest::parse(&now).untimed().entries, expected.entries, "{call:?}");
            }
            command(dir).run().status(0);
            assert_eq!(Manifest::read(&dir.path(new)).untimed().entries, expected.entries, "{call:?}");
        }
        fs::write(dir.path(old), &saved).unwrap();
        _ = fs::remove_file(dir.path("new"));
    }
}

#[test]
fn h06_killed_while_a_list_of_changes_is_recorded() {
    if !can_inject() {
        return;
    }
    let dir = Dir::new();
    (0..30).for_each(|nth| _ = dir.file(format!("t/d{}/f{nth}", nth % 3), &[nth; 100]));
    sleep(Duration::from_millis(60));
    dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
    dir.file("t/d1/f1", b"changed").file("t/d1/new", b"new").file("list", b"d1/f1\nd1/new\nd2/f2\n");
    fs::remove_file(dir.path("t/d2/f2")).unwrap();
    sleep(Duration::from_millis(60));
    play(&dir, "m", &["manifest", "update", "t", "m", "--changed", "list"]);
}

/// Makes two snapshots between which something changed. The first one is recorded.
fn snapshots() -> Option<Scene> {
    let scene = Scene::new()?;
    (0..100).for_each(|nth| scene.write(&format!("tree/d{}/g{nth}", nth % 3), nth));
    scene.snapshot("tree", "one");
    scene.create("one");
    scene.write("tree/d1/g1", 99);
    scene.write("tree/d1/new", 98);
    fs::remove_file(scene.dir.path("point/tree/d2/g2")).unwrap();
    scene.snapshot("tree", "two");
    Some(scene)
}

#[test]
fn h06_killed_while_a_snapshot_is_recorded() {
    if !can_inject() {
        return;
    }
    let Some(scene) = snapshots() else { return };
    play(&scene.dir, "m-one", &["manifest", "update", "point/two", "m-one", "--since", "point/one"]);
}

#[test]
fn a_search_that_fails_is_no_proof() {
    if !can_inject() {
        return;
    }
    let Some(scene) = snapshots() else { return };
    let dir = &scene.dir;
    let update = || {
        dir.ftk(["manifest", "update", "point/two", "m-one", "--force", "-o", "n", "--since", "point/one"])
    };
    dir.ftk(["manifest", "update", "point/two", "m-one", "-o", "full"]).run().status(0);
    let full = Manifest::read(&dir.path("full")).untimed();
    let (_, calls) = calls(update(), dir);
    let calls: Vec<_> = calls.into_iter().filter(|call| call.name == "ioctl").collect();
    let is_search = |line: &str| line.contains("TREE_SEARCH_V2");
    assert!(calls.iter().filter(|call| is_search(&call.line)).count() >= 5, "{calls:?}");
    for (nth, call) in calls.iter().enumerate() {
        let error = ["EPERM", "EIO", "ENOTTY"][nth % 3];
        let run = failing(update(), dir, call, Fault::Error(error)).run();
        if is_search(&call.line) {
            run.status(0).stderr_has("all of ROOT is examined: ");
        } else if run.code() == 2 {
            // Without the history of the subvolume, it may be another tree.
            run.stderr_has("is not the recorded directory");
            continue;
        }
        assert_eq!(Manifest::read(&dir.path("n")).untimed().entries, full.entries, "{error}: {call:?}");
    }
}
