//! What a visitor is shown: one entry, one opened directory.

use std::ffi::CStr;

use crate::{FileType, Metadata, WalkError};

/// A directory whose listing is about to start.
#[derive(Debug)]
pub struct Directory<'a> {
    _todo: &'a (),
}

impl Directory<'_> {
    /// Device of this directory.
    pub fn dev(&self) -> u64 {
        todo!()
    }
    /// Inode number of this directory.
    pub fn ino(&self) -> u64 {
        todo!()
    }
    /// Device of the root this directory was reached from.
    pub fn root_dev(&self) -> u64 {
        todo!()
    }
    /// Directories between this one and its root; `0` for a root.
    pub fn depth(&self) -> u32 {
        todo!()
    }
    /// Whether it lies on another device than the directory it was found in; `false` for a root.
    pub fn is_mount(&self) -> bool {
        todo!()
    }
    /// Whether it lies on a file system without stored files (proc, sysfs, cgroup and their kin).
    pub fn is_pseudo(&self) -> bool {
        todo!()
    }
    /// Appends the path: the root as given, joined with the names below it.
    pub fn push_path(&self, path: &mut Vec<u8>) {
        let _ = path;
        todo!()
    }
}

/// One entry of a directory, or a starting point.
#[derive(Debug)]
pub struct Entry<'a> {
    _todo: &'a (),
}

impl Entry<'_> {
    /// The name without its directory, as bytes; for a root the path as given.
    pub fn name(&self) -> &[u8] {
        todo!()
    }
    /// The same, as the system calls want it.
    pub fn name_c(&self) -> &CStr {
        todo!()
    }
    /// The inode number the directory records; a mount point's is that of the directory it covers.
    pub fn ino(&self) -> u64 {
        todo!()
    }
    /// The type; of the target where links are followed.
    pub fn file_type(&self) -> FileType {
        todo!()
    }
    /// Whether this is a symbolic link that is being followed.
    pub fn via_link(&self) -> bool {
        todo!()
    }
    /// `0` for a root, `1` for what lies directly in it.
    pub fn depth(&self) -> u32 {
        todo!()
    }
    /// The number of the starting point this was reached from.
    pub fn root(&self) -> usize {
        todo!()
    }
    /// Asks the system once; later calls are free.
    ///
    /// # Errors
    /// When the entry cannot be statted, for example because it vanished.
    pub fn metadata(&mut self) -> Result<&Metadata, WalkError> {
        todo!()
    }
    /// Appends the path: the root as given, joined with the names below it.
    pub fn push_path(&self, path: &mut Vec<u8>) {
        let _ = path;
        todo!()
    }
}
