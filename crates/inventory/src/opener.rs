//! Re-opening the directories of a table.

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

/// A directory descriptor. An open still in flight holds a clone, so the number stays taken.
pub type DirFd = Rc<OwnedFd>;

/// A descriptor that only stands for the directory, where there is such a thing: it needs no permission to list.
#[cfg(target_os = "linux")]
const ACCESS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ACCESS: OFlags = OFlags::RDONLY;

/// Longest path the kernel takes in one call, with its terminator.
const PATH_MAX: usize = 4096;

/// Opens directories of one inventory again, for the thread that reads their files.
///
/// Holds one descriptor, that of the directory opened last, and from there opens what lies below it. Every
/// clone handed out keeps its own directory open for as long as it lives.
#[derive(Debug)]
pub struct Opener<'i> {
    inventory: &'i Inventory,
    /// The directory that a list is confined to.
    root: Option<DirFd>,
    last: Option<(DirNo, DirFd)>,
    /// The directories between the one wanted and the place to start from, the outermost last.
    climb: Vec<DirNo>,
    path: Vec<u8>,
}

impl<'i> Opener<'i> {
    /// An opener that holds no descriptor yet.
    pub fn new(inventory: &'i Inventory) -> Self {
        Self { inventory, root: None, last: None, climb: Vec::new(), path: Vec::new() }
    }

    /// A descriptor of the directory (`O_PATH` on Linux); the last one is kept and handed out again.
    ///
    /// Links on the way are followed: that the way ends at the directory that was walked is what is checked. In
    /// a table made from a list nothing is known to check against; if the list is confined, no link is followed.
    ///
    /// For the directory of file arguments this is the working directory, or the root directory when the
    /// working directory cannot be opened and no argument needs it.
    ///
    /// # Errors
    /// When it cannot be opened (`ELOOP` for a link that is not followed), or is not the directory that was walked, as its device and inode tell: then
    /// the error's raw number is `ESTALE`, and [`Opener::is_replaced`] says so.
    pub fn open(&mut self, dir: DirNo) -> io::Result<DirFd> {
        if let Some((last, fd)) = &self.last
            && *last == dir
        {
            return Ok(fd.clone());
        }
        let fd = if self.inventory.dir_name(dir).is_empty() {
            match self.root()? {
                Some(root) => root,
                None => Rc::new(self.open_for_arguments(dir)?),
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

    /// Whether an error of [`Opener::open`] means that another directory stands where this one was walked.
    pub fn is_replaced(error: &io::Error) -> bool {
        error.raw_os_error() == Some(Errno::STALE.raw_os_error())
    }

    /// Whether a file may be opened, `at` being its directory: opening a FIFO or a device can have effects. The
    /// walk has seen that a file is regular, or the list has to be believed that it is, until it is asked for.
    /// What cannot be asked for is left to opening, which says why.
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

    /// The directory that the list is confined to, if it is. What leads to it is trusted.
    fn root(&mut self) -> io::Result<Option<DirFd>> {
        let Origin::Confined(path) = &self.inventory.origin else { return Ok(None) };
        if self.root.is_none() {
            self.root = Some(Rc::new(open_directory(CWD, path)?));
        }
        Ok(self.root.clone())
    }

    fn open_for_arguments(&self, dir: DirNo) -> io::Result<OwnedFd> {
        open_directory(CWD, c".").or_else(|error| {
            // Sorted, so what stands between two absolute paths is absolute too.
            let files = self.inventory.files_of(dir);
            let is_absolute = |file| self.inventory.name(dir, FileNo(file)).to_bytes().starts_with(b"/");
            let ends = [files.start, files.end.saturating_sub(1)];
            if ends.into_iter().all(is_absolute) { open_directory(CWD, c"/") } else { Err(error) }
        })
    }

    /// Opens what stands where the directory was, in as few calls as the length of the path allows.
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
        let path = CStr::from_bytes_with_nul(&self.path).expect("names contain no zero byte");
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
