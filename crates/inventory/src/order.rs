//! Path order: a cursor over the table.

use ftk_walk::FileType;

use crate::{FileNo, Inventory};

/// One entry in path order.
#[derive(Debug)]
pub struct Item<'c> {
    /// The whole path.
    pub path: &'c [u8],
    /// The type.
    pub file_type: FileType,
    /// The row of a regular file; `None` for every other type.
    pub file: Option<FileNo>,
}

/// A cursor over all entries in the byte order of their whole paths.
#[derive(Debug)]
pub struct PathOrder<'i> {
    _inventory: &'i Inventory,
}

impl PathOrder<'_> {
    /// The next entry; the path is valid until the next call.
    #[expect(clippy::should_implement_trait, reason = "a lending cursor cannot be an Iterator")]
    pub fn next(&mut self) -> Option<Item<'_>> {
        todo!()
    }
}
