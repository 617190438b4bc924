//! Directories on file systems of several kinds.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::figures::Figures;
use crate::bench::case::words;

/// Size of an image of ext4 in bytes.
const IMAGE_BYTES: u64 = 16 << 20;

/// A directory, and how its file system was mounted.
pub(super) struct View {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    /// Whether digests of its files may be stored.
    pub(super) may_store: bool,
    /// The file of the file system, if it is in one.
    image: Option<PathBuf>,
    is_mounted: bool,
}

impl View {
    /// Makes a directory of each kind that this machine supports below the new directory `top`.
    pub(super) fn all(top: &Path, figures: &mut Figures) -> Result<Vec<Self>> {
        for name in ["disk", "memory", "overlay", "fuse", "image", "coarse", "lower", "upper", "work", "real"]
        {
            fs::create_dir_all(top.join(name))?;
        }
        let mut views = vec![Self::new(top, "disk", true, None)];
        let option = |name: &str| format!("{name}dir={}", top.join(name).display());
        let layers = ["lower", "upper", "work"].map(option).join(",");
        // It calls itself an ext4 on a disk, and shows the inode numbers of the directory below.
        let imitation = "fsname=/dev/vda,subtype=ext4";
        let mounts = [
            ("memory", words!["mount", "-t", "tmpfs", "none"]),
            ("overlay", words!["mount", "-t", "overlay", "overlay", "-o", &layers]),
            ("fuse", words!["bindfs", "-o", imitation, &top.join("real")]),
        ];
        for (name, mut mount) in mounts {
            let mut view = Self::new(top, name, false, None);
            mount.push(view.path.clone().into());
            match run(mount) {
                Ok(()) => {
                    view.is_mounted = true;
                    views.push(view);
                }
                Err(error) => figures.skip(format!("{name}: {error:#}")),
            }
        }
        // Small inodes have no room for fractions of a second, so that many writes have the same times.
        for (name, inode_bytes) in [("image", "256"), ("coarse", "128")] {
            let image = top.join(name).with_extension("ext4");
            File::create(&image)?.set_len(IMAGE_BYTES)?;
            let mut view = Self::new(top, name, true, Some(image.clone()));
            match run(words!["mkfs.ext4", "-q", "-I", inode_bytes, &image]).and_then(|()| view.mount()) {
                Ok(()) => views.push(view),
                Err(error) => figures.skip(format!("{name}: {error:#}")),
            }
        }
        Ok(views)
    }

    fn new(top: &Path, name: &'static str, may_store: bool, image: Option<PathBuf>) -> Self {
        Self { name, path: top.join(name), may_store, image, is_mounted: false }
    }

    /// The file that keeps a snapshot.
    fn snapshot(image: &Path) -> PathBuf {
        image.with_extension("snapshot")
    }

    pub(super) fn has_snapshots(&self) -> bool {
        self.image.is_some()
    }

    /// Keeps the present state of an image. Returns `false` for others.
    pub(super) fn save(&mut self) -> Result<bool> {
        let Some(image) = self.image.clone() else { return Ok(false) };
        self.unmount()?;
        fs::copy(&image, Self::snapshot(&image))?;
        self.mount()?;
        Ok(true)
    }

    /// Restores the state that was kept last. Returns `false` if there is none.
    pub(super) fn restore(&mut self) -> Result<bool> {
        let Some(image) = self.image.clone().filter(|image| Self::snapshot(image).exists()) else {
            return Ok(false);
        };
        self.unmount()?;
        fs::copy(Self::snapshot(&image), &image)?;
        self.mount()?;
        Ok(true)
    }

    fn mount(&mut self) -> Result<()> {
        let image = self.image.as_ref().context("only images are mounted again")?;
        run(words!["mount", "-o", "loop", image, &self.path])?;
        self.is_mounted = true;
        Ok(())
    }

    fn unmount(&mut self) -> Result<()> {
        run(words!["umount", &self.path])?;
        self.is_mounted = false;
        Ok(())
    }
}

impl Drop for View {
    fn drop(&mut self) {
        if self.is_mounted {
            _ = run(words!["umount", "-l", &self.path]);
        }
    }
}

fn run(words: Vec<OsString>) -> Result<()> {
    let (program, args) = words.split_first().context("a command has a name")?;
    let mut command = Command::new(program);
    // A server in the background keeps what it inherits.
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(status.success(), "{} ended with {status}", program.display());
    Ok(())
}
