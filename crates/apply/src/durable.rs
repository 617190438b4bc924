//! What has to be on the disk before and after names change.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, fstat, fsync, openat, syncfs};
use rustix::io::Errno;

use crate::reach::Held;
use crate::seen::Seen;
use crate::stat::identity;

/// A file untouched for so long has been written to the disk by the kernel, which does so after 30 seconds and,
/// on a laptop that lets its disk sleep, after ten minutes.
const WRITTEN_BACK: Duration = Duration::from_secs(3600);

/// So many files, and so many directories of a batch, are synced one by one; for more the whole file system is
/// once. A sync of its own makes the disk wait, and that of the file system writes what others have written, too.
const FEW: usize = 8;

/// Which keepers are on the disk: the copy of one that may go is perhaps the only copy that is.
#[derive(Debug, Default)]
pub(crate) struct Keepers {
    synced: Vec<(u64, u64)>,
    /// Devices of which everything is that was there before the run.
    file_systems: Vec<u64>,
}

impl Keepers {
    /// Waits until the content of a keeper is on the disk, unless it has been for long. It is the one that `seen`
    /// tells of, so whatever was synced since the run began holds all of it.
    pub(crate) fn sync(&mut self, keeper: &Held, seen: &Seen) -> Result<(), Errno> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let young_from = now.saturating_sub(WRITTEN_BACK).as_nanos() as i128;
        let (dev, ino) = keeper.identity();
        let is_old = seen.mtime_ns.max(seen.ctime_ns) < young_from;
        if is_old || self.synced.contains(&(dev, ino)) || self.file_systems.contains(&dev) {
            return Ok(());
        }
        if self.synced.len() < FEW {
            ignore_unsupported(fsync(&keeper.file))?;
            self.synced.push((dev, ino));
        } else {
            ignore_unsupported(syncfs(&keeper.file))?;
            self.file_systems.push(dev);
        }
        Ok(())
    }
}

/// Waits until the names in these directories are on the disk.
pub(crate) fn sync_names(directories: &[Rc<OwnedFd>]) -> Result<(), Errno> {
    let mut distinct: Vec<((u64, u64), &Rc<OwnedFd>)> = Vec::new();
    for directory in directories {
        let id = identity(&fstat(directory)?);
        if !distinct.iter().any(|(known, _)| *known == id) {
            distinct.push((id, directory));
        }
    }
    let by_one = distinct.len() <= FEW;
    if !by_one {
        distinct.sort_unstable_by_key(|(id, _)| *id);
        distinct.dedup_by_key(|((dev, _), _)| *dev);
    }
    for (_, directory) in distinct {
        sync(directory.as_fd(), if by_one { fsync } else { syncfs })?;
    }
    Ok(())
}

/// Waits until everything on the file system of a directory is on the disk.
pub(crate) fn sync_file_system(directory: BorrowedFd<'_>) -> Result<(), Errno> {
    sync(directory, syncfs)
}

fn sync(directory: BorrowedFd<'_>, how: fn(OwnedFd) -> Result<(), Errno>) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(directory, ".", flags, Mode::empty()) {
        Ok(directory) => ignore_unsupported(how(directory)),
        // Who may change a directory without listing it cannot sync it; its names come to the disk later.
        Err(Errno::ACCESS) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// File systems that know no sync of what is asked say `EINVAL`.
fn ignore_unsupported(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::INVAL) => Ok(()),
        result => result,
    }
}
