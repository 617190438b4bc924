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

/// Whether the directory is on a network file system or FUSE, where the locks of SQLite do not work reliably
/// (<https://www.sqlite.org/useovernet.html>).
#[cfg(target_os = "linux")]
fn is_remote(directory: &Path) -> io::Result<bool> {
    /// Numbers in `linux/magic.h` and in the sources of those file systems that are not part of Linux.
    const REMOTE: [u32; 10] = [
        0x6969,      // NFS
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB2
        0x0102_1997, // 9P
        0x6573_5546, // FUSE
        0x5346_414f, // AFS
        0x00c3_6400, // Ceph
        0x0bd0_0bd0, // Lustre
        0x4750_4653, // GPFS
        0x7461_636f, // OCFS2
    ];
    Ok(REMOTE.contains(&(rustix::fs::statfs(directory)?.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_: &Path) -> io::Result<bool> {
    Ok(false)
}
