//! Opens the directories of a table again.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use ftk_file::xattr::{getxattr, lgetxattr, listxattr, llistxattr};
use ftk_file::{Attribute, AttributeReader, Birth, Failure, File, Stat, Symlinks, descend, descriptor_path};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::shard::ROOT;
use crate::table::Origin;
use crate::{DirNo, FileNo, Inventory};

/// A directory descriptor. An open in flight holds a clone, so that the descriptor's number is not reused.
pub type DirFd = Rc<OwnedFd>;

/// Opens the directories and files of one inventory again, for the thread that reads the files.
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
    /// Memory for paths.
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
            if self.inventory.origin == Origin::Walked
                && Stat::of(&fd)?.identity() != (walked.dev, walked.ino)
            {
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
        let (name, symlinks) = (self.inventory.name(dir, file), self.inventory.symlinks(dir, file));
        Stat::at(at, name, symlinks).map_or(true, |stat| stat.is_regular())
    }

    /// Opens a file of the table.
    ///
    /// # Errors
    /// [`Failure::Io`] if [`open`](Self::open) fails for its directory; [`Failure::NotRegular`] if the file
    /// [may not be opened](Self::may_open); and any error of [`File::open`].
    pub fn open_file(&mut self, dir: DirNo, file: FileNo) -> Result<File, Failure> {
        self.open_file_with(dir, file, Birth::Unknown)
    }

    /// Like [`open_file`](Self::open_file), and determines whether the first `fstat` has the time of birth.
    ///
    /// # Errors
    /// As for [`open_file`](Self::open_file).
    pub fn open_file_with(&mut self, dir: DirNo, file: FileNo, birth: Birth) -> Result<File, Failure> {
        let at = self.open(dir).map_err(|source| Failure::Io { op: "open", source })?;
        if !self.may_open(&at, dir, file) {
            return Err(Failure::NotRegular);
        }
        File::open_with(&at, self.inventory.name(dir, file), self.inventory.symlinks(dir, file), birth)
    }

    /// Returns the metadata of a file of the table without opening it.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and any error of `fstatat`.
    pub fn stat_file(&mut self, dir: DirNo, file: FileNo) -> io::Result<Stat> {
        self.stat_entry(dir, self.inventory.name(dir, file), self.inventory.symlinks(dir, file))
    }

    /// Like [`stat_file`](Self::stat_file), and determines whether the result has the time of birth.
    ///
    /// # Errors
    /// As for [`stat_file`](Self::stat_file).
    pub fn stat_file_with(&mut self, dir: DirNo, file: FileNo, birth: Birth) -> io::Result<Stat> {
        let (name, symlinks) = (self.inventory.name(dir, file), self.inventory.symlinks(dir, file));
        Ok(Stat::at_with(self.open(dir)?, name, symlinks, birth)?)
    }

    /// Returns the metadata of any entry of the table, by its name in its directory.
    ///
    /// # Errors
    /// As for [`stat_file`](Self::stat_file).
    pub fn stat_entry(&mut self, dir: DirNo, name: impl Arg, symlinks: Symlinks) -> io::Result<Stat> {
        Ok(Stat::at(self.open(dir)?, name, symlinks)?)
    }

    /// Returns the extended attributes of any entry of the table, by its name in its directory, sorted by name.
    ///
    /// Before Linux 6.13, no system call reads them for a name in an open directory. Opening the entry itself would
    /// have side effects on a FIFO or a device, and fails on a link. So the directory is addressed through
    /// [`descriptor_path`].
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and any error of reading attributes. A file system without attributes has an
    /// empty list. `ESTALE` if the path has led to another directory.
    pub fn attributes(
        &mut self,
        dir: DirNo,
        name: &[u8],
        symlinks: Symlinks,
        reader: &mut AttributeReader,
    ) -> io::Result<Vec<Attribute>> {
        let dir = self.open(dir)?;
        let (path, at) = path_in(dir.as_fd(), name)?;
        let path = path.as_slice();
        let found = match symlinks {
            Symlinks::Follow => {
                reader.read(|names| listxattr(path, names), |name, value| getxattr(path, name, value))
            }
            Symlinks::NoFollow => {
                reader.read(|names| llistxattr(path, names), |name, value| lgetxattr(path, name, value))
            }
        };
        if !cfg!(target_os = "linux")
            && at > 0
            && Stat::at(CWD, &path[..at], Symlinks::NoFollow)?.identity() != Stat::of(&dir)?.identity()
        {
            return Err(Errno::STALE.into());
        }
        Ok(found?)
    }

    /// Returns whether this process may read a file of the table now, with its effective user and groups. If the kernel
    /// does not answer (before Linux 5.8), opens the file. The question takes 0.8 us, opening and closing takes 1.9 us.
    pub fn may_read(&mut self, dir: DirNo, file: FileNo) -> bool {
        let Ok(at) = self.open(dir) else { return false };
        let (name, symlinks) = (self.inventory.name(dir, file), self.inventory.symlinks(dir, file));
        match accessat(at, name, Access::READ_OK, AtFlags::EACCESS | symlinks.at_flags()) {
            Ok(()) => true,
            Err(Errno::ACCESS) => false,
            Err(_) => self.open_file(dir, file).is_ok(),
        }
    }

    /// Returns the directory that the list is confined to, if there is one. Links in its path are followed.
    fn root(&mut self) -> io::Result<Option<DirFd>> {
        let Origin::Confined(path) = &self.inventory.origin else { return Ok(None) };
        if self.root.is_none() {
            self.root = Some(Rc::new(descend(CWD, [path.to_bytes()], Symlinks::Follow, &mut self.path)?));
        }
        Ok(self.root.clone())
    }

    fn open_for_starting_points(&mut self, dir: DirNo) -> io::Result<OwnedFd> {
        let path = &mut self.path;
        descend(CWD, [&b"."[..]], Symlinks::Follow, path).or_else(|error| {
            // The paths are sorted, so all paths between two absolute ones are absolute.
            let files = self.inventory.files_of(dir);
            let is_absolute = |file| self.inventory.name(dir, FileNo(file)).to_bytes().starts_with(b"/");
            let mut ends = [files.start, files.end.saturating_sub(1)].into_iter();
            if ends.all(is_absolute) { descend(CWD, [&b"/"[..]], Symlinks::Follow, path) } else { Err(error) }
        })
    }

    /// Opens the directory by its path.
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
        let base = match &self.last {
            Some((_, fd)) if from_last => Some(fd.clone()),
            _ => self.root()?,
        };
        let base = base.as_ref().map_or(CWD, |fd| fd.as_fd());
        let symlinks = match self.inventory.origin {
            Origin::Confined(_) => Symlinks::NoFollow,
            Origin::Walked | Origin::Listed => Symlinks::Follow,
        };
        let names = self.climb.iter().rev().map(|&part| self.inventory.dir_name(part));
        descend(base, names, symlinks, &mut self.path)
    }
}

/// Returns the path of `name` in the directory `dir`, and the length of the path of the directory.
fn path_in(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<(Vec<u8>, usize)> {
    if name.starts_with(b"/") {
        return Ok((name.to_vec(), 0));
    }
    let mut path = descriptor_path(dir)?;
    let len = path.len();
    path.push(b'/');
    path.extend_from_slice(name);
    Ok((path, len))
}
