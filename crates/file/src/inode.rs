//! What identifies a file, whatever its name.

use crate::FsId;

/// The file system and number of an inode. All hard links of a file have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inode {
    /// The file system.
    pub file_system: FileSystem,
    /// The inode number.
    pub ino: u64,
}

/// What identifies a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileSystem {
    /// Its identity, which is the same on every host and after every mount.
    Id(FsId),
    /// The device number, if it has no identity. Another mount can have another one.
    Dev(u64),
}

impl Inode {
    /// Returns the inode, or `None` if not enough is known.
    pub fn new(fs: Option<FsId>, dev: Option<u64>, ino: Option<u64>) -> Option<Self> {
        let file_system = fs.map(FileSystem::Id).or(dev.map(FileSystem::Dev))?;
        Some(Self { file_system, ino: ino? })
    }
}
