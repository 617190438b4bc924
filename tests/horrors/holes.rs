//! Holes that are long, that file systems invent, or that contradict themselves. `strace` falsifies what `lseek`
//! returns.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

use crate::harness::{Dir, Mounted, needs};

const MIB: u64 = 1 << 20;

/// The files whose reads are counted.
const FILES: [&str; 2] = ["t/a", "t/b"];

/// Two files of `len` bytes with 1 MiB of data at `at`.
fn twins(dir: &Dir, len: u64, at: u64) {
    for path in FILES {
        dir.hole(path, len);
        write(dir, path, &b"ftk.".repeat(1 << 18), at);
    }
}

fn write(dir: &Dir, path: &str, bytes: &[u8], at: u64) {
    File::options().write(true).open(dir.path(path)).unwrap().write_all_at(bytes, at).unwrap();
}

/// Runs a command, and returns its output and how many bytes of the files it read or mapped.
fn bytes_read(dir: &Dir, args: &[&str], status: i32) -> (String, u64) {
    let log = dir.aside("log");
    let mut strace = vec!["strace", "-f", "-qq", "-o", log.to_str().unwrap()];
    strace.extend(["-e", "trace=read,readv,pread64,preadv,preadv2,mmap", "-P", FILES[0], "-P", FILES[1]]);
    let run = dir.ftk(args).args(["--io", "sync"]).under(dir, strace).run().status(status);
    let log = fs::read_to_string(&log).unwrap();
    let sum = log.lines().map(|line| match line.split_once("mmap(NULL, ") {
        Some((_, rest)) => rest.split_once(',').unwrap().0.parse::<u64>().unwrap(),
        None => line.rsplit_once(" = ").map_or(0, |(_, got)| got.parse().unwrap()),
    });
    (run.text().to_owned(), sum.sum())
}

/// 8 GiB with 1 MiB of data. The expected digest is that of `xxhsum` for the same bytes from a pipe.
#[test]
fn h66_holes_are_not_read_for_a_digest() {
    needs!("strace");
    let dir = Dir::new();
    twins(&dir, 8192 * MIB, 5_000_000_001);
    if !super::views::is_trusted(&dir) {
        return;
    }
    let (out, read) = bytes_read(&dir, &["hash", "-a", "xxh128", "t/a"], 0);
    assert_eq!(out, "09e942981b407212864c093a2123ee0e  t/a\n");
    assert!((MIB..=4 * MIB).contains(&read), "{read} bytes were read");
}

#[test]
fn h66_no_command_reads_holes() {
    needs!("strace");
    let dir = Dir::new();
    twins(&dir, 1024 * MIB, 500_000_001);
    if !super::views::is_trusted(&dir) {
        return;
    }
    let check = |args: &[&str], most: u64| {
        let (out, read) = bytes_read(&dir, args, 0);
        assert!((MIB..=most * MIB).contains(&read), "{args:?}: {read} bytes were read");
        out
    };
    let digest = |line: &str| line.split_once(' ').unwrap().0.to_owned();
    for algorithm in ["sha1", "blake3", "xxh64"] {
        let lines = ["mono", "4"].map(|threads| check(&["hash", "-a", algorithm, "-j", threads, "t"], 8));
        let digests: Vec<_> = lines.iter().flat_map(|lines| lines.lines().map(digest)).collect();
        assert!(digests.len() == 4 && digests.iter().all(|it| *it == digests[0]), "{digests:?}");
    }
    assert_eq!(check(&["dup", "t"], 8), "t/a\nt/b\n\n");
    assert_eq!(check(&["dup", "--verify", "t"], 16), "t/a\nt/b\n\n");
    check(&["cmp", "t/a", "t/b"], 8);
    check(&["manifest", "create", "-a", "xxh128", "t", "-o", "../manifest"], 8);
    assert_eq!(check(&["manifest", "verify", "t", "../manifest"], 8), "");
    // The data is at the same place, and one byte of it differs.
    write(&dir, "t/b", b"F", 500_000_001);
    let (out, read) = bytes_read(&dir, &["manifest", "verify", "t", "../manifest"], 1);
    assert!(out.contains("modified\tb\t") && read <= 8 * MIB, "{out} {read} bytes were read");
    let (out, read) =
        bytes_read(&dir, &["manifest", "update", "t", "../manifest", "-o", "../manifest", "--force"], 0);
    assert!(out.is_empty() && (MIB..=4 * MIB).contains(&read), "{out} {read} bytes were read");
    assert_eq!(bytes_read(&dir, &["dup", "t"], 0).0, "");

    // Pruning compares the bytes again, and `undo` copies them.
    write(&dir, "t/b", b"f", 500_000_001);
    let prune = ["dup", "prune", "--action", "hardlink", "--yes", "t"];
    let (_, read) = bytes_read(&dir, &prune, 0);
    assert!((MIB..=24 * MIB).contains(&read), "{read} bytes were read");
}

/// Files with data between holes, which differ only there.
fn islands(dir: &Dir, paths: &[String]) {
    for path in paths {
        dir.hole(path, 24 * MIB);
        write(dir, path, path.as_bytes(), 12 * MIB);
    }
}

/// Runs `ftk` so that every `lseek` returns the same.
fn lying(dir: &Dir, lie: &str, args: &[&str]) -> crate::harness::Run {
    let inject = format!("inject=lseek:{lie}");
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=lseek", "-e", &inject];
    dir.ftk(args).under(dir, strace).run()
}

/// Holes are trusted on a few file systems only. Here `lseek` always reports that no data follows.
#[test]
fn h59_holes_are_trusted_on_known_file_systems_only() {
    needs!("strace");
    let dir = Dir::new();
    dir.dir("view").dir("real");
    islands(&dir, &["a", "b"].map(|name| format!("real/{name}")));
    let Some(_view) = Mounted::by(&dir, ["bindfs", "real", "view"].map(str::to_owned), "view") else {
        return;
    };
    let lie = |args: &[&str]| lying(&dir, "error=ENXIO", args);
    for options in [&[][..], &["-j", "4"]] {
        lie(&[&["cmp", "-s", "view/a", "view/b"], options].concat()).status(1);
        for algorithm in ["sha256", "blake3", "xxh128"] {
            let args = [&["hash", "-a", algorithm, "view"], options].concat();
            let expected = dir.ftk(&args).run().status(0);
            lie(&args).status(0).stdout(&expected.out);
        }
    }
    lie(&["cmp", "real/../view", "view"]).status(0);
    lie(&["dup", "view"]).status(0).stdout("");
    dir.ftk(["manifest", "create", "view", "-o", "../manifest"]).run().status(0);
    lie(&["manifest", "verify", "--mode", "content", "view", "../manifest"]).status(0).stdout("");
    lie(&["dup", "prune", "--action", "delete", "--yes", "view"]).status(0);
    // On a trusted file system the wrong report has an effect.
    if super::views::is_trusted(&dir) {
        lie(&["cmp", "-s", "real/a", "real/b"]).status(0);
        lie(&["dup", "real"]).status(0).stdout("real/a\nreal/b\n\n");
        lie(&["manifest", "verify", "--mode", "content", "real", "../manifest"]).status(1);
    }
}

/// A report that contradicts itself, or an error, means that the bytes are read.
#[test]
fn h59_impossible_reports_of_holes_are_ignored() {
    needs!("strace");
    let dir = Dir::new();
    islands(&dir, &["t/a", "t/b"].map(str::to_owned));
    let commands: [&[&str]; 4] = [
        &["hash", "-a", "sha1", "t"],
        &["hash", "-a", "blake3", "-j", "4", "t"],
        &["dup", "t"],
        &["manifest", "diff", "../manifest", "../manifest"],
    ];
    dir.ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
    for lie in ["error=EINVAL", "error=EIO", "error=EOPNOTSUPP", "retval=0", "retval=1"] {
        for args in commands {
            let expected = dir.ftk(args).run().status(0);
            lying(&dir, lie, args).status(0).stdout(&expected.out);
        }
        lying(&dir, lie, &["cmp", "-s", "t/a", "t/b"]).status(1);
        lying(&dir, lie, &["manifest", "verify", "t", "../manifest"]).status(0).stdout("");
    }
    // Data beyond the end of the file, even beyond every possible end: nothing loops or fails.
    for lie in [format!("retval={}", 24 * MIB + 1), format!("retval={}", i64::MAX)] {
        for args in commands {
            lying(&dir, &lie, args).status(0);
        }
    }
}
