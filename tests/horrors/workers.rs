//! Races between workers, work left to one worker, and stored figures that are wrong.

use std::fs;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{Dir, bytes, needs, sum, wait_until};

/// Repeated runs with many workers compute the same digests as sha256sum, and print the same verdicts.
#[test]
fn h30_no_race_changes_a_digest_or_a_verdict() {
    needs!("find", "xargs", "sha256sum", "md5sum");
    let dir = Dir::new();
    for nth in 0..1500 {
        dir.file(format!("{}/{nth}", nth % 30), &bytes(nth, (nth * nth % 9000) as usize));
    }
    // Long enough to be deferred and to get a read-ahead thread.
    (0..3).for_each(|nth| _ = dir.file(format!("long{nth}"), &bytes(nth, 3 << 20)));
    for (algorithm, tool) in [("sha256", "sha256sum"), ("md5", "md5sum")] {
        let expected = sum(&dir, &[tool, "--"], &["."]);
        for round in 0..6 {
            let threads = format!("{}", 2 + 3 * round % 11);
            dir.ftk(["hash", "-a", algorithm, "-j", &threads, "."]).run().status(0).stdout(&expected);
        }
    }
    dir.ftk(["hash", ".", "-o", "../list"]).run().status(0);
    for nth in (0..1500).step_by(7) {
        dir.file(format!("{}/{nth}", nth % 30), b"changed");
    }
    let theirs = dir.ftk([""; 0]).instead(&dir, ["sha256sum", "-c", "../list"]).run().status(1).out;
    for round in 0..10 {
        let threads = format!("{}", 1 + round % 4);
        dir.ftk(["hash", "-c", "-j", &threads, "../list"]).run().status(1).stdout(&theirs);
    }
}

/// Returns the first child of a process.
fn child_of(parent: &Child) -> Option<u32> {
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    fs::read_to_string(children).ok()?.split_whitespace().next()?.parse().ok()
}

/// Returns the number of bytes that system calls of a process have read so far.
fn bytes_read(pid: u32) -> u64 {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    io.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok()).unwrap_or_default()
}

/// One worker is blocked by a large file, and so are the files that it reads in turns with this one or has
/// claimed next. The other worker reads all the rest, which is more than half: files are not divided at the
/// start.
#[test]
fn h55_few_large_files_are_divided_among_workers() {
    needs!("strace");
    const FILES: u64 = 128;
    const SIZE: u64 = 3 << 19;
    /// The maximum number of files that a worker reads in turns, with the widest registers.
    const LANES: u64 = 16;
    const BY_THE_OTHER: u64 = FILES - 3 * LANES;
    let dir = Dir::on_disk();
    for nth in 0..FILES {
        dir.zeros(&format!("{nth:03}"), SIZE);
    }
    for held in ["000", "063", "095"] {
        let held = fs::canonicalize(dir.path(held)).unwrap();
        let mut strace = std::process::Command::new("strace");
        strace.args(["-f", "-qq", "-o", "/dev/null", "-P"]).arg(&held);
        strace.args(["-e", "trace=read,pread64", "-e", "inject=read,pread64:delay_enter=300s:when=2"]);
        strace.args([env!("CARGO_BIN_EXE_ftk"), "hash", "-q", "--io", "sync", "-j", "2", "."]);
        let mut strace = strace
            .env("XDG_CONFIG_HOME", dir.aside("config"))
            .current_dir(dir.path(""))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // strace may have started another child before, which only tests features of the kernel.
        wait_until(|| child_of(&strace).map_or(0, bytes_read) >= BY_THE_OTHER * SIZE);
        assert!(strace.try_wait().unwrap().is_none(), "one of them is held up");
        let ftk = Pid::from_raw(child_of(&strace).unwrap().cast_signed()).unwrap();
        kill_process(ftk, Signal::KILL).unwrap();
        _ = strace.kill();
        strace.wait().unwrap();
    }
}

/// Stored figures never change the result or delay a run, and no run over few files stores any.
#[test]
fn h57_stored_figures_do_not_change_the_result() {
    let dir = Dir::new();
    for nth in 0..200 {
        dir.file(format!("t/{nth}"), &bytes(nth, 5000));
    }
    let expected = dir.ftk(["hash", "t"]).run().status(0).out;
    assert!(!dir.aside("cache").exists(), "a small run stores nothing");
    dir.ftk(["calibrate", "--show"]).run().status(0).stderr_has("built-in figures: ");
    assert!(!dir.aside("cache").exists());
    let run = dir.ftk(["calibrate"]).run();
    if run.code() == 0 {
        let stored = fs::read_to_string(dir.aside("cache/ftk/constants")).unwrap();
        dir.ftk(["hash", "t"]).run().status(0).stdout(&expected);
        let name = |line: &str| line.split_once(": ").map(|(name, _)| name.to_owned());
        let names: Vec<_> = stored.lines().filter_map(name).collect();
        assert!(names.len() > 5, "{stored}");
        for (nth, name) in names.iter().enumerate() {
            let value = ["0", "4949000000000", "-1", "null", "x"][nth % 5];
            let outlier: String = stored
                .lines()
                .map(|line| match line.split_once(": ") {
                    Some((of, old)) if of == name => {
                        format!("{name}: {value}{}\n", if old.ends_with(',') { "," } else { "" })
                    }
                    _ => format!("{line}\n"),
                })
                .collect();
            fs::write(dir.aside("cache/ftk/constants"), &outlier).unwrap();
            dir.ftk(["hash", "t"]).run().status(0).stdout(&expected).stderr_lacks("ftk: ");
        }
        let old = b"ftk constants 1\nmachine = x\nend\n";
        for bad in [&stored.as_bytes()[..stored.len() / 2], b"", b"\0\xff", &[b'1'; 1 << 20], old] {
            fs::write(dir.aside("cache/ftk/constants"), bad).unwrap();
            dir.ftk(["hash", "t"]).run().status(0).stdout(&expected).stderr_lacks("ftk: ");
            dir.ftk(["calibrate", "--show"]).run().status(0).stderr_has("built-in figures: ");
        }
    } else {
        // On a busy machine the measured figures may be implausible; then they are not stored.
        run.status(2).stderr_has("implausible measurements");
        assert!(!dir.aside("cache/ftk/constants").exists());
    }
    // A cache that cannot be written is no error.
    _ = fs::remove_dir_all(dir.aside("cache"));
    fs::write(dir.aside("cache"), "a file").unwrap();
    dir.ftk(["hash", "t"]).run().status(0).stdout(&expected).stderr_lacks("ftk: ");
}
