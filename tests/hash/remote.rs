//! A remote file system whose server answers late: many workers wait for it at the same time.

use std::fs;

use serde_json::Value;

use crate::harness::{Dir, Mounted, bytes, install, needs};

/// Stands for ssh: runs the SFTP server, which gets all requests 5 ms late.
const SERVER: &str = "#!/usr/bin/env python3
import os, subprocess, time
server = subprocess.Popen(['/usr/lib/openssh/sftp-server'], stdin=subprocess.PIPE)
while requests := os.read(0, 1 << 16):
    time.sleep(0.005)
    server.stdin.write(requests)
    server.stdin.flush()
";

/// Creates a directory `real` with 200 files, and shows it at `seen` through this server.
fn far_away() -> Option<(Dir, Mounted)> {
    let dir = Dir::new();
    for nth in 0..200 {
        dir.file(format!("real/{}/{nth}", nth % 8), &bytes(nth, nth as usize * 13));
    }
    dir.dir("seen");
    install(&dir.path("server"), SERVER);
    let at = dir.path("").canonicalize().unwrap();
    let at = at.to_str().unwrap().trim_end_matches('/');
    let command = format!("sshfs -o ssh_command={at}/server host:{at}/real seen");
    let mounted = Mounted::by(&dir, command.split(' ').map(str::to_owned), "seen")?;
    Some((dir, mounted))
}

/// Returns the decision of the cost model in a document of `--stats`.
fn plan(dir: &Dir) -> Value {
    let stats: Value = serde_json::from_slice(&fs::read(dir.aside("stats")).unwrap()).unwrap();
    stats["plans"][0].clone()
}

#[test]
fn many_workers_wait_for_a_server() {
    needs!("python3");
    let Some((dir, _mounted)) = far_away() else { return };
    let stats = dir.aside("stats");
    let command = |name| dir.ftk(["hash", "--root", name, name, "--stats"]).arg(&stats);
    let real = command("real").run().status(0);
    let local = plan(&dir);
    let seen = command("seen").run().status(0);
    assert_eq!(seen.out, real.out);
    let remote = plan(&dir);
    assert_eq!((&local["is_remote"], &remote["is_remote"]), (&false.into(), &true.into()));
    // A file takes at least 15 ms, and all workers together keep the CPUs busy for a small part of it.
    assert_eq!(remote["choice"]["reader"], "sync", "{remote}");
    assert!(remote["choice"]["workers"].as_u64().unwrap() >= 32, "{remote}");
    assert!(remote["sample_files"].as_u64().unwrap() < 4, "{remote}");
    let few = command("seen").limit(&dir, "-n 16").run().status(0);
    assert_eq!(few.out, real.out);
}

/// Returns how many threads a search starts.
fn threads(dir: &Dir, args: &[&str]) -> usize {
    let log = dir.aside("log");
    let strace = ["strace", "-f", "-qq", "-e", "trace=clone,clone3", "-o", log.to_str().unwrap()];
    let found = dir.ftk(["find", "--sort"]).args(args).under(dir, strace).run().status(0);
    assert_eq!(found.out, dir.ftk(["find", "--sort", "-j", "mono"]).args(args).run().status(0).out);
    // strace prints a call in two parts if another thread runs during it.
    let is_begun = |line: &&str| line.split_whitespace().nth(1).is_some_and(|call| call.starts_with("clone"));
    fs::read_to_string(log).unwrap().lines().filter(is_begun).count()
}

#[test]
fn many_workers_list_the_directories_of_a_server() {
    needs!("python3", "strace");
    let Some((dir, _mounted)) = far_away() else { return };
    // The starting point has eight directories, and is known to be slow when these are found.
    assert!(threads(&dir, &["seen"]) >= 8);
    let cpus = std::thread::available_parallelism().unwrap().get();
    assert!(threads(&dir, &["real"]) < cpus);
    assert!(threads(&dir, &["seen", "-j", "2"]) <= 1);
    let few = dir.ftk(["find", "--sort", "seen"]).limit(&dir, "-n 16").run().status(0);
    assert_eq!(few.out, dir.ftk(["find", "--sort", "seen"]).run().status(0).out);
}
