//! Where the store is, and whether it may be used there.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::Unusable;

/// Creates the file of the store if it is missing, and checks that only this user can have written it. Returns its
/// path without links: the directories above it may be links, the file may not.
pub(crate) fn prepare(path: &Path) -> Result<PathBuf, Unusable> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let directory = &directory.canonicalize()?;
    let path = &directory.join(path.file_name().unwrap_or_default());
    if is_remote(directory)? {
        return Err(Unusable::Remote);
    }
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Another process may create it at the same moment.
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        }
        found => {
            found?;
        }
    }
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() {
        return Err(Unusable::NotAFile);
    }
    for metadata in [fs::metadata(directory)?, found] {
        // Those who can write to the directory can put another file in place.
        if metadata.uid() != geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
            return Err(Unusable::Shared);
        }
    }
    Ok(path.clone())
}

/// Whether the directory is on a remote file system or OCFS2, where the locks of SQLite do not work reliably
/// (<https://www.sqlite.org/useovernet.html>).
#[cfg(target_os = "linux")]
fn is_remote(directory: &Path) -> io::Result<bool> {
    use rustix::fs::{Mode, OFlags, fstatfs, open};

    /// OCFS2, in `linux/magic.h`. It is local: several machines share its disk.
    const OCFS2: u32 = 0x7461_636f;
    // Not opened for reading, which may be forbidden.
    let directory = open(directory, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    Ok(ftk_file::is_remote(&directory) || fstatfs(&directory)?.f_type as u32 == OCFS2)
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_: &Path) -> io::Result<bool> {
    Ok(false)
}
