//! `ftk find --exec`: a command for each entry.

use std::fs;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;

use rustix::process::Signal;

use crate::harness::{Dir, records, signal, sorted, wait_until};

/// Prints its arguments, each followed by NUL.
const SHOW: [&str; 3] = ["printf", r"%s\0", "--"];

/// Creates names that are special to shells, line formats and option parsers.
fn odd() -> Dir {
    let dir = Dir::new();
    for name in
        [&b"new\nline"[..], b"\xff\xfe", b"-rf", b"$(touch X)", b"a b", b"'\"`;*~", b"d/{}", b"d/-x.y"]
    {
        dir.raw_file(name, b"");
    }
    dir
}

#[test]
fn every_name_is_passed_unchanged() {
    let dir = odd();
    for threads in ["mono", "2", "8"] {
        let paths = dir.ftk(["find", "-0", "--sort"]).run().status(0).out;
        // The first argument of printf is its format.
        for command in [&["--exec", "printf", r"%s\0"][..], &["--exec", "printf", r"%s\0", "{}", ";"]] {
            let run = dir.ftk(["find", "-j", threads]).args(command).run().status(0).stderr("");
            run.check(sorted(records(&run.out, 0)) == records(&paths, 0), "each path once, to the byte");
        }
    }
    let run = dir.ftk(["find", "--exec"]).args(SHOW).args(["{}", ";", "-n", "?x.y"]).run().status(0);
    run.stdout("--\0./d/-x.y\0");
    assert!(!dir.path("X").exists(), "there is no shell");
}

#[test]
fn placeholders() {
    let dir = odd();
    let run = dir.ftk(["find", "-n", "?x.y", "--exec", "printf", r"%s\0"]);
    let run =
        run.args(["{}", "{/}", "{//}", "{.}", "{/.}", "a{/}b{/.}", "{", "{x}", "{{}}", ";"]).run().status(0);
    run.stdout("./d/-x.y\0-x.y\0./d\0./d/-x\0-x\0a-x.yb-x\0{\0{x}\0{./d/-x.y}\0");
    // Only a starting point could begin with a dash.
    let run = dir.ftk(["find", "--exec", "printf", r"%s\0", "{}", ";", "--", "-rf"]).run().status(0);
    run.stdout("./-rf\0");
    // The program may be the entry itself.
    fs::copy("/bin/true", dir.path("d/true")).unwrap();
    dir.ftk(["find", "-n", "true", "--exec", "{}"]).run().status(0).stdout("");
}

#[test]
fn options_may_follow() {
    let dir = odd();
    let args = ["find", "--exec", "echo", "-j", "{/}", ";", "-n", "a b", "--exec", "echo", "then", ";", "."];
    dir.ftk(args).run().status(0).stdout("-j a b\nthen ./a b\n");
}

/// The output of one command stays together, even if it is written in pieces while others run.
#[test]
fn outputs_are_not_mixed() {
    let dir = Dir::new();
    for nth in 0..40 {
        dir.file(format!("{nth}"), b"");
    }
    let pieces =
        r#"for i in 1 2 3; do printf "%s " "$1"; echo "$i"; printf "%s " "$1" >&2; echo "$i" >&2; done"#;
    let args = ["find", "-t", "f", "-j", "8", "--exec", "sh", "-c", pieces, "sh", "{/}"];
    let run = dir.ftk(args).run().status(0);
    for text in [run.text(), &run.err] {
        let lines: Vec<_> = text.lines().collect();
        run.check(lines.len() == 120, "everything is there");
        for three in lines.chunks(3) {
            let name = three[0].split(' ').next().unwrap();
            run.check(three == [1, 2, 3].map(|nth| format!("{name} {nth}")), "in one piece");
        }
    }
}

/// Each command waits until as many as may run at once have begun, and none sees more than that.
#[test]
fn as_many_commands_at_once_as_threads() {
    let dir = Dir::new();
    for nth in 0..12 {
        dir.file(format!("files/{nth}"), b"");
    }
    for (threads, most) in [("mono", 1), ("3", 3)] {
        dir.dir("now").dir("begun");
        let script = format!(
            r#"mkdir "begun/$1" "now/$1"
               ls now | wc -l
               tries=0
               while [ "$(ls begun | wc -l)" -lt {most} ]; do
                   sleep 0.01; tries=$((tries + 1)); [ $tries -lt 3000 ] || exit 1
               done
               rmdir "now/$1""#
        );
        let args = ["find", "files", "-t", "f", "-j", threads, "--exec", "sh", "-c", &script, "sh", "{/}"];
        let run = dir.ftk(args).run().status(0).stderr("");
        let counts: Vec<usize> = run.text().lines().map(|line| line.trim().parse().unwrap()).collect();
        run.check(counts.len() == 12 && counts.iter().all(|&n| n <= most), "the requested number");
        fs::remove_dir_all(dir.path("now")).unwrap();
        fs::remove_dir_all(dir.path("begun")).unwrap();
    }
}

#[test]
fn a_command_that_fails_makes_the_status_2() {
    let dir = Dir::new();
    dir.file("good", b"").file("bad", b"").file("worse", b"");
    let fails = ["sh", "-c", "test {/} != bad && test {/} != worse"];
    for threads in ["mono", "4"] {
        let ftk = dir.ftk(["find", "-t", "f", "-j", threads, "--exec"]).args(fails);
        // The next command runs if the one before succeeded.
        let run = ftk.args([";", "--exec", "echo"]).run().status(2).stdout("./good\n");
        let run = run.stderr_has("ftk: 'sh' failed for './bad': status 1\n");
        let run = run.stderr_has("ftk: 'sh' failed for './worse': status 1\n");
        run.stderr_has("  2 of 4 commands failed\n");
    }
    let run = dir.ftk(["find", ".", "-t", "f", "--exec-batch", "false"]).run().status(2);
    run.stderr_has("ftk: 'false' failed for './").stderr_has("', the first of 3 paths: status 1\n");
    let run = dir.ftk(["find", "-n", "good", "--exec", "sh", "-c", "kill -9 $$"]).run().status(2);
    run.stderr_has("'sh' failed for './good': signal 9\n");
    dir.ftk(["find", "-n", "absent", "--exec", "false"])
        .run()
        .status(0)
        .stdout("")
        .stderr_has("match none of 3 files");
    let run = dir.ftk(["find", "missing", "good", "--exec", "echo"]).run().status(2).stdout("good\n");
    run.stderr_has("cannot stat 'missing'").stderr_lacks("commands");
}

/// Of many failures, the first ten are named.
#[test]
fn many_failures_are_counted() {
    let dir = Dir::new();
    (0..40).for_each(|nth| _ = dir.file(format!("{nth}"), b""));
    let run = dir.ftk(["find", "-t", "f", "-j", "4", "--exec", "false"]).run().status(2);
    run.check(
        run.err.lines().count() == 11 && run.err.ends_with("  40 of 40 commands failed\n"),
        "ten names",
    );
}

/// As in xargs, status 255 stops the run.
#[test]
fn status_255_stops_the_run() {
    let dir = Dir::new();
    (0..300).for_each(|nth| _ = dir.file(format!("{nth:03}"), b""));
    for threads in ["mono", "4"] {
        let script = "echo \"$1\"; test {/} != 005 || exit 255";
        let args = ["find", "-t", "f", "--sort", "-j", threads, "--exec", "sh", "-c", script, "sh", "{/}"];
        let run = dir.ftk(args).run().status(2);
        run.check((6..100).contains(&run.text().lines().count()), "the other workers end what they began");
        run.stderr_has("'sh' failed for './005': status 255, so no other command is started\n");
    }
}

/// The path after the command was given to the command, and the working directory was searched.
#[test]
fn a_path_after_the_command_is_refused() {
    let dir = Dir::new();
    dir.file("srv/log/a.log", b"").file("other", b"").dir("dest");
    for (args, meant) in [
        (&["find", "-t", "f", "--exec", "rm", "srv/log"][..], "write: ftk find srv/log -t f --exec rm   "),
        (
            &["-v", "find", "-t", "f", "--exec-batch", "rm", "-f", "other", "srv/log"],
            "write: ftk -v find other srv/log -t f --exec-batch rm -f   ",
        ),
        (&["find", "-n", "a b*", "--exec", "ls", "."], "write: ftk find . -n 'a b*' --exec ls   "),
    ] {
        dir.ftk(args).run().status(2).stdout("").stderr_has(meant);
    }
    for args in [
        &["find", ".", "-n", "other", "--exec", "echo", "-n", "srv/log"][..],
        &["find", "-n", "other", "--exec", "echo", "-n", "srv/log", ";"],
        &["find", "-n", "other", "--exec-batch", "echo", "-n", "{}", "srv/log"],
        &["find", "-n", "other", "--exec", "echo", "-n", "srv/absent"],
        &["find", "--files-from", "list", "--exec", "echo", "-n", "srv/log"],
    ] {
        dir.file("list", b"other\n");
        let run = dir.ftk(args).run().status(0).stderr("");
        run.check(run.text().contains("other"), "it runs");
    }
}

/// If there are descriptors for only a few commands, the others wait.
#[test]
fn h52_few_descriptors_for_commands() {
    let dir = Dir::new();
    for nth in 0..300 {
        dir.file(format!("{nth}/x"), b"");
    }
    for (threads, limit) in [("2", "-n 16"), ("8", "-n 16"), ("16", "-n 64")] {
        let ftk = dir.ftk(["find", "-t", "f", "-j", threads, "--exec", "echo"]).limit(&dir, limit);
        let run = ftk.run().status(0).stderr("");
        run.check(run.text().lines().count() == 300, "a command for each");
    }
}

#[test]
fn a_missing_command_is_reported_once() {
    let dir = Dir::new();
    for nth in 0..200 {
        dir.file(format!("{}/{nth}", nth % 9), b"");
    }
    dir.file("no program", b"");
    for (program, why) in [
        ("no-such-program", "no such file or directory"),
        ("./no\x1bne", "no such file or directory"),
        ("./no program", "permission denied"),
    ] {
        let shown = program.replace('\x1b', "\\x1b");
        for threads in ["mono", "8"] {
            let run = dir.ftk(["find", "-j", threads, "--exec", program]).run().status(2).stdout("");
            run.stderr(&format!("ftk: cannot run '{shown}': {why}\n"));
        }
        let run = dir.ftk(["find", "--exec-batch", program]).run().status(2).stdout("");
        run.stderr(&format!("ftk: cannot run '{shown}': {why}\n"));
    }
    // If the entry itself is the program, the search goes on after a failure.
    let run = dir.ftk(["find", "-t", "f", "--exec", "{}"]).run().status(2);
    run.check(run.err.lines().count() == 201, "each failure is reported");
}

#[test]
fn one_worker_passes_standard_input_to_commands() {
    let dir = Dir::new();
    dir.file("x", b"").file("y", b"");
    let args =
        ["find", "-t", "f", "--sort", "--exec", "sh", "-c", "read -r line; echo \"$1 $line\"", "sh", "{/}"];
    dir.ftk(args).args([";", "-j", "mono"]).stdin(b"1\n2\n").run().status(0).stdout("x 1\ny 2\n");
    let run = dir.ftk(args).args([";", "-j", "2"]).stdin(b"1\n2\n").run().status(0);
    run.check(
        sorted(records(&run.out, b'\n')) == [b"x ", b"y "],
        "commands that run at once have no standard input",
    );
}

#[test]
fn a_plus_is_for_one_run_for_many() {
    let dir = Dir::new();
    dir.file("a", b"").file("b", b"");
    dir.ftk(["find", "--sort", "-t", "f", "--exec-batch", "echo", "{}", "+"])
        .run()
        .status(0)
        .stdout("./a ./b\n");
    for args in [&["echo", "{}", "+"][..], &["echo", "{}", "+", "--max-results", "1"]] {
        let run = dir.ftk(["find", "-t", "f", "--exec"]).args(args).run().status(2).stdout("");
        run.stderr_has("--exec runs CMD for each: use --exec-batch CMD {} +");
    }
}

#[test]
fn sorted_and_limited_entries() {
    let dir = odd();
    let run = dir.ftk(["find", "--sort", "--exec", "printf", r"%s\0"]).run().status(0);
    dir.ftk(["find", "--sort", "-0"]).run().status(0).stdout(&run.out);
    for sorting in [&[][..], &["--sort"]] {
        let args = ["find", "--max-results", "3", "--exec", "echo", "found"];
        let run = dir.ftk(args).args([";"]).args(sorting).run().status(0);
        run.check(run.text().matches("found").count() == 3, "three results");
    }
}

#[test]
fn h47_write_errors_are_reported() {
    let dir = Dir::new();
    dir.file("x", b"");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let run = dir.ftk(["find", "-j", "2", "--exec", "echo"]).stdout(full).run().status(2);
    run.stderr_has("ftk: cannot write to standard output: no space left on device\n");
    let endless = "exec \"$@\" | head -n 1";
    let run = dir
        .ftk(["find", "/usr/share", "-j", "2", "--exec", "echo"])
        .under(&dir, ["sh", "-c", endless, "sh"])
        .run();
    let run = run.status(0).stderr("");
    run.check(run.text().lines().count() == 1, "one line is enough");
}

/// `SIGTERM` is sent to one process only, and must also end the commands that it runs.
#[test]
fn h49_signals_while_commands_run() {
    let dir = Dir::new();
    dir.file("x", b"").file("y", b"");
    let args = ["-t", "f", "--exec", "sh", "-c", "echo $$ >$1.pid; exec sleep 1000", "sh", "{}"];
    for (threads, running) in [("mono", 1), ("2", 2)] {
        let mut child = dir.ftk(["find", "-j", threads]).args(args).spawn();
        let pids = || {
            let read = |name| fs::read_to_string(dir.path(name)).ok()?.trim().parse().ok();
            [read("x.pid"), read("y.pid")].into_iter().flatten().collect::<Vec<u32>>()
        };
        wait_until(|| pids().len() == running && pids().iter().all(|&pid| name_of(pid) == "sleep"));
        signal(&child, Signal::TERM);
        wait_until(|| child.try_wait().unwrap().is_some());
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
        for pid in pids() {
            wait_until(|| name_of(pid) != "sleep");
        }
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(out, "");
        _ = fs::remove_file(dir.path("x.pid"));
        _ = fs::remove_file(dir.path("y.pid"));
    }
}

/// Returns the program that a process runs, or nothing after its end, even if its status was not collected.
fn name_of(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line =
        |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("").trim().to_owned();
    if line("State:").starts_with('Z') { String::new() } else { line("Name:") }
}
