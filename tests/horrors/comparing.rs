//! Known failures of comparison tools, tested on files and trees.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Child;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::process::Signal;

use super::changes::while_files_vanish;
use super::signals::assert_killed_by;
use crate::harness::{Dir, Paused, has_read, maps, skip, wait_until};

/// Large enough to be paused in the middle.
const LONG: u64 = 256 << 20;

/// A way to read two files, and a check from outside that the reading has begun.
type Way = (&'static [&'static str], fn(&Child) -> bool);

const WAYS: [Way; 4] = [
    (&["--method", "stream", "-j", "mono"], |child| has_read(child) > LONG / 16),
    (&["--method", "stream", "-j", "4"], |child| has_read(child) > LONG / 16),
    (&["--method", "mapped", "-j", "mono"], |child| maps(child, "b")),
    (&["--method", "mapped", "-j", "4"], |child| maps(child, "b")),
];

/// A change to a file while it is compared.
type Change = (&'static str, fn(&File));

/// A file that changes while it is compared is an error, never equal.
#[test]
fn h34_a_change_while_files_are_compared() {
    let changes: [Change; 4] = [
        ("append", |file| file.write_all_at(b"x", LONG).unwrap()),
        ("truncate", |file| file.set_len(LONG / 2).unwrap()),
        ("to nothing", |file| file.set_len(0).unwrap()),
        ("a byte back and forth", |file| {
            let before = file.metadata().unwrap().modified().unwrap();
            file.write_all_at(b"x", 0).unwrap();
            file.write_all_at(b"\0", 0).unwrap();
            file.set_times(FileTimes::new().set_modified(before)).unwrap();
        }),
    ];
    for (way, is_under_way) in WAYS {
        for (what, change) in changes {
            let dir = Dir::on_disk();
            dir.hole("a", LONG).hole("b", LONG);
            let ftk = dir.ftk(["cmp", "--no-shortcuts", "a", "b"]).args(way);
            let paused = Paused::when(ftk, is_under_way);
            change(&File::options().write(true).open(dir.path("b")).unwrap());
            let output = paused.go_on();
            let (out, err) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!(output.status.code(), Some(2), "{way:?} {what}: {out}{err}");
            assert!(err.contains("ftk: 'b' changed while being read"), "{way:?} {what}: {err}");
            assert!(!err.contains("equal"), "{way:?} {what}: {err}");
        }
    }
}

/// Each file that vanishes from a tree is an error, or was compared before.
#[test]
fn h44_files_vanish_between_walk_and_read() {
    for threads in ["mono", "8"] {
        let dir = Dir::new();
        for nth in 0..2000 {
            dir.file(format!("a/{}/{nth}", nth % 20), format!("{nth}").as_bytes());
        }
        let (status, out, errors) = while_files_vanish(&dir, &["cmp", "-j", threads, "a", "t"]);
        assert!(out.split(|&byte| byte == b'\n').all(|it| it.is_empty() || it.starts_with(b"only in a\t")));
        assert_eq!(status, Some(if errors > 0 { 2 } else { i32::from(!out.is_empty()) }));
    }
}

/// Special files in a tree are compared by type and not opened.
#[test]
fn h35_special_files_are_not_opened() {
    let dir = Dir::new();
    for tree in ["a", "b"] {
        dir.dir(tree).fifo(&format!("{tree}/fifo")).socket(&format!("{tree}/socket"));
    }
    dir.fifo("a/x").file("b/x", b"").socket("a/y").fifo("b/y");
    let zero = mknodat(
        CWD,
        dir.path("a/zero"),
        FileType::CharacterDevice,
        Mode::from_raw_mode(0o666),
        makedev(1, 5),
    );
    if zero.is_err() {
        skip("devices, which only root can make");
    }
    for threads in ["mono", "8"] {
        let run = dir.ftk(["cmp", "-j", threads, "a", "b", "-E", "zero"]).run().status(1);
        run.stdout("type differs\tx\tfifo, file\ntype differs\ty\tsocket, fifo\n");
        if zero.is_ok() {
            let run = dir.ftk(["cmp", "-j", threads, "a", "b", "-n", "zero"]).run().status(1);
            run.stdout("only in a\tzero\n");
        }
    }
}

/// Holes are not read; reading them would take hours.
#[test]
fn h38_sparse_files() {
    const TIB: u64 = 1 << 40;
    let dir = Dir::new();
    dir.hole("a/x", TIB).hole("b/x", TIB);
    for way in WAYS {
        dir.ftk(["cmp", "a/x", "b/x"]).args(way.0).run().status(0);
    }
    dir.ftk(["cmp", "a", "b"]).run().status(0);
    let write = |path: &str, byte: &[u8], at: u64| {
        File::options().write(true).open(dir.path(path)).unwrap().write_all_at(byte, at).unwrap();
    };
    // Written zeros are equal to a hole.
    write("a/x", &[0; 10_000], TIB / 2);
    dir.ftk(["cmp", "a", "b"]).run().status(0);
    write("b/x", b"x", TIB - 1);
    for way in WAYS {
        let run = dir.ftk(["cmp", "-l", "a/x", "b/x"]).args(way.0).run().status(1);
        run.stdout(format!("{TIB}   0 170\n"));
    }
    dir.ftk(["cmp", "a", "b"]).run().status(1).stdout(format!("content differs\tx\tfirst at byte {TIB}\n"));
}

/// Files of procfs, whose size is synthetic and whose reads are short, are compared by their content.
#[test]
fn h46_a_synthetic_size_is_not_trusted() {
    let dir = Dir::new();
    let said = fs::read("/proc/version").unwrap();
    dir.file("same", &said).file("empty", b"").file("other", &[&said[..], b"more"].concat());
    for threads in ["mono", "4"] {
        for method in ["auto", "mapped", "stream"] {
            let plan = ["-j", threads, "--method", method];
            dir.ftk(["cmp", "/proc/version", "same"]).args(plan).run().status(0);
            let run = dir.ftk(["cmp", "/proc/version", "empty"]).args(plan).run().status(1).stdout("");
            run.stderr("ftk: EOF on empty which is empty\n");
            let end = format!("ftk: EOF on /proc/version after byte {}, line 1\n", said.len());
            dir.ftk(["cmp", "/proc/version", "other"]).args(plan).run().status(1).stderr(&end);
            dir.ftk(["cmp", "-s", "/proc/version", "same"]).args(plan).run().status(0);
        }
    }
}

/// The same for trees in sysfs, where only the content shows whether two files are equal.
#[test]
fn h46_synthetic_sizes_in_trees_are_not_trusted() {
    let system = "/sys/devices/system/cpu/cpu0/topology";
    let dir = Dir::new();
    let Ok(entries) = fs::read_dir(system) else { return skip("a tree of the kernel's own files") };
    for entry in entries {
        let path = entry.unwrap().path();
        dir.file(Path::new("copy").join(path.file_name().unwrap()), &fs::read(path).unwrap());
    }
    for threads in ["mono", "4"] {
        dir.ftk(["cmp", "-j", threads, system, "copy"]).run().status(0).stdout("");
    }
    dir.file("copy/core_id", b"none");
    let run = dir.ftk(["cmp", system, "copy"]).run().status(1);
    run.stdout("content differs\tcore_id\tfirst at byte 1\n"); // its synthetic size differs, too
}

/// A signal ends the comparison of files and of trees.
#[test]
fn h49_signals_while_comparing() {
    for with in [Signal::TERM, Signal::INT] {
        for (way, is_under_way) in WAYS {
            let dir = Dir::on_disk();
            dir.hole("a", 4 << 40).hole("b", 4 << 40);
            let child = dir.ftk(["cmp", "--no-shortcuts", "a", "b"]).args(way).spawn();
            wait_until(|| is_under_way(&child));
            assert_killed_by(child, with);
        }
        for threads in ["mono", "4"] {
            let dir = Dir::on_disk();
            dir.hole("a/b", 4 << 40).hole("b/b", 4 << 40);
            let child = dir.ftk(["cmp", "--no-shortcuts", "-j", threads, "a", "b"]).spawn();
            wait_until(|| has_read(&child) > 8 << 20 || maps(&child, "b"));
            assert_killed_by(child, with);
        }
    }
}
