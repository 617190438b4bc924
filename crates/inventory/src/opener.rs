//! Opens the directories of a table again.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

use crate::beneath;
use crate::shard::ROOT;
use crate::table::Origin;
use crate::{DirNo, FileNo, Inventory};

/// A directory descriptor. An open in flight holds a clone, so that the descriptor's number is not reused.
pub type DirFd = Rc<OwnedFd>;

/// `O_PATH` where the system has it: it needs no permission to list the directory.
#[cfg(target_os = "linux")]
const ACCESS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ACCESS: OFlags = OFlags::RDONLY;

/// The size of the longest path that a system call accepts, including its terminating NUL.
const PATH_MAX: usize = 4096;

/// Opens the directories of one inventory again, for the thread that reads their files.
///
/// It holds one descriptor, that of the directory opened last, and opens directories below it relative to it.
/// Each clone that it returned keeps its directory open until it is dropped.
#[derive(Debug)]
pub struct Opener<'i> {
    inventory: &'i Inventory,
    /// The directory that a list is confined to, once it is open.
    root: Option<DirFd>,
    last: Option<(DirNo, DirFd)>,
    /// The directories from the one to open up to the one to start from, the outermost last.
    climb: Vec<DirNo>,
    path: Vec<u8>,
}

impl<'i> Opener<'i> {
    /// Makes an opener, which holds no descriptor yet.
    pub fn new(inventory: &'i Inventory) -> Self {
        Self { inventory, root: None, last: None, climb: Vec::new(), path: Vec::new() }
    }

    /// Returns a descriptor of the directory (`O_PATH` on Linux). The last descriptor is kept and returned
    /// again.
    ///
    /// In a table made by a walk, links in the path are followed, and the directory must have the device and
    /// inode number of the one that was walked. In a table made from a list there is nothing to compare with;
    /// if the list is confined, links are not followed.
    ///
    /// For the directory of files given as starting points this is the working directory. If that cannot be
    /// opened, and all of these have absolute paths, it is `/`.
    ///
    /// # Errors
    /// If the directory cannot be opened (`ELOOP` for a link that is not followed), or is not the one that
    /// was walked (`ESTALE`, see [`Opener::is_replaced`]).
    pub fn open(&mut self, dir: DirNo) -> io::Result<DirFd> {
        if let Some((last, fd)) = &self.last
            && *last == dir
        {
            return Ok(fd.clone());
        }
        let fd = if self.inventory.dir_name(dir).is_empty() {
            match self.root()? {
                Some(root) => root,
                None => Rc::new(self.open_for_starting_points(dir)?),
            }
        } else {
            let fd = self.find(dir)?;
            let walked = &self.inventory.dirs[dir.0 as usize];
            if self.inventory.origin == Origin::Walked && identity(&fd)? != (walked.dev, walked.ino) {
                return Err(Errno::STALE.into());
            }
            Rc::new(fd)
        };
        self.last = Some((dir, fd.clone()));
        Ok(fd)
    }

    /// Returns whether an error of [`Opener::open`] means that the directory was replaced by another one.
    pub fn is_replaced(error: &io::Error) -> bool {
        error.raw_os_error() == Some(Errno::STALE.raw_os_error())
    }

    /// Returns whether a file may be opened. `at` is its directory.
    ///
    /// Opening a FIFO or a device can have side effects. In a table made by a walk all files were seen to be
    /// regular. In a table made from a list this reads the type. If that fails, this returns `true`, and
    /// opening will fail with the error.
    pub fn may_open(&self, at: &DirFd, dir: DirNo, file: FileNo) -> bool {
        if self.inventory.origin == Origin::Walked {
            return true;
        }
        let name = self.inventory.name(dir, file);
        let link =
            if self.inventory.via_link(dir, file) { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        let is_regular = |stat: rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode).is_file();
        statat(at, name, link).map_or(true, is_regular)
    }

    /// Returns the directory that the list is confined to, if there is one. Links in its path are followed.
    fn root(&mut self) -> io::Result<Option<DirFd>> {
        let Origin::Confined(path) = &self.inventory.origin else { return Ok(None) };
        if self.root.is_none() {
            self.root = Some(Rc::new(open_directory(CWD, path)?));
        }
        Ok(self.root.clone())
    }

    fn open_for_starting_points(&self, dir: DirNo) -> io::Result<OwnedFd> {
        open_directory(CWD, c".").or_else(|error| {
            // The paths are sorted, so all paths between two absolute ones are absolute.
            let files = self.inventory.files_of(dir);
            let is_absolute = |file| self.inventory.name(dir, FileNo(file)).to_bytes().starts_with(b"/");
            let ends = [files.start, files.end.saturating_sub(1)];
            if ends.into_iter().all(is_absolute) { open_directory(CWD, c"/") } else { Err(error) }
        })
    }

    /// Opens the directory by its path, in as few calls as the length of the path allows.
    fn find(&mut self, dir: DirNo) -> io::Result<OwnedFd> {
        let known = self.last.as_ref().map(|&(dir, _)| dir);
        self.climb.clear();
        let mut at = dir;
        let from_last = loop {
            if known == Some(at) {
                break true;
            }
            self.climb.push(at);
            match self.inventory.dirs[at.0 as usize].up {
                ROOT => break false,
                up => at = DirNo(up),
            }
        };
        let mut base = match &self.last {
            Some((_, fd)) if from_last => Some(fd.clone()),
            _ => self.root()?,
        };
        self.path.clear();
        while let Some(part) = self.climb.pop() {
            let name = self.inventory.dir_name(part);
            if !self.path.is_empty() && self.path.len() + 1 + name.len() >= PATH_MAX {
                base = Some(Rc::new(self.open_path(base)?));
                self.path.clear();
            }
            if !self.path.is_empty() && !self.path.ends_with(b"/") {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(name);
        }
        self.open_path(base)
    }

    /// Opens `path` below `base`, or below the working directory.
    fn open_path(&mut self, base: Option<DirFd>) -> io::Result<OwnedFd> {
        self.path.push(0);
        let path = CStr::from_bytes_with_nul(&self.path).expect("names contain no NUL");
        let base = base.as_ref().map_or(CWD, |fd| fd.as_fd());
        match self.inventory.origin {
            Origin::Confined(_) => beneath::open(base, path, ACCESS),
            Origin::Walked | Origin::Listed => open_directory(base, path),
        }
    }
}

fn open_directory(base: BorrowedFd<'_>, path: &CStr) -> io::Result<OwnedFd> {
    Ok(openat(base, path, ACCESS | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

#[allow(clippy::unnecessary_cast, reason = "the widths of these fields differ between platforms")]
fn identity(fd: &OwnedFd) -> io::Result<(u64, u64)> {
    let stat = fstat(fd)?;
    Ok((stat.st_dev as u64, stat.st_ino as u64))
}
