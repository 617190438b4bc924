//! The directory that files are moved to.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use ftk_file::Identity;
use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

use crate::durable::sync_file_system;
use crate::intent::To;
use crate::reach::{DIRECTORY, Place};

/// The file that marks a directory which was created for moved files.
///
/// A search for duplicates skips such a directory, as the files in it were removed from a tree on purpose.
pub const QUARANTINE: &CStr = c"FTK-QUARANTINE.TAG";

/// What the file says. A script has this text in single quotes.
pub(crate) const SAID: &[u8] = b"ftk created this directory for files that it moved away.\n\
`ftk dup` skips a directory with a file of this name.\n";

/// A directory below which moved files keep the paths they were scanned under.
#[derive(Debug)]
pub(crate) struct Destination {
    dir: OwnedFd,
    path: Vec<u8>,
}

impl Destination {
    /// Opens the directory, and creates missing ones. If the last one is created, it is marked.
    pub(crate) fn open(base: BorrowedFd<'_>, path: &Path) -> io::Result<Self> {
        let path = path.as_os_str().as_bytes();
        let start: &[u8] = if path.starts_with(b"/") { b"/" } else { b"." };
        let dir = openat(base, start, DIRECTORY, Mode::empty())?;
        let (dir, is_new) = make_directories(dir, parts(path), OFlags::empty())?;
        if is_new {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = openat(&dir, QUARANTINE, flags, Mode::from_raw_mode(0o644))?;
            File::from(file).write_all(SAID)?;
        }
        Ok(Self { dir, path: path.to_vec() })
    }

    /// Returns the path that the user named.
    pub(crate) fn path(&self) -> &[u8] {
        &self.path
    }

    /// Returns the identity of the directory.
    pub(crate) fn identity(&self) -> io::Result<Identity> {
        Identity::of(&self.dir)
    }

    /// Returns the new path of a file.
    pub(crate) fn to(&self, scanned: &[u8]) -> To {
        below(&self.path, scanned)
    }

    /// Waits until the moved files, and all directories created for them, are on the disk.
    pub(crate) fn sync(&self) -> Result<(), Errno> {
        sync_file_system(self.dir.as_fd())
    }

    /// Opens the directory of a new path, and creates missing directories. A symbolic link below the
    /// destination is an error.
    pub(crate) fn place(&self, to: &To) -> io::Result<Place> {
        let below = &to.path[to.root_len..];
        let mut directories: Vec<_> = parts(below).collect();
        let name = directories.pop().ok_or(Errno::INVAL)?;
        let dir = self.dir.as_fd().try_clone_to_owned()?;
        let (dir, _) = make_directories(dir, directories.into_iter(), OFlags::NOFOLLOW)?;
        Ok(Place { dir: Rc::new(dir), name: CString::new(name)? })
    }
}

/// Joins the directory and the path that a file was scanned under. `..` and a leading `/` are dropped.
pub(crate) fn below(directory: &[u8], scanned: &[u8]) -> To {
    let mut path = directory.to_vec();
    for part in parts(scanned).filter(|part| *part != b"..") {
        path.push(b'/');
        path.extend_from_slice(part);
    }
    To { path, root_len: directory.len() }
}

/// Returns the components of a path, except empty ones and `.`.
fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

/// Opens one directory after the other, and creates missing ones. Returns the last, and whether it was created.
fn make_directories<'p>(
    mut dir: OwnedFd,
    names: impl Iterator<Item = &'p [u8]>,
    flags: OFlags,
) -> io::Result<(OwnedFd, bool)> {
    let mut is_new = false;
    for name in names {
        let open = || openat(&dir, name, DIRECTORY | flags, Mode::empty());
        is_new = false;
        let next = match open() {
            Err(Errno::NOENT) => match mkdirat(&dir, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => {
                    is_new = true;
                    open()
                }
                Err(Errno::EXIST) => open(),
                Err(errno) => Err(errno),
            },
            opened => opened,
        };
        dir = next?;
    }
    Ok((dir, is_new))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::CWD;

    use super::*;

    #[test]
    fn paths_stay_below_the_directory() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("new/deep");
        let destination = Destination::open(CWD, &path).unwrap();
        assert!(path.is_dir());
        for (scanned, below) in [
            ("a/b/x", "/a/b/x"),
            ("./x", "/x"),
            ("/etc/x", "/etc/x"),
            ("../../up/x", "/up/x"),
            ("a//./x", "/a/x"),
        ] {
            let to = destination.to(scanned.as_bytes());
            assert_eq!(&to.path[to.root_len..], below.as_bytes(), "{scanned}");
            let place = destination.place(&to).unwrap();
            assert_eq!(place.name.as_c_str(), c"x");
            assert!(path.join(&below[1..]).parent().unwrap().is_dir(), "{scanned}");
        }
    }

    #[test]
    fn a_directory_is_marked_if_it_is_created() {
        let temp = tempfile::tempdir().unwrap();
        let names = |path: &Path| {
            let mut names: Vec<_> = fs::read_dir(path).unwrap().map(|it| it.unwrap().file_name()).collect();
            names.sort();
            names
        };
        Destination::open(CWD, &temp.path().join("new/deep")).unwrap();
        assert_eq!(names(&temp.path().join("new")), ["deep"]);
        assert_eq!(names(&temp.path().join("new/deep")), [QUARANTINE.to_str().unwrap()]);
        fs::create_dir(temp.path().join("old")).unwrap();
        let old = Destination::open(CWD, &temp.path().join("old")).unwrap();
        assert_eq!(names(&temp.path().join("old")).len(), 0);
        old.place(&old.to(b"a/x")).unwrap();
        assert_eq!(names(&temp.path().join("old/a")).len(), 0);
        Destination::open(CWD, &temp.path().join("new/deep")).unwrap();
    }

    #[test]
    fn links_below_the_destination_are_not_followed() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("outside")).unwrap();
        let path = temp.path().join("to");
        let destination = Destination::open(CWD, &path).unwrap();
        symlink("../outside", path.join("a")).unwrap();
        assert!(destination.place(&destination.to(b"a/b/x")).is_err());
        assert_eq!(fs::read_dir(temp.path().join("outside")).unwrap().count(), 0);
    }
}
