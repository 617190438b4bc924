//! Tests whether files lie below directories, after resolving symbolic links.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use ftk_record::quote;

/// Directories, without symbolic links in their paths.
#[derive(Debug)]
pub(super) struct Below {
    directories: Vec<PathBuf>,
    /// The directory that was resolved last, and the answer. Neighbours come one after the other.
    last: Mutex<Option<(PathBuf, bool)>>,
}

impl Below {
    /// Resolves the directories.
    ///
    /// # Errors
    /// If one does not exist.
    pub(super) fn new(directories: &[OsString]) -> anyhow::Result<Self> {
        let canonical = |path: &OsString| {
            fs::canonicalize(path).with_context(|| format!("cannot open {}", quote(path.as_bytes())))
        };
        let directories = directories.iter().map(canonical).collect::<anyhow::Result<_>>()?;
        Ok(Self { directories, last: Mutex::new(None) })
    }

    /// Returns whether the directory of a file is one of the directories or below one.
    pub(super) fn contains(&self, file: &[u8]) -> bool {
        let parent = Path::new(OsStr::from_bytes(file)).parent().unwrap_or(Path::new(""));
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((path, is_below)) = &*last
            && path == parent
        {
            return *is_below;
        }
        // Steps for files in a directory that no longer exists will be refused.
        let resolved = fs::canonicalize(parent);
        let is_below =
            resolved.is_ok_and(|parent| self.directories.iter().any(|dir| parent.starts_with(dir)));
        *last = Some((parent.to_owned(), is_below));
        is_below
    }

    /// Returns whether a directory is one of the directories, below one, or above one.
    pub(super) fn touches(&self, dir: &[u8]) -> bool {
        fs::canonicalize(OsStr::from_bytes(dir)).is_ok_and(|dir| {
            self.directories.iter().any(|known| dir.starts_with(known) || known.starts_with(&dir))
        })
    }
}
