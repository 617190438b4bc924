//! Output that lands in its own input, or nowhere.

use std::fs::{self, File};

use crate::harness::{Dir, sha256};

/// The file that a run writes is no part of what it scans, and the run says so.
#[test]
fn h17_output_inside_the_tree() {
    let dir = Dir::new();
    dir.file("x", b"abc").file("list", b"an old list");
    let expected = format!("{}  ./x\n", sha256(b"abc"));
    for _ in 0..2 {
        for plan in [["-j", "mono"], ["-j", "8"]] {
            let run = dir.ftk(["hash", ".", "-o", "list"]).args(plan).run().status(0);
            run.stderr_has("left out: 1 own output file");
            assert_eq!(fs::read_to_string(dir.path("list")).unwrap(), expected);
        }
    }
    fs::remove_file(dir.path("list")).unwrap();
    dir.ftk(["hash", ".", "-o", "list"]).run().status(0);
    assert_eq!(fs::read_to_string(dir.path("list")).unwrap(), expected);
}

#[test]
fn h17_standard_output_inside_the_tree() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    let list = || File::create(dir.path("list")).unwrap();
    let run = dir.ftk(["hash", "."]).stdout(list()).run().status(0);
    run.stderr_has("left out: 1 own output file");
    assert_eq!(fs::read_to_string(dir.path("list")).unwrap(), format!("{}  ./x\n", sha256(b"abc")));
    for sorting in [&[][..], &["--sort"]] {
        let run = dir.ftk(["find", "-t", "f"]).args(sorting).stdout(list()).run().status(0);
        run.stderr_has("left out: 1 own output file");
        assert_eq!(fs::read_to_string(dir.path("list")).unwrap(), "./x\n");
    }
    // Other names of the same file are the same file.
    dir.hard_link("list", "also");
    let appended = File::options().append(true).open(dir.path("list")).unwrap();
    let run = dir.ftk(["hash", "."]).stdout(appended).run().status(0);
    run.stderr_has("left out: 2 own output files");
}

/// A disk that is full, or a reader that is gone wrong, is noticed for every output in every form.
#[test]
fn h47_what_cannot_be_written_fails() {
    let dir = Dir::new();
    for nth in 0..300 {
        dir.file(format!("{nth}"), b"abc");
    }
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for args in [
        &["find"][..],
        &["find", "--sort"],
        &["find", "-0"],
        &["find", "-c"],
        &["find", "-j", "8"],
        &["hash", "."],
        &["hash", "--json", "."],
        &["hash", "1"],
        &["hash", "-"],
        &["hash", "-j", "8", "-a", "md5", "."],
    ] {
        let run = dir.ftk(args).stdout(full()).run().status(2);
        run.stderr_has("ftk: cannot write to standard output: no space left on device\n");
    }
    for args in [&["hash", "."][..], &["hash", "--json", "."], &["hash", "-"]] {
        let run = dir.ftk(args).args(["-o", "/dev/full"]).run().status(2).stdout("");
        run.stderr_has("ftk: cannot write '/dev/full': no space left on device\n");
    }
}

/// A file named as input is never lost to the output: it is refused before anything is written.
#[test]
fn h17_the_only_input_is_not_the_output() {
    let dir = Dir::new();
    dir.file("disk.img", b"precious").symlink("disk.img", "link");
    for arguments in [["disk.img", "disk.img"], ["link", "disk.img"], ["disk.img", "link"]] {
        let run = dir.ftk(["hash", "-o", arguments[0], arguments[1]]).run().status(2).stdout("");
        run.stderr_has("is both input and output");
        assert_eq!(fs::read(dir.path("disk.img")).unwrap(), b"precious");
    }
}
