//! The content of damaged files, saved for an undo.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ftk_file::{Identity, Stat};
use ftk_sched::Stop;
use rustix::fs::{AtFlags, CWD, Mode, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};

use crate::copy::{Expected, copy};
use crate::durable::sync_names;
use crate::intent::To;
use crate::journal::Journal;
use crate::metadata::Metadata;
use crate::own_directory::make_directory;
use crate::reach::{DIRECTORY, Held, Place};
use crate::refusal::{ActError, Side};

/// The permissions of the directory.
const PRIVATE: u32 = 0o700;

/// A directory with the content of damaged files, by the number of the step. Only the caller may read it.
#[derive(Debug)]
pub(super) struct SavedFiles {
    path: PathBuf,
    /// Open once a file was saved.
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    /// The name of the directory.
    place: Place,
    dir: Rc<OwnedFd>,
}

impl SavedFiles {
    /// `path` must not exist, and its parent must. The directory is created with the first file.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), open: None }
    }

    /// Returns the path for the content of the file of a step.
    pub(super) fn place_of(&self, step: u64) -> To {
        let directory = self.path.as_os_str().as_bytes();
        let path = [directory, format!("/{step}").as_bytes()].concat();
        To { path, root_len: directory.len() }
    }

    /// Copies the damaged file, and waits until the content is on the disk. Returns its digest.
    pub(super) fn save(
        &mut self,
        victim: &Held,
        step: u64,
        journal: &mut Journal,
        stop: &Stop,
    ) -> Result<blake3::Hash, ActError> {
        let dir = self.open(journal)?;
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

    /// Opens the directory. The first time it is made, and its identity is added to the journal.
    fn open(&mut self, journal: &mut Journal) -> Result<Rc<OwnedFd>, ActError> {
        if let Some(open) = &self.open {
            return Ok(open.dir.clone());
        }
        let failed = |error: io::Error| ActError::failed("make the directory for damaged files", error);
        let name = self.path.file_name().ok_or_else(|| failed(Errno::INVAL.into()))?;
        let name = CString::new(name.as_bytes()).map_err(|error| failed(error.into()))?;
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = openat(CWD, parent.unwrap_or(Path::new(".")), DIRECTORY, Mode::empty());
        let place = Place { dir: Rc::new(parent.map_err(|errno| failed(errno.into()))?), name };
        let made = make_directory(&place, PRIVATE).map_err(|error| match error {
            ActError::Failed { source, .. } => failed(source),
            error => error,
        });
        let dir = made?.ok_or_else(|| failed(Errno::EXIST.into()))?;
        journal.start(self.path.as_os_str().as_bytes(), &Identity::of(&dir).map_err(failed)?);
        let open = self.open.insert(Open { place, dir: Rc::new(dir) });
        Ok(open.dir.clone())
    }

    /// Waits until the names of the saved files, and that of their directory, are on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        match &self.open {
            Some(Open { place, dir }) => Ok(sync_names(&[dir.clone(), place.dir.clone()])?),
            None => Ok(()),
        }
    }
}

impl Drop for SavedFiles {
    fn drop(&mut self) {
        if let Some(Open { place, dir }) = &self.open
            && let (Ok(now), Ok(made)) = (place.stat(), Stat::of(dir))
            && now.identity() == made.identity()
        {
            // A directory that contains files is not removed.
            let _ = unlinkat(&place.dir, &place.name, AtFlags::REMOVEDIR);
        }
    }
}
