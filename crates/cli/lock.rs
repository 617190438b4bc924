//! The lock of a manifest or list that a command rewrites.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use ftk_record::quote;

use crate::console::{Console, cause};
use crate::input;
use crate::list::List;

/// A lock (`flock`) on a manifest or list. While it is held, no other command of ftk rewrites the file.
///
/// The lock belongs to the file and not to its name. So the file that replaces the manifest is locked before it
/// gets the name, and a lock counts only if the file still has the name afterwards.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// The file that has the name, and then the one that will replace it.
    held: Vec<File>,
}

/// How often a file may be replaced between its opening and its lock.
const TRIES: usize = 8;

impl Lock {
    /// Locks the manifest `path`, or the file to which it is a link.
    ///
    /// # Errors
    /// If another command holds the lock, or the path is not a regular file that can be opened. A file system
    /// without locks only causes a warning.
    pub(crate) fn acquire(path: &Path, console: &Console) -> anyhow::Result<Self> {
        let name = || quote(path.as_os_str().as_encoded_bytes());
        let cannot_open = || format!("cannot open {}", name());
        for _ in 0..TRIES {
            // Opening a FIFO would block.
            let is_file = fs::metadata(path).with_context(cannot_open)?.is_file();
            ensure!(is_file, "{} is not a regular file, so it cannot be rewritten", name());
            let file = input::open_file(path.as_os_str()).with_context(cannot_open)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => bail!("{} is in use: another command rewrites it", name()),
                Err(TryLockError::Error(error)) => {
                    console.warning(format_args!("cannot lock {}: {}", name(), cause(&error)));
                }
            }
            let lock = Self { path: path.to_owned(), held: vec![file] };
            if lock.check().is_ok() {
                return Ok(lock);
            }
        }
        bail!("{} is replaced again and again", name())
    }

    /// Returns the file that had the name when it was locked.
    pub(crate) fn file(&self) -> &File {
        &self.held[0]
    }

    /// Returns device and inode of the locked manifest.
    pub(crate) fn identity(&self) -> io::Result<(u64, u64)> {
        self.held[0].metadata().map(|it| (it.dev(), it.ino()))
    }

    /// Checks that the locked file still has its name.
    ///
    /// # Errors
    /// If another program has replaced or removed it.
    pub(crate) fn check(&self) -> io::Result<()> {
        let named = fs::metadata(&self.path).map(|it| (it.dev(), it.ino()));
        match named {
            Ok(named) if named == self.identity()? => Ok(()),
            _ => Err(io::Error::other("another program has replaced it since it was read")),
        }
    }

    /// Also locks the file that is to replace the manifest.
    ///
    /// # Errors
    /// If the output is the manifest itself, as for `/dev/stdin`, or cannot be locked although the manifest could.
    pub(crate) fn extend_to(&mut self, list: &List<'_>) -> io::Result<()> {
        if let Some(file) = list.file()? {
            let new = file.metadata()?;
            if (new.dev(), new.ino()) == self.identity()? {
                return Err(io::Error::other("a path through a descriptor cannot be replaced"));
            }
            // A file system without locks has been reported.
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                return Err(io::Error::other("another program has locked the new file"));
            }
            self.held.push(file);
        }
        Ok(())
    }

    /// Releases all files but the one that was locked last, which has the name now.
    pub(crate) fn replaced(&mut self) {
        self.held.drain(..self.held.len() - 1);
    }
}
