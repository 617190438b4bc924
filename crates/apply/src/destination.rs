//! The directory that files are moved to.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use ftk_file::{FileType, Identity, Stat, Symlinks};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::durable::sync_file_system;
use crate::intent::To;
use crate::own_directory::{is_private, is_trusted_owner, make_directory};
use crate::reach::{DIRECTORY, Place, READABLE};
use crate::refusal::{ActError, Refusal, Side};
use crate::trust::WRITABLE_BY_OTHERS;

/// The file that marks a directory which was created for moved files.
///
/// A search for duplicates skips such a directory, as the files in it were removed from a tree on purpose.
pub const QUARANTINE: &CStr = c"FTK-QUARANTINE.TAG";

/// The directory in a starting point that contains a quarantine for each run which was not told another place.
pub const QUARANTINES: &str = ".ftk-quarantine";

/// The permissions of a new directory, less those that the umask removes.
const NEW: u32 = 0o755;

/// The sticky bit.
pub(crate) const STICKY: u32 = 0o1000;

/// What the file says. A script has this text in single quotes.
pub(crate) const SAID: &[u8] = b"ftk created this directory for files that it moved away.\n\
`ftk dup` skips a directory with a file of this name.\n";

/// A directory below which moved files keep the paths they were scanned under.
///
/// Other users may be able to write to a directory on the way to it. Such a user could have put another directory there,
/// such as one of root, and so have files moved into it. So in a directory that others may write to, a new directory is made
/// as [`Unnamed`](crate::private::Unnamed), and one that exists is opened only if it can be told from another one: it
/// belongs to the owner of the directory around it, or an earlier run made and marked it. Below the destination, a directory
/// of another user is not entered where only the caller and root can change names: an attacker got it moved there.
#[derive(Debug)]
pub(crate) struct Destination {
    dir: OwnedFd,
    path: Vec<u8>,
    /// Whether this run has made it.
    is_new: bool,
}

/// If nothing was moved to a new directory, it is removed again.
impl Drop for Destination {
    fn drop(&mut self) {
        if self.is_new {
            _ = remove_destination(&self.dir, &self.path);
        }
    }
}

impl Destination {
    /// Opens the directory, and creates missing ones. If the last one is created, it is marked.
    pub(crate) fn open(base: BorrowedFd<'_>, path: &Path) -> Result<Self, ActError> {
        let (dir, is_new) = open_path(base, path, NEW)?;
        if is_new {
            mark(&dir)?;
        }
        Ok(Self { dir, path: path.as_os_str().as_bytes().to_vec(), is_new })
    }

    /// Returns an open directory with this path.
    pub(crate) fn of(dir: OwnedFd, path: Vec<u8>) -> Self {
        Self { dir, path, is_new: false }
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
    pub(crate) fn place(&self, to: &To) -> Result<Place, ActError> {
        let below = &to.path[to.root_len..];
        let mut directories: Vec<_> = parts(below).collect();
        let name = directories.pop().ok_or(Refusal::Path(Side::New))?;
        let name = CString::new(name).map_err(|_| Refusal::Path(Side::New))?;
        let dir = self.dir.as_fd().try_clone_to_owned();
        let dir = dir.map_err(|error| ActError::failed("duplicate a descriptor", error))?;
        let (dir, _) = make_directories(dir, directories.into_iter(), Links::Refused, NEW)?;
        Ok(Place { dir: Rc::new(dir), name })
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
fn parts(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

/// Whether symbolic links on the way to a directory are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    /// Those that only the caller and root can have made.
    Followed,
    Refused,
}

/// Opens the directory with this path, and creates missing ones, with the permissions `mode`. Returns whether the last one
/// was created.
pub(crate) fn open_path(base: BorrowedFd<'_>, path: &Path, mode: u32) -> Result<(OwnedFd, bool), ActError> {
    let path = path.as_os_str().as_bytes();
    let start: &[u8] = if path.starts_with(b"/") { b"/" } else { b"." };
    let dir = openat(base, start, DIRECTORY, Mode::empty());
    let dir = dir.map_err(|errno| ActError::failed("open the directory to start from", errno))?;
    make_directories(dir, parts(path), Links::Followed, mode)
}

/// Removes a destination that is empty and that ftk has made, and the [`QUARANTINES`] around it if they are empty then.
pub(crate) fn remove_destination(dir: &OwnedFd, path: &[u8]) -> Result<(), Errno> {
    let mut names = parts(path).rev();
    let mut dir = Rc::new(openat(dir, c".", DIRECTORY, Mode::empty())?);
    for is_wanted in [|_: &[u8]| true, |name: &[u8]| name == QUARANTINES.as_bytes()] {
        let Some(name) = names.next().filter(|name| *name != b".." && is_wanted(name)) else { break };
        let above = Rc::new(openat(&*dir, c"..", DIRECTORY, Mode::empty())?);
        let place = Place { dir: above.clone(), name: CString::new(name).expect("it was opened") };
        if place.stat()?.identity() != Stat::of(&dir)?.identity() {
            break;
        }
        remove_empty(&place)?;
        dir = above;
    }
    Ok(())
}

/// Removes a directory of the caller that has no entries but the mark of ftk.
pub(crate) fn remove_empty(place: &Place) -> Result<(), Errno> {
    let dir = openat(&place.dir, &place.name, READABLE, Mode::empty())?;
    let mut has_mark = false;
    for entry in Dir::read_from(&dir)? {
        match entry?.file_name() {
            name if name == c"." || name == c".." => {}
            name if name == QUARANTINE => has_mark = true,
            _ => return Err(Errno::NOTEMPTY),
        }
    }
    if Stat::of(&dir)?.uid != geteuid().as_raw() || has_mark && !(is_marked(&dir) && is_unchanged(&dir)) {
        return Err(Errno::PERM);
    }
    if has_mark {
        unlinkat(&dir, QUARANTINE, AtFlags::empty())?;
    }
    let removed = unlinkat(&place.dir, &place.name, AtFlags::REMOVEDIR);
    if removed.is_err() && has_mark {
        // Another run has just moved something there.
        _ = mark(&dir);
    }
    removed
}

/// Opens one directory after the other, and creates missing ones. Returns the last, and whether it was created.
fn make_directories<'p>(
    dir: OwnedFd,
    names: impl Iterator<Item = &'p [u8]>,
    links: Links,
    mode: u32,
) -> Result<(OwnedFd, bool), ActError> {
    let (mut dir, mut is_new) = (Rc::new(dir), false);
    for name in names {
        let name = CString::new(name).map_err(|_| Refusal::Path(Side::New))?;
        let place = Place { dir: dir.clone(), name };
        let next = match enter(&place, links)? {
            Some(next) => (next, false),
            // Another run may make it at the same time.
            None => match make(&place, mode)? {
                Some(next) => (next, true),
                None => (enter(&place, links)?.ok_or(Refusal::Replaced(Side::New))?, false),
            },
        };
        (dir, is_new) = (Rc::new(next.0), next.1);
    }
    let dir = Rc::into_inner(dir).expect("no place is left that has it");
    Ok((dir, is_new))
}

/// Opens a directory that exists. Returns `None` if it does not.
fn enter(place: &Place, links: Links) -> Result<Option<OwnedFd>, ActError> {
    let failed = |errno| ActError::failed("open the directory", errno);
    let around = Stat::of(&place.dir).map_err(failed)?;
    let is_private = is_private(&around);
    let follows = links == Links::Followed && is_private;
    let flags = if follows { DIRECTORY } else { DIRECTORY | OFlags::NOFOLLOW };
    let dir = match openat(&place.dir, &place.name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(Refusal::Link(Side::New).into()),
        Err(Errno::NOTDIR) if place.stat().is_ok_and(|stat| stat.file_type == FileType::Symlink) => {
            return Err(Refusal::Link(Side::New).into());
        }
        dir => dir.map_err(failed)?,
    };
    let found = Stat::of(&dir).map_err(failed)?;
    // In a sticky directory, only the owner of an entry, the owner of the directory and root can exchange it.
    let is_sticky = around.mode & STICKY != 0 && is_trusted_owner(around.uid) && is_trusted_owner(found.uid);
    let is_of_owner = found.uid == around.uid && !is_trusted_owner(found.uid);
    let is_up = place.name.as_c_str() == c"..";
    let is_expected = is_private && (links == Links::Followed || is_trusted_owner(found.uid));
    if is_expected || is_sticky || is_of_owner || is_up || is_marked(&dir) {
        Ok(Some(dir))
    } else {
        Err(Refusal::Exchangeable(place.name.to_bytes().to_vec()).into())
    }
}

/// Makes a directory that no other user may write to. Returns `None` if the name is not free.
fn make(place: &Place, mode: u32) -> Result<Option<OwnedFd>, ActError> {
    let Some(dir) = make_directory(place, mode)? else { return Ok(None) };
    let around = Stat::of(&place.dir).map_err(|errno| ActError::failed("examine the directory", errno))?;
    // The mark tells a later run that this is not a directory that another user has put here.
    if !is_private(&around) {
        mark(&dir)?;
    }
    Ok(Some(dir))
}

/// Writes the file that marks a directory which the caller has made.
fn mark(dir: &OwnedFd) -> Result<(), ActError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(dir, QUARANTINE, flags, Mode::from_raw_mode(0o644)) {
        Ok(file) => File::from(file).write_all(SAID),
        Err(Errno::EXIST) if is_marked(dir) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
    .map_err(|error| ActError::failed("mark the new directory", error))
}

/// Returns whether the caller has made and marked this directory, and no other user may write to it.
pub(crate) fn is_marked(dir: &OwnedFd) -> bool {
    let is_mine = |stat: &Stat| stat.uid == geteuid().as_raw() && stat.mode & WRITABLE_BY_OTHERS == 0;
    let mark = Stat::at(dir, QUARANTINE, Symlinks::NoFollow);
    Stat::of(dir).is_ok_and(|dir| is_mine(&dir)) && mark.is_ok_and(|mark| mark.is_regular() && is_mine(&mark))
}

/// Returns whether the mark says what ftk wrote. Anything else is a note of the user.
fn is_unchanged(dir: &OwnedFd) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(mark) = openat(dir, QUARANTINE, flags, Mode::empty()) else { return false };
    let mut said = Vec::new();
    let read = File::from(mark).take(SAID.len() as u64 + 1).read_to_end(&mut said);
    read.is_ok() && said == SAID
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
        let _created = Destination::open(CWD, &temp.path().join("new/deep")).unwrap();
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

    /// An attacker got the directory moved there while its content was being exchanged.
    #[test]
    fn a_directory_of_another_user_in_a_private_one_is_not_entered() {
        if !geteuid().is_root() {
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        for (owner, is_fine) in [(0, true), (77, false)] {
            let destination = Destination::open(CWD, &temp.path().join("q")).unwrap();
            fs::create_dir_all(temp.path().join("q/a")).unwrap();
            std::os::unix::fs::chown(temp.path().join("q/a"), Some(owner), None).unwrap();
            let place = destination.place(&destination.to(b"a/x"));
            assert_eq!(place.is_ok(), is_fine);
        }
        // The user names a directory of another user.
        Destination::open(CWD, &temp.path().join("q/a")).unwrap();
    }
}
