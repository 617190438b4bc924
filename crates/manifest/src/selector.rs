//! The part of the entries that a comparison looks at.

use std::fmt;
use std::sync::Arc;

use ftk_walk::FileType;

use crate::entry::key;

/// Selects entries by their paths below the root; that of the root is empty.
#[derive(Clone)]
pub struct Selector(Arc<dyn Selects>);

/// What a [`Selector`] asks. The result for a path must always be the same.
pub trait Selects: Send + Sync {
    /// Returns whether an entry is selected.
    fn selects(&self, path: &[u8], file_type: FileType) -> bool;
    /// Returns whether a rule skips an entry and all below it.
    fn skips(&self, path: &[u8], file_type: FileType) -> bool;
}

impl Selector {
    /// Creates a part of the entries.
    pub fn new(selects: impl Selects + 'static) -> Self {
        Self(Arc::new(selects))
    }

    /// Returns whether an entry with this path in a manifest is selected.
    pub(crate) fn selects(&self, path: &[u8], file_type: FileType) -> bool {
        self.0.selects(key(path), file_type)
    }

    /// Returns whether everything at and below a path in a manifest is skipped, whatever it is.
    pub(crate) fn skips(&self, path: &[u8]) -> bool {
        self.0.skips(key(path), FileType::Directory)
    }
}

impl fmt::Debug for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Selector")
    }
}
