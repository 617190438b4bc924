//! What a scan saw of two files, and that one of them is to go in favour of the other.

use rustix::fs::Stat;

use crate::stat::{identity, mtime_ns};

/// A file as a scan saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its path as scanned: the starting point, joined with the path below it.
    pub path: Vec<u8>,
    /// How many bytes of the path are the starting point that the user named. Links in there are followed, once
    /// for the whole run; below it none ever is. All of it for a file that was named itself; 0 trusts nothing
    /// but the working directory, or the root directory for an absolute path.
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

    /// Whether this is the file, with the content it had. The time of its inode is another matter: links that are
    /// made to it and names that it loses change that.
    pub(crate) fn is_content_of(&self, stat: &Stat) -> bool {
        self.identity() == identity(stat)
            && self.size == stat.st_size as u64
            && self.mtime_ns == mtime_ns(stat)
    }
}

/// One thing to do: the victim is a copy of the keeper and goes in favour of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The file whose name is given up, or whose blocks are.
    pub victim: Seen,
    /// The file that stays.
    pub keeper: Seen,
}
