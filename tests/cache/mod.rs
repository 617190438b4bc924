//! `--cache`: digests of unchanged files are reused, and a digest is never that of another content.
//! `cargo xtask soak kills stale` runs longer forms of some of these tests.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{Dir, Ftk, Run, skip};

mod cost;
mod kills;
mod mounts;
mod reuse;
mod stale;
mod stores;
mod unused;

/// Options that make a run use the cache.
const CACHE: [&str; 1] = ["--cache"];

/// Returns a directory whose files can be remembered. If temporary files are on a file system where none are,
/// prints a line; with `CI` set, that is a failure.
fn place() -> Option<Dir> {
    const EXT: u32 = 0xef53;
    const BTRFS: u32 = 0x9123_683e;
    const XFS: u32 = 0x5846_5342;
    let dir = Dir::on_disk();
    if [EXT, BTRFS, XFS].contains(&(rustix::fs::statfs(dir.path("")).unwrap().f_type as u32)) {
        return Some(dir);
    }
    assert!(std::env::var_os("CI").is_none(), "set TMPDIR to a directory on ext4, XFS or Btrfs");
    skip("temporary files are not on ext4, XFS or Btrfs");
    None
}

/// Waits until a file that was just written is old enough to be remembered.
fn settle() {
    sleep(Duration::from_millis(60));
}

/// Runs the command and returns how many digests it reused; `None` if it did not use the cache.
fn counted(dir: &Dir, ftk: Ftk) -> (Run, Option<u64>) {
    let path = dir.aside("stats");
    _ = fs::remove_file(&path);
    let run = ftk.arg("--stats").arg(&path).run();
    let stats: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let phases = stats["phases"].as_array().unwrap().iter();
    let reused: Vec<_> = phases.filter_map(|phase| phase["reused"].as_u64()).collect();
    (run, (!reused.is_empty()).then(|| reused.iter().sum()))
}

/// Runs the command with the cache, checks that the output is that of a run without it, and returns how many
/// digests were reused.
#[track_caller]
fn cached(dir: &Dir, args: &[&str]) -> u64 {
    let expected = dir.ftk(args).args(["-q"]).run().status(0).stderr("");
    let (run, reused) = counted(dir, dir.ftk(args).args(CACHE).args(["-q"]));
    run.status(0).stderr("").stdout(&expected.out);
    reused.expect("the cache was used")
}

/// Returns how many files the store of this directory has.
fn stored(dir: &Dir) -> u64 {
    let run = dir.ftk(["cache", "stats", "--json"]).run().status(0).stderr("");
    serde_json::from_str::<Value>(run.text()).unwrap()["files"].as_u64().unwrap()
}

/// The same command with variables in its environment, such as `FTK_CACHE=1`.
fn with_env(dir: &Dir, ftk: Ftk, variables: &[&str]) -> Ftk {
    ftk.under(dir, ["env"].iter().chain(variables))
}
