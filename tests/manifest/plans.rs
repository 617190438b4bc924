//! The output is the same for every number of workers and every reader.

use std::fs;

use super::records::{Manifest, create, verify};
use super::trees::random;
use crate::harness::{Dir, bytes, uring};

fn plans() -> Vec<Vec<&'static str>> {
    let readers = if uring() { &["auto", "sync", "uring"][..] } else { &["auto", "sync"] };
    let plan = |&reader| ["1", "2", "3", "4"].map(|threads| vec!["--io", reader, "-j", threads]);
    readers.iter().flat_map(plan).collect()
}

/// Returns the paths and the lines without header and footer, which depend on the start time.
fn body(dir: &Dir, args: &[&str]) -> (Vec<Vec<u8>>, String) {
    let bytes = dir.ftk(["manifest", "create", "."]).args(args).run().status(0).out;
    let manifest = Manifest::parse(&bytes);
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<_> = text.lines().collect();
    (manifest.paths, lines[1..lines.len() - 1].join("\n"))
}

#[test]
fn h43_manifests_and_verdicts() {
    for dir in [random(3), random(4), many()] {
        let expected = body(&dir, &["-j", "1"]);
        let path = create(&dir, &[]);
        for plan in plans() {
            assert_eq!(body(&dir, &plan), expected, "{plan:?}");
            verify(&dir, &plan).status(0).stdout("");
        }
        for (nth, path) in expected.0.iter().enumerate().filter(|(nth, _)| nth % 5 == 1) {
            use std::os::unix::ffi::OsStrExt as _;
            let path = dir.path(std::ffi::OsStr::from_bytes(path));
            if path.symlink_metadata().is_ok_and(|it| it.is_file()) {
                match nth % 3 {
                    0 => fs::remove_file(path).unwrap(),
                    1 => fs::rename(&path, dir.path(format!("moved-{nth}"))).unwrap(),
                    _ => fs::write(path, b"changed").unwrap(),
                }
            }
        }
        let expected = verify(&dir, &["-j", "1"]).status(1).out;
        assert!(expected.iter().filter(|byte| **byte == b'\n').count() > 10);
        for plan in plans() {
            verify(&dir, &plan).status(1).stdout(&expected);
        }
        fs::remove_file(path).unwrap();
    }
}

/// Creates more files than a sample has, some of them large.
fn many() -> Dir {
    let dir = Dir::new();
    for nth in 0..500 {
        let len = if nth % 100 == 7 { 2_000_000 } else { nth * 7 };
        dir.file(format!("{}/{nth}", nth % 13), &bytes(nth as u64, len));
    }
    dir
}
