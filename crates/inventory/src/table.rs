//! The merged table.

use std::ffi::CStr;
use std::ops::Range;

/// A regular file's number: position in directory order, and its row in every table of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileNo(pub u32);

/// A directory's number: position in depth-first order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirNo(pub u32);

/// The table. Holds no descriptor, so it may cross any thread.
#[derive(Debug)]
pub struct Inventory {
    _todo: (),
}

impl Inventory {
    /// Phase B: one table of all the workers' parts. O(directories).
    pub fn merge(parts: Vec<crate::Collect>) -> Self {
        let _ = parts;
        todo!()
    }
    /// Number of regular files; their numbers are `0..files()`.
    pub fn files(&self) -> u32 {
        todo!()
    }
    /// Number of directories; their numbers are `0..dirs()`.
    pub fn dirs(&self) -> u32 {
        todo!()
    }
    /// The files of one directory.
    pub fn files_of(&self, dir: DirNo) -> Range<u32> {
        let _ = dir;
        todo!()
    }
    /// The directory a file lies in. O(log directories).
    pub fn dir_of(&self, file: FileNo) -> DirNo {
        let _ = file;
        todo!()
    }
    /// The file's name in its directory; the whole path for a file given as an argument.
    pub fn name(&self, dir: DirNo, file: FileNo) -> &CStr {
        let _ = (dir, file);
        todo!()
    }
    /// The inode number the walk saw.
    pub fn ino(&self, dir: DirNo, file: FileNo) -> u64 {
        let _ = (dir, file);
        todo!()
    }
    /// Whether the name is a symbolic link to be followed when the file is opened.
    pub fn via_link(&self, dir: DirNo, file: FileNo) -> bool {
        let _ = (dir, file);
        todo!()
    }
    /// Appends the file's path.
    pub fn push_path(&self, file: FileNo, path: &mut Vec<u8>) {
        let _ = (file, path);
        todo!()
    }
    /// All entries in the byte order of their whole paths.
    pub fn in_path_order(&self) -> crate::PathOrder<'_> {
        todo!()
    }
}
