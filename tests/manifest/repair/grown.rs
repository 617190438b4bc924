//! Files that were edited have parts of their recorded contents, which help to compute others.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use super::super::records::{create, verify};
use super::parity::{flip, noise, protect};
use super::repair_from;
use super::reprotect::reprotect;
use crate::harness::Dir;

/// A tree whose recovery blocks are far too few for the loss of a whole file.
fn protected() -> Dir {
    let dir = Dir::new();
    for (name, len, seed) in [("log", 800_000, 1), ("edited", 800_000, 2), ("cut", 800_000, 3)] {
        dir.file(name, &noise(len, seed));
    }
    dir.file("small log", &noise(60_000, 5)).file("victim", &noise(200_000, 4));
    create(&dir, &[]);
    protect(&dir, &["--redundancy", "3%"]).status(0);
    dir
}

fn append(dir: &Dir, name: &str) {
    File::options().append(true).open(dir.path(name)).unwrap().write_all(&noise(90_000, 9)).unwrap();
}

fn damage(dir: &Dir) {
    [5, 70_000, 140_000].into_iter().for_each(|at| flip(&dir.path("victim"), at));
}

#[test]
fn what_is_left_of_changed_files_helps_their_neighbours_and_themselves() {
    let dir = protected();
    append(&dir, "log");
    append(&dir, "small log");
    let file = |name: &str| File::options().write(true).open(dir.path(name)).unwrap();
    file("edited").write_all_at(&[0; 5_000], 400_000).unwrap();
    file("cut").set_len(780_000).unwrap();
    damage(&dir);
    let run = repair_from(&dir, &["parity"], &["--yes"]).status(1);
    run.stderr_has("repaired 1 file");
    assert!(fs::read(dir.path("victim")).unwrap() == noise(200_000, 4));
    assert_eq!(fs::metadata(dir.path("log")).unwrap().len(), 890_000, "an edit is left");
    let run = repair_from(&dir, &["parity"], &["--modified", "--yes"]).status(0);
    run.stderr_has("replaced 4 modified files");
    verify(&dir, &[]).status(0).stdout("");
}

#[test]
fn contents_that_are_no_longer_recorded_help_too() {
    let dir = protected();
    append(&dir, "log");
    let manifest = dir.aside("manifest");
    let update = dir.ftk(["manifest", "update", "."]).arg(&manifest).arg("-o").arg(&manifest);
    update.run().status(0);
    damage(&dir);
    // The manifest in the parity file says where the log was.
    repair_from(&dir, &["parity"], &["--yes"]).status(0).stderr_has("repaired 1 file");
    verify(&dir, &[]).status(0).stdout("");
    damage(&dir);
    let run = reprotect(&dir, &[]).status(1);
    run.stderr_has("1 damaged or missing content computed to be protected again");
    repair_from(&dir, &["parity"], &["--yes"]).status(0);
    verify(&dir, &[]).status(0).stdout("");
}
