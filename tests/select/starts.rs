//! `--files-from` and `--files0-from`.

use std::fs;

use crate::harness::{Dir, gnu_find, needs, records, sorted};

fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("a/x", b"1")
        .file("b/y", b"2")
        .file("c", b"3")
        .file("-", b"4")
        .file("new\nline", b"5")
        .file(" d ", b"6");
    dir
}

#[test]
fn lists_and_arguments_add_up() {
    let dir = tree();
    fs::write(dir.aside("lines"), "b\nc\n").unwrap();
    fs::write(dir.aside("records"), "new\nline\0a").unwrap();
    let (lines, records) = ("../lines", "../records");
    dir.ftk(["find", "--files-from", lines, "-j", "mono"]).run().status(0).stdout("b\nc\nb/y\n").stderr("");
    dir.ftk(["find", "--files0-from", records, "--sort"])
        .run()
        .status(0)
        .stdout("a\na/x\nnew\nline\n")
        .stderr("");
    let args = ["find", "--files-from", lines, "--files0-from", records, "-c", " d "];
    dir.ftk(args).run().status(0).stdout("7\n").stderr("");
    // A path that occurs twice is listed once, as with arguments.
    dir.ftk(["find", "--files-from", lines, "-c", "b", "c"]).run().status(0).stdout("3\n");
    dir.ftk(["find", "--files-from", lines, "-n", "y"]).run().status(0).stdout("b/y\n");
    dir.ftk(["hash", "-a", "xxh64", "--files-from", lines]).run().status(0).stderr_lacks("ftk: ");
}

#[test]
fn a_list_from_standard_input() {
    let dir = tree();
    // A dash in a list is a file of that name, and lines are used byte for byte.
    let run = dir.ftk(["find", "--files-from", "-", "--sort"]).stdin(b"c\n-\n d ").run();
    run.status(0).stdout(" d \n-\nc\n").stderr("");
    let run = dir.ftk(["find", "--files0-from", "-", "-0"]).stdin(b"new\nline\0").run();
    run.status(0).stdout("new\nline\0").stderr("");
    let sums = dir.ftk(["hash", "--", "-", "./-", "c"]).stdin(b"stream").run().status(0).out;
    let listed = dir.ftk(["hash", "--files-from", "-", "c"]).stdin(b"./-").run().status(0).out;
    assert_eq!(records(&sums, b'\n').len(), 3);
    assert_eq!(records(&listed, b'\n').len(), 2);
    // Standard input cannot be a list and a file at once.
    let run = dir.ftk(["hash", "--files-from", "-", "-"]).stdin(b"c\n").run().status(2).stdout("");
    run.stderr("ftk: standard input cannot be both a list of paths and a file to hash\n");
    let run = dir.ftk(["find", "--files-from", "-", "--files0-from", "-"]).stdin(b"c\n").run().status(2);
    run.stdout("").stderr("ftk: only one list can come from standard input\n");
}

/// An empty list selects nothing, and does not make ftk read standard input.
#[test]
fn an_empty_list_selects_nothing() {
    let dir = tree();
    fs::write(dir.aside("empty"), "").unwrap();
    for option in ["--files-from", "--files0-from"] {
        dir.ftk(["find", option, "../empty"]).run().status(0).stdout("").stderr("");
        dir.ftk(["find", option, "../empty", "c"]).run().status(0).stdout("c\n").stderr("");
        dir.ftk(["hash", option, "../empty"])
            .stdin(b"not read")
            .run()
            .status(0)
            .stdout("")
            .stderr(&format!("  the list of {option} is empty: no file hashed\n"));
        dir.ftk(["hash", option, "../empty", "c"]).run().status(0).stderr_lacks("empty");
    }
}

#[test]
fn invalid_lists_of_paths_are_refused() {
    let dir = tree();
    fs::write(dir.aside("gap"), "c\n\nb\n").unwrap();
    fs::write(dir.aside("records"), "c\0b\0").unwrap();
    fs::write(dir.aside("zeros"), [0; 100]).unwrap();
    fs::write(dir.aside("long"), vec![b'x'; 1 << 20]).unwrap();
    for (args, message) in [
        (["--files-from", "../missing"], "ftk: cannot open '../missing': no such file or directory\n"),
        (["--files-from", ".."], "ftk: cannot read '..': is a directory\n"),
        (["--files-from", "../gap"], "ftk: cannot read '../gap': line 2 is empty\n"),
        (["--files-from", "../records"], "line 1 contains a NUL: if paths end with NUL, use --files0-from\n"),
        (["--files0-from", "../zeros"], "ftk: cannot read '../zeros': record 1 is empty\n"),
        (["--files-from", "../long"], "line 1 is longer than any path\n"),
        (["--files-from", "/dev/zero"], "ftk: cannot open '/dev/zero': it is a device\n"),
    ] {
        for command in ["find", "hash"] {
            dir.ftk([command]).args(args).args(["c"]).run().status(2).stdout("").stderr_has(message);
        }
    }
    // A missing path of the list is an error, and the rest is listed.
    let run = dir.ftk(["find", "--files-from", "-"]).stdin(b"gone\nc\n").run().status(2);
    run.stdout("c\n").stderr("ftk: cannot stat 'gone': no such file or directory\n");
}

#[test]
fn a_long_list_from_find() {
    needs!("find");
    let dir = Dir::new();
    for nth in 0..3000 {
        dir.file(format!("{}/{nth}", nth % 7), b"");
    }
    let all = gnu_find(&dir, &[".", "-type", "f"]);
    let list: Vec<u8> = all.iter().flat_map(|path| [path, &b"\0"[..]].concat()).collect();
    for threads in ["mono", "2"] {
        let run = dir.ftk(["find", "--files0-from", "-", "-0", "-j", threads]).stdin(&list).run().status(0);
        run.check(sorted(records(&run.out, 0)) == all, "each of them");
    }
}
