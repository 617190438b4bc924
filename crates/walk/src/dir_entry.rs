//! An entry that outlives the call that shows it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::{Directory, Entry, FileType, Metadata};

/// An entry of a walk with its path, for [`collect_sorted`](crate::Walker::collect_sorted) and
/// [`stream`](crate::Walker::stream).
///
/// It cannot be opened at any depth as an [`Entry`] can: a path longer than `PATH_MAX` is refused by the system, and a
/// directory on the way may have been replaced by a link. Open files during the walk, with [`Entry::open`].
#[derive(Clone, Debug)]
pub struct DirEntry {
    path: Box<Path>,
    metadata: Option<Box<Metadata>>,
    ino: u64,
    /// The length of the last name in bytes. `0` for a starting point, whose path need not end with its name.
    name_len: u16,
    depth: u32,
    root: u32,
    file_type: FileType,
    via_link: bool,
}

/// Makes owned entries. The path of their directory is made once.
#[derive(Default)]
pub(crate) struct Copier {
    /// The path of the directory that was entered last, with a slash at its end.
    above: Vec<u8>,
}

impl Copier {
    /// The next entries are in this directory.
    pub(crate) fn enter(&mut self, dir: &Directory<'_>) {
        self.above.clear();
        dir.push_path(&mut self.above);
        if !self.above.ends_with(b"/") {
            self.above.push(b'/');
        }
    }

    /// Copies an entry. It has metadata if that was read before.
    pub(crate) fn copy(&self, entry: &Entry<'_>) -> DirEntry {
        let above = if entry.depth() == 0 { &[] } else { &self.above[..] };
        DirEntry {
            path: PathBuf::from(OsString::from_vec([above, entry.name()].concat())).into(),
            metadata: entry.known_metadata().copied().map(Box::new),
            ino: entry.ino(),
            // Names are shorter than paths that the system accepts, which have less than 4,096 bytes.
            name_len: if entry.depth() == 0 { 0 } else { entry.name().len() as u16 },
            depth: entry.depth(),
            // There is not enough memory for more starting points than a `u32` can count.
            root: entry.root() as u32,
            file_type: entry.file_type(),
            via_link: entry.via_link(),
        }
    }
}

impl DirEntry {
    /// Returns the path: the starting point as given, joined with the names below it.
    pub fn path(&self) -> &Path {
        &self.path
    }
    pub(crate) fn path_bytes(&self) -> &[u8] {
        self.path.as_os_str().as_bytes()
    }
    /// Returns the path, and consumes the entry.
    pub fn into_path(self) -> PathBuf {
        self.path.into()
    }
    /// Returns the last name of the path. A path without a name, such as `/` or `..`, is returned whole.
    pub fn file_name(&self) -> &OsStr {
        match self.name_len as usize {
            0 => self.path.file_name().unwrap_or(self.path.as_os_str()),
            len => OsStr::from_bytes(&self.path_bytes()[self.path_bytes().len() - len..]),
        }
    }
    /// Returns the type; for a followed link, the type of its target.
    pub fn file_type(&self) -> FileType {
        self.file_type
    }
    /// Returns the metadata with the fields that [`prefetch`](crate::Walker::prefetch) asked for. `None` if it asked for
    /// none.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_deref()
    }
    /// Returns the inode number, as [`Entry::ino`] does.
    pub fn ino(&self) -> u64 {
        self.ino
    }
    /// Returns the depth: `0` for a starting point, `1` for an entry directly in it.
    pub fn depth(&self) -> u32 {
        self.depth
    }
    /// Returns the index of the starting point that this entry was reached from.
    pub fn root(&self) -> usize {
        self.root as usize
    }
    /// Returns whether the path is a symbolic link that was followed.
    pub fn via_link(&self) -> bool {
        self.via_link
    }
}
