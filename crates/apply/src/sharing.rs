//! Finds out which blocks of a file other files have, too, as after a reflink.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ftk_file::File;
use ftk_read::SharedBlocks;
use rustix::fs::{fstatfs, fstatvfs};

use crate::reach::Reach;
use crate::refusal::Side;
use crate::seen::Seen;
use crate::share::shared_extents;

/// Finds the shared blocks of files, on file systems that have them. Workers share it.
#[derive(Debug, Default)]
pub struct Sharing {
    /// The disk of each device; `None` if files on it never share blocks.
    disks: Mutex<HashMap<u64, Option<u64>>>,
}

/// Common types of file systems without shared blocks, which are not asked: ext2 to ext4, and tmpfs.
const NEVER: [u32; 2] = [0xef53, 0x0102_1994];

/// Subvolumes of this file system have their own device numbers.
const BTRFS: u32 = 0x9123_683e;

impl Sharing {
    /// Returns the blocks of a file on this device that other files share. The file is opened only if its file system may
    /// share blocks, or is not known yet.
    pub fn of(&self, dev: u64, open: &mut dyn FnMut() -> Option<File>) -> Vec<SharedBlocks> {
        let known = || self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        let disk = known().get(&dev).copied();
        if disk == Some(None) {
            return Vec::new();
        }
        let Some(file) = open() else { return Vec::new() };
        let disk = disk.unwrap_or_else(|| *known().entry(dev).or_insert(disk_of(dev, &file)));
        let Some(disk) = disk else { return Vec::new() };
        shared_extents(&file).map(|it| SharedBlocks { disk, start: it.physical, len: it.len }).collect()
    }

    /// Does the same for the file that was seen. Returns nothing if another file has its name.
    pub fn of_seen(&self, reach: &mut Reach, seen: &Seen) -> Vec<SharedBlocks> {
        self.of(seen.version.dev, &mut || {
            let held = reach.open(Side::Victim, seen).ok()?;
            (held.identity() == seen.version.identity()).then_some(held.file)
        })
    }
}

/// Returns a number for the disk that a file is on; `None` if files on it never share blocks.
fn disk_of(dev: u64, file: &File) -> Option<u64> {
    #[allow(clippy::unnecessary_cast, reason = "the width differs between platforms")]
    match fstatfs(file).ok()?.f_type as u32 {
        kind if NEVER.contains(&kind) => None,
        // Half of the number is that of the file system, and half of it that of the subvolume (`btrfs_statfs`).
        BTRFS => Some((fstatvfs(file).ok()?.f_fsid & 0xffff_ffff) | (1 << 63)),
        _ => Some(dev),
    }
}
