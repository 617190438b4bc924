//! What `fstat` says about an open file.

/// Identity, size and times of an open file. Times are nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Device.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Type and permission bits, as `st_mode`.
    pub mode: u32,
    /// Number of hard links.
    pub nlink: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Length in bytes.
    pub size: u64,
    /// Last change of the content.
    pub mtime_ns: i128,
    /// Last change of the inode.
    pub ctime_ns: i128,
}
