//! File systems made for a test.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Dir, is_too_slow, skip};

/// A mount, removed on drop.
pub struct Mounted {
    point: PathBuf,
    _made: Option<(tempfile::TempDir, Option<tempfile::NamedTempFile>)>,
}

impl Mounted {
    /// A new file system, in memory (`tmpfs`) or in a file. Returns `None` and prints a line if it cannot be mounted; with
    /// `FTK_TEST_LOOP` set, that is a failure.
    pub fn new(kind: &str) -> Option<Self> {
        if kind != "tmpfs" && is_too_slow("loop devices") {
            return None;
        }
        or_skip("FTK_TEST_LOOP", kind, Self::make(kind))
    }

    /// Runs `mount` with these arguments for this directory. Returns `None` as [`new`](Self::new) does.
    pub fn at<A: AsRef<OsStr>>(point: &Path, args: impl IntoIterator<Item = A>) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(args).arg(point);
        let mounted = is_allowed().and_then(|()| run(&mut mount));
        or_skip("FTK_TEST_LOOP", "mount", mounted.map(|()| Self { point: point.to_owned(), _made: None }))
    }

    /// An overlay of the directories `lower` and `upper` in `top`, at `merged` there. Returns `None` as [`new`](Self::new)
    /// does.
    pub fn overlay(top: &Path) -> Option<Self> {
        for name in ["lower", "upper", "work", "merged"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        let option = |name: &str| format!("{name}dir={}", top.join(name).display());
        let options = ["lower", "upper", "work"].map(option).join(",");
        Self::at(&top.join("merged"), ["-t", "overlay", "overlay", "-o", &options])
    }

    /// Runs a command that mounts a file system, such as FUSE, at a directory of the test. Returns `None` and prints a line
    /// if that fails; with `FTK_TEST_FUSE` set, that is a failure.
    pub fn by(dir: &Dir, command: impl IntoIterator<Item = String>, point: &str) -> Option<Self> {
        if is_too_slow("mounts of FUSE") {
            return None;
        }
        let command: Vec<_> = command.into_iter().collect();
        let mut mount = Command::new(&command[0]);
        mount.args(&command[1..]).current_dir(dir.path(""));
        // The server runs in the background. If it held one of our pipes, we would wait for its end.
        mount.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mounted = is_allowed().and_then(|()| match mount.status() {
            Ok(status) if status.success() => Ok(Self { point: dir.path(point), _made: None }),
            Ok(status) => Err(format!("{mount:?}: {status}")),
            Err(error) => Err(format!("{mount:?}: {error}")),
        });
        or_skip("FTK_TEST_FUSE", &command[0], mounted)
    }

    fn make(kind: &str) -> Result<Self, String> {
        is_allowed()?;
        let temp = tempfile::tempdir().unwrap();
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
            image.as_file().set_len(512 << 20).unwrap(); // XFS needs 300 MiB
            run(Command::new(format!("mkfs.{kind}")).arg("-q").arg(image.path()))?;
            mount.args(["-o", "loop"]).arg(image.path());
            Some(image)
        };
        run(mount.arg(temp.path()))?;
        Ok(Self { point: temp.path().to_owned(), _made: Some((temp, image)) })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.point.join(name)
    }

    /// Bytes in use, after a sync.
    pub fn used(&self) -> u64 {
        // btrfs frees blocks some transactions later.
        for _ in 0..3 {
            run(Command::new("sync").arg("-f").arg(&self.point)).unwrap();
        }
        let all = rustix::fs::statvfs(&self.point).unwrap();
        (all.f_blocks - all.f_bfree) * all.f_frsize
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        _ = run(Command::new("umount").arg("-l").arg(&self.point));
    }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn is_allowed() -> Result<(), String> {
    if is_root() { Ok(()) } else { Err("only root mounts".into()) }
}

/// `required` is the variable that turns a skip into a failure.
fn or_skip(required: &str, what: &str, mounted: Result<Mounted, String>) -> Option<Mounted> {
    let required = std::env::var_os(required).is_some_and(|value| value == "1");
    match mounted {
        Ok(mounted) => Some(mounted),
        Err(why) => {
            assert!(!required, "{what}: {why}");
            skip(&format!("{what}: {why}"));
            None
        }
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {output:?}")) }
}
