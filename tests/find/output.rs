//! The output of `ftk find` and its exit status.

use crate::harness::Dir;

#[test]
fn lines_and_records() {
    let dir = Dir::new();
    dir.file("a", b"").raw_file(b"n\nl", b"").raw_file(b"\xff\x1b", b"");
    let paths = [&b"."[..], b"./a", b"./n\nl", b"./\xff\x1b"];
    let ended = |end: u8| -> Vec<u8> { paths.iter().flat_map(|path| [path, &[end][..]].concat()).collect() };
    dir.ftk(["find", "--sort"]).run().status(0).stdout(ended(b'\n')).stderr("");
    dir.ftk(["find", "--sort", "-0"]).run().status(0).stdout(ended(0)).stderr("");
    dir.ftk(["find", "--sort", "--null", "."]).run().status(0).stdout(ended(0)).stderr("");
}

/// Whole paths are sorted, so other names may come between a directory and its entries.
#[test]
fn the_order_is_that_of_bytes() {
    let dir = Dir::new();
    dir.file("a/b", b"").file("a-b", b"").file("a.b", b"").file("a0", b"").file("B", b"");
    dir.ftk(["find", "--sort", "-j", "8"]).run().status(0).stdout(".\n./B\n./a\n./a-b\n./a.b\n./a/b\n./a0\n");
    dir.ftk(["find", "--sort", "a0", "a", "a-b"]).run().status(0).stdout("a\na-b\na/b\na0\n");
}

#[test]
fn starting_points_are_printed_as_given() {
    let dir = Dir::new();
    dir.file("d/x", b"");
    for (arg, shown) in [
        ("d", "d\nd/x\n"),
        ("d/", "d/\nd/x\n"),
        ("./d", "./d\n./d/x\n"),
        ("d//", "d//\nd//x\n"),
        ("d/.", "d/.\nd/./x\n"),
    ] {
        dir.ftk(["find", "--sort", arg]).run().status(0).stdout(shown);
        dir.ftk(["find", "-j", "mono", arg]).run().status(0).stdout(shown);
    }
}

#[test]
fn quiet_only_sets_the_status() {
    let dir = Dir::new();
    dir.file("there", b"");
    dir.ftk(["find", "--status", "-n", "there"]).run().status(0).stdout("").stderr("");
    dir.ftk(["find", "--status", "-n", "absent"]).run().status(1).stdout("").stderr("");
    dir.ftk(["find", "--status", "--sort", "-c", "-n", "absent"]).run().status(1).stdout("").stderr("");
    dir.ftk(["find", "--status", "-n", "absent", "missing"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("'missing'");
    // Without -q, a search without matches exits with 0.
    dir.ftk(["find", "-n", "absent"])
        .run()
        .status(0)
        .stdout("")
        .stderr("  the filters match none of 1 file\n");
    dir.ftk(["find", "-c", "-n", "absent"]).run().status(0).stdout("0\n").stderr_has("match none of 1 file");
}

#[test]
fn a_missing_starting_point_is_an_error_and_the_rest_is_listed() {
    let dir = Dir::new();
    dir.file("there", b"");
    for missing in ["missing", "", "there/", "there/x"] {
        for plan in [&["-j", "mono"][..], &["-j", "8"], &["--sort"]] {
            let run = dir.ftk(["find", missing, "there"]).args(plan).run().status(2);
            run.stdout("there\n").stderr_has(&format!("ftk: cannot stat '{missing}': "));
        }
        dir.ftk(["find", "-c", missing, "there"]).run().status(2).stdout("1\n");
    }
}

#[test]
fn skipped_entries_are_counted() {
    let dir = Dir::new();
    dir.file(".hidden/x", b"").file("a", b"").file(".b", b"");
    let run = dir.ftk(["find", "--sort", "--no-hidden"]).run().status(0).stdout(".\n./a\n");
    run.stderr("  skipped: 2 hidden names\n");
    dir.ftk(["find", "-c", "--no-hidden"])
        .run()
        .status(0)
        .stdout("2\n")
        .stderr("  skipped: 2 hidden names\n");
    dir.ftk(["find", "--status", "--no-hidden"]).run().status(0).stdout("").stderr("");
}

#[test]
fn quiet_succeeds_at_the_first_match_despite_errors() {
    let dir = Dir::new();
    dir.file("a/core", b"");
    dir.ftk(["find", "--status", "-n", "core", "missing", "a"]).run().status(0).stdout("");
    dir.ftk(["find", "--status", "-n", "other", "missing", "a"]).run().status(2).stdout("");
}

#[test]
fn globs_that_would_match_something_else_are_refused() {
    let dir = Dir::new();
    for glob in ["a/b", "[[:digit:]]*", "[\u{e9}]x"] {
        dir.ftk(["find", "-n", glob]).run().status(2).stdout("").stderr_has("cannot understand the glob");
    }
    dir.file("a/b", b"").file("c", b"");
    dir.ftk(["find", "-t", "f", "-E", "./a/*"]).run().status(0).stdout("./c\n");
    dir.ftk(["find", "-t", "f", "-t", "d", "--sort"]).run().status(0).stdout(".\n./a\n./a/b\n./c\n");
}

#[test]
fn max_results() {
    let dir = Dir::new();
    for nth in 0..500 {
        dir.file(format!("{}/{nth}", nth % 20), b"");
    }
    let all = dir.ftk(["find", "--sort"]).run().status(0);
    for threads in ["mono", "8"] {
        for n in [1, 2, 17, 520, 521, 522, 9999] {
            let expected = n.min(521);
            let args = ["find", "-j", threads, "--max-results", &n.to_string()];
            let run = dir.ftk(args).run().status(0).stderr("");
            run.check(run.text().lines().count() == expected, "the requested number");
            run.check(
                run.text().lines().all(|line| all.text().lines().any(|one| one == line)),
                "results are entries of the tree",
            );
            let run = dir.ftk(args).args(["--format", "{path}"]).run().status(0);
            run.check(run.text().lines().count() == expected, "in every format");
            dir.ftk(args).arg("-c").run().status(0).stdout(format!("{expected}\n"));
            for form in [&["--sort"][..], &["--sort", "--format", "{path}"]] {
                let run = dir.ftk(args).args(form).run().status(0);
                run.check(run.text().lines().eq(all.text().lines().take(n)), "the first entries in order");
            }
        }
    }
    dir.ftk(["find", "--max-results", "0"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("expected a whole number, 1 or more");
    // After enough matches, entries that cannot be read are no errors.
    dir.ftk(["find", "--max-results", "1", "0", "missing"]).run().stdout("0\n");
}

#[test]
fn conflicting_options_are_refused() {
    let dir = Dir::new();
    for args in [
        &["--json", "--format", "{path}"][..],
        &["--json", "-0"],
        &["--json", "--exec", "echo"],
        &["--status", "--exec", "echo"],
        &["--status", "--exec-batch", "echo"],
        &["-c", "--format", "{path}"],
        &["-c", "--exec", "echo"],
        &["-0", "--exec", "echo"],
        &["--format", "{path}", "--exec", "echo"],
        &["--exec-batch", "echo", ";", "--exec", "echo"],
    ] {
        dir.ftk(["find"]).args(args).run().status(2).stdout("").stderr_has("cannot be used with");
        // Options of all commands may precede the name of the command.
        if let ["--json", rest @ ..] = args {
            dir.ftk([args[0], "find"])
                .args(rest)
                .run()
                .status(2)
                .stdout("")
                .stderr_has("cannot be used with");
        }
    }
    dir.ftk(["find", "--status", "--json"]).run().status(0).stdout("");
}

#[test]
fn failed_writes_of_every_format_are_errors() {
    let dir = Dir::new();
    for nth in 0..300 {
        dir.file(format!("{nth}"), b"abc");
    }
    for form in [
        &["--json"][..],
        &["--json", "--sort"],
        &["--json", "-c"],
        &["--format", "{size}"],
        &["--color", "always"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run = dir.ftk(["find"]).args(form).stdout(full).run().status(2);
        run.stderr_has(" cannot write to standard output: no space left on device\n");
        let head = ["sh", "-c", "{ \"$@\"; echo $? >../status; } | head -n 1", "sh"];
        dir.ftk(["find"]).args(form).under(&dir, head).run().status(0).stderr("");
        assert_eq!(std::fs::read_to_string(dir.aside("status")).unwrap(), "0\n");
    }
}
