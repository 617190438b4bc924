//! Inspecting and controlling running processes.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::Ftk;

/// How long an expected event may take on a very busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command stopped in the middle of reading.
pub struct Paused(Child);

impl Paused {
    /// Starts the command and stops it when `reached` holds.
    ///
    /// # Panics
    /// If it ends first.
    pub fn when(ftk: Ftk, has_come: impl Fn(&Child) -> bool) -> Self {
        let mut child = ftk.spawn();
        wait_until(|| {
            assert!(child.try_wait().unwrap().is_none(), "it is over before it could be stopped");
            has_come(&child)
        });
        signal(&child, Signal::STOP);
        wait_until(|| state(&child) == 'T');
        Self(child)
    }

    /// Continues it and waits for its end.
    pub fn go_on(self) -> std::process::Output {
        signal(&self.0, Signal::CONT);
        self.0.wait_with_output().unwrap()
    }
}

/// Writes a program that every user can run.
///
/// Another process writes it. While this one had the file open for writing, a child that another test starts would inherit
/// the descriptor, and the kernel does not run a file that is open for writing (`ETXTBSY`).
pub fn install(path: &Path, text: &str) {
    let mut install = Command::new("install");
    install.args(["-m", "755", "/dev/stdin"]).arg(path).stdin(Stdio::piped());
    let mut child = install.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "install {path:?}");
}

pub fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Bytes that its system calls have read so far.
pub fn has_read(child: &Child) -> u64 {
    let io = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
    let rchar = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    rchar.map_or(0, |n| n.parse().unwrap())
}

/// Whether it has a file of this name open. Threads may have their own descriptors.
pub fn has_open(child: &Child, name: &str) -> bool {
    let entries = |path: String| fs::read_dir(path).into_iter().flatten().flatten();
    entries(format!("/proc/{}/task", child.id()))
        .flat_map(|task| entries(format!("{}/fd", task.path().display())))
        .any(|fd| fs::read_link(fd.path()).is_ok_and(|path| path.ends_with(name)))
}

/// Whether it currently maps part of a file of this name.
pub fn maps(child: &Child, name: &str) -> bool {
    let maps = fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap_or_default();
    maps.lines().any(|line| line.rsplit('/').next() == Some(name))
}

/// The state of the first thread that is not stopped, or `T`: `R` running, `S` waiting, `T` stopped.
fn state(child: &Child) -> char {
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
    let state = |task: std::io::Result<fs::DirEntry>| {
        let stat = fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
    };
    tasks.filter_map(state).find(|&state| state != 'T').unwrap_or('T')
}

/// Waits until the condition holds.
///
/// # Panics
/// If it does not hold within `PATIENCE`.
#[track_caller]
pub fn wait_until(holds: impl FnMut() -> bool) {
    assert!(waits_for(holds), "the condition did not hold in time");
}

/// Waits until the condition holds, at most for `PATIENCE`. Returns whether it does.
pub fn waits_for(mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_micros(200));
    }
    false
}
