//! The part of the entries that a comparison looks at.

use std::fmt;
use std::rc::Rc;

use ftk_walk::FileType;

use crate::entry::ROOT;

/// Selects entries by their paths below the root; that of the root is empty.
#[derive(Clone)]
pub struct Selector(Rc<Selects>);

type Selects = dyn Fn(&[u8], FileType) -> bool;

impl Selector {
    /// Creates a part of the entries for which `selects` returns `true`. The result for a path must always be the same.
    pub fn new(selects: impl Fn(&[u8], FileType) -> bool + 'static) -> Self {
        Self(Rc::new(selects))
    }

    /// Returns whether an entry with this path in a manifest is selected.
    pub(crate) fn selects(&self, path: &[u8], file_type: FileType) -> bool {
        (self.0)(if path == ROOT { &[] } else { path }, file_type)
    }
}

impl fmt::Debug for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Selector")
    }
}
