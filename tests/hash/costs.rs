//! Figures of the cost model that runs learn from each other.

use std::fs;
use std::process::Command;

use crate::harness::{Dir, needs};

/// The number of files from which on a run learns.
const MANY: usize = 1000;

/// Creates a tree of this many sparse files.
fn tree(files: usize, len: u64) -> Dir {
    let dir = Dir::new();
    (0..files).for_each(|nth| _ = dir.hole(&format!("t/{}/{nth}", nth % 16), len));
    dir
}

/// Stores figures as if five runs on this kind of machine had measured them, just now.
fn store(dir: &Dir, version: u32) -> Vec<u8> {
    let alias = fs::read_to_string("/sys/devices/system/cpu/modalias").unwrap_or_default();
    let kind = alias.strip_prefix("cpu:type:").and_then(|rest| rest.split(':').next());
    let kernel = Command::new("uname").arg("-r").output().unwrap().stdout;
    let machine = format!(
        "{}; {}; ftk {}; {} CPUs",
        kind.map_or(std::env::consts::ARCH, str::trim),
        String::from_utf8(kernel).unwrap().trim(),
        env!("CARGO_PKG_VERSION"),
        std::thread::available_parallelism().unwrap(),
    );
    let figures = r#"{"contention":[0.5,0.5,0.5,0.5,0.5],"file_ns":[7777,7777,7777,7777,7777]}"#;
    let text = format!(
        r#"{{"version":{version},"machines":[{{"machine":"{machine}","everywhere":{figures},"places":[]}}]}}"#
    );
    fs::create_dir_all(dir.aside("cache/ftk")).unwrap();
    fs::write(dir.aside("cache/ftk/learned"), &text).unwrap();
    text.into()
}

#[test]
fn learned_figures_are_used_by_runs_over_many_files() {
    let dir = tree(MANY, 10);
    dir.hole("few/1", 10);
    let verbose = |tree: &str| dir.ftk(["hash", "-v", tree]).run().status(0);
    let expected = verbose("t").stderr_lacks("from earlier runs").out;
    let stored = store(&dir, 1);
    let used = "costs   from earlier runs: contention 0.5 (5 runs), file_ns 7777 (5 runs)\n";
    verbose("t").stdout(&expected).stderr_has("costs   built-in figures: ").stderr_has(used);
    verbose("few").stderr_lacks("from earlier runs");
    let shown =
        dir.ftk(["calibrate", "--show"]).run().status(0).stderr_has("from earlier runs: contention 0.5 (5");
    shown.stdout_has("contention = 0.5\n").stdout_has("file_ns = 7777\n").stdout_has("ring_cold = 4\n");
    assert_eq!(fs::read(dir.aside("cache/ftk/learned")).unwrap(), stored, "it is written once a day");
    // Of a later version, or damaged.
    store(&dir, 2);
    verbose("t").stdout(&expected).stderr_lacks("from earlier runs");
    for bad in [&stored[..stored.len() / 2], b"", b"\0\xff"] {
        fs::write(dir.aside("cache/ftk/learned"), bad).unwrap();
        verbose("t").stdout(&expected).stderr_lacks("from earlier runs").stderr_lacks("learned");
    }
}

/// With `strace`, since no output shows it.
#[test]
fn small_runs_neither_learn_nor_ask() {
    needs!("strace");
    let dir = tree(MANY - 1, 10);
    let log = dir.aside("log");
    let calls = |args: &[&str]| {
        let strace = ["strace", "-f", "-qq", "-o", log.to_str().unwrap()];
        dir.ftk(args).under(&dir, strace).run().status(0);
        fs::read_to_string(&log).unwrap()
    };
    let asks = |calls: &str| calls.contains("ftk/learned") || calls.contains("/schedstat");
    assert!(!asks(&calls(&["hash", "-q", "t"])));
    assert!(!asks(&calls(&["dup", "-q", "t"])));
    assert!(!asks(&calls(&["find", "t"])));
    dir.hole("t/one-more", 10);
    assert!(asks(&calls(&["hash", "-q", "t"])));
}

#[test]
fn some_runs_teach_nothing() {
    let dir = tree(MANY, 30_000);
    let teaches_nothing = |args: &[&str], status| {
        let args = [&["hash", "-q", "-a", "sha3-512"], args].concat();
        dir.ftk(&args).run().status(status);
        assert!(!dir.aside("cache/ftk/learned").exists(), "{args:?}");
    };
    teaches_nothing(&["--polite", "t"], 0);
    teaches_nothing(&["--limit-rate", "10G", "t"], 0);
    teaches_nothing(&["--cache", "t"], 0);
    teaches_nothing(&["t", "/proc/self/mem"], 2);
    // The tree contains the directory of the file: the run must not change the tree.
    teaches_nothing(&[dir.aside("").to_str().unwrap()], 0);
    let home = dir.path("t");
    let homes = [
        vec![
            "env".to_owned(),
            "-u".to_owned(),
            "XDG_CACHE_HOME".to_owned(),
            format!("HOME={}", home.display()),
        ],
        ["env", "-u", "XDG_CACHE_HOME", "-u", "HOME"].map(str::to_owned).into(),
        vec!["env".to_owned(), "XDG_CACHE_HOME=/dev/null".to_owned()],
        vec!["env".to_owned(), "XDG_CACHE_HOME=/proc/none".to_owned()],
    ];
    for env in homes {
        let run = dir.ftk(["hash", "-q", "-a", "sha3-512", "t"]).under(&dir, &env).run();
        run.status(0).stderr("");
        assert!(!home.join(".cache").exists(), "{env:?}");
    }
}
