//! A file of a group, with what the rules ask of it.

/// One name of a file whose content others have too.
///
/// Ordered as arguments are: by the starting point, then by path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// The number of the starting point it was reached from.
    pub root: usize,
    /// The whole path.
    pub path: Vec<u8>,
    /// Device and inode number: names that agree in both are one file.
    pub dev: u64,
    /// The inode number.
    pub ino: u64,
    /// Length in bytes.
    pub size: u64,
    /// What it takes on the disk, in units of 512 bytes.
    pub blocks: u64,
    /// Number of hard links, those nobody has seen included.
    pub nlink: u64,
    /// Last change of the content, in nanoseconds since the Unix epoch.
    pub mtime_ns: i128,
    /// Last change of the inode.
    pub ctime_ns: i128,
    /// Whether the path is a symbolic link that was followed.
    pub via_link: bool,
}
