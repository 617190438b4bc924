//! The directory that files are moved to.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

use crate::durable::sync_file_system;
use crate::intent::To;
use crate::reach::{DIRECTORY, Place};

/// A directory below which moved files keep the paths they were scanned under.
#[derive(Debug)]
pub(crate) struct Destination {
    dir: OwnedFd,
    path: Vec<u8>,
}

impl Destination {
    /// Opens the directory, and creates missing ones.
    pub(crate) fn open(base: BorrowedFd<'_>, path: &Path) -> io::Result<Self> {
        let path = path.as_os_str().as_bytes();
        let start: &[u8] = if path.starts_with(b"/") { b"/" } else { b"." };
        let dir = openat(base, start, DIRECTORY, Mode::empty())?;
        Ok(Self { dir: make_directories(dir, parts(path), OFlags::empty())?, path: path.to_vec() })
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
        let dir = make_directories(dir, directories.into_iter(), OFlags::NOFOLLOW)?;
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

/// Opens one directory after the other, and creates missing ones.
fn make_directories<'p>(
    mut dir: OwnedFd,
    names: impl Iterator<Item = &'p [u8]>,
    flags: OFlags,
) -> io::Result<OwnedFd> {
    for name in names {
        let open = || openat(&dir, name, DIRECTORY | flags, Mode::empty());
        let next = match open() {
            Err(Errno::NOENT) => match mkdirat(&dir, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => open(),
                Err(errno) => Err(errno),
            },
            opened => opened,
        };
        dir = next?;
    }
    Ok(dir)
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
