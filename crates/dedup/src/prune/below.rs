//! Tests whether files lie below directories, after resolving symbolic links.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Directories, without symbolic links in their paths.
#[derive(Debug, Default)]
pub struct Below {
    directories: Vec<PathBuf>,
    /// The directory that was resolved last, and the answer. Neighbours come one after the other.
    last: Mutex<Option<(PathBuf, bool)>>,
}

impl Below {
    /// Resolves the directories.
    ///
    /// # Errors
    /// If one cannot be resolved. Returns its number too.
    pub fn new(directories: &[OsString]) -> Result<Self, (usize, io::Error)> {
        let canonical = |(nth, path)| fs::canonicalize(path).map_err(|error| (nth, error));
        let directories = directories.iter().enumerate().map(canonical).collect::<Result<_, _>>()?;
        Ok(Self { directories, last: Mutex::new(None) })
    }

    /// Returns whether the directory of a file is one of the directories or below one.
    pub fn contains(&self, file: &[u8]) -> bool {
        if self.directories.is_empty() {
            return false;
        }
        let parent = Path::new(OsStr::from_bytes(file)).parent().unwrap_or(Path::new(""));
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((path, is_below)) = &*last
            && path == parent
        {
            return *is_below;
        }
        // Steps for files in a directory that no longer exists will be refused.
        let is_below = fs::canonicalize(parent).is_ok_and(|parent| self.has(&parent));
        *last = Some((parent.to_owned(), is_below));
        is_below
    }

    /// Returns whether a path without symbolic links is one of the directories or below one.
    fn has(&self, path: &Path) -> bool {
        self.directories.iter().any(|dir| path.starts_with(dir))
    }

    /// Returns whether a starting point is one of the directories or below one. One that cannot be resolved has no files.
    pub fn has_root(&self, root: &[u8]) -> bool {
        fs::canonicalize(OsStr::from_bytes(root)).is_ok_and(|root| self.has(&root))
    }

    /// Returns whether a directory is one of the directories, below one, or above one.
    pub fn touches(&self, dir: &[u8]) -> bool {
        !self.directories.is_empty()
            && fs::canonicalize(OsStr::from_bytes(dir)).is_ok_and(|dir| {
                self.has(&dir) || self.directories.iter().any(|known| known.starts_with(&dir))
            })
    }
}
