//! What uses the space: the columns of the page, and the choice of the nodes that it shows.

mod builder;
mod columns;
mod nodes;
mod types;

pub use builder::SpaceBuilder;
pub use columns::Space;

/// The largest number of nodes on a page: with these it has less than 8 MB, and a browser draws it in less than two
/// seconds.
pub const MAX_NODES: usize = 60_000;

/// What an entry uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes on the disk. 0 for a hard link whose file was counted before.
    pub allocated: u64,
    /// Bytes of content.
    pub apparent: u64,
    /// When the content was last modified, in seconds since 1970.
    pub mtime_s: i64,
    /// The number of the owner; absent if unknown.
    pub uid: Option<u32>,
    /// Bytes of content that are equal to those of another file.
    pub waste: u64,
}
