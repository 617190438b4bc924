//! The content of damaged files, saved for an undo.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ftk_sched::Stop;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fsync, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};

use crate::copy::{Expected, copy};
use crate::intent::To;
use crate::metadata::Metadata;
use crate::reach::{DIRECTORY, Held, Place};
use crate::refusal::{ActError, Side};

/// A directory with the content of damaged files, by the number of the step. Only the caller may read it.
#[derive(Debug)]
pub(super) struct SavedFiles {
    path: PathBuf,
    /// Open once a file was saved.
    dir: Option<Rc<OwnedFd>>,
}

impl SavedFiles {
    /// `path` must not exist, and its parent must. The directory is created with the first file.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), dir: None }
    }

    /// Returns the path for the content of the file of a step.
    pub(super) fn place_of(&self, step: u64) -> To {
        let directory = self.path.as_os_str().as_bytes();
        let path = [directory, format!("/{step}").as_bytes()].concat();
        To { path, root_len: directory.len() }
    }

    /// Copies the damaged file, and waits until the content is on the disk. Returns its digest.
    pub(super) fn save(&mut self, victim: &Held, step: u64, stop: &Stop) -> Result<blake3::Hash, ActError> {
        let dir =
            self.open().map_err(|errno| ActError::failed("make the directory for damaged files", errno))?;
        let place = Place { dir, name: CString::new(step.to_string()).expect("digits have no NUL") };
        let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
        let metadata =
            Metadata { mode: 0o600, uid, gid, attributes: Vec::new(), ..Metadata::of_stat(victim) };
        let copied = copy(victim, place, &metadata, Expected::Nothing, stop);
        copied.map(|copied| copied.digest).map_err(|error| match error {
            ActError::Failed { source, .. } => ActError::failed("save the damaged content", source),
            error => error.with_source(Side::Target),
        })
    }

    /// Opens the directory, and creates it the first time.
    fn open(&mut self) -> Result<Rc<OwnedFd>, Errno> {
        if let Some(dir) = &self.dir {
            return Ok(dir.clone());
        }
        mkdirat(CWD, &self.path, Mode::RWXU)?;
        let dir = Rc::new(openat(CWD, &self.path, DIRECTORY, Mode::empty())?);
        self.dir = Some(dir.clone());
        Ok(dir)
    }

    /// Waits until the names of the saved files, and that of their directory, are on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        if self.dir.is_none() {
            return Ok(());
        }
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        for path in [&*self.path, parent.unwrap_or(Path::new("."))] {
            let directory = openat(CWD, path, DIRECTORY - OFlags::PATH, Mode::empty())?;
            fsync(directory)?;
        }
        Ok(())
    }
}

impl Drop for SavedFiles {
    fn drop(&mut self) {
        if self.dir.is_some() {
            // A directory that contains files is not removed.
            let _ = unlinkat(CWD, &self.path, AtFlags::REMOVEDIR);
        }
    }
}
