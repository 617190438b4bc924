//! Unusual trees: FIFOs and devices, loops of links, holes, great depth and width, synthetic sizes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use super::commands::{Scene, every};
use crate::harness::{
    Chain, Dir, bytes, gnu_find, hash_lines, needs, records, sha256, skip, sorted, sum, uring,
};

/// Special files are not opened: opening a FIFO would block, and reading a device might never end.
#[test]
fn h35_special_files_are_skipped_and_counted() {
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
            .stderr_has("skipped: ")
            .stderr_has("2 symbolic links")
            .stderr_has("1 FIFO")
            .stderr_has("1 socket");
        if zero.is_ok() {
            run.stderr_has("1 device");
        }
    }
    // With -L, a link to a FIFO counts as a FIFO.
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
fn h35_special_files_as_arguments_are_errors() {
    let dir = Dir::new();
    dir.file("x", b"abc").fifo("fifo").socket("socket").symlink("fifo", "link");
    for argument in ["fifo", "socket", "link", "/dev/zero", "/dev/null"] {
        let run = dir.ftk(["hash", argument, "x"]).run().status(2);
        run.stdout(format!("{}  x\n", sha256(b"abc")))
            .stderr_has(&format!("ftk: cannot read '{argument}': it is a "));
    }
}

/// Creates a tree with loops, and with links up, down, to themselves and out of the tree.
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
        run.check(sorted(records(&run.out, 0)) == expected, "the entries of GNU find");
    }
}

/// Returns what `find -L` lists below `root`, except entries of a directory that was entered under an earlier
/// path. `find` reports the loops and goes on.
fn find_despite_loops(dir: &Dir, root: &str) -> Vec<Vec<u8>> {
    let mut find = Command::new("find");
    let output = find.args(["-L", root, "-print0"]).current_dir(dir.path("")).output().unwrap();
    assert!(!output.status.success(), "there are loops");
    let mut paths = sorted(records(&output.stdout, 0));
    let (mut entered, mut known) = (BTreeSet::new(), BTreeSet::new());
    paths.retain(|path| {
        let path = Path::new(OsStr::from_bytes(path));
        if !known.is_empty() && !entered.contains(path.parent().unwrap()) {
            return false;
        }
        if let Ok(target) = fs::metadata(dir.path(path))
            && target.is_dir()
            && known.insert(target.ino())
        {
            entered.insert(path.to_owned());
        }
        true
    });
    paths
}

#[test]
fn h54_the_same_entries_as_find_with_links_followed() {
    needs!("find");
    let dir = loops();
    let expected = find_despite_loops(&dir, ".");
    for threads in ["mono", "2", "8"] {
        let run = dir.ftk(["find", "-L", "-0", "-j", threads]).run().status(2);
        run.check(sorted(records(&run.out, 0)) == expected, "the entries of GNU find -L");
        run.stderr_has("ftk: cannot follow './here': ");
    }
}

/// Creates thirty directories with two links each to the next one: 2^30 paths.
fn lattice(dir: &Dir, tree: &str) {
    for level in 0..30 {
        let next = format!("../{:02}", level + 1);
        dir.dir(format!("{tree}/{level:02}")).symlink(&next, &format!("{tree}/{level:02}/one"));
        dir.symlink(&next, &format!("{tree}/{level:02}/two")).file(format!("{tree}/{level:02}/f"), b"abc");
    }
    dir.file(format!("{tree}/30/f"), b"abc");
}

/// Each directory is entered once, under the first of its paths, and the other paths are counted.
#[test]
fn h83_directories_with_many_link_paths_are_entered_once() {
    let dir = Dir::new();
    lattice(&dir, "t");
    lattice(&dir, "u");
    let first = |level: usize| format!("t/00/{}", "one/".repeat(level));
    let skipped = "  skipped: 60 repeated directory paths\n";
    for threads in ["mono", "2", "8"] {
        let run = dir.ftk(["find", "-L", "t", "--sort", "-j", threads]).run().status(0).stderr(skipped);
        run.check(run.text().lines().count() == 1 + 31 + 31 + 60, "each entry of each directory once");
        run.check(run.text().contains(&format!("\n{}f\n", first(30))), "the first path");
        let run = dir.ftk(["hash", "-L", "t", "-j", threads]).run().status(0).stderr_has(skipped);
        let mut lines: Vec<_> =
            (0..=30).map(|level| format!("{}  {}f\n", sha256(b"abc"), first(level))).collect();
        lines.sort();
        run.stdout(lines.concat());
        let run = dir.ftk(["dup", "-L", "t", "-j", threads]).run().status(0).stderr_has(skipped);
        run.check(run.text().lines().filter(|line| !line.is_empty()).count() == 31, "one group of all");
        // Both trees have the same repeated paths, so everything was compared.
        dir.ftk(["cmp", "-L", "t", "u", "-j", threads]).run().status(0).stdout("");
    }
}

/// A directory that is repeated in only one tree was not compared there: this is an error, and nothing is
/// reported as missing.
#[test]
fn h83_a_copy_with_directories_for_links_is_an_error() {
    let dir = Dir::new();
    dir.file("a/d/f", b"abc").symlink("d", "a/e");
    dir.file("b/d/f", b"abc").file("b/e/f", b"abc");
    let run = dir.ftk(["cmp", "-L", "a", "b"]).run().status(2).stdout("");
    run.stderr_has("ftk: cannot compare 'a/e': it is the same directory as 'a/d'\n");
}

#[test]
fn h36_recursion_ends() {
    needs!("find");
    let dir = loops();
    let line = |path: &str| format!("{}  {path}\n", sha256(b"abc"));
    let mut files = find_despite_loops(&dir, "a/b/c");
    files.retain(|path| fs::metadata(dir.path(OsStr::from_bytes(path))).is_ok_and(|file| file.is_file()));
    assert_eq!(files.len(), 3, "two of them through links");
    for threads in ["mono", "8"] {
        let run = dir.ftk(["hash", "-j", threads, "a", "d"]).run().status(0);
        run.stdout(line("a/b/c/x") + &line("d/y")).stderr_has("skipped: 5 symbolic links");
        let run = dir.ftk(["hash", "-L", "-j", threads, "a/b/c"]).run().status(2);
        let lines = hash_lines(&run.out);
        run.check(lines.keys().eq(&files), "the files of find -L");
        run.check(lines.values().all(|digest| *digest == sha256(b"abc")), "and their digest");
    }
}

/// Holes are hashed as zeros, also at the end of the file.
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
    // Writes the same bytes to b3sum, without a file.
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
fn h38_a_file_that_is_one_hole() {
    let dir = Dir::new();
    dir.hole("hole", (8 << 20) + 1);
    let expected = format!("{}  hole\n", sha256(&vec![0; (8 << 20) + 1]));
    dir.ftk(["hash", "hole"]).run().status(0).stdout(expected);
}

/// A name of 255 bytes, the maximum.
const LONGEST: &str = concat!(
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
);

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
        run.check(records(&run.out, 0) == expected, "the entries of GNU find");
        let run = dir.ftk(["hash", "-a", "xxh64", "-j", threads, "."]).run().status(0);
        let lines = hash_lines(&run.out);
        run.check(lines.len() == FILES, "a line for each");
        run.check(lines.values().all(|digest| digest == "ef46db3751d8e999"), "the digest of an empty file");
    }
}

/// Files that differ in one byte but have equal sizes, beginnings and ends get the right digests with every
/// number of workers and every reader.
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

/// Files of procfs and sysfs, whose size is 0 or one page and whose reads are short, are hashed completely.
#[test]
fn h46_short_reads_are_not_the_end_of_file() {
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

/// No command waits for a special file in a tree, and the regular files are processed.
#[test]
fn h35_h36_no_command_waits_for_special_files() {
    let scene = Scene::new(|dir, tree| {
        let path = |name: &str| format!("{tree}/{name}");
        dir.file(path("a/x"), b"abc").fifo(&path("fifo")).socket(&path("a/socket"));
        dir.symlink("fifo", &path("to_fifo"))
            .symlink("/dev/zero", &path("to_zero"))
            .symlink("..", &path("a/up"));
        dir.symlink("/proc/kmsg", &path("to_kmsg")).symlink("self", &path("self")).symlink("/", &path("top"));
        for (name, minor) in [("zero", 5), ("random", 8)] {
            let mode = Mode::from_raw_mode(0o666);
            if mknodat(CWD, dir.path(path(name)), FileType::CharacterDevice, mode, makedev(1, minor)).is_err()
            {
                skip("devices, which only root can make");
            }
        }
    });
    for command in every() {
        for threads in ["mono", "8"] {
            let run = scene.ftk(command).args(["-j", threads]).run().status(0).stderr_lacks("ftk: ");
            let finds = run.text().contains("u/a/x") && !run.text().contains("fifo");
            run.check(command[0] != "dup" || finds, "only the files are found");
        }
    }
    // With -L special files are not read, either. `top` is removed because it leads to the whole file system.
    for tree in ["t", "u"] {
        fs::remove_file(scene.dir.path(format!("{tree}/top"))).unwrap();
    }
    for args in
        [&["find", "-L", "t"][..], &["hash", "-L", "t"], &["dup", "-L", "t", "u"], &["cmp", "-L", "t", "u"]]
    {
        for threads in ["mono", "8"] {
            let run = scene.dir.ftk(args).args(["-j", threads]).run().status(2);
            run.stderr_has("ftk: cannot follow 't/a/up': ");
        }
    }
}

/// Special files that replaced a reported file are checked and not opened for reading.
#[test]
fn h25_h35_a_report_opens_no_fifo_and_no_device() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"abc").file("c", b"abc").file("d", b"abc");
    dir.ftk(["dup", "--json", "-o", "../report"]).run().status(0);
    for name in ["b", "c", "d"] {
        fs::remove_file(dir.path(name)).unwrap();
    }
    dir.fifo("b").symlink("/dev/zero", "c").symlink("/etc/passwd", "d");
    for action in ["hardlink", "symlink", "delete", "move=away"] {
        let log = dir.aside("log");
        let args = ["dup", "apply", "../report", "--yes", "--action", action];
        let strace = ["strace", "-f", "-qq", "-e", "trace=open,openat,openat2", "-o", log.to_str().unwrap()];
        let run = dir.ftk(args).under(&dir, strace).run().status(2);
        run.check(run.err.matches(": refused: ").count() == 3, "all are refused");
        let log = fs::read_to_string(log).unwrap();
        let opens = |call: &&str| !call.contains("O_PATH") && !call.contains("-1 E");
        let opened: Vec<_> = log.lines().filter(opens).filter(|call| call.contains("\"b\"")).collect();
        run.check(opened.iter().all(|call| call.contains("O_NONBLOCK")), &format!("{opened:?}"));
        run.check(!log.contains("/dev/zero") && !log.contains("/etc/passwd\""), "no link is followed");
    }
}

/// Every command treats holes as zeros.
#[test]
fn h38_holes_are_copies_of_zeros() {
    let dir = Dir::new();
    dir.hole("t/hole", 3 << 20).file("t/zeros", &vec![0; 3 << 20]).hole("t/longer", (3 << 20) + 1);
    dir.ftk(["dup", "--verify"]).run().status(0).stdout("./t/hole\n./t/zeros\n\n");
    dir.ftk(["cmp", "t/hole", "t/zeros"]).run().status(0);
    dir.ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
    // The same content in other blocks is equal.
    dir.file("t/hole", &vec![0; 3 << 20]);
    dir.ftk(["manifest", "verify", "--mode", "content", "t", "../manifest"]).run().status(0).stdout("");
    let run = dir.ftk(["dup", "prune", ".", "--action", "delete", "--yes"]).run().status(0);
    run.stderr_has("  deleted 1 file");
    assert_eq!(fs::metadata(dir.path("t/longer")).unwrap().len(), (3 << 20) + 1);
}

/// A size of more than 2^32 blocks is right in every output format, and the last byte is compared.
#[test]
fn h38_sizes_beyond_32_bits_of_blocks() {
    const LEN: u64 = (1 << 43) + 4096 + 1;
    let dir = Dir::new();
    dir.hole("t/a", LEN).hole("t/b", LEN);
    File::options().write(true).open(dir.path("t/b")).unwrap().write_all_at(b"x", LEN - 1).unwrap();
    dir.ftk(["find", "t", "-t", "f", "--format", "{size}", "-S", &format!("{LEN}")])
        .run()
        .status(0)
        .stdout(format!("{LEN}\n{LEN}\n"));
    // The ends differ, so no terabyte is read.
    dir.ftk(["dup", "t"]).run().status(0).stdout("");
    dir.ftk(["cmp", "-l", "t/a", "t/b"]).run().status(1).stdout(format!("{LEN}   0 170\n"));
    let run = dir.ftk(["manifest", "create", "--no-content", "t", "-o", "../manifest"]).run().status(0);
    run.stdout("");
    assert!(fs::read_to_string(dir.aside("manifest")).unwrap().contains(&format!("\"size_bytes\":{LEN},")));
    File::options().write(true).open(dir.path("t/a")).unwrap().set_len(LEN - (1 << 41)).unwrap();
    dir.ftk(["manifest", "verify", "t", "../manifest", "--ignore", "mtime"])
        .run()
        .status(1)
        .stdout(format!("modified\ta\tsize {LEN} \u{2192} {}\n", LEN - (1 << 41)));
}

/// Ten thousand nested directories: their paths are too long for a system call, and a descriptor for each level would
/// exceed the limit of a process. A manifest with every directory would have some 100 MB here, so only the files are
/// recorded.
#[test]
fn h39_every_command_at_depth() {
    let chain = Chain::new("d", 10_000, 1000);
    let dir = chain.dir();
    let levels = (1..=10).map(|thousand| thousand * 1000);
    let mut lines: Vec<_> =
        levels.map(|level| (chain.file(level), sha256(level.to_string().as_bytes()))).collect();
    lines.sort();
    let hashed: Vec<u8> =
        lines.iter().flat_map(|(path, digest)| [digest.as_bytes(), b"  ", path, b"\n"].concat()).collect();
    let found: Vec<u8> = lines.iter().flat_map(|(path, _)| [path, &b"\n"[..]].concat()).collect();
    for threads in ["mono", "8"] {
        dir.ftk(["find", "-c", "-j", threads]).run().status(0).stdout("10011\n").stderr("");
        dir.ftk(["find", "-n", "f", "--sort", "-j", threads]).run().status(0).stdout(&found);
        dir.ftk(["hash", ".", "-j", threads]).run().status(0).stdout(&hashed);
    }
    dir.file("copy", b"7000");
    let group = [b"./copy\n", &chain.file(7000)[..], b"\n\n"].concat();
    for threads in ["mono", "8"] {
        dir.ftk(["dup", "-j", threads]).run().status(0).stdout(&group);
    }
    let run = dir.ftk(["cmp", "--no-shortcuts", ".", "./."]).run().status(0);
    run.stderr_has("11 pairs of files compared");
    dir.ftk(["manifest", "create", "-t", "f", ".", "-o", "../manifest"]).run().status(0);
    dir.ftk(["manifest", "verify", ".", "../manifest"]).run().status(0).stdout("").stderr_has(" as recorded");
    dir.ftk(["manifest", "update", ".", "../manifest", "-o", "../new"]).run().status(0);
    dir.ftk(["manifest", "diff", "../manifest", "../new"]).run().status(0).stdout("");
    let plan = dir
        .ftk(["dup", "prune", ".", "--action", "hardlink", "--yes", "--keep", "path=./copy"])
        .run()
        .status(0);
    plan.stderr_has("  linked 1 file");
    dir.ftk(["find", "-c", "--samefile", "copy"]).run().status(0).stdout("2\n");
}

/// Names of maximum length, nested until the path is far longer than `PATH_MAX`. Every command, including actions.
#[test]
fn h39_every_command_with_long_paths() {
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
    dir.file("copy", b"60");
    let deep = chain.file(60);
    for threads in ["mono", "8"] {
        dir.ftk(["dup", "-j", threads]).run().status(0).stdout([b"./copy\n", &deep[..], b"\n\n"].concat());
        dir.ftk(["hash", ".", "-o", "../list", "-j", threads]).run().status(0);
        for args in [&[][..], &["--root", "."], &["--new"]] {
            let run = dir.ftk(["hash", "-c", "-q", "../list", "-j", threads]).args(args).run().status(0);
            run.stdout("").stderr("");
        }
        dir.ftk(["manifest", "create", ".", "--force", "-o", "../manifest", "-j", threads]).run().status(0);
        dir.ftk(["manifest", "verify", ".", "../manifest", "-j", threads]).run().status(0).stdout("");
        dir.ftk(["cmp", "--no-shortcuts", ".", "./.", "-j", threads])
            .run()
            .status(0)
            .stderr_has("61 pairs of files");
    }
    dir.ftk(["dup", "prune", ".", "--action", "hardlink", "--yes", "--journal", "../journal"])
        .run()
        .status(0);
    dir.ftk(["find", "-c", "--samefile", "copy"]).run().status(0).stdout("2\n");
    dir.ftk(["dup", "undo", "../journal"]).run().status(0);
    dir.ftk(["find", "-c", "--samefile", "copy"]).run().status(0).stdout("1\n");
}

#[test]
fn h39_width_for_every_command() {
    const FILES: usize = 2000;
    let scene = Scene::new(|dir, tree| {
        for nth in 0..FILES {
            File::create(dir.path(format!("{tree}/{nth}")))
                .unwrap()
                .write_all(format!("{nth:05}").as_bytes())
                .unwrap();
        }
    });
    for threads in ["mono", "8"] {
        let run = scene.dir.ftk(["dup", "--summary", "--json", "-j", threads]).run().status(0);
        run.check(run.text().contains("\"files\":4000,\"groups\":2000,"), "each has its copy");
        let run = scene.dir.ftk(["cmp", "t", "u", "-j", threads]).run().status(0);
        run.stderr_has("2,000 pairs of files compared");
        let run = scene.dir.ftk(["manifest", "verify", "t", "../manifest", "-j", threads]).run().status(0);
        run.stderr_has("2,001 of 2,001 as recorded");
    }
}

/// The number of workers and the reader do not change the output of any command, for trees of one or several
/// workers.
#[test]
fn h43_workers_and_readers_do_not_change_the_output() {
    let uring = uring();
    let time = regex::bytes::Regex::new(",\"verified_ns\":[0-9]+").unwrap();
    for files in [1, 40, 300] {
        let scene = Scene::new(|dir, tree| {
            let mut content = bytes(5, 9000);
            for nth in 0..files {
                // Equal in size and at both ends.
                content[4500] = nth as u8 % 7;
                dir.file(format!("{tree}/{}/{nth:03}", nth % 3), &content);
            }
            dir.file(format!("{tree}/own"), tree.as_bytes());
        });
        for command in every().filter(|command| command[0] != "find" || command.contains(&"--sort")) {
            let lines = |threads: &str, io: &str| {
                let run = scene.ftk(command).args(["-j", threads, "--io", io]).run();
                run.check(run.code() < 2, "the command succeeds");
                let is_of_the_run =
                    |line: &&[u8]| line.starts_with(b"{\"ftk\":") || line.starts_with(b"{\"footer\":");
                let lines = run.out.split(|&byte| byte == b'\n').filter(|line| !is_of_the_run(line));
                (run.code(), lines.map(|line| time.replace(line, b"").into_owned()).collect::<Vec<_>>())
            };
            let expected = lines("mono", "sync");
            for threads in ["2", "8"] {
                for io in if uring { &["auto", "uring"][..] } else { &["auto"] } {
                    assert_eq!(lines(threads, io), expected, "{command:?} -j {threads} --io {io}: {files}");
                }
            }
        }
    }
}

/// Files of sysfs, with short reads and a synthetic size, are read completely by the other commands, too.
#[test]
fn h46_synthetic_sizes_are_not_trusted_by_any_command() {
    let system = "/sys/devices/system/cpu/cpu0/topology";
    let Ok(entries) = fs::read_dir(system) else { return skip("a tree of the kernel's own files") };
    let files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    let mut groups = std::collections::BTreeMap::<_, Vec<_>>::new();
    for path in &files {
        groups.entry(fs::read(path).unwrap()).or_default().push(path.to_str().unwrap());
    }
    let mut expected: Vec<_> = groups.into_values().filter(|paths| paths.len() > 1).collect();
    assert!(!expected.is_empty(), "some have equal content");
    expected.iter_mut().for_each(|paths| paths.sort_unstable());
    expected.sort_unstable();
    let dir = Dir::new();
    for io in if uring() { &["auto", "sync", "uring"][..] } else { &["auto", "sync"] } {
        for threads in ["mono", "4"] {
            let run = dir.ftk(["dup", "--verify", system, "--io", io, "-j", threads]).run().status(0);
            let mut found: Vec<Vec<_>> =
                run.text().split_terminator("\n\n").map(|group| group.lines().collect()).collect();
            found.sort_unstable();
            run.check(found == expected, "groups are of equal content");
            // Files with a synthetic size use no space.
            run.stderr_has("pruning would free nothing\n");
            let run = dir.ftk(["dup", "--summary", system, "--io", io, "-j", threads]).run().status(0);
            run.check(run.text().ends_with("pruning would free nothing\n"), "nothing would be freed");
            let run = dir.ftk(["manifest", "create", system, "--io", io, "-j", threads]).run().status(0);
            for path in &files {
                let digest = sha256(&fs::read(path).unwrap());
                run.check(run.text().contains(&digest), "the digest of its content");
            }
        }
    }
}
