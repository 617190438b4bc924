//! What a visitor is shown: one entry, one opened directory.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

use crate::node::{Id, Place};
use crate::sys::{self, CWD};
use crate::{FileType, Metadata, Op, WalkError};

/// Whether something open lies on a file system without stored files (proc, sysfs, cgroup and their kin), which makes
/// up the sizes of its files. Asks the system; where that cannot be asked the answer is `false`.
pub fn is_pseudo(fd: impl AsFd) -> bool {
    sys::is_pseudo(fd.as_fd())
}

/// A directory whose listing is about to start.
///
/// [`AsFd`] gives its descriptor, for opening what lies in it however long its path is.
#[derive(Debug)]
pub struct Directory<'a> {
    pub(crate) fd: BorrowedFd<'a>,
    pub(crate) place: &'a dyn Place,
    pub(crate) id: Id,
    pub(crate) root_dev: u64,
    pub(crate) up_dev: Option<u64>,
}

impl Directory<'_> {
    /// Device of this directory.
    pub fn dev(&self) -> u64 {
        self.id.dev
    }
    /// Inode number of this directory.
    pub fn ino(&self) -> u64 {
        self.id.ino
    }
    /// Device of the root this directory was reached from.
    pub fn root_dev(&self) -> u64 {
        self.root_dev
    }
    /// Directories between this one and its root; `0` for a root.
    pub fn depth(&self) -> u32 {
        self.place.depth()
    }
    /// The number of the starting point this was reached from.
    pub fn root(&self) -> usize {
        self.place.root_number()
    }
    /// Whether it lies on another device than the directory it was found in; `false` for a root.
    pub fn is_mount(&self) -> bool {
        self.up_dev.is_some_and(|dev| dev != self.id.dev)
    }
    /// Whether it lies on a file system without stored files (proc, sysfs, cgroup and their kin).
    ///
    /// Each call asks the system. Where the system cannot be asked the answer is `false`.
    pub fn is_pseudo(&self) -> bool {
        is_pseudo(self.fd)
    }
    /// Appends the path: the root as given, joined with the names below it.
    pub fn push_path(&self, path: &mut Vec<u8>) {
        self.place.push_path(path);
    }
}

impl AsFd for Directory<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd
    }
}

/// A directory that is reached again, under another path than the one it was entered under.
#[derive(Debug)]
pub struct Repeat<'a> {
    pub(crate) place: &'a dyn Place,
    pub(crate) first: &'a dyn Place,
}

impl Repeat<'_> {
    /// Appends the path that is not entered.
    pub fn push_path(&self, path: &mut Vec<u8>) {
        self.place.push_path(path);
    }
    /// Appends the path that the directory was entered under.
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
    /// The directory it lies in; none for a starting point.
    place: Option<&'a dyn Place>,
    fd: BorrowedFd<'a>,
    root: usize,
    metadata: Option<Metadata>,
}

impl<'a> Entry<'a> {
    /// Starting point number `root`; `via_link`: `metadata` is that of a link's target.
    pub(crate) fn of_root(name: &'a CStr, root: usize, via_link: bool, metadata: Metadata) -> Self {
        let Metadata { ino, file_type, .. } = metadata;
        Self { name, ino, file_type, via_link, place: None, fd: CWD, root, metadata: Some(metadata) }
    }

    /// What the listing of the directory `fd` says about `name`. A type it does not know is asked for.
    pub(crate) fn listed(
        name: &'a CStr,
        ino: u64,
        file_type: Option<FileType>,
        place: &'a dyn Place,
        fd: BorrowedFd<'a>,
    ) -> Result<Self, WalkError> {
        let root = place.root_number();
        let place = Some(place);
        let known = file_type.unwrap_or(FileType::Regular);
        let mut entry =
            Self { name, ino, file_type: known, via_link: false, place, fd, root, metadata: None };
        if file_type.is_none() {
            entry.file_type = entry.metadata()?.file_type;
        }
        Ok(entry)
    }

    /// Makes a symbolic link stand for its target. One that leads nowhere stays a link.
    pub(crate) fn follow(&mut self) -> Result<(), WalkError> {
        match sys::stat_at(self.fd, self.name, true) {
            Ok(target) => {
                self.file_type = target.file_type;
                self.via_link = true;
                self.metadata = Some(target);
                Ok(())
            }
            Err(error) if sys::leads_nowhere(&error) => Ok(()),
            Err(error) if sys::leads_in_circles(&error) => Err(self.error(Op::Loop, error)),
            Err(error) => Err(self.error(Op::Stat, error)),
        }
    }

    /// The name without its directory, as bytes; for a root the path as given.
    pub fn name(&self) -> &[u8] {
        self.name.to_bytes()
    }
    /// The same, as the system calls want it.
    pub fn name_c(&self) -> &CStr {
        self.name
    }
    /// The inode number the directory records; a mount point's is that of the directory it covers, and a
    /// followed link's is its own. That of a root is its own, or its target's.
    pub fn ino(&self) -> u64 {
        self.ino
    }
    /// The type; of the target where links are followed.
    pub fn file_type(&self) -> FileType {
        self.file_type
    }
    /// Whether this is a symbolic link that is being followed.
    pub fn via_link(&self) -> bool {
        self.via_link
    }
    /// `0` for a root, `1` for what lies directly in it.
    pub fn depth(&self) -> u32 {
        self.place.map_or(0, |place| place.depth() + 1)
    }
    /// The number of the starting point this was reached from.
    pub fn root(&self) -> usize {
        self.root
    }
    /// Asks the system once; later calls are free. A followed link's target is what it tells about.
    ///
    /// # Errors
    /// When the entry cannot be statted, for example because it vanished.
    pub fn metadata(&mut self) -> Result<&Metadata, WalkError> {
        let metadata = match self.metadata {
            Some(metadata) => metadata,
            None => match sys::stat_at(self.fd, self.name, self.via_link) {
                Ok(metadata) => metadata,
                Err(error) => return Err(self.error(Op::Stat, error)),
            },
        };
        Ok(self.metadata.insert(metadata))
    }
    /// Appends the path: the root as given, joined with the names below it.
    pub fn push_path(&self, path: &mut Vec<u8>) {
        if let Some(place) = self.place {
            place.push_path(path);
            if !path.ends_with(b"/") {
                path.push(b'/');
            }
        }
        path.extend_from_slice(self.name());
    }

    /// What went wrong with this entry.
    pub(crate) fn error(&self, op: Op, source: std::io::Error) -> WalkError {
        let mut path = Vec::new();
        self.push_path(&mut path);
        WalkError { op, path, source }
    }
}

/// The directory the entry lies in, to open the entry by name however long its path is; for a starting point
/// the working directory. Valid during the call that shows the entry.
impl AsFd for Entry<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd
    }
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
    fn a_type_the_listing_does_not_know_is_asked_for() {
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
        let error = Entry::listed(c"gone", 1, None, &Nowhere, fd.as_fd()).unwrap_err();
        assert_eq!((error.op, &error.path[..]), (Op::Stat, &b"nowhere/gone"[..]));
    }
}
