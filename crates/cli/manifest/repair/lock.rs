//! A lock on a manifest that a command rewrites.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;

use anyhow::{Context as _, bail, ensure};
use ftk_record::quote;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Locks an open manifest until it is closed.
///
/// # Errors
/// If another command has locked it, or has replaced it since it was opened.
pub(super) fn lock(manifest: &File, path: &OsStr) -> anyhow::Result<()> {
    let name = || quote(path.as_encoded_bytes());
    match flock(manifest, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => bail!("{} is in use: another command is rewriting it", name()),
        Err(errno) => return Err(errno).with_context(|| format!("cannot lock {}", name())),
    }
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let [opened, now] = [manifest.metadata(), fs::metadata(path)].map(|it| it.map(identity).ok());
    ensure!(opened == now, "{} was replaced by another command: repeat this one", name());
    Ok(())
}
