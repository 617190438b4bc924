//! Trees of extreme shapes, recorded in shards and merged. `cargo xtask soak shards` does this with millions of files.

use std::fs::{self, File};

use crate::harness::Dir;

use super::{entries, record};

const SHARDS: u32 = 8;

/// Directories with the same number of files each. The names of files have at least `name_bytes` bytes.
fn flat(dirs: usize, files: usize, name_bytes: usize) -> Dir {
    let dir = Dir::on_disk();
    for nth in 0..dirs {
        let parent = dir.path(format!("dir_{nth:04}"));
        fs::create_dir(&parent).unwrap();
        for number in nth * files..(nth + 1) * files {
            // A hole, with a size that many files share.
            let file = File::create(parent.join(format!("{number:0name_bytes$}"))).unwrap();
            file.set_len(number as u64 % 64).unwrap();
        }
    }
    dir
}

/// Compares the merged parts with one run, for parts by two plans and without one.
#[track_caller]
fn compare(dir: &Dir, expected: usize) {
    dir.ftk(["manifest", "create", ".", "-o", "../one.jsonl"]).run().status(0);
    let one = fs::read(dir.aside("one.jsonl")).unwrap();
    let one = entries(&one);
    assert_eq!(one.lines().count(), expected);
    let of = SHARDS.to_string();
    for plan in [&["--by", "entries", "../one.jsonl"][..], &["--by", "cost", "."], &[]] {
        if !plan.is_empty() {
            let make = ["manifest", "plan", "--shards", &of, "-o", "../plan", "--force"];
            dir.ftk(make).args(plan).run().status(0);
        }
        let merge = record(dir, SHARDS, (!plan.is_empty()).then_some("../plan"), &[]);
        let merged = dir.ftk(&merge).run().status(0).out;
        assert!(entries(&merged) == one, "{plan:?}: the merged manifest differs");
    }
}

#[test]
fn an_empty_directory() {
    compare(&flat(1, 0, 0), 2);
}

#[test]
fn sixty_directories() {
    compare(&flat(60, 10, 0), 661);
}

#[test]
fn names_of_255_bytes() {
    compare(&flat(10, 100, 255), 1_011);
}

#[test]
fn sixty_levels() {
    let dir = Dir::on_disk();
    let mut path = String::from("d");
    for level in 1..=60 {
        dir.dir(&path);
        if level % 10 == 0 {
            dir.file(format!("{path}/f"), b"file");
        }
        path.push_str("/d");
    }
    compare(&dir, 67);
}

#[test]
fn many_directories() {
    compare(&flat(100, 20, 0), 2_101);
}

#[test]
fn one_flat_directory_in_several_shards() {
    compare(&flat(1, 5_000, 0), 5_002);
}
