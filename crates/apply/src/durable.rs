//! Syncs: what must be on the disk before and after names change.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use ftk_file::{Stat, Version};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use crate::reach::Held;
use crate::sys;

/// Up to this many keepers of a run, and directories of a batch, are synced one by one. Beyond that, one sync
/// of the whole file system is faster, although it also writes the data of other processes.
const MAX_SINGLE_SYNCS: usize = 8;

/// The keepers that are known to be on the disk. A victim may be the only copy on the disk until its keeper
/// is written.
#[derive(Debug, Default)]
pub(crate) struct Keepers {
    synced: Vec<(u64, u64)>,
    /// Devices on which all data from before the run has been written.
    file_systems: Vec<u64>,
}

impl Keepers {
    /// Waits until the content of a keeper is on the disk, unless it is old enough to have been written.
    ///
    /// The keeper is known to be unchanged since `seen`, so a sync after the start of the run includes all of
    /// its content.
    pub(crate) fn sync(&mut self, keeper: &Held, seen: &Version) -> Result<(), Errno> {
        let (dev, ino) = keeper.identity();
        if seen.is_written_back() || self.synced.contains(&(dev, ino)) || self.file_systems.contains(&dev) {
            return Ok(());
        }
        if self.synced.len() < MAX_SINGLE_SYNCS {
            ignore_unsupported(sys::sync(&keeper.file))?;
            self.synced.push((dev, ino));
        } else {
            ignore_unsupported(sys::sync_file_system(&keeper.file))?;
            self.file_systems.push(dev);
        }
        Ok(())
    }
}

/// Waits until the names in these directories are on the disk.
pub(crate) fn sync_names(directories: &[Rc<OwnedFd>]) -> Result<(), Errno> {
    let mut distinct: Vec<((u64, u64), &Rc<OwnedFd>)> = Vec::new();
    for directory in directories {
        let id = Stat::of(directory)?.identity();
        if !distinct.iter().any(|(known, _)| *known == id) {
            distinct.push((id, directory));
        }
    }
    let one_by_one = distinct.len() <= MAX_SINGLE_SYNCS;
    if !one_by_one {
        distinct.sort_unstable_by_key(|(id, _)| *id);
        distinct.dedup_by_key(|((dev, _), _)| *dev);
    }
    for (_, directory) in distinct {
        sync(directory.as_fd(), if one_by_one { sys::sync } else { sys::sync_file_system })?;
    }
    Ok(())
}

/// Waits until all data of the file systems that these directories are on is on the disk.
pub(crate) fn sync_file_systems(directories: &[Rc<OwnedFd>]) -> Result<(), Errno> {
    let mut synced = Vec::new();
    for directory in directories {
        let dev = Stat::of(directory)?.dev;
        if !synced.contains(&dev) {
            sync_file_system(directory.as_fd())?;
            synced.push(dev);
        }
    }
    Ok(())
}

/// Waits until all data of a directory's file system is on the disk.
pub(crate) fn sync_file_system(directory: BorrowedFd<'_>) -> Result<(), Errno> {
    sync(directory, sys::sync_file_system)
}

fn sync(directory: BorrowedFd<'_>, how: fn(OwnedFd) -> Result<(), Errno>) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(directory, ".", flags, Mode::empty()) {
        Ok(directory) => ignore_unsupported(how(directory)),
        // A sync needs permission to list the directory. Without it, the names are not synced: the kernel
        // writes them later.
        Err(Errno::ACCESS) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Ignores `EINVAL`, which file systems return if they do not support this kind of sync.
fn ignore_unsupported(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::INVAL) => Ok(()),
        result => result,
    }
}
