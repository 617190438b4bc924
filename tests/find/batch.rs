//! `ftk find --exec-batch`: one command for many entries.

use std::collections::BTreeSet;

use crate::harness::{Dir, records, sorted};

/// Prints the number of its arguments, and each of them, followed by NUL.
const COUNT: [&str; 4] = ["sh", "-c", r#"printf '%s\0' "run $#" "$@""#, "sh"];

/// Returns the sizes of the runs, and the arguments of all of them.
fn runs(out: &[u8]) -> (Vec<usize>, Vec<Vec<u8>>) {
    let mut records = records(out, 0).into_iter();
    let (mut sizes, mut arguments) = (Vec::new(), Vec::new());
    while let Some(first) = records.next() {
        let size = str::from_utf8(first.strip_prefix(b"run ").unwrap()).unwrap().parse().unwrap();
        sizes.push(size);
        arguments.extend(records.by_ref().take(size));
    }
    (sizes, arguments)
}

/// Creates names so long that a command line holds some hundreds of them.
fn many() -> Dir {
    let dir = Dir::new();
    for nth in 0..3000 {
        dir.file(format!("{}/{nth}-{}", nth % 11, "long".repeat(50)), b"");
    }
    dir
}

#[test]
fn one_run_if_possible() {
    let dir = Dir::new();
    for name in [&b"new\nline"[..], b"\xff", b"-rf", b"a b", b"d/x"] {
        dir.raw_file(name, b"");
    }
    let paths = dir.ftk(["find", "-0", "--sort"]).run().status(0).out;
    for threads in ["mono", "8"] {
        let run = dir.ftk(["find", "-j", threads, "--exec-batch"]).args(COUNT).run().status(0).stderr("");
        let (sizes, arguments) = runs(&run.out);
        run.check(sizes == [7] && sorted(arguments) == records(&paths, 0), "all in one run");
        let run = dir.ftk(["find", "--sort", "-j", threads, "--exec-batch"]).args(COUNT).run().status(0);
        run.check(runs(&run.out).1 == records(&paths, 0), "and in order");
    }
    let args = [
        "find",
        "-t",
        "f",
        "-n",
        "x",
        "--exec-batch",
        "echo",
        "-i={/}",
        "to",
        ";",
        "--exec-batch",
        "echo",
        "{//}",
    ];
    dir.ftk(args).run().status(0).stdout("-i=x to\n./d\n");
}

#[test]
fn without_matches_no_command_is_run() {
    let dir = Dir::new();
    dir.ftk(["find", "-n", "absent", "--exec-batch", "echo"]).run().status(0).stdout("").stderr("");
}

/// The limit is the kernel's: a quarter of the stack limit, at least 128 KiB, including the environment.
#[test]
fn as_many_runs_as_the_argument_limit_needs() {
    let dir = many();
    let paths: BTreeSet<_> = records(&dir.ftk(["find", "-0"]).run().status(0).out, 0).into_iter().collect();
    let bytes: usize = paths.iter().map(|path| path.len() + 1 + size_of::<usize>()).sum();
    // With a very large environment, a miscalculation would make the kernel refuse the command.
    let large = format!("LARGE={}", "x".repeat(100_000));
    for (stack, space, environment) in
        [("500", 128 << 10, "SMALL="), ("2048", 512 << 10, "SMALL="), ("500", 28 << 10, &large)]
    {
        let ftk = dir.ftk(["find", "-j", "4", "--exec-batch"]).args(COUNT).under(&dir, ["env", environment]);
        let run = ftk.limit(&dir, &format!("-s {stack}")).run().status(0).stderr("");
        let (sizes, arguments) = runs(&run.out);
        run.check(arguments.len() == paths.len(), "each path once");
        run.check(arguments.into_iter().collect::<BTreeSet<_>>() == paths, "every path is there");
        let least = bytes.div_ceil(space);
        run.check(sizes.len() >= least, "the space is what the kernel allows");
        // Subtracts the environment of the test and the kernel's reserve.
        let most = bytes.div_ceil(space - 20_000) + 1;
        run.check(sizes.len() <= most, &format!("{} runs, where {least} to {most} will do", sizes.len()));
    }
}

#[test]
fn a_run_that_fails_makes_the_status_2() {
    let dir = many();
    let args = ["find", "-t", "f", "--exec-batch", "false", ";", "--exec-batch", "echo"];
    let run = dir.ftk(args).limit(&dir, "-s 500").run().status(2).stdout("");
    run.stderr_has(" commands failed\n");
    let run = dir.ftk(["find", "missing", "0", "--max-depth", "0", "--exec-batch", "echo"]).run().status(2);
    run.stdout("0\n").stderr_has("cannot stat 'missing'");
}

#[test]
fn a_run_has_standard_input_and_streams() {
    let dir = Dir::new();
    dir.ftk(["find", "-j", "8", "--exec-batch", "cat", "-", ";"]).run().status(2).stderr_has("cat: .: ");
    let dir = Dir::new();
    dir.file("x", b"file");
    dir.ftk(["find", "x", "--exec-batch", "cat", "-"]).stdin(b"stdin ").run().status(0).stdout("stdin file");
}

#[test]
fn commands_without_a_place_for_paths_are_refused() {
    let dir = Dir::new();
    for (command, why) in
        [(&["{}"][..], "the name of a program"), (&["echo", "{}", "{/}"], "only one argument")]
    {
        let ftk = dir.ftk(["find", "missing", "--exec-batch"]).args(command);
        ftk.run().status(2).stdout("").stderr_has(why).stderr_lacks("missing");
    }
    for args in [&["--exec"][..], &["--exec", ";"], &["--exec-batch"]] {
        dir.ftk(["find"]).args(args).run().status(2).stdout("").stderr_has("a value is required");
    }
}
