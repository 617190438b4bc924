//! Trees made of more than files: pipes and devices, links in circles, holes, depth and width, sizes that
//! lie.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::harness::{
    Chain, Dir, bytes, gnu_find, hash_lines, needs, records, sha256, skip, sorted, sum, uring,
};

/// Nothing that is no regular file is opened: a pipe would wait for ever, and a device never end.
#[test]
fn h35_what_is_no_file_is_left_out_and_counted() {
    let dir = Dir::new();
    dir.file("x", b"abc").fifo("fifo").socket("socket").symlink("fifo", "to_fifo").symlink("x", "to_x");
    let zero =
        mknodat(CWD, dir.path("zero"), FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(1, 5));
    if zero.is_err() {
        skip("devices, which only root can make");
    }
    let line = format!("{}  ./x\n", sha256(b"abc"));
    for threads in ["mono", "8"] {
        let run = dir.ftk(["hash", ".", "-j", threads]).run().status(0).stdout(&line);
        let run = run
            .stderr_has("left out: ")
            .stderr_has("2 symbolic links")
            .stderr_has("1 FIFO")
            .stderr_has("1 socket");
        if zero.is_ok() {
            run.stderr_has("1 device");
        }
    }
    // Followed, a link to a pipe is a pipe.
    let run = dir.ftk(["hash", "-L", "."]).run().status(0);
    run.stderr_has("2 FIFO").stdout(
        format!("{line}{}", line.replace("./x", "./to_x"))
            .lines()
            .rev()
            .map(|l| format!("{l}\n"))
            .collect::<String>(),
    );
}

#[test]
fn h35_what_is_no_file_is_an_error_as_an_argument() {
    let dir = Dir::new();
    dir.file("x", b"abc").fifo("fifo").socket("socket").symlink("fifo", "link");
    for argument in ["fifo", "socket", "link", "/dev/zero", "/dev/null"] {
        let run = dir.ftk(["hash", argument, "x"]).run().status(2);
        run.stdout(format!("{}  x\n", sha256(b"abc")))
            .stderr_has(&format!("ftk: cannot read '{argument}': is a "));
    }
}

/// Two loops, links up, down, to themselves and out of the tree.
fn loops() -> Dir {
    let dir = Dir::new();
    dir.file("a/b/c/x", b"abc").file("d/y", b"abc").file("out/z", b"abc");
    dir.symlink("..", "a/b/up")
        .symlink("../..", "a/b/c/top")
        .symlink("../d", "a/to_d")
        .symlink("../a", "d/to_a");
    dir.symlink("self", "self").symlink("one", "two").symlink("two", "one").symlink("nowhere", "broken");
    dir.symlink("../out", "d/out").symlink("d/y", "y").symlink(".", "here").fifo("fifo").socket("socket");
    dir
}

#[test]
fn h54_the_same_entries_as_find() {
    needs!("find");
    let dir = loops();
    let expected = gnu_find(&dir, &["."]);
    for threads in ["mono", "2", "8"] {
        let run = dir.ftk(["find", "-0", "-j", threads]).run().status(0);
        run.check(sorted(records(&run.out, 0)) == expected, "as find");
    }
}

/// What `find -L` lists at the end of these arguments; it complains about the loops and goes on.
fn find_despite_loops(dir: &Dir, args: &[&str]) -> Vec<Vec<u8>> {
    let mut find = Command::new("find");
    let output = find.arg("-L").args(args).arg("-print0").current_dir(dir.path("")).output().unwrap();
    assert!(!output.status.success(), "there are loops");
    sorted(records(&output.stdout, 0))
}

#[test]
fn h54_the_same_entries_as_find_with_links_followed() {
    needs!("find");
    let dir = loops();
    let expected = find_despite_loops(&dir, &["."]);
    for threads in ["mono", "2", "8"] {
        let run = dir.ftk(["find", "-L", "-0", "-j", threads]).run().status(2);
        run.check(sorted(records(&run.out, 0)) == expected, "as find -L");
        run.stderr_has("ftk: cannot follow './here': ");
    }
}

#[test]
fn h36_recursion_ends() {
    needs!("find");
    let dir = loops();
    let line = |path: &str| format!("{}  {path}\n", sha256(b"abc"));
    let files = find_despite_loops(&dir, &["a/b/c", "-type", "f"]);
    assert_eq!(files.len(), 3, "two of them through links");
    for threads in ["mono", "8"] {
        let run = dir.ftk(["hash", "-j", threads, "a", "d"]).run().status(0);
        run.stdout(line("a/b/c/x") + &line("d/y")).stderr_has("left out: 5 symbolic links");
        // Followed, each way to a file that does not come back to itself is a name of it.
        let run = dir.ftk(["hash", "-L", "-j", threads, "a/b/c"]).run().status(2);
        let lines = hash_lines(&run.out);
        run.check(lines.keys().eq(&files), "the files of find -L");
        run.check(lines.values().all(|digest| *digest == sha256(b"abc")), "and their digest");
    }
}

/// A hole reads as zeros, at the end too, and nothing of its length is lost.
#[test]
fn h38_holes_are_zeros() {
    needs!("b3sum");
    const LEN: u64 = 1 << 30;
    let dir = Dir::new();
    let island = bytes(5, 100_000);
    let places = [0, 12_345_678, LEN / 2 - 7];
    dir.hole("sparse", LEN);
    let file = File::options().write(true).open(dir.path("sparse")).unwrap();
    for place in places {
        file.write_all_at(&island, place).unwrap();
    }
    // The same bytes, none of them from a file.
    let mut b3sum = Command::new("b3sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut dense = b3sum.stdin.take().unwrap();
    let writer = thread::spawn(move || {
        let zeros = vec![0; 1 << 20];
        let mut at = 0;
        for place in places.into_iter().chain([LEN]) {
            while at < place {
                let n = zeros.len().min((place - at) as usize);
                dense.write_all(&zeros[..n]).unwrap();
                at += n as u64;
            }
            if place < LEN {
                dense.write_all(&island).unwrap();
                at += island.len() as u64;
            }
        }
    });
    let output = b3sum.wait_with_output().unwrap();
    writer.join().unwrap();
    let digest = String::from_utf8(output.stdout).unwrap();
    let digest = digest.split_ascii_whitespace().next().unwrap();
    for threads in ["mono", "4"] {
        let expected = format!("{digest}  sparse\n");
        dir.ftk(["hash", "-a", "blake3", "-j", threads, "sparse"]).run().status(0).stdout(expected);
    }
}

#[test]
fn h38_nothing_but_a_hole() {
    let dir = Dir::new();
    dir.hole("hole", (8 << 20) + 1);
    let expected = format!("{}  hole\n", sha256(&vec![0; (8 << 20) + 1]));
    dir.ftk(["hash", "hole"]).run().status(0).stdout(expected);
}

/// Ten thousand directories in one another: no path of theirs fits a system call, and their descriptors would
/// not fit a process.
#[test]
fn h39_depth() {
    let chain = Chain::new("d", 10_000, 1000);
    let dir = chain.dir();
    let levels = || (1..=10).map(|thousand| thousand * 1000);
    let mut lines: Vec<_> =
        levels().map(|level| (chain.file(level), sha256(level.to_string().as_bytes()))).collect();
    lines.sort();
    let hashed: Vec<u8> =
        lines.iter().flat_map(|(path, digest)| [digest.as_bytes(), b"  ", path, b"\n"].concat()).collect();
    let found: Vec<u8> = lines.iter().flat_map(|(path, _)| [path, &b"\n"[..]].concat()).collect();
    for threads in ["mono", "8"] {
        dir.ftk(["find", "-c", "-j", threads]).run().status(0).stdout("10011\n").stderr("");
        dir.ftk(["find", "-n", "f", "--sort", "-j", threads]).run().status(0).stdout(&found);
        dir.ftk(["hash", ".", "-j", threads]).run().status(0).stdout(&hashed);
    }
}

/// 255 bytes.
const LONGEST: &str = concat!(
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
);

/// Names as long as can be, until a path is far longer than `PATH_MAX`.
#[test]
fn h39_long_paths() {
    let chain = Chain::new(LONGEST, 60, 1);
    let dir = chain.dir();
    for io in if uring() { &["auto", "sync", "uring"][..] } else { &["auto", "sync"] } {
        for threads in ["mono", "8"] {
            let run = dir.ftk(["hash", ".", "-j", threads, "--io", io]).run().status(0);
            let lines = hash_lines(&run.out);
            assert_eq!(lines.len(), 60);
            for level in 1..=60 {
                assert_eq!(lines[&chain.file(level)], sha256(level.to_string().as_bytes()));
            }
        }
    }
}

#[test]
fn h39_width() {
    needs!("find");
    const FILES: usize = 25_000;
    let dir = Dir::new();
    dir.dir("wide");
    for nth in 0..FILES {
        File::create(dir.path("wide").join(format!("{nth}"))).unwrap();
    }
    let expected = gnu_find(&dir, &["."]);
    for threads in ["mono", "8"] {
        let run = dir.ftk(["find", "-0", "--sort", "-j", threads]).run().status(0);
        run.check(records(&run.out, 0) == expected, "as find");
        let run = dir.ftk(["hash", "-a", "xxh64", "-j", threads, "."]).run().status(0);
        let lines = hash_lines(&run.out);
        run.check(lines.len() == FILES, "a line for each");
        run.check(lines.values().all(|digest| digest == "ef46db3751d8e999"), "the digest of nothing");
    }
}

/// Files that differ in one byte, equal in size, head and tail, are told apart by every plan.
#[test]
fn h43_the_plan_never_changes_the_answer() {
    let dir = Dir::new();
    let mut content = bytes(3, 200_000);
    let mut expected = String::new();
    for nth in 0..60 {
        content[100_000 + nth] ^= 1;
        let name = format!("{nth:02}");
        dir.file(&name, &content);
        expected += &format!("{}  ./{name}\n", sha256(&content));
    }
    for threads in ["auto", "mono", "2", "io", "compute", "8", "64"] {
        for io in if uring() { &["auto", "sync", "uring"][..] } else { &["auto", "sync"] } {
            dir.ftk(["hash", ".", "-j", threads, "--io", io]).run().status(0).stdout(&expected);
        }
    }
}

/// Files of the kernel, whose size is 0 or a page and whose reads are short, have the digest of what they
/// say.
#[test]
fn h46_a_short_read_is_not_the_end() {
    needs!("find", "xargs", "sha256sum");
    let dir = Dir::new();
    let stable = [
        "/proc/version",
        "/proc/filesystems",
        "/proc/devices",
        "/proc/kallsyms",
        "/sys/devices/system/cpu/online",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ];
    let there: Vec<_> = stable.into_iter().filter(|path| Path::new(path).exists()).collect();
    assert!(there.len() >= 3, "too few of them are here: {there:?}");
    assert!(
        there.iter().any(|path| fs::read(path).unwrap().len() as u64 != fs::metadata(path).unwrap().len())
    );
    let expected = sum(&dir, &["sha256sum", "--"], &there);
    for io in if uring() { &["auto", "sync", "uring"][..] } else { &["auto", "sync"] } {
        for threads in ["mono", "4"] {
            dir.ftk(["hash", "--io", io, "-j", threads]).args(&there).run().status(0).stdout(&expected);
        }
    }
}
