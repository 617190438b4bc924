//! The values that a visitor is shown: entries, opened directories, and repeated directories.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::node::{Id, Place};
use crate::replay::Recorded;
use crate::sys::{self, CWD};
use crate::{Fields, FileType, Metadata, Op, WalkError};

/// Returns whether `fd` is on a pseudo file system, such as proc, sysfs or cgroup.
///
/// Such a file system stores no files, and the sizes it reports are synthetic. Each call makes a system call.
/// Returns `false` if that call fails, and on systems other than Linux.
#[doc(hidden)]
pub fn is_pseudo(fd: impl AsFd) -> bool {
    sys::is_pseudo(fd.as_fd())
}

/// Returns whether the file is on a remote file system: one that asks another machine or program for every file, such as
/// NFS, SMB or FUSE.
///
/// Each call makes a system call. Returns `false` if that call fails, and on systems other than Linux.
#[doc(hidden)]
pub fn is_remote(fd: impl AsFd) -> bool {
    sys::is_remote(fd.as_fd())
}

/// An open directory that is about to be listed.
///
/// [`AsFd`] gives its descriptor. Opening an entry relative to it works however long the path is.
pub struct Directory<'a> {
    pub(crate) fd: BorrowedFd<'a>,
    pub(crate) place: &'a dyn Place,
    pub(crate) id: Id,
    pub(crate) metadata: Metadata,
    pub(crate) root_dev: u64,
    pub(crate) up_dev: Option<u64>,
}

impl Directory<'_> {
    /// Returns the device of this directory.
    pub fn dev(&self) -> u64 {
        self.id.dev
    }
    /// Returns the inode number of this directory.
    pub fn ino(&self) -> u64 {
        self.id.ino
    }
    /// Returns the metadata that was read when the directory was opened. Makes no system call.
    pub fn metadata(&self) -> Metadata {
        self.metadata
    }
    /// Returns the device of the starting point that this directory was reached from.
    pub fn root_dev(&self) -> u64 {
        self.root_dev
    }
    /// Returns the depth: `0` for a starting point, `1` for a directory in it.
    pub fn depth(&self) -> u32 {
        self.place.depth()
    }
    /// Returns the index of the starting point that this directory was reached from.
    pub fn root(&self) -> usize {
        self.place.root_number()
    }
    /// Returns whether this directory and its parent are on different devices; `false` for a starting point.
    pub fn is_mount(&self) -> bool {
        self.up_dev.is_some_and(|dev| dev != self.id.dev)
    }
    /// Returns whether this directory is on a pseudo file system, such as proc, sysfs or cgroup.
    ///
    /// Each call makes a system call. Returns `false` if that call fails, and on systems other than Linux.
    pub fn is_pseudo(&self) -> bool {
        is_pseudo(self.fd)
    }
    /// Returns the path: the starting point as given, joined with the names below it.
    pub fn path(&self) -> PathBuf {
        path_from(|path| self.push_path(path))
    }
    /// Appends the path as bytes. Allocates only if `path` must grow.
    pub fn push_path(&self, path: &mut Vec<u8>) {
        self.place.push_path(path);
    }
}

impl fmt::Debug for Directory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Directory").field(&self.place).finish()
    }
}

impl AsFd for Directory<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd
    }
}

/// A directory that was reached again, under a different path from the one it was entered under.
#[derive(Debug)]
pub struct Repeat<'a> {
    pub(crate) place: &'a dyn Place,
    pub(crate) first: &'a dyn Place,
}

impl Repeat<'_> {
    /// Returns the path under which the directory is not entered again.
    pub fn path(&self) -> PathBuf {
        path_from(|path| self.push_path(path))
    }
    /// Returns the path under which the directory was entered.
    pub fn first_path(&self) -> PathBuf {
        path_from(|path| self.push_first_path(path))
    }
    /// Appends the path under which the directory is not entered again.
    pub fn push_path(&self, path: &mut Vec<u8>) {
        self.place.push_path(path);
    }
    /// Appends the path under which the directory was entered.
    pub fn push_first_path(&self, path: &mut Vec<u8>) {
        self.first.push_path(path);
    }
}

/// One entry of a directory, or a starting point.
#[derive(Debug)]
pub struct Entry<'a> {
    name: &'a CStr,
    ino: u64,
    file_type: FileType,
    via_link: bool,
    /// The directory that contains the entry; `None` for a starting point.
    place: Option<&'a dyn Place>,
    fd: BorrowedFd<'a>,
    root: usize,
    pub(crate) is_covered: bool,
    metadata: Option<Metadata>,
    /// The fields of `metadata` that were read.
    known: Fields,
    /// What a record says about the entry. Then nothing else is looked at.
    recorded: Option<&'a Recorded<'a>>,
}

impl<'a> Entry<'a> {
    /// Makes the entry of starting point number `root`. If `via_link`, `metadata` is that of a link's target.
    pub(crate) fn of_root(name: &'a CStr, root: usize, via_link: bool, metadata: Metadata) -> Self {
        let Metadata { ino, file_type, .. } = metadata;
        let (place, metadata, known) = (None, Some(metadata), Fields::BASIC);
        let (is_covered, recorded) = (false, None);
        Self { name, ino, file_type, via_link, place, fd: CWD, root, is_covered, metadata, known, recorded }
    }

    /// Makes an entry of a record, in starting point number `root`. A starting point has no `place`.
    pub(crate) fn recorded(
        name: &'a CStr,
        root: usize,
        place: Option<&'a dyn Place>,
        recorded: &'a Recorded<'a>,
    ) -> Self {
        let Metadata { ino, file_type, .. } = recorded.metadata;
        let (metadata, known, via_link, is_covered) = (None, Fields::NONE, false, false);
        let recorded = Some(recorded);
        Self { name, ino, file_type, via_link, place, fd: CWD, root, is_covered, metadata, known, recorded }
    }

    /// Returns what a record says about the entry. It is then not from a walk: its descriptor is not that of its directory.
    #[doc(hidden)]
    pub fn record(&self) -> Option<&'a Recorded<'a>> {
        self.recorded
    }

    /// Makes an entry from what the listing of the directory `fd` says about `name`.
    ///
    /// If the listing does not know the type, this reads the metadata.
    pub(crate) fn listed(
        name: &'a CStr,
        ino: u64,
        file_type: Option<FileType>,
        place: &'a dyn Place,
        fd: BorrowedFd<'a>,
    ) -> Result<Self, WalkError> {
        let root = place.root_number();
        let place = Some(place);
        let (metadata, known) = (None, Fields::NONE);
        let listed = file_type.unwrap_or(FileType::Regular);
        let (via_link, is_covered) = (false, false);
        let recorded = None;
        let mut entry = Self {
            name,
            ino,
            file_type: listed,
            via_link,
            place,
            fd,
            root,
            is_covered,
            metadata,
            known,
            recorded,
        };
        if file_type.is_none() {
            entry.file_type = entry.metadata()?.file_type;
        }
        Ok(entry)
    }

    /// Replaces type and metadata of a symbolic link with those of its target. A dangling link stays a link.
    pub(crate) fn follow(&mut self) -> Result<(), WalkError> {
        match sys::stat_at(self.fd, self.name, true) {
            Ok(target) => {
                self.file_type = target.file_type;
                self.via_link = true;
                self.metadata = Some(target);
                self.known = Fields::BASIC;
                Ok(())
            }
            Err(error) if sys::is_dangling(&error) => Ok(()),
            Err(error) if sys::is_link_loop(&error) => Err(self.error(Op::Loop, error)),
            Err(error) => Err(self.error(Op::Stat, error)),
        }
    }

    /// Returns the last name of the path. A path without a name, such as `/` or `..`, is returned whole.
    pub fn file_name(&self) -> &'a OsStr {
        let name = OsStr::from_bytes(self.name());
        if self.place.is_some() { name } else { Path::new(name).file_name().unwrap_or(name) }
    }
    /// Returns the path: the starting point as given, joined with the names below it.
    pub fn path(&self) -> PathBuf {
        path_from(|path| self.push_path(path))
    }
    /// Opens the regular file for reading; for a followed link, its target.
    ///
    /// The name is opened relative to its directory, so this works at any depth, and a directory above that was renamed
    /// or replaced meanwhile makes no difference. A link that is not followed, and that replaced the file after it was
    /// listed, is not followed here either. A FIFO is never opened, so this does not wait.
    ///
    /// # Errors
    /// If this is not a regular file, or no longer one ([`InvalidInput`](io::ErrorKind::InvalidInput)), or if it cannot be
    /// opened.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::Read;
    /// use ftk_walk::{FileType, Op, Step, WalkError, Walker};
    ///
    /// let parts = Walker::new(["src"]).fold(String::new, |text, entry| {
    ///     let entry = entry.expect("the tree is readable");
    ///     if entry.file_type() == FileType::Regular && entry.file_name() == "lib.rs" {
    ///         entry.open().expect("it is readable").read_to_string(text).expect("it is UTF-8");
    ///     }
    ///     Step::Descend
    /// });
    /// assert!(parts.concat().contains("//! A parallel directory walker"));
    /// ```
    pub fn open(&self) -> Result<File, WalkError> {
        let opened = match self.file_type {
            FileType::Regular => sys::open_file(self.fd, self.name, self.via_link),
            _ => Err(sys::not_regular()),
        };
        opened.map_err(|error| self.error(Op::Open, error))
    }
    /// Returns the name without its directory, as bytes; for a starting point the path as given.
    pub fn name(&self) -> &'a [u8] {
        self.name.to_bytes()
    }
    /// Returns the name as a C string, for system calls.
    pub fn name_c(&self) -> &'a CStr {
        self.name
    }
    /// Returns the inode number that the listing of the directory reports.
    ///
    /// For a mount point this is the inode of the directory that the mount covers. For a followed link it is
    /// the inode of the link. For a starting point it is the inode of the file, or of the target of a
    /// followed link.
    pub fn ino(&self) -> u64 {
        self.ino
    }
    /// Returns the type; for a followed link, the type of its target.
    pub fn file_type(&self) -> FileType {
        self.file_type
    }
    /// Returns whether this is a symbolic link that is being followed.
    pub fn via_link(&self) -> bool {
        self.via_link
    }
    /// Returns the depth: `0` for a starting point, `1` for an entry directly in it.
    pub fn depth(&self) -> u32 {
        self.place.map_or(0, |place| place.depth() + 1)
    }
    /// Returns the index of the starting point that this entry was reached from.
    pub fn root(&self) -> usize {
        self.root
    }
    /// Returns whether this is a directory that is also a starting point with another path. The walk enters it there,
    /// and not here.
    pub fn is_covered(&self) -> bool {
        self.is_covered
    }
    /// Returns the metadata; for a followed link, that of its target.
    ///
    /// The first call makes a system call, unless the walk has read the metadata already. Later calls do not.
    ///
    /// # Errors
    /// If `stat` fails, for example because the entry was removed.
    pub fn metadata(&mut self) -> Result<&Metadata, WalkError> {
        self.metadata_with(Fields::BASIC)
    }
    /// Returns the metadata with the [time of birth](Metadata::birth_ns); for a followed link, that of its
    /// target.
    ///
    /// This costs slightly more than [`metadata`](Self::metadata).
    ///
    /// # Errors
    /// As for [`metadata`](Self::metadata).
    pub fn metadata_with_birth(&mut self) -> Result<&Metadata, WalkError> {
        self.metadata_with(Fields::BASIC | Fields::BIRTH)
    }
    /// Returns metadata in which these fields are valid; for a followed link, that of its target.
    ///
    /// Makes a system call only if a field is needed that no earlier call has read. It requests exactly these
    /// fields and those known before. That can be cheaper than [`metadata`](Self::metadata) on network file
    /// systems. The values of other fields are unspecified.
    ///
    /// # Errors
    /// As for [`metadata`](Self::metadata).
    pub fn metadata_with(&mut self, fields: Fields) -> Result<&Metadata, WalkError> {
        if let Some(metadata) = self.metadata.filter(|_| self.known.contains(fields)) {
            return Ok(self.metadata.insert(metadata));
        }
        let wanted = self.known | fields;
        let read = match self.recorded {
            Some(recorded) => recorded.metadata_with(wanted),
            None if wanted == Fields::BASIC => sys::stat_at(self.fd, self.name, self.via_link),
            None => sys::stat_with(self.fd, self.name, self.via_link, wanted),
        };
        match read {
            Ok(metadata) => {
                self.known = wanted;
                Ok(self.metadata.insert(metadata))
            }
            Err(error) => Err(self.error(Op::Stat, error)),
        }
    }
    /// Returns whether a file system, or a part of one, is mounted on this name.
    ///
    /// Makes a system call. Where the system does not tell (Linux before 5.8), this returns `true`.
    pub fn is_mount_point(&self) -> bool {
        sys::is_mount_point(self.fd, self.name, self.via_link).unwrap_or(true)
    }
    /// Appends the path as bytes. Allocates only if `path` must grow.
    pub fn push_path(&self, path: &mut Vec<u8>) {
        if let Some(place) = self.place {
            place.push_path(path);
            if !path.ends_with(b"/") {
                path.push(b'/');
            }
        }
        path.extend_from_slice(self.name());
    }

    /// Reads these fields, if there are any.
    pub(crate) fn prefetch(&mut self, fields: Fields) -> Result<(), WalkError> {
        if fields.is_empty() { Ok(()) } else { self.metadata_with(fields).map(|_| ()) }
    }

    /// Returns the metadata if it was read before.
    pub(crate) fn known_metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref().filter(|_| !self.known.is_empty())
    }

    /// Returns device and inode number if the metadata was read before.
    pub(crate) fn known_id(&self) -> Option<Id> {
        self.metadata.as_ref().filter(|_| self.known.contains(Fields::INO)).map(Metadata::id)
    }

    /// Makes an error with the path of this entry, for visitors that make system calls themselves.
    pub fn error(&self, op: Op, source: io::Error) -> WalkError {
        let mut path = Vec::new();
        self.push_path(&mut path);
        WalkError { op, path, source }
    }
}

/// The descriptor of the directory that contains the entry; for a starting point, the working directory.
///
/// Opening the name relative to it works however long the path is. It is valid during the call that shows the
/// entry.
impl AsFd for Entry<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd
    }
}

/// Returns the path that `push` appends.
fn path_from(push: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
    let mut path = Vec::new();
    push(&mut path);
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Nowhere;

    impl Place for Nowhere {
        fn depth(&self) -> u32 {
            7
        }
        fn root_number(&self) -> usize {
            3
        }
        fn push_path(&self, path: &mut Vec<u8>) {
            path.extend_from_slice(b"nowhere");
        }
    }

    #[test]
    fn unknown_types_are_read_with_stat() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("dir")).unwrap();
        std::os::unix::fs::symlink("dir", dir.path().join("link")).unwrap();
        let fd = std::fs::File::open(dir.path()).unwrap();
        for (name, file_type) in [(c"dir", FileType::Directory), (c"link", FileType::Symlink)] {
            let mut entry = Entry::listed(name, 1, None, &Nowhere, fd.as_fd()).unwrap();
            assert_eq!(entry.file_type(), file_type);
            assert_eq!(entry.metadata().unwrap().file_type, file_type);
            assert_eq!((entry.depth(), entry.root()), (8, 3));
        }
        let mut entry = Entry::listed(c"link", 1, None, &Nowhere, fd.as_fd()).unwrap();
        let without = *entry.metadata().unwrap();
        let with = *entry.metadata_with_birth().unwrap();
        assert_eq!(without, Metadata { birth_ns: None, ..with });
        let born = dir.path().join("link").symlink_metadata().unwrap().created().ok();
        let born = born.map(|time| time.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i128);
        assert!(with.birth_ns == born || cfg!(feature = "portable"));
        assert_eq!(*entry.metadata().unwrap(), with);
        let error = Entry::listed(c"gone", 1, None, &Nowhere, fd.as_fd()).unwrap_err();
        assert_eq!((error.op, &error.path[..]), (Op::Stat, &b"nowhere/gone"[..]));
    }
}
