//! Bytes that are said to be freed are those that the file system gives back, on file systems made for the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{Dir, bytes, skip, wait_until};

/// A file system of its own, mounted for as long as this is there.
struct Mounted {
    point: tempfile::TempDir,
    _image: Option<tempfile::NamedTempFile>,
}

impl Mounted {
    /// `None`, and a line that says so, where it cannot be had. With `FTK_TEST_LOOP` set it must be.
    fn new(kind: &str) -> Option<Self> {
        let required = std::env::var_os("FTK_TEST_LOOP").is_some_and(|value| value == "1");
        match Self::mount(kind) {
            Ok(mounted) => Some(mounted),
            Err(why) => {
                assert!(!required, "{kind}: {why}");
                skip(&format!("{kind}: {why}"));
                None
            }
        }
    }

    fn mount(kind: &str) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root mounts".into());
        }
        let point = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", kind]);
        let image = if kind == "tmpfs" {
            mount.arg("none");
            None
        } else {
            if !Path::new("/dev/loop-control").exists() {
                return Err("no loop devices".into());
            }
            let image = tempfile::NamedTempFile::new().unwrap();
            image.as_file().set_len(512 << 20).unwrap(); // XFS wants 300 MiB
            run(Command::new(format!("mkfs.{kind}")).arg("-q").arg(image.path()))?;
            mount.args(["-o", "loop"]).arg(image.path());
            Some(image)
        };
        run(mount.arg(point.path()))?;
        Ok(Self { point, _image: image })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.point.path().join(name)
    }

    /// Bytes in use, when all is on the disk.
    fn used(&self) -> u64 {
        // btrfs gives blocks back some transactions later.
        for _ in 0..3 {
            run(Command::new("sync").arg("-f").arg(self.point.path())).unwrap();
        }
        let all = rustix::fs::statvfs(self.point.path()).unwrap();
        (all.f_blocks - all.f_bfree) * all.f_frsize
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        _ = run(Command::new("umount").arg("-l").arg(self.point.path()));
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {output:?}")) }
}

/// What the plan promises, what is said to be done, and what the file system says; a second run does nothing.
fn holds(mounted: &Mounted, action: &str, tolerance: u64) {
    let tree = mounted.path(action);
    fs::create_dir(&tree).unwrap();
    let content = bytes(9, 5_000_000);
    for name in ["a", "b", "c"] {
        fs::write(tree.join(name), &content).unwrap();
    }
    // One file with two names, and one with a name elsewhere that is not scanned.
    fs::hard_link(tree.join("b"), tree.join("d")).unwrap();
    fs::hard_link(tree.join("c"), mounted.path(&format!("{action} elsewhere"))).unwrap();
    let dir = Dir::new();
    let frees = |yes: &[&str]| {
        let run =
            dir.ftk(["dup", "prune", "--json", "--action", action]).args(yes).arg(&tree).run().status(0);
        let last: Value = serde_json::from_str(run.text().lines().last().unwrap()).unwrap();
        (last["summary"]["files"].as_u64().unwrap(), last["summary"]["frees_bytes"].as_u64().unwrap())
    };
    let before = mounted.used();
    let (_, promised) = frees(&[]);
    let (_, said) = frees(&["--yes"]);
    assert!(promised >= 5_000_000 && said == promised, "{action}: {promised} promised, {said} said");
    // XFS gives back what a removed file had when it finds the time.
    wait_until(|| said.abs_diff(before.saturating_sub(mounted.used())) <= tolerance);
    assert_eq!(frees(&["--yes"]), (0, 0), "{action}");
    // What is shared already cannot be freed, and the report knows.
    if action == "reflink" {
        let run = dir.ftk(["dup", "--summary", "--json"]).arg(&tree).run().status(0);
        let totals: Value = serde_json::from_str(run.text()).unwrap();
        assert_eq!(totals["free_bytes"], 0);
        assert!(totals["shared_bytes"].as_u64().unwrap() >= 10_000_000, "{totals}");
    }
    for name in ["a", "b", "c", "d"] {
        assert!(
            fs::read(tree.join(name)).map_or(action == "delete", |read| read == content),
            "{action}: {name}"
        );
    }
}

#[test]
fn h42_in_memory() {
    if let Some(mounted) = Mounted::new("tmpfs") {
        ["hardlink", "delete"].iter().for_each(|action| holds(&mounted, action, 0));
        // A link is a file itself.
        holds(&mounted, "symlink", 4096);
    }
}

/// Blocks of metadata come and go as well.
#[test]
fn h42_on_btrfs() {
    if let Some(mounted) = Mounted::new("btrfs") {
        ["reflink", "hardlink", "delete"].iter().for_each(|action| holds(&mounted, action, 1 << 19));
    }
}

#[test]
fn h42_on_xfs() {
    if let Some(mounted) = Mounted::new("xfs") {
        ["reflink", "hardlink", "delete"].iter().for_each(|action| holds(&mounted, action, 1 << 19));
    }
}
