//! One extent of a file.

/// A contiguous byte range of a file and its place on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Start in the file, in bytes.
    pub logical: u64,
    /// Start on the disk, in bytes. Meaningful only if `is_plain`.
    pub physical: u64,
    /// Length in bytes.
    pub len: u64,
    /// Whether the disk holds the bytes exactly as they are read: written, in whole blocks, neither
    /// compressed nor encrypted.
    pub is_plain: bool,
    /// Whether other files, or other parts of this file, use the same blocks.
    pub is_shared: bool,
    /// Whether the data is stored with the inode and uses no block.
    pub is_inline: bool,
    /// Whether this is the last extent of the file.
    pub is_last: bool,
}

impl Extent {
    /// Returns the place on the disk if it identifies the content: another extent at the same place has the
    /// same bytes.
    pub fn shared_at(&self) -> Option<u64> {
        (self.is_plain && self.is_shared).then_some(self.physical)
    }
}

/// Blocks of a file that other files have, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedBlocks {
    /// The disk. Files on several subvolumes may be on one disk.
    pub disk: u64,
    /// Start on the disk, in bytes.
    pub start: u64,
    /// Length in bytes.
    pub len: u64,
}
