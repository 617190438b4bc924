//! A signal ends a run at once in every phase, and no files are left over.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use crate::harness::{Dir, has_open, signal, wait_until, waits_for};
use crate::manifest::records::{lines, seal};

const SIGNALS: [Signal; 2] = [Signal::TERM, Signal::INT];

/// Checks that the signal kills the command by its default action, which a shell can see, too. The wait is
/// much shorter than the remaining work.
pub(super) fn assert_killed_by(mut child: Child, with: Signal) {
    signal(&child, with);
    // A shell starts background jobs with SIGINT ignored, and all their children inherit that.
    let is_over = waits_for(|| child.try_wait().unwrap().is_some());
    child.kill().unwrap();
    assert!(is_over, "{with:?} did not end the command; do these tests run with the signal ignored?");
    assert_eq!(child.wait().unwrap().signal(), Some(with.as_raw()));
}

/// A signal during a walk that waits because its output pipe is full.
#[test]
fn h49_signals_while_walking() {
    let dir = Dir::new();
    for nth in 0..2000 {
        dir.file(format!("{}/{}", nth % 50, "long".repeat(50) + &nth.to_string()), b"");
    }
    for threads in ["mono", "8"] {
        for with in SIGNALS {
            let mut child = dir.ftk(["find", "-j", threads]).spawn();
            let mut first = [0; 1];
            child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
            assert_killed_by(child, with);
        }
    }
}

/// A signal while a large file is read: no list, report or manifest is written, not even a part, the old ones are
/// unchanged, and nothing is pruned.
#[test]
fn h29_h49_signals_while_reading() {
    let dir = Dir::new();
    dir.file("t/huge", b"small yet").file("old", b"old");
    dir.file("list", format!("{}  t/huge\n", "0".repeat(64)).as_bytes());
    let manifest = dir.aside("manifest");
    dir.ftk(["manifest", "create", "t", "-o"]).arg(&manifest).run().status(0);
    // As if the manifest had been made of the larger file.
    let recorded: Vec<_> = lines(&manifest)
        .iter()
        .map(|line| line.replace("\"size_bytes\":9,", &format!("\"size_bytes\":{},", 4_u64 << 40)))
        .collect();
    let recorded = seal(&recorded);
    fs::write(&manifest, &recorded).unwrap();
    // Holes whose digests take minutes.
    dir.hole("t/huge", 4 << 40).hole("u/huge", 4 << 40);
    for args in [
        &["hash", "t/huge", "-o", "new"][..],
        &["hash", "t/huge", "-o", "old"],
        &["hash", "t/huge", "-a", "blake3", "-o", "new"],
        &["hash", "t/huge", "-a", "blake3", "-o", "old"],
        &["hash", "--check", "list"],
        &["manifest", "create", "t", "-o", "new"],
        &["manifest", "create", "t", "-o", "old"],
        &["manifest", "verify", "t", "../manifest"],
        &["manifest", "verify", "t", "../manifest", "--sample", "100%"],
        &["manifest", "update", "t", "../manifest", "-o", "../manifest"],
        &["manifest", "update", "t", "../manifest", "-o", "new"],
        &["dup", "t", "u", "-o", "new"],
        &["dup", "t", "u", "--json", "-a", "blake3"],
        &["dup", "prune", "--action", "delete", "--yes", "t", "u"],
    ] {
        for threads in ["mono", "4"] {
            for with in [Signal::TERM, Signal::INT, Signal::KILL] {
                let child = dir.ftk(args).args(["-j", threads]).spawn();
                wait_until(|| has_open(&child, "huge"));
                assert_killed_by(child, with);
                assert_eq!(fs::read(dir.path("old")).unwrap(), b"old", "{args:?}");
                assert_eq!(fs::read_to_string(&manifest).unwrap(), recorded, "{args:?}");
                assert!(dir.path("t/huge").exists() && dir.path("u/huge").exists(), "{args:?}");
                let mut names: Vec<_> =
                    fs::read_dir(dir.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
                names.sort();
                assert_eq!(names, ["list", "old", "t", "u"], "{args:?}");
            }
        }
    }
}

/// A signal while standard input is awaited: content, lines, a manifest, a report or a list.
#[test]
fn h49_signals_while_waiting_for_input() {
    let dir = Dir::new();
    dir.file("t/x", b"abc").ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
    dir.ftk(["hash", "t", "-o", "../list"]).run().status(0);
    for args in [
        &["hash", "-o", "list", "-"][..],
        &["hash", "-o", "list", "--check", "-"],
        &["hash", "-o", "list", "--diff", "../list", "-"],
        &["hash", "-o", "list", "--diff", "-", "../list"],
        &["hash", "-o", "list", "--lines", "-"],
        &["cmp", "-", "t/x"],
        &["manifest", "verify", "t", "-"],
        &["manifest", "update", "t", "-", "-o", "new"],
        &["manifest", "diff", "-", "../manifest"],
        &["manifest", "unique", "../manifest", "-"],
        &["dup", "apply", "-", "--action", "delete", "--yes"],
        &["find", "--files-from", "-"],
        &["hash", "--files0-from", "-"],
        &["dup", "--files-from", "-"],
    ] {
        for with in SIGNALS {
            let (never, mut held) = std::io::pipe().unwrap();
            let child = dir.ftk(args).stdin_from(Stdio::from(never)).spawn();
            // If the pipe is empty, the command has read the byte and waits.
            std::io::Write::write_all(&mut held, b"x").unwrap();
            wait_until(|| rustix::io::ioctl_fionread(&held).unwrap() == 0);
            assert_killed_by(child, with);
            assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), 1);
        }
    }
}

/// `kill -USR1` prints the progress, as for dd, in each phase and with every value of `--progress`.
#[test]
fn h79_sigusr1_prints_progress_and_does_not_end_the_run() {
    let dir = Dir::new();
    dir.hole("huge", 1 << 40).hole("other", 1 << 40).fifo("fifo");
    // Commands that read the FIFO wait until the test is over.
    let _held = File::options().read(true).write(true).open(dir.path("fifo")).unwrap();
    let asks = |args: &[&str], answer: &str| {
        let mut child = Ended(dir.ftk(args).stdin_from(Stdio::piped()).stdout(Stdio::null()).spawn());
        wait_until(|| catches(&child.0, Signal::USR1));
        let err = BufReader::new(child.0.stderr.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || err.lines().try_for_each(|line| sender.send(line.unwrap())));
        let mut said = Vec::new();
        // The first signals may arrive before the phase begins, or be lost while the handler is installed.
        wait_until(|| {
            signal(&child.0, Signal::USR1);
            match lines.recv_timeout(Duration::from_secs(1)) {
                Ok(line) => said.push(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("{args:?} has ended: {said:?}"),
            }
            assert!(said.len() < 10_000, "{args:?}: {said:?}");
            said.last().is_some_and(|line| line.contains(answer))
        });
        assert!(child.0.try_wait().unwrap().is_none(), "{args:?} goes on");
    };
    asks(&["hash", "huge", "-j", "mono"], "hashing  ");
    asks(&["hash", "huge", "-q", "--progress", "never", "-a", "blake3", "-j", "2"], " of 1.10 TB");
    asks(&["cmp", "huge", "other", "--no-shortcuts"], "comparing  ");
    asks(&["dup", "huge", "other", "-a", "sha256"], "ing  ");
    asks(&["hash", "-"], "hashing standard input");
    asks(&["find", "fifo", "--exec", "cat"], "running commands");
}

/// Kills the process even if the test fails.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns whether the process has a handler for the signal.
fn catches(child: &Child, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    caught & (1 << (signal.as_raw() - 1)) != 0
}
