//! Files as a scan saw them, and steps that remove one in favour of another.

use rustix::fs::Stat;

use crate::stat::{identity, mtime_ns};

/// A file as a scan saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The path as scanned: the starting point joined with the path below it.
    pub path: Vec<u8>,
    /// Length of the starting point in `path`.
    ///
    /// Links in the starting point are followed once for the whole run; links below it are never followed.
    /// For a file that the user named itself, the starting point is the whole path. With 0, only the working
    /// directory is trusted, or the root directory for an absolute path.
    pub root_len: usize,
    /// Device.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Length in bytes.
    pub size: u64,
    /// Last change of the content, in nanoseconds since the Unix epoch.
    pub mtime_ns: i128,
    /// Last change of the inode.
    pub ctime_ns: i128,
}

impl Seen {
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.dev, self.ino)
    }

    /// Returns whether this is the same file with the same content. The ctime is not compared, since added
    /// and removed links change it.
    pub(crate) fn is_content_of(&self, stat: &Stat) -> bool {
        self.identity() == identity(stat)
            && self.size == stat.st_size as u64
            && self.mtime_ns == mtime_ns(stat)
    }
}

/// One unit of work: the victim is a copy of the keeper, and is removed or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The file that loses its name or its blocks.
    pub victim: Seen,
    /// The file that is kept.
    pub keeper: Seen,
}
