//! What counts of one entry.

use ftk_walk::{FileType, Metadata};

/// The space that one entry uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The size in bytes, as `stat` reports it.
    pub apparent: u64,
    /// The allocated bytes.
    pub allocated: u64,
    /// A number for the file system, such as the device number, and the inode number, if the same inode may be found
    /// under other paths.
    pub link: Option<(u64, u64)>,
}

impl Facts {
    /// Returns the facts of an entry. If `follows`, links lead to the entries, so any inode may be found twice.
    ///
    /// The size counts for every type, as in ncdu and in GNU du up to 9.1.
    pub(crate) fn of(metadata: &Metadata, follows: bool) -> Self {
        let is_linked = follows || (metadata.nlink > 1 && metadata.file_type != FileType::Directory);
        Self {
            apparent: metadata.size,
            allocated: metadata.blocks.saturating_mul(512),
            link: is_linked.then_some((metadata.dev, metadata.ino)),
        }
    }
}
