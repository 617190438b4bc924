//! File types and metadata, free of any platform's own structures.

use crate::node::Id;

/// The type of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum FileType {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link that is not being followed.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A Unix domain socket.
    Socket,
    /// A block device.
    Block,
    /// A character device; also what has no type at all, as the anonymous inodes that links in proc lead to.
    Char,
}

/// What `stat` says about an entry. Times are nanoseconds since the Unix epoch, negative before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The type.
    pub file_type: FileType,
    /// Permission bits with set-user-ID, set-group-ID and sticky: `0o7777` at most.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device the inode lives on.
    pub dev: u64,
    /// The device that a device file stands for; 0 for what is none.
    pub rdev: u64,
    /// Inode number.
    pub ino: u64,
    /// Number of hard links.
    pub nlink: u64,
    /// Length in bytes.
    pub size: u64,
    /// Space taken, in units of 512 bytes.
    pub blocks: u64,
    /// Last change of the content.
    pub mtime_ns: i128,
    /// Last change of the inode.
    pub ctime_ns: i128,
    /// Last access.
    pub atime_ns: i128,
}

impl Metadata {
    /// What tells it from all other inodes.
    pub(crate) fn id(&self) -> Id {
        Id { dev: self.dev, ino: self.ino }
    }
}
