//! Different files that look alike: actions must depend on a comparison of every byte.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use super::pruning::ACTIONS;
use crate::harness::{Dir, bytes, sha256};

/// Only the last byte of a block differs from zero; the rest is a hole or written zeros.
#[test]
fn h67_the_last_byte_of_a_block_of_zeros_counts() {
    const SIZE: usize = 1 << 20;
    for at in [511, 4095, 4096, 65_535, (1 << 17) - 1, SIZE / 2, SIZE - 1] {
        for is_hole in [true, false] {
            let dir = Dir::new();
            dir.file("zeros", &[0; SIZE]).hole("hole", SIZE as u64);
            let mut content = vec![0; SIZE];
            content[at] = b'x';
            if is_hole {
                dir.hole("other", SIZE as u64);
                let other = File::options().write(true).open(dir.path("other")).unwrap();
                other.write_all_at(b"x", at as u64).unwrap();
            } else {
                dir.file("other", &content);
            }
            for pair in [["zeros", "other"], ["other", "hole"]] {
                dir.ftk(["cmp", "-s"]).args(pair).run().status(1);
                let run = dir.ftk(["cmp"]).args(pair).run().status(1);
                run.check(run.says(&format!("byte {}", at + 1)), "the position is printed");
            }
            dir.ftk(["cmp", "zeros", "hole"]).run().status(0);
            dir.ftk(["dup", "."]).run().status(0).stdout("./hole\n./zeros\n\n");
            let run = dir.ftk(["hash", "other"]).run().status(0);
            run.stdout(format!("{}  other\n", sha256(&content)));
        }
    }
}

/// Files of equal size that differ from each other in one byte.
const NAMES: [&str; 5] = ["d/first", "d/middle", "d/last", "e/block", "e/none"];

fn of_one_size(seed: u64) -> (Dir, Vec<Vec<u8>>) {
    let dir = Dir::new();
    let common = bytes(seed, 40_000);
    let places = [Some(0), Some(20_000), Some(39_999), Some(4096), None];
    let contents: Vec<_> = places
        .iter()
        .map(|place| {
            let mut content = common.clone();
            place.iter().for_each(|&place: &usize| content[place] ^= 0x80);
            content
        })
        .collect();
    let time = fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH);
    for (name, content) in NAMES.iter().zip(&contents) {
        dir.file(name, content);
        File::options().write(true).open(dir.path(name)).unwrap().set_times(time).unwrap();
    }
    (dir, contents)
}

fn all_are_there(dir: &Dir, contents: &[Vec<u8>], what: &str) {
    for (name, content) in NAMES.iter().zip(contents) {
        assert!(fs::symlink_metadata(dir.path(name)).unwrap().is_file(), "{what}: {name}");
        assert!(fs::read(dir.path(name)).unwrap() == *content, "{what}: {name}");
    }
}

/// For hardlink and delete, every search option with every prune option; for the other actions each option
/// once.
#[test]
fn h72_no_option_makes_different_files_equal() {
    let searching: [&[&str]; 9] = [
        &[],
        &["-a", "blake3"],
        &["-a", "sha256"],
        &["--verify"],
        &["-j", "mono"],
        &["-j", "8"],
        &["--io", "sync"],
        &["--min-size", "40000", "--max-size", "40000"],
        &["-L"],
    ];
    let pruning: [&[&str]; 9] = [
        &[],
        &["--metadata-may-differ"],
        &["--isolate"],
        &["--min-copies", "1"],
        &["--keep", "newest"],
        &["--keep", "oldest", "--keep", "path=*e/*"],
        &["--keep", "shortest"],
        &["--reference", "e"],
        &["--reference", "d", "--reference", "e"],
    ];
    for action in ACTIONS.into_iter().chain(["reflink"]) {
        let is_thorough = ["hardlink", "delete"].contains(&action);
        for (nth, search) in searching.into_iter().enumerate() {
            let (dir, contents) = of_one_size(1);
            for prune in if is_thorough { &pruning[..] } else { &pruning[nth..=nth] } {
                let args = ["dup", "prune", "--yes", "--action", action, "d", "e", "d/first", "e/none"];
                dir.ftk(args).args(search).args(*prune).run();
                all_are_there(&dir, &contents, &format!("{action} {search:?} {prune:?}"));
            }
        }
    }
}

/// A report that calls different files equal, with correct sizes, inodes and times.
#[test]
fn h72_no_report_makes_different_files_equal() {
    for action in ACTIONS {
        let (dir, _) = of_one_size(2);
        for name in &NAMES[..4] {
            fs::copy(dir.path("e/none"), dir.path(name)).unwrap();
        }
        let report = dir.ftk(["dup", "--json", "d", "e"]).run().status(0);
        let mut report = report.text().to_owned();
        let (_, contents) = of_one_size(2);
        for (name, content) in NAMES.iter().zip(&contents) {
            let before = fs::metadata(dir.path(name)).unwrap();
            let file = File::options().write(true).open(dir.path(name)).unwrap();
            file.write_all_at(content, 0).unwrap();
            let after = fs::metadata(dir.path(name)).unwrap();
            let times = |of: &fs::Metadata| {
                let ns = |seconds: i64, ns: i64| seconds * 1_000_000_000 + ns;
                let mtime = ns(of.mtime(), of.mtime_nsec());
                format!("\"mtime_ns\":{mtime},\"ctime_ns\":{}", ns(of.ctime(), of.ctime_nsec()))
            };
            assert!(report.contains(&times(&before)), "{report}");
            report = report.replacen(&times(&before), &times(&after), 1);
        }
        let ftk = dir.ftk(["dup", "apply", "-", "--edited", "--yes", "--action", action]);
        let run = ftk.stdin(report.as_bytes()).run().status(2);
        run.check(run.err.matches("content differs").count() == 4, "comparing the bytes finds it");
        all_are_there(&dir, &contents, action);
    }
}

/// A directory given several times as a reference does not make copies of its own files.
#[test]
fn h73_a_reference_given_twice_has_no_copies() {
    for action in ACTIONS.into_iter().chain(["reflink"]) {
        for args in [
            &["--reference", "d", "--reference", "d", "d"][..],
            &["--reference", "d", "--reference", "./d"],
            &["--reference", "d", "--reference", "link", "link"],
            &["--reference", "d", "--reference", "d/sub", "d/sub/x"],
            &["--reference", "d/sub", "--reference", "d", "."],
        ] {
            let dir = Dir::new();
            dir.file("d/sub/x", b"content").symlink("d", "link");
            let before = fs::metadata(dir.path("d/sub/x")).unwrap();
            let run = dir.ftk(["dup", "prune", "--yes", "--action", action]).args(args).run();
            run.check(run.out.is_empty(), "there are no copies");
            let after = fs::symlink_metadata(dir.path("d/sub/x")).unwrap();
            assert_eq!((after.ino(), after.ctime_nsec()), (before.ino(), before.ctime_nsec()), "{args:?}");
            assert_eq!(fs::read(dir.path("d/sub/x")).unwrap(), b"content", "{action} {args:?}");
        }
    }
}

/// Sizes that are equal modulo 2^32.
#[test]
fn h74_sizes_beyond_4_gib_are_told_apart() {
    const G4: u64 = 1 << 32;
    let dir = Dir::new();
    for (name, size) in [("small", 7), ("4", G4 + 7), ("8", 2 * G4 + 7), ("16", 4 * G4 + 7)] {
        // One block is written, because the size of a file without blocks is not trusted.
        dir.hole(name, size);
        File::options().write(true).open(dir.path(name)).unwrap().write_all_at(b"x", 0).unwrap();
    }
    dir.ftk(["dup", "."]).run().status(0).stdout("");
    dir.ftk(["dup", "--verify", "."]).run().status(0).stdout("");
    for action in ACTIONS {
        dir.ftk(["dup", "prune", "--yes", "--action", action, "."]).run().status(0).stdout("");
    }
    for (a, b) in [("small", "4"), ("4", "8"), ("8", "16"), ("16", "small")] {
        dir.ftk(["cmp", "-s", a, b]).run().status(1);
    }
    assert_eq!(fs::metadata(dir.path("16")).unwrap().len(), 4 * G4 + 7);
}
