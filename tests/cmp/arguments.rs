//! What can be compared, and what is refused.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use crate::harness::{Dir, bytes};

#[test]
fn equal_and_different() {
    let dir = Dir::new();
    dir.file("a", b"abc\ndef\n").file("same", b"abc\ndef\n").file("b", b"abc\ndEf\n").file("short", b"abc\n");
    dir.ftk(["cmp", "a", "same"]).run().status(0).stdout("").stderr_has("  equal: ");
    dir.ftk(["cmp", "a", "b"])
        .run()
        .status(1)
        .stdout("a b differ: byte 6, line 2\n6 0x65 0x45\n")
        .stderr("  1 mismatch\n");
    let run = dir.ftk(["cmp", "a", "short"]).run().status(1).stdout("");
    run.stderr("ftk: EOF on short after byte 4, line 1\n");
    let run = dir.ftk(["cmp", "short", "/dev/null", "--special"]).run().status(1).stdout("");
    run.stderr("ftk: EOF on /dev/null which is empty\n");
}

#[test]
fn eight_mismatches_are_shown() {
    let dir = Dir::new();
    dir.file("a", &[1; 20]).file("b", &[2; 20]);
    let lines: String = (1..=8).map(|byte| format!("{byte} 0x01 0x02\n")).collect();
    let run =
        dir.ftk(["cmp", "a", "b"]).run().status(1).stdout(format!("a b differ: byte 1, line 1\n{lines}"));
    run.stderr("  8 mismatches shown, search stopped at byte 8\n");
    let run = dir.ftk(["cmp", "a", "b", "--max-mismatches", "0"]).run().status(1);
    run.check(run.text().lines().count() == 21, "all of them");
    run.stderr("  20 mismatches\n");
}

/// The limit may be larger than the number of mismatches that are buffered until the first line number is known.
#[test]
fn all_of_many() {
    let dir = Dir::new();
    let a = bytes(1, 30_000);
    let b: Vec<u8> = a.iter().map(|byte| !byte).collect();
    dir.file("a", &[b"same\nlines\n", &a[..]].concat())
        .file("b", &[b"same\nlines\n", &b[..], b"more"].concat());
    for most in ["0", "10000", "40000"] {
        let run = dir.ftk(["cmp", "a", "b", "--max-mismatches", most]).run().status(1);
        let lines: Vec<_> = run.text().lines().collect();
        let n = if most == "10000" { 10_000 } else { 30_000 };
        run.check(
            lines[0] == "a b differ: byte 12, line 3" && lines.len() == n + 1,
            "the first line and all",
        );
        run.check(lines[n] == format!("{} {:#04x} {:#04x}", n + 11, a[n - 1], b[n - 1]), "the last one");
        match most {
            "10000" => run.stderr("  10,000 mismatches shown, search stopped at byte 10,011\n"),
            _ => run.stderr("ftk: EOF on a after byte 30011\n  30,000 mismatches\n"),
        };
    }
}

#[test]
fn the_same_file_is_not_read() {
    let dir = Dir::new();
    // Reading this would take years.
    dir.hole("huge", 4 << 40).hard_link("huge", "also").symlink("huge", "link");
    for other in ["huge", "also", "link"] {
        dir.ftk(["cmp", "huge", other]).run().status(0).stdout("");
        dir.ftk(["cmp", "-s", "huge", other]).run().status(0).stdout("").stderr("");
    }
    dir.file("x", b"aab");
    let run = dir.ftk(["cmp", "-i", "0:1", "x", "x"]).run().status(1);
    run.stdout("x x differ: byte 2, line 1\n2 0x61 0x62\n").stderr("  1 mismatch; x ends after byte 2\n");
}

#[test]
fn the_summary_of_files_with_holes_has_their_size() {
    let dir = Dir::new();
    dir.hole("a", 64 << 20).hole("b", 64 << 20).file("x", b"abc").file("y", b"abc");
    let run = dir.ftk(["cmp", "a", "b"]).run().status(0).stdout("");
    run.stderr_has("  equal: 67.11 MB each, ").stderr_has(" of each read in ");
    dir.ftk(["cmp", "--no-shortcuts", "a", "b"]).run().status(0).stderr_has("  equal: 67.11 MB each in ");
    dir.ftk(["cmp", "--bytes", "2", "x", "y"]).run().status(0).stderr_has("  equal: 2 B each in ");
}

/// If sizes differ, the status needs no read.
#[test]
fn sizes_are_enough_for_the_status() {
    let dir = Dir::new();
    for (name, len) in [("a", 4 << 40), ("b", (4 << 40) - 1)] {
        dir.hole(name, len);
        // The size of a file without blocks proves nothing: procfs and sysfs make sizes up.
        File::options().write(true).open(dir.path(name)).unwrap().write_all_at(b"x", len / 2).unwrap();
    }
    dir.ftk(["cmp", "-s", "--no-shortcuts", "a", "b"]).run().status(1).stdout("").stderr("");
}

#[test]
fn what_cannot_be_compared() {
    let dir = Dir::new();
    dir.file("x", b"abc").dir("d").fifo("fifo").socket("socket").symlink("nowhere", "broken");
    for (args, message) in [
        (["d", "x"], "ftk: 'd' is a directory and 'x' is not\n"),
        (["x", "d"], "ftk: 'd' is a directory and 'x' is not\n"),
        (["-", "d"], "ftk: 'd' is a directory and '-' is not\n"),
        (["-", "-"], "ftk: standard input cannot be compared with itself\n"),
        (["x", "fifo"], "ftk: cannot read 'fifo': it is a FIFO (add --special to read it)\n"),
        (["socket", "x"], "ftk: cannot read 'socket': it is a socket\n"),
        (["x", "/dev/zero"], "ftk: cannot read '/dev/zero': it is a device (add --special to read it)\n"),
        (["x", "missing"], "ftk: cannot open 'missing': no such file or directory\n"),
        (["broken", "x"], "ftk: cannot open 'broken': no such file or directory\n"),
        (["x/y", "x"], "ftk: cannot open 'x/y': not a directory\n"),
        (["x", ""], "ftk: cannot open '': no such file or directory\n"),
        (["x", "\u{1b}[31m"], "ftk: cannot open '\\x1b[31m': no such file or directory\n"),
    ] {
        for silent in [&[][..], &["-s"]] {
            dir.ftk(["cmp"]).args(silent).args(args).run().status(2).stdout("").stderr(message);
        }
    }
    let run = dir.ftk(["cmp", "missing", "fifo"]).run().status(2);
    run.stderr_has("'missing'").stderr_has("'fifo'");
}

#[test]
fn contradictory_usage_is_an_error() {
    let dir = Dir::new();
    dir.file("x", b"abc").dir("d").dir("e");
    for args in [
        &[][..],
        &["x", "x", "x"],
        &["x", "x", "1", "2", "3"],
        &["-b", "--ranges", "x", "x"],
        &["-l", "-s", "x", "x"],
        &["-b", "d", "e"],
        &["d", "e", "1"],
        &["-i", "x", "x", "x"],
        &["-i", "1:2:3", "x", "x"],
        &["-i", "-1", "x", "x"],
        &["--bytes", "many", "x", "x"],
        &["--method", "magic", "x", "x"],
        &["-l", "--ranges", "x", "x"],
        &["-l", "--quick", "x", "x"],
        &["-l", "-n", "x", "x", "x"],
        &["--files-from", "x", "x", "x"],
        &["--quick", "x", "x"],
        &["--metadata", "x", "x"],
        &["-l", "d", "e"],
        &["--ranges", "d", "e"],
        &["--max-mismatches", "1", "d", "e"],
        &["--bytes", "1", "d", "e"],
    ] {
        let run = dir.ftk(["cmp"]).args(args).run().status(2).stdout("");
        run.check(!run.err.is_empty() && !run.err.contains("panicked"), "it is said what is wrong");
    }
}

/// `-n` is a limit in GNU cmp and a name filter for trees. With two files, every filter is rejected by name.
#[test]
fn filters_are_for_trees() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"abd").file("t/x", b"abc").file("u/x", b"abd");
    let run = dir.ftk(["cmp", "-n", "2", "a", "b"]).run().status(2).stdout("");
    run.stderr(
        "ftk: --name (-n) selects entries of two trees, and 'a' and 'b' are files: to compare only the first N bytes, \
         use --bytes N\n",
    );
    dir.ftk(["cmp", "--bytes", "2", "a", "b"]).run().status(0);
    for filter in [
        &["-n", "2", "-l"][..],
        &["-n2"],
        &["--name=x"],
        &["--iname", "x"],
        &["-e", "jpg"],
        &["--path", "x"],
        &["-t", "f"],
        &["-S", "1"],
        &["--newer", "a"],
        &["--changed-within", "2d"],
        &["--changed-before", "2d"],
        &["--owner", "0"],
        &["--perm", "644"],
        &["--links", "1"],
        &["--samefile", "a"],
        &["--empty"],
        &["-E", "x"],
        &["--ignore-files"],
        &["--no-hidden"],
        &["--min-depth", "1"],
        &["--max-depth", "1"],
        &["-x"],
    ] {
        for files in [&["a", "b"][..], &["a", "-"], &["a"]] {
            for quiet in [&[][..], &["-s"]] {
                let run = dir.ftk(["cmp"]).args(filter).args(quiet).args(files).run().status(2).stdout("");
                run.stderr_has(" selects ").stderr_has("'a' and '").stderr_has(" are files");
            }
        }
        // Filters are for trees. A filter that excludes everything is another error.
        let run = dir.ftk(["cmp", "t", "u"]).args(filter.iter().filter(|arg| **arg != "-l")).run();
        run.check(run.code() < 2 || run.err.contains("nothing was compared"), "two trees");
    }
    dir.ftk(["cmp", "-L", "a", "b"]).run().status(1);
}

/// After the first difference, standard error contains only the summary, unless more was asked for.
#[test]
fn the_end_of_a_file_after_a_difference() {
    let dir = Dir::new();
    dir.file("a", b"abc\nd").file("b", b"abX\nd and more");
    let first = "a b differ: byte 3, line 1\n3 0x63 0x58\n";
    let run = dir.ftk(["cmp", "a", "b"]).run().status(1).stdout(first);
    run.stderr("  1 mismatch; a ends after byte 5\n");
    let run = dir.ftk(["cmp", "--max-mismatches", "4", "a", "b"]).run().status(1).stdout(first);
    run.stderr("ftk: EOF on a after byte 5\n  1 mismatch\n");
    let run = dir.ftk(["cmp", "-l", "a", "b"]).run().status(1).stdout("3 143 130\n");
    run.stderr_has("ftk: EOF on a after byte 5\n");
}

#[test]
fn what_may_not_be_read() {
    let dir = Dir::new();
    dir.file("x", b"abc").file("locked", b"abc").lock("locked");
    for args in [["x", "locked"], ["locked", "x"]] {
        let run = dir.ftk(["cmp"]).args(args).unprivileged(&dir).run().status(2).stdout("");
        run.stderr("ftk: cannot open 'locked': permission denied\n");
    }
}

/// Every example in the help works.
#[test]
fn the_examples_of_the_help_work() {
    let dir = Dir::new();
    let help = dir.ftk(["cmp", "--help"]).run().status(0);
    for name in ["disk-a.img", "a", "src/x", "release-1/x", "b", "disk-b.img", "copy/x", "release-2/x"] {
        dir.file(name, b"some content");
    }
    let examples = help.text().lines().skip_while(|line| *line != "Examples:").skip(1);
    let examples: Vec<_> = examples.take_while(|line| !line.is_empty()).collect();
    assert!(examples.len() >= 5, "{examples:?}");
    for example in examples {
        let example = example.trim_start().split("  ").next().unwrap();
        let command = example.split("ftk ").nth(1).unwrap().split(" && ").next().unwrap();
        let run = dir.ftk(command.split_ascii_whitespace()).stdin(b"some content").run();
        // Only the times of the two copies may differ.
        run.check(run.code() <= 1 && run.text().lines().all(|line| line.contains("mtime")), example);
    }
}
