//! What has to be on the disk before and after names change.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, fstat, fsync, openat};
use rustix::io::Errno;

use crate::reach::Held;
use crate::stat::{ctime_ns, identity, mtime_ns};

/// A file untouched for so long has been written to the disk by the kernel, which does so after 30 seconds and,
/// on a laptop that lets its disk sleep, after ten minutes.
const WRITTEN_BACK: Duration = Duration::from_secs(3600);

/// Waits until the content of a file is on the disk, unless it must have been for long: the copy of it that may
/// go is perhaps the only one that is.
pub(crate) fn sync_content(held: &Held) -> Result<(), Errno> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let young_from = now.saturating_sub(WRITTEN_BACK).as_nanos() as i128;
    if mtime_ns(&held.stat).max(ctime_ns(&held.stat)) < young_from {
        return Ok(());
    }
    ignoring_what_cannot_sync(fsync(&held.file))
}

/// Waits until the names in these directories are on the disk.
pub(crate) fn sync_names(directories: &[Rc<OwnedFd>]) -> Result<(), Errno> {
    let mut synced = Vec::new();
    for directory in directories {
        let directory_id = identity(&fstat(directory)?);
        if synced.contains(&directory_id) {
            continue;
        }
        synced.push(directory_id);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match openat(directory, ".", flags, Mode::empty()) {
            Ok(directory) => ignoring_what_cannot_sync(fsync(directory))?,
            // Who may change a directory without listing it cannot sync it; its names come to the disk later.
            Err(Errno::ACCESS) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// File systems that know no sync of what is asked say `EINVAL`.
fn ignoring_what_cannot_sync(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::INVAL) => Ok(()),
        result => result,
    }
}
