//! File systems in files, which can be mounted several times.

use std::fs::{self, File};
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

    /// A Btrfs file system with these files in its top directory. No file has changed since 2020. Returns `None` as
    /// [`new`](Self::new) does.
    pub fn of_old_files(dir: &Dir, files: &[(&str, &[u8])]) -> Option<Self> {
        let (source, point) = (Self::new(dir, "ext4", 16 << 20)?, "old-files");
        {
            let _mounted = source.mount(dir, point)?;
            files.iter().for_each(|(name, content)| _ = dir.file(format!("{point}/{name}"), content));
        }
        // Nothing else sets the ctime. `mkfs.btrfs` copies it.
        let set =
            |(name, _): &(&str, &[u8])| format!("sif {name} ctime 20200102\nsif {name} mtime 20200102\n");
        let script = dir.aside("old-files");
        fs::write(&script, files.iter().map(set).collect::<String>()).unwrap();
        let run = Command::new("debugfs").arg("-w").arg("-f").args([&script, &source.path]).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        let _mounted = source.mount(dir, point)?;
        Self::with(dir, "btrfs", 512 << 20, &["--rootdir", dir.path(point).to_str().unwrap()])
    }

    pub fn mount(&self, dir: &Dir, point: &str) -> Option<Mounted> {
        dir.dir(point);
        Mounted::at(&dir.path(point), ["-o".as_ref(), "loop".as_ref(), self.path.as_os_str()])
    }
}
