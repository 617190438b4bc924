//! io_uring that is forbidden, or fails in the middle. `strace` makes its system calls fail.

use std::fs::{self, File};

use rustix::fs::{Advice, fadvise};

use crate::harness::{Dir, Ftk, bytes, needs, uring};

/// Files on a disk, where there is one, so that a ring would be worth its while.
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

/// That a call was indeed made to fail.
fn has_failed(dir: &Dir) -> bool {
    fs::read_to_string(dir.aside("log")).unwrap().contains("(INJECTED)")
}

/// With one kind of system call failing.
fn failing(ftk: Ftk, dir: &Dir, call: &str, how: &str) -> Ftk {
    let trace = format!("trace={call}");
    let inject = format!("inject={call}:{how}");
    let log = dir.aside("log");
    ftk.under(dir, ["strace", "-f", "-o", log.to_str().unwrap(), "-e", &trace, "-e", &inject])
}

const ERRORS: [&str; 4] = ["ENOSYS", "EPERM", "EMFILE", "ENOMEM"];

/// Without a ring there is the other reader, and nobody has to know.
#[test]
fn h45_no_ring_is_no_failure() {
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

/// Who insists on it is told why not.
#[test]
fn h45_no_ring_where_it_was_asked_for() {
    needs!("strace");
    let dir = cold();
    for error in ERRORS {
        let ftk = dir.ftk(["hash", "--io", "uring", "."]);
        let run = failing(ftk, &dir, "io_uring_setup", &format!("error={error}")).run().status(2).stdout("");
        assert!(has_failed(&dir));
        run.stderr_has("ftk: io_uring was asked for and cannot be had here: ");
    }
}

/// A ring that fails later than at the first attempt leaves its files to the other reader.
#[test]
fn h45_a_ring_that_fails_in_mid_run() {
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
