//! Changes after which a digest that was stored must not be used.

use std::fs::{self, File, FileTimes};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use super::{cached, place, settle};
use crate::harness::{Dir, Mounted, Paused, bytes, has_open, needs, sha256, uring};

/// Gives a file the mtime of another moment.
fn set_mtime(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
}

fn mtime(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

/// Overwrites the first byte of a file in place.
fn overwrite(path: &Path, byte: u8) {
    File::options().write(true).open(path).unwrap().write_all_at(&[byte], 0).unwrap();
}

#[test]
fn h31_a_file_with_its_old_size_and_mtime_is_read_again() {
    let Some(dir) = place() else { return };
    let (path, args) = (dir.path("file"), ["hash", "file"]);
    dir.file("file", b"one");
    settle();
    assert_eq!((cached(&dir, &args), cached(&dir, &args)), (0, 1));
    let time = mtime(&path);
    overwrite(&path, b'x');
    set_mtime(&path, time);
    assert_eq!(mtime(&path), time);
    assert_eq!(cached(&dir, &args), 0);
}

#[test]
fn a_file_written_during_the_run_is_read_again() {
    let Some(dir) = place() else { return };
    dir.file("file", &bytes(1, 1 << 20));
    for nth in 0..30_u8 {
        settle();
        let mut child = dir.ftk(["hash", "file", "--cache", "-a", "md5"]).spawn();
        while child.try_wait().unwrap().is_none() {
            overwrite(&dir.path("file"), nth);
            if has_open(&child, "file") {
                break;
            }
        }
        overwrite(&dir.path("file"), 100 + nth);
        child.wait().unwrap();
        assert_eq!(cached(&dir, &["hash", "file", "-a", "md5"]), 0, "round {nth}");
    }
}

/// A program that writes to a mapping. `cargo xtask soak` uses it too.
const MAPPER: &str = include_str!("mapper.c");

struct Mapper(Child);

impl Mapper {
    fn new(dir: &Dir, path: &str) -> Self {
        let (source, program) = (dir.aside("mapper.c"), dir.aside("mapper"));
        fs::write(&source, MAPPER).unwrap();
        assert!(Command::new("cc").arg("-o").args([&program, &source]).status().unwrap().success());
        let mut command = Command::new(program);
        command.arg(dir.path(path)).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// Returns when the byte is in the mapping.
    fn write(&mut self, byte: u8) {
        self.0.stdin.as_mut().unwrap().write_all(&[byte]).unwrap();
        let mut done = [0];
        self.0.stdout.as_mut().unwrap().read_exact(&mut done).unwrap();
        assert_eq!(done, [byte]);
    }
}

impl Drop for Mapper {
    fn drop(&mut self) {
        self.0.stdin = None;
        _ = self.0.wait();
    }
}

/// The kernel changes the times of a file only when a clean page is written to through a mapping.
#[test]
fn writes_through_an_old_mapping_are_seen() {
    needs!("cc");
    let Some(dir) = place() else { return };
    let readers: &[&[&str]] =
        if uring() { &[&["--io", "sync"], &["--io", "uring"]] } else { &[&["--io", "sync"]] };
    // The larger file is read ahead by a helper, or by several workers.
    for (len, args) in [(10_000, "sha256"), (64 << 20, "sha256"), (64 << 20, "blake3")] {
        for reader in readers {
            dir.file("file", &bytes(1, len));
            let mut mapper = Mapper::new(&dir, "file");
            let args = [&["hash", "file", "-j", "2", "-a", args], *reader].concat();
            mapper.write(b'1');
            for byte in *b"2345" {
                settle();
                cached(&dir, &args);
                assert_eq!(cached(&dir, &args), 1, "it is remembered although it is mapped");
                mapper.write(byte);
                assert_eq!(cached(&dir, &args), 0, "{args:?}: byte {byte}");
            }
        }
    }
}

#[test]
fn updated_manifests_see_writes_through_an_old_mapping() {
    needs!("cc");
    let Some(dir) = place() else { return };
    let see = |top: &str, len, algorithm| {
        let path = format!("{top}/file");
        dir.file(&path, &bytes(1, len));
        let mut mapper = Mapper::new(&dir, &path);
        mapper.write(b'1');
        settle();
        let run = |args: &[&str]| drop(dir.ftk(args).run().status(0));
        run(&["manifest", "create", top, "-a", algorithm, "-o", "list", "--force"]);
        for byte in *b"23" {
            mapper.write(byte);
            settle();
            run(&["manifest", "update", top, "list", "-o", "list"]);
            run(&["manifest", "verify", top, "list"]);
        }
    };
    see("t", 10_000, "sha256");
    see("t", 64 << 20, "blake3");
    // The modified pages belong to a file below the overlay.
    let Some(_merged) = Mounted::overlay(&dir.path("")) else { return };
    see("merged", 10_000, "sha256");
    see("merged", 64 << 20, "blake3");
}

#[test]
fn a_renamed_file_is_not_read_again() {
    let Some(dir) = place() else { return };
    dir.file("d/old", b"content").file("other", b"other");
    settle();
    assert_eq!(cached(&dir, &["hash", "."]), 0);
    // Renaming changes the ctime on most file systems, and then the file is read once more.
    let ctime = |path: &str| fs::metadata(dir.path(path)).map(|all| (all.ctime(), all.ctime_nsec())).unwrap();
    let before = ctime("d/old");
    fs::rename(dir.path("d"), dir.path("e")).unwrap();
    assert_eq!(ctime("e/old"), before, "the directory was renamed, not the file");
    assert_eq!(cached(&dir, &["hash", "."]), 2);
    fs::rename(dir.path("e/old"), dir.path("new")).unwrap();
    settle();
    assert_eq!(cached(&dir, &["hash", "."]), if ctime("new") == before { 2 } else { 1 });
    assert_eq!(cached(&dir, &["hash", "."]), 2);
}

#[test]
fn h31_another_file_with_the_same_inode_number_is_read() {
    let Some(dir) = place() else { return };
    let time = SystemTime::now() - Duration::from_secs(1000);
    let mut inodes = std::collections::BTreeSet::new();
    for nth in 0..30 {
        dir.file("file", format!("{nth:04}").as_bytes());
        set_mtime(&dir.path("file"), time);
        inodes.insert(fs::metadata(dir.path("file")).unwrap().ino());
        settle();
        assert_eq!(cached(&dir, &["hash", "file"]), 0);
        fs::remove_file(dir.path("file")).unwrap();
    }
    assert!(inodes.len() < 30, "an inode number was used again");
}

#[test]
fn a_copy_put_in_place_of_a_file_is_read() {
    let Some(dir) = place() else { return };
    dir.file("file", b"one");
    dir.file("backup", b"two");
    set_mtime(&dir.path("backup"), mtime(&dir.path("file")));
    settle();
    assert_eq!((cached(&dir, &["hash", "file"]), cached(&dir, &["hash", "file"])), (0, 1));
    for how in [&["cp", "-p", "backup", "file"][..], &["cp", "-p", "backup", "new"], &["mv", "new", "file"]] {
        dir.ftk([""; 0]).instead(&dir, how).run().status(0);
        settle();
        assert_eq!(cached(&dir, &["hash", "file"]), u64::from(how.last() == Some(&"new")), "{how:?}");
        assert_eq!(cached(&dir, &["hash", "file"]), 1);
    }
}

/// The walk notes the size of every file for the cache. The command does not depend on it.
#[test]
fn a_file_that_grew_since_the_walk_is_hashed_as_without_the_cache() {
    let Some(dir) = place() else { return };
    dir.file("t/a", &bytes(1, 60_000)).file("t/b", &bytes(2, 60_000)).file("t/z", b"short");
    settle();
    for args in [&["hash", "t"][..], &["manifest", "create", "t"]] {
        let slow = dir.ftk(args).args(["--cache", "--io", "sync", "-j", "mono", "--limit-rate", "30K"]);
        let paused = Paused::when(slow, |child| has_open(child, "a") || has_open(child, "b"));
        dir.file("t/z", b"it is longer now");
        let output = paused.go_on();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {err}");
        assert!(String::from_utf8(output.stdout).unwrap().contains(&sha256(b"it is longer now")), "{args:?}");
        dir.file("t/z", b"short").file("t/a", &bytes(3, 60_000)).file("t/b", &bytes(4, 60_000));
        settle();
    }
}
