//! File systems whose clock differs from that of the host that makes the manifest.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use super::records::Manifest;
use crate::harness::{Dir, Mounted, Run, needs};

/// A library for `LD_PRELOAD`: the host's clock is ahead by the seconds in `AHEAD`.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec += atoi(getenv("AHEAD"));
    return result;
}
"#;

/// A file system of its own, `view`, and a way to run ftk on a host whose clock differs.
struct Host {
    _view: Mounted,
    library: PathBuf,
    dir: Dir,
}

impl Host {
    fn new() -> Option<Self> {
        let dir = Dir::new();
        let (source, library) = (dir.aside("clock.c"), dir.aside("clock.so"));
        fs::write(&source, CLOCK).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl");
        assert!(compiler.status().unwrap().success());
        dir.dir("view").dir("real");
        let view = Mounted::by(&dir, ["bindfs", "real", "view"].map(str::to_owned), "view")?;
        Some(Self { _view: view, library, dir })
    }

    fn run(&self, ahead: i32, args: &[&str]) -> Run {
        let (preload, ahead) = (format!("LD_PRELOAD={}", self.library.display()), format!("AHEAD={ahead}"));
        self.dir.ftk(args).under(&self.dir, ["env", &preload, &ahead]).run().status(0)
    }
}

fn start_ns(dir: &Dir, path: &str) -> i128 {
    Manifest::read(&dir.path(path)).header["start_ns"].as_i64().expect("a time").into()
}

fn now_ns() -> i128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as i128
}

/// The seconds by which the host is ahead. A run takes less.
const HOUR: i32 = 3600;

#[test]
fn the_start_is_never_later_than_the_clock_of_the_file_system() {
    needs!("cc");
    let Some(host) = Host::new() else { return };
    let dir = &host.dir;
    dir.file("view/t/old", b"abc");
    // Longer than the margin, on a file system whose times have fractions of a second.
    sleep(Duration::from_millis(100));
    dir.file("view/t/young", b"xyz");
    for (ahead, expected) in [(HOUR, 0), (-HOUR, -i128::from(HOUR) * 1_000_000_000)] {
        let first_ns = now_ns();
        host.run(ahead, &["manifest", "create", "--force", "view/t", "-o", "view/first"]);
        // A stamp may be a tick older than the clock.
        let start_ns = start_ns(dir, "view/first");
        let range = first_ns + expected - 20_000_000..=now_ns() + expected;
        assert!(range.contains(&start_ns), "{ahead}: {start_ns} is not in {range:?}");
    }
}

/// With the time of the host as its start, the manifest would vouch for a file that may have changed after it was read.
#[test]
fn a_host_that_is_ahead_does_not_trust_young_files() {
    needs!("cc");
    let Some(host) = Host::new() else { return };
    let dir = &host.dir;
    dir.file("view/t/old", b"abc").file("view/t/young", b"xyz");
    // Young for long enough, however busy the machine is; old for a host that is an hour ahead.
    dir.ftk([""; 0]).instead(dir, ["touch", "-d", "10 minutes", "view/t/young"]).run().status(0);
    sleep(Duration::from_millis(100));
    host.run(HOUR, &["manifest", "create", "view/t", "-o", "view/first"]);
    let update = ["manifest", "update", "view/t", "view/first", "-o", "view/second"];
    host.run(HOUR, &update).stderr_has("3 entries, 1 file read");
}
