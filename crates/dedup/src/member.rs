//! A member of a group, with the metadata that the rules need.

/// One name of a file that has duplicates.
///
/// Members are ordered by starting point, then by path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// The number of the starting point.
    pub root: usize,
    /// The path, including the starting point.
    pub path: Vec<u8>,
    /// The device number. Names with the same device and inode number are one file.
    pub dev: u64,
    /// The inode number.
    pub ino: u64,
    /// The size in bytes.
    pub size: u64,
    /// Disk space, in units of 512 bytes.
    pub blocks: u64,
    /// The number of hard links, including those outside the searched trees.
    pub nlink: u64,
    /// Time of the last modification, in nanoseconds since the Unix epoch.
    pub mtime_ns: i128,
    /// Time of the last inode change, in nanoseconds since the Unix epoch.
    pub ctime_ns: i128,
    /// Whether the path is a symbolic link that was followed.
    pub via_link: bool,
}
