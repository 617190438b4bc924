//! io_uring that is forbidden or fails during the run. `strace` makes its system calls fail.

use std::fs::{self, File};

use rustix::fs::{Advice, fadvise};

use super::commands::{READING, Scene};
use crate::harness::{Dir, Ftk, bytes, needs, uring};

/// Creates files on a disk, if there is one, so that io_uring is worth using.
fn cold() -> Dir {
    let dir = Dir::new();
    for nth in 0..400 {
        dir.file(format!("{}/{nth}", nth % 10), &bytes(nth, (nth * 300 % 100_000) as usize));
    }
    dir
}

fn evict(dir: &Dir) {
    for top in fs::read_dir(dir.path("")).unwrap() {
        for entry in fs::read_dir(top.unwrap().path()).unwrap() {
            let file = File::open(entry.unwrap().path()).unwrap();
            file.sync_all().unwrap();
            fadvise(&file, 0, None, Advice::DontNeed).unwrap();
        }
    }
}

/// Returns whether a system call was made to fail.
fn has_failed(dir: &Dir) -> bool {
    fs::read_to_string(dir.aside("log")).unwrap().contains("(INJECTED)")
}

/// Runs ftk with one kind of system call failing.
fn failing(ftk: Ftk, dir: &Dir, call: &str, how: &str) -> Ftk {
    let trace = format!("trace={call}");
    let inject = format!("inject={call}:{how}");
    let log = dir.aside("log");
    ftk.under(dir, ["strace", "-f", "-o", log.to_str().unwrap(), "-e", &trace, "-e", &inject])
}

const ERRORS: [&str; 4] = ["ENOSYS", "EPERM", "EMFILE", "ENOMEM"];

/// Without io_uring the other reader is used, without a message.
#[test]
fn h45_without_io_uring_the_other_reader_is_used() {
    needs!("strace");
    let dir = cold();
    let expected = dir.ftk(["hash", "--io", "sync", "-j", "mono", "."]).run().status(0).out;
    for error in ERRORS {
        for threads in ["auto", "mono", "4"] {
            evict(&dir);
            let ftk = dir.ftk(["hash", "-j", threads, "."]);
            let run = failing(ftk, &dir, "io_uring_setup", &format!("error={error}")).run().status(0);
            run.stdout(&expected).stderr_lacks("ftk: ");
        }
    }
}

/// With `--io uring` it is an error, with the reason.
#[test]
fn h45_a_missing_io_uring_is_an_error_if_requested() {
    needs!("strace");
    let dir = cold();
    for error in ERRORS {
        let ftk = dir.ftk(["hash", "--io", "uring", "."]);
        let run = failing(ftk, &dir, "io_uring_setup", &format!("error={error}")).run().status(2).stdout("");
        assert!(has_failed(&dir));
        run.stderr_has("ftk: --io uring: io_uring is not available here: ");
    }
}

/// If io_uring fails during the run, the other reader reads the remaining files.
#[test]
fn h45_io_uring_that_fails_during_the_run() {
    needs!("strace");
    if !uring() {
        return;
    }
    let dir = cold();
    let expected = dir.ftk(["hash", "--io", "sync", "-j", "mono", "."]).run().status(0).out;
    for threads in ["mono", "4"] {
        for (call, from) in
            [("io_uring_setup", 2), ("io_uring_enter", 1), ("io_uring_enter", 2), ("io_uring_enter", 5)]
        {
            for error in ["EPERM", "ENOMEM", "EINVAL"] {
                evict(&dir);
                let ftk = dir.ftk(["hash", "--io", "uring", "-j", threads, "."]);
                let run = failing(ftk, &dir, call, &format!("error={error}:when={from}+")).run().status(0);
                assert!(has_failed(&dir), "{call} {from}");
                run.stdout(&expected);
            }
        }
    }
}

/// The other commands also work without io_uring, or if it fails during the run.
#[test]
fn h45_every_command_works_without_io_uring() {
    needs!("strace");
    let has_ring = uring();
    let scene = Scene::new(|dir, tree| {
        (0..150).for_each(|nth| _ = dir.file(format!("{tree}/{}/{nth}", nth % 10), &bytes(nth, 3000)));
    });
    let lines = |out: &[u8]| -> Vec<Vec<u8>> {
        let is_of_the_run =
            |line: &&[u8]| line.starts_with(b"{\"ftk\":") || line.starts_with(b"{\"footer\":");
        out.split(|&byte| byte == b'\n').filter(|line| !is_of_the_run(line)).map(<[u8]>::to_vec).collect()
    };
    for command in READING {
        let expected = lines(&scene.ftk(command).args(["--io", "sync", "-j", "mono"]).run().status(0).out);
        for error in ERRORS {
            for threads in ["auto", "4"] {
                let ftk = scene.ftk(command).args(["-j", threads]);
                let how = format!("error={error}");
                let run =
                    failing(ftk, &scene.dir, "io_uring_setup", &how).run().status(0).stderr_lacks("ftk: ");
                run.check(lines(&run.out) == expected, "the same without a ring");
            }
        }
        // A comparison of two trees does not use io_uring.
        for (call, from) in [("io_uring_setup", 2), ("io_uring_enter", 1), ("io_uring_enter", 3)] {
            if !has_ring || command[0] == "cmp" {
                continue;
            }
            let ftk = scene.ftk(command).args(["-j", "2", "--io", "uring"]);
            let how = format!("error=ENOMEM:when={from}+");
            let run = failing(ftk, &scene.dir, call, &how).run().status(0);
            assert!(has_failed(&scene.dir), "{command:?} {call} {from}");
            run.check(lines(&run.out) == expected, "the same if the ring fails later");
        }
    }
}

/// With too little memory for a ring or its buffers the other reader is used, or the run ends with an error.
#[test]
fn h45_little_memory_for_io_uring() {
    if !uring() {
        return;
    }
    let dir = cold();
    let expected = dir.ftk(["hash", "--io", "sync", "."]).run().status(0).out;
    let (mut enough, mut too_little) = (0, 0);
    for mib in (16..=64).step_by(8) {
        // Two MiB remain for the options and the stack: the kernel kills a process whose stack cannot grow.
        let [start, limit] = [mib - 2, mib].map(|mib| format!("-v {}", mib * 1024));
        if dir.ftk(["--version"]).limit(&dir, &start).run().code() != 0 {
            continue;
        }
        for threads in ["mono", "4"] {
            let run = dir.ftk(["hash", "--io", "uring", "-j", threads, "."]).limit(&dir, &limit).run();
            if run.code() == 0 {
                run.stdout(&expected);
                enough += 1;
            } else {
                let run = run.status(2);
                // Another thread may be in the middle of a line.
                run.check(run.err.contains("ftk: "), "an error message of ftk");
                too_little += 1;
            }
        }
    }
    assert!(enough > 0, "{enough} runs had enough, {too_little} had not");
}
