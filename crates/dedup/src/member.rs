//! A member of a group, with the metadata that the rules need.

use ftk_file::Version;
use ftk_read::SharedBlocks;

use crate::prune::Standing;

/// One name of a file that has duplicates.
///
/// Members are ordered by starting point, then by path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// The number of the starting point.
    pub root: usize,
    /// The path, including the starting point.
    pub path: Vec<u8>,
    /// The file and the version of its content. Names with the same identity are one file.
    pub version: Version,
    /// Disk space, in units of 512 bytes.
    pub blocks: u64,
    /// The number of hard links, including those outside the searched trees.
    pub nlink: u64,
    /// Whether the path is a symbolic link that was followed.
    pub via_link: bool,
    /// What protects it.
    pub standing: Standing,
    /// The blocks of the file that other files have, too, as far as this is known.
    pub shared: Vec<SharedBlocks>,
}

impl Member {
    /// A member with one hard link, of which only this much is known.
    pub fn new(root: usize, path: Vec<u8>, version: Version) -> Self {
        let (standing, shared) = (Standing::default(), Vec::new());
        Self { root, path, version, blocks: 0, nlink: 1, via_link: false, standing, shared }
    }

    /// Returns the disk space in bytes.
    pub fn allocated(&self) -> u64 {
        self.blocks.saturating_mul(512)
    }
}
