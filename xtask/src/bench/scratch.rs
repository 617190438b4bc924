//! The folder of generated trees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::shape::Shape;

/// The prefix of folders of runs, followed by the process id.
const RUN: &str = "run-";

/// Makes trees on first use, and removes them at the end unless they are kept.
pub(crate) struct Scratch {
    folder: PathBuf,
    keep: bool,
}

impl Scratch {
    /// Makes a folder below `parent`. With `keep` it has a fixed name, so that later runs use its trees again.
    pub(crate) fn new(parent: &Path, keep: bool) -> Result<Self> {
        remove_left_over(parent);
        let name = if keep { "trees".to_owned() } else { format!("{RUN}{}", std::process::id()) };
        let folder = parent.join(name);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self { folder: folder.canonicalize()?, keep })
    }

    /// Returns the path of the tree, file or folder of this name, which need not exist.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the tree of this shape, and makes it if necessary.
    ///
    /// # Errors
    /// If there is too little space, on a failure of the file system, and after an interrupt. A partial tree is
    /// removed.
    pub(crate) fn tree(&self, shape: &Shape) -> Result<PathBuf> {
        self.made(shape.name, &shape.to_string(), shape.disk_bytes(), shape.files(), |top| {
            fs::create_dir(top)?;
            shape.make(top)
        })
    }

    /// Returns the tree `name`. Calls `make` unless a complete tree with this description exists. The tree needs up to
    /// `bytes` bytes on disk and `files` files.
    ///
    /// # Errors
    /// As for [`tree`](Self::tree).
    pub(crate) fn made(
        &self,
        name: &str,
        description: &str,
        bytes: u64,
        files: u64,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let top = self.path(name);
        let mark = self.path(&format!("{name}.complete"));
        if fs::read_to_string(&mark).is_ok_and(|text| text == description) {
            return Ok(top);
        }
        for stale in [&mark, &top] {
            remove(stale)?;
        }
        self.check_room(name, bytes, files)?;
        println!("making the {name} tree: {description}");
        if let Err(error) = make(&top) {
            remove(&top)?;
            return Err(error.context(format!("cannot make the {name} tree")));
        }
        fs::write(mark, description)?;
        Ok(top)
    }

    /// Returns the number of free bytes.
    pub(crate) fn room(&self) -> Result<u64> {
        let disk = rustix::fs::statvfs(&self.folder)?;
        Ok(disk.f_bavail * disk.f_frsize)
    }

    fn check_room(&self, name: &str, bytes: u64, files: u64) -> Result<()> {
        let disk = rustix::fs::statvfs(&self.folder)?;
        let free = disk.f_bavail * disk.f_frsize;
        ensure!(
            free >= bytes,
            "the {name} tree needs up to {} MiB, and {} has {} MiB free; choose another folder with --scratch",
            bytes >> 20,
            self.folder.display(),
            free >> 20,
        );
        // Some file systems create inodes on demand, and report 0.
        ensure!(
            disk.f_files == 0 || disk.f_favail >= files,
            "the file system of {} has too few inodes left for {files} files",
            self.folder.display(),
        );
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.keep
            && let Err(error) = remove(&self.folder)
        {
            println!("{error}");
        }
    }
}

/// Removes folders of runs that were killed. A folder that cannot be removed is ignored, since its name is not used
/// again.
fn remove_left_over(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let process = path.file_name().and_then(|name| name.to_str()?.strip_prefix(RUN)?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            println!("removing {}, a leftover of an earlier run", path.display());
            let _ = remove(&path);
        }
    }
}

/// Removes a file, or a tree of any depth, if it exists. The standard library keeps a descriptor for each level.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let status = Command::new("rm").arg("-rf").arg(path).status()?;
    ensure!(status.success(), "cannot remove {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::shape;

    #[test]
    fn trees_are_removed_at_the_end_of_the_run() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let scratch = Scratch::new(parent, false).unwrap();
        let tree = scratch.tree(&shape::DEEP).unwrap();
        assert_eq!(fs::read_dir(&tree).unwrap().count(), 3 + 20);
        let levels = scratch.path("levels");
        fs::create_dir(&levels).unwrap();
        shape::chain(&levels, 3_000, 1_000, |_| 0).unwrap();
        drop(scratch);
        assert_eq!(fs::read_dir(parent).unwrap().count(), 0);
    }

    #[test]
    fn too_little_space_is_reported_before_anything_is_made() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let scratch = Scratch::new(parent, false).unwrap();
        let error = scratch.made("bulk", "x", u64::MAX, 1, |_| Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("the bulk tree needs up to ") && error.contains("--scratch"), "{error}");
        assert!(!scratch.path("bulk").exists());
        drop(scratch);
    }

    #[test]
    fn leftovers_of_a_killed_run_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let (dead, other) = (parent.join("run-4294967295/small"), parent.join("runs"));
        fs::create_dir_all(&dead).unwrap();
        fs::create_dir_all(&other).unwrap();
        drop(Scratch::new(parent, false).unwrap());
        assert!(!dead.exists() && other.exists());
    }

    #[test]
    fn a_kept_tree_is_used_again_if_it_is_complete() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let make = || Scratch::new(parent, true).unwrap().tree(&shape::DEEP).unwrap();
        let tree = make();
        fs::write(tree.join("extra"), "").unwrap();
        assert!(make().join("extra").exists(), "the complete tree was made again");
        fs::write(parent.join("trees/deep.complete"), "of another shape").unwrap();
        assert!(!make().join("extra").exists(), "the incomplete tree was used");
    }
}
