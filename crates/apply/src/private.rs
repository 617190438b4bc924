//! New directories and symbolic links in a directory that other users may write to.
//!
//! A user who may write to a directory can exchange a new entry in it for another one, before its maker has opened it. A
//! change of owner or mode then hits the other entry. So a new entry is made inside a private directory, in which only the
//! caller can change names. It gets its metadata there through a descriptor, and is then renamed to its place.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use ftk_file::{FileType, Identity, Stat};
use rustix::fs::{
    AtFlags, CWD, Gid, Mode, OFlags, Timestamps, Uid, chownat, fremovexattr, mkdirat, openat, symlinkat,
    unlinkat, utimensat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::metadata::{Metadata, timespec};
use crate::reach::{DIRECTORY, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::swap::rename_to_free;

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
            mkdirat(&entry.dir, &entry.name, Mode::from_raw_mode(PRIVATE))?;
            let fd = openat(&entry.dir, &entry.name, READABLE, Mode::empty())?;
            remove_access_lists(&fd)?;
            Ok(fd)
        })
    }

    /// Makes a symbolic link with the owner and times of `metadata`.
    pub(crate) fn link(aside: Place, target: &[u8], metadata: &Metadata) -> Result<Self, ActError> {
        let made = Self::new(aside, "make the link", |entry| {
            symlinkat(target, &entry.dir, &entry.name)?;
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(&entry.dir, &entry.name, flags, Mode::empty())
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
        mkdirat(&aside.dir, &aside.name, Mode::from_raw_mode(PRIVATE))
            .map_err(|errno| ActError::of_naming("make a private directory", errno))?;
        let private = match open_private(&aside) {
            Ok(Some(private)) => private,
            // Another user has exchanged the directory.
            Ok(None) => return Err(Refusal::Replaced(Side::New).into()),
            Err(errno) => {
                let error = ActError::failed("open the private directory", errno);
                return Err(error.leaving(aside.name.to_bytes()));
            }
        };
        let entry = Place { dir: Rc::new(private), name: aside.name.clone() };
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

/// Opens a directory through which metadata can be set.
const READABLE: OFlags = DIRECTORY.difference(OFlags::PATH).union(OFlags::NOFOLLOW);

/// Opens the directory at a place if it is private: it belongs to the caller, and no other user may look into it.
fn open_private(place: &Place) -> Result<Option<OwnedFd>, Errno> {
    let dir = openat(&place.dir, &place.name, READABLE, Mode::empty())?;
    let stat = Stat::of(&dir)?;
    let is_private = stat.uid == geteuid().as_raw() && stat.mode & 0o777 == PRIVATE;
    Ok(is_private.then_some(dir))
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
    const OF_DESCRIPTOR: &CStr = c"";
    if (stat.uid, stat.gid) != (uid, gid) {
        let (uid, gid) = (Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
        chownat(link, OF_DESCRIPTOR, uid, gid, AtFlags::EMPTY_PATH)?;
    }
    let times = Timestamps { last_access: timespec(atime_ns), last_modification: timespec(mtime_ns) };
    match utimensat(link, OF_DESCRIPTOR, &times, AtFlags::EMPTY_PATH) {
        // Linux before 5.8. This path leads to the link itself, and no further.
        Err(Errno::INVAL | Errno::NOENT) => {
            let path = format!("/proc/thread-self/fd/{}", link.as_raw_fd());
            utimensat(CWD, path, &times, AtFlags::empty())
        }
        set => set,
    }
}

/// Removes the access control lists that a directory inherits from the default one of another user's directory: permissions
/// that it gets later would let their users in.
fn remove_access_lists(dir: &OwnedFd) -> Result<(), Errno> {
    for list in ["system.posix_acl_access", "system.posix_acl_default"] {
        match fremovexattr(dir, list) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::Path;

    use super::*;

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
