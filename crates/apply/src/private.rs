//! New files, directories and symbolic links in a directory that other users may write to.
//!
//! A user who may write to a directory can exchange a new entry in it for another one, before its maker has opened it. A
//! change of owner or mode then hits the other entry. The user can also rename a new file of the caller whose content is
//! not checked yet, and so forge one, such as a journal. So a new entry is made inside a private directory, in which only
//! the caller can change names. It gets its metadata there through a descriptor, and is then renamed to its place. A file
//! needs no private directory where the file system supports files without names, or where no other user can change names.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::rc::Rc;

use ftk_file::{FileType, Identity, Stat, permissions, remove_access_lists};
use rustix::fs::{AtFlags, Mode, OFlags, Timestamps, mkdirat, openat, symlinkat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::metadata::{Metadata, timespec};
use crate::own_directory::is_private;
use crate::reach::{Place, READABLE};
use crate::refusal::{ActError, Refusal, Side};
use crate::swap::rename_to_free;
use crate::sys::{file_without_name, open_entry, set_owner, set_times};
use crate::temp::Temp;

/// The permissions of a private directory, and of a new directory in it.
const PRIVATE: u32 = 0o700;

/// A new directory or link that has no name yet that others can see.
#[derive(Debug)]
pub(crate) struct Unnamed {
    /// The private directory.
    aside: Place,
    /// The entry in it. It has the same name.
    entry: Place,
    fd: OwnedFd,
    identity: Identity,
}

impl Unnamed {
    /// Makes a directory with mode 0700 that belongs to the caller. `aside`: a free private name in the directory in which
    /// it will get its name.
    pub(crate) fn directory(aside: Place) -> Result<Self, ActError> {
        Self::new(aside, "make the directory", |entry| {
            mkdirat(&entry.dir, &entry.name, permissions(PRIVATE))?;
            let fd = openat(&entry.dir, &entry.name, READABLE, Mode::empty())?;
            remove_access_lists(&fd, true)?;
            Ok(fd)
        })
    }

    /// Makes a symbolic link with the owner and times of `metadata`.
    pub(crate) fn link(aside: Place, target: &[u8], metadata: &Metadata) -> Result<Self, ActError> {
        let made = Self::new(aside, "make the link", |entry| {
            symlinkat(target, &entry.dir, &entry.name)?;
            open_entry(&entry.dir, &entry.name)
        })?;
        match set_link_metadata(made.fd.as_fd(), metadata) {
            Ok(()) => Ok(made),
            Err(errno) => {
                Err(made.discard(ActError::failed("restore the owner and times of the link", errno)))
            }
        }
    }

    fn new(
        aside: Place,
        op: &'static str,
        make: impl FnOnce(&Place) -> Result<OwnedFd, Errno>,
    ) -> Result<Self, ActError> {
        let entry = Place { dir: Rc::new(make_private(&aside, op)?), name: aside.name.clone() };
        let made = make(&entry).map_err(io::Error::from);
        let made = made.and_then(|fd| Identity::of(&fd).map(|identity| (fd, identity)));
        match made {
            Ok((fd, identity)) => Ok(Self { aside, entry, fd, identity }),
            Err(error) => {
                let error = match Errno::from_io_error(&error) {
                    Some(errno) => ActError::of_naming(op, errno),
                    None => ActError::failed(op, error),
                };
                let left = clear(&aside, &entry).is_err();
                Err(if left { error.leaving(aside.name.to_bytes()) } else { error })
            }
        }
    }

    /// Returns the identity of the new entry. Record it before the entry gets its [name](Self::give_name).
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Renames the entry to its place, which must be free, and removes the private directory. Returns the descriptor of
    /// the entry: for a directory, one through which it can be listed and its metadata can be set.
    pub(crate) fn give_name(self, place: &Place) -> Result<OwnedFd, ActError> {
        if let Err(errno) = rename_to_free(&self.entry, place) {
            let error = match errno {
                Errno::EXIST | Errno::NOTEMPTY => Refusal::NameExists.into(),
                errno => ActError::failed("rename the new entry", errno),
            };
            return Err(self.discard(error));
        }
        match unlinkat(&self.aside.dir, &self.aside.name, AtFlags::REMOVEDIR) {
            // Another user may have renamed the private directory. It is empty.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY) => Ok(self.fd),
            Err(errno) => {
                let error = ActError::failed("remove the private directory", errno);
                Err(error.leaving(self.aside.name.to_bytes()))
            }
        }
    }

    /// Removes the entry after an error, and returns the error.
    pub(crate) fn discard(self, error: ActError) -> ActError {
        match clear(&self.aside, &self.entry) {
            Ok(()) => error,
            Err(_) => error.leaving(self.aside.name.to_bytes()),
        }
    }
}

/// Makes and opens a private directory.
pub(crate) fn make_private(aside: &Place, op: &'static str) -> Result<OwnedFd, ActError> {
    mkdirat(&aside.dir, &aside.name, permissions(PRIVATE)).map_err(|errno| ActError::of_naming(op, errno))?;
    match open_private(aside) {
        Ok(Some(private)) => Ok(private),
        // Another user has exchanged the directory.
        Ok(None) => Err(Refusal::Replaced(Side::New).into()),
        Err(errno) => {
            let error = ActError::failed("open the private directory", errno);
            Err(error.leaving(aside.name.to_bytes()))
        }
    }
}

/// Removes the private directory that a killed run has left under this name, with the entry in it. Returns `false` if
/// the name is free, or something else has it.
pub(crate) fn remove_private(aside: &Place) -> Result<bool, ActError> {
    let failed = |errno| ActError::failed("remove a private directory that a killed run left", errno);
    match open_private(aside) {
        Ok(Some(private)) => {
            let entry = Place { dir: Rc::new(private), name: aside.name.clone() };
            clear(aside, &entry).map_err(failed)?;
            Ok(true)
        }
        Ok(None) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(false),
        Err(errno) => Err(failed(errno)),
    }
}

/// A new empty file that other users can neither open nor rename.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    /// The name that the file gets.
    aside: Place,
    /// Its name where no other user can change names. `None` if it has no name at all.
    named: Option<Temp>,
}

impl NewFile {
    /// Makes a file with mode 0600. `aside`: a free private name in the directory in which it will get its name.
    pub(crate) fn new(aside: Place) -> Result<Self, ActError> {
        match file_without_name(&aside.dir, OWN) {
            Some(file) => Ok(Self { file, aside, named: None }),
            None => Self::with_name(aside),
        }
    }

    /// Makes a file where the file system does not support files without names.
    fn with_name(aside: Place) -> Result<Self, ActError> {
        const OP: &str = "make the copy";
        let open = |place: &Place| {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(&place.dir, &place.name, flags, OWN)
        };
        let failed = |errno| ActError::failed(OP, errno);
        if is_private(&Stat::of(&aside.dir).map_err(failed)?) {
            let file = open(&aside).map_err(failed)?.into();
            let named = Some(Temp::made(aside.clone())?);
            return Ok(Self { file, aside, named });
        }
        let Unnamed { aside, entry, fd, identity } = Unnamed::new(aside, OP, open)?;
        let named = Temp::inside(aside.clone(), entry, (identity.dev, identity.ino));
        Ok(Self { file: fd.into(), aside, named: Some(named) })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the file, and its private name. The descriptor leads to the file even if another user changes the name.
    pub(crate) fn into_temp(self) -> Result<(OwnedFd, Temp), ActError> {
        let Self { file, aside, named } = self;
        let temp = match named {
            Some(temp) => temp,
            None => {
                Temp::linked(&file, aside).map_err(|errno| ActError::of_naming("name the copy", errno))?
            }
        };
        Ok((file.into(), temp))
    }

    /// Removes the file after an error, and returns the error.
    pub(crate) fn discard(self, error: ActError) -> ActError {
        match self.named {
            Some(temp) => temp.discard(error),
            None => error,
        }
    }
}

/// The permissions of a new file.
const OWN: Mode = Mode::RUSR.union(Mode::WUSR);

/// Returns the file in the private directory that a killed undo has left under this name, or the place itself if there
/// is no such directory.
pub(crate) fn inside_private(aside: &Place) -> Result<Place, ActError> {
    match open_private(aside) {
        Ok(Some(private)) => Ok(Place { dir: Rc::new(private), name: aside.name.clone() }),
        Ok(None) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(aside.clone()),
        Err(errno) => Err(ActError::failed("open a private directory that a killed run left", errno)),
    }
}

/// Returns the entry that a killed [`displace`](crate::swap::displace) has left in the private directory `aside`, under the
/// name that it was to get.
pub(crate) fn left_inside(aside: &Place, name: &CStr) -> Result<Option<Place>, ActError> {
    let failed = |errno| ActError::failed("open a private directory that a killed run left", errno);
    let private = match open_private(aside) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
        private => private.map_err(failed)?,
    };
    let Some(private) = private else { return Ok(None) };
    let inside = Place { dir: Rc::new(private), name: name.to_owned() };
    match inside.stat() {
        Ok(_) => Ok(Some(inside)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(failed(errno)),
    }
}

/// Opens the directory at a place if it is private: it belongs to the caller, and no other user may look into it.
fn open_private(place: &Place) -> Result<Option<OwnedFd>, Errno> {
    let dir = openat(&place.dir, &place.name, READABLE, Mode::empty())?;
    let stat = Stat::of(&dir)?;
    Ok(may_be_ours(&stat).then_some(dir))
}

/// Returns whether a directory has the owner and permissions of a private one that a killed undo left.
pub(crate) fn may_be_ours(stat: &Stat) -> bool {
    stat.uid == geteuid().as_raw() && stat.mode & 0o777 == PRIVATE
}

/// Removes a private directory and the entry in it.
///
/// The entry has the random name that the private directory had at first. So nothing else is removed even if another user
/// has put a different directory of the caller there.
fn clear(aside: &Place, entry: &Place) -> Result<(), Errno> {
    let removed = match unlinkat(&entry.dir, &entry.name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => unlinkat(&entry.dir, &entry.name, AtFlags::REMOVEDIR),
        removed => removed,
    };
    match removed {
        Ok(()) | Err(Errno::NOENT) => unlinkat(&aside.dir, &aside.name, AtFlags::REMOVEDIR),
        Err(errno) => Err(errno),
    }
}

/// Sets the owner and the times of a symbolic link through a descriptor of the link itself.
fn set_link_metadata(link: BorrowedFd<'_>, metadata: &Metadata) -> Result<(), Errno> {
    let &Metadata { uid, gid, atime_ns, mtime_ns, .. } = metadata;
    let stat = Stat::of(link)?;
    if stat.file_type != FileType::Symlink {
        return Err(Errno::STALE);
    }
    if (stat.uid, stat.gid) != (uid, gid) {
        set_owner(link, uid, gid)?;
    }
    let times = Timestamps { last_access: timespec(atime_ns), last_modification: timespec(mtime_ns) };
    set_times(link, &times)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::Path;

    use rustix::fs::CWD;

    use super::*;
    use crate::reach::DIRECTORY;

    fn place(dir: &Path, name: &CStr) -> Place {
        let fd = openat(CWD, dir, DIRECTORY, Mode::empty()).unwrap();
        Place { dir: Rc::new(fd), name: name.to_owned() }
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn metadata() -> Metadata {
        let (uid, gid) = (geteuid().as_raw(), rustix::process::getegid().as_raw());
        let (atime_ns, mtime_ns) = (1_000_000_007, -5_000_000_003);
        Metadata { mode: 0o777, uid, gid, atime_ns, mtime_ns, attributes: Vec::new() }
    }

    #[test]
    fn a_new_directory_is_private_and_known_before_it_has_its_name() {
        let temp = tempfile::tempdir().unwrap();
        let aside = place(temp.path(), c".ftk-0123456789abcdef");
        let made = Unnamed::directory(aside).unwrap();
        let identity = *made.identity();
        assert!(!temp.path().join("new").exists());
        let fd = made.give_name(&place(temp.path(), c"new")).unwrap();
        assert_eq!(names(temp.path()), ["new"]);
        let found = fs::metadata(temp.path().join("new")).unwrap();
        assert_eq!((found.ino(), found.permissions().mode() & 0o777), (identity.ino, 0o700));
        assert!(Identity::of(fd).unwrap().is_same(&identity));
    }

    #[test]
    fn a_new_link_has_its_times_and_an_existing_name_is_kept() {
        let temp = tempfile::tempdir().unwrap();
        let aside = || place(temp.path(), c".ftk-0123456789abcdef");
        let made = Unnamed::link(aside(), b"target", &metadata()).unwrap();
        made.give_name(&place(temp.path(), c"link")).unwrap();
        let found = fs::symlink_metadata(temp.path().join("link")).unwrap();
        assert!(found.is_symlink());
        assert_eq!((found.mtime(), found.mtime_nsec()), (-6, 999_999_997));
        let again = Unnamed::link(aside(), b"other", &metadata()).unwrap();
        let refused = again.give_name(&place(temp.path(), c"link")).unwrap_err();
        assert!(matches!(refused, ActError::Refused(Refusal::NameExists)), "{refused}");
        assert_eq!(fs::read_link(temp.path().join("link")).unwrap(), Path::new("target"));
        assert_eq!(names(temp.path()), ["link"]);
    }

    #[test]
    fn a_new_file_has_no_name_that_another_user_can_change() {
        let temp = tempfile::tempdir().unwrap();
        let aside = place(temp.path(), c".ftk-0123456789abcdef");
        type Make = fn(Place) -> Result<NewFile, ActError>;
        let ways: [(Make, u32, Option<bool>); 4] = [
            (NewFile::new, 0o777, None),
            (NewFile::with_name, 0o700, Some(true)),
            (NewFile::with_name, 0o1777, Some(false)),
            (NewFile::with_name, 0o770, Some(false)),
        ];
        for (make, mode, is_visible) in ways {
            fs::set_permissions(temp.path(), fs::Permissions::from_mode(mode)).unwrap();
            let path = temp.path().join(aside.name.to_str().unwrap());
            let new = make(aside.clone()).unwrap();
            match is_visible {
                None => assert_eq!(names(temp.path()), [""; 0]),
                Some(true) => assert!(path.is_file()),
                Some(false) => {
                    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o700);
                    let inside = inside_private(&aside).unwrap();
                    assert_eq!(inside.stat().unwrap().identity(), Stat::of(new.file()).unwrap().identity());
                }
            }
            assert_eq!(Stat::of(new.file()).unwrap().mode & 0o7777, 0o600);
            let error = new.discard(ActError::Stopped);
            assert!(matches!(error, ActError::Stopped));
            assert_eq!(names(temp.path()), [""; 0], "{mode:o}");

            let (file, temp_name) = make(aside.clone()).unwrap().into_temp().unwrap();
            let to = place(temp.path(), c"new");
            crate::swap::restore_name(&to, temp_name.identity, &temp_name.place).unwrap();
            drop(temp_name);
            assert_eq!(names(temp.path()), ["new"], "{mode:o}");
            // Links lead to the file even if its name does not.
            fs::hard_link(temp.path().join("new"), temp.path().join("other")).unwrap();
            fs::remove_file(temp.path().join("new")).unwrap();
            fs::write(temp.path().join("new"), "theirs").unwrap();
            let linked = Temp::linked(&file, aside.clone()).unwrap();
            assert_eq!(linked.place.stat().unwrap().ino, Stat::of(&file).unwrap().ino);
            linked.discard(ActError::Stopped);
            for name in names(temp.path()) {
                fs::remove_file(temp.path().join(name)).unwrap();
            }
            // It is not linked again when all its names are gone.
            assert_eq!(Temp::linked(&file, aside.clone()).unwrap_err(), Errno::NOENT);
        }
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_nothing_else() {
        let temp = tempfile::tempdir().unwrap();
        let name = c".ftk-0123456789abcdef";
        let aside = place(temp.path(), name);
        assert!(!remove_private(&aside).unwrap());
        let path = temp.path().join(name.to_str().unwrap());
        for is_link in [true, false] {
            let made = match is_link {
                true => Unnamed::link(aside.clone(), b"x", &metadata()),
                false => Unnamed::directory(aside.clone()),
            };
            drop(made.unwrap());
            assert!(path.exists());
            assert!(remove_private(&aside).unwrap());
            assert_eq!(names(temp.path()), [""; 0]);
        }
        // A directory that others may enter, a link to a private one, and a file are not ours.
        let secret = temp.path().join("secret");
        fs::create_dir(&secret).unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o700)).unwrap();
        symlink(&secret, &path).unwrap();
        assert!(!remove_private(&aside).unwrap());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(!remove_private(&aside).unwrap());
        // A private directory of the caller with something in it stays as it is.
        fs::remove_dir(&path).unwrap();
        fs::write(secret.join("x"), "x").unwrap();
        fs::rename(&secret, &path).unwrap();
        assert!(remove_private(&aside).is_err());
        assert_eq!(names(&path), ["x"]);
    }
}
