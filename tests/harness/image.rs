//! File systems in files, which can be mounted several times.

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

use super::{Dir, Mounted, is_too_slow, skip};

/// A file system in a file next to the tree of a test.
pub struct Image {
    pub path: PathBuf,
}

impl Image {
    /// Returns `None` and prints a line if it cannot be made.
    pub fn new(dir: &Dir, kind: &str, len: u64) -> Option<Self> {
        Self::with(dir, kind, len, &[])
    }

    pub fn with(dir: &Dir, kind: &str, len: u64, options: &[&str]) -> Option<Self> {
        if is_too_slow("loop devices") {
            return None;
        }
        let path = dir.aside(&format!("image.{kind}"));
        File::create(&path).unwrap().set_len(len).unwrap();
        let made = Command::new(format!("mkfs.{kind}")).arg("-q").args(options).arg(&path).output();
        if made.as_ref().is_ok_and(|output| output.status.success()) {
            return Some(Self { path });
        }
        assert!(std::env::var_os("FTK_TEST_LOOP").is_none(), "mkfs.{kind}: {made:?}");
        skip(&format!("no mkfs.{kind}"));
        None
    }

    pub fn mount(&self, dir: &Dir, point: &str) -> Option<Mounted> {
        dir.dir(point);
        Mounted::at(&dir.path(point), ["-o".as_ref(), "loop".as_ref(), self.path.as_os_str()])
    }
}
