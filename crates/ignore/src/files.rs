//! The filter for a walk.

use std::sync::Arc;

use ftk_walk::{Directory, Entry, Filter, Visitor};

use crate::memory::Memory;
use crate::rules::{IgnoreRules, Loaded};
use crate::{IgnoreMemory, Unignored};

/// A filter for a walk, which skips what `.gitignore` and `.ignore` files ignore.
///
/// Give it to [`Walker::filter_with`](ftk_walk::Walker::filter_with). The documentation of the crate says which files apply.
///
/// # Examples
///
/// The number of entries that are not ignored, `.git` excluded:
///
/// ```
/// use ftk_ignore::IgnoreFiles;
/// use ftk_walk::{Step, Walker};
///
/// let walker = Walker::new(["."]).filter_entry(|entry| entry.file_name() != ".git");
/// let parts = walker.filter_with(IgnoreFiles::new()).fold(
///     || (0, vec![]),
///     |(entries, errors), entry| {
///         match entry {
///             Ok(_) => *entries += 1,
///             // Unreadable ignore files are here too.
///             Err(error) => errors.push(error),
///         }
///         Step::Descend
///     },
/// );
/// assert!(parts.iter().map(|part| part.0).sum::<u64>() > 10);
/// assert!(parts.iter().all(|part| part.1.is_empty()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct IgnoreFiles {
    memory: Option<Memory>,
}

impl IgnoreFiles {
    /// Makes the filter.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the memory for patterns from a limit. A file that does not fit is an error, like one that cannot be read.
    #[must_use]
    pub fn within(self, memory: Arc<dyn IgnoreMemory>) -> Self {
        Self { memory: Some(Memory(memory)) }
    }

    /// Returns the rules above a starting point.
    #[doc(hidden)]
    pub fn above(&self, root: &Entry<'_>) -> Loaded {
        IgnoreRules::above(root, self.memory.as_ref())
    }

    /// Returns the rules that apply in a directory. `up` are those of the directory above, and `len` is the length of its
    /// [path](IgnoreRules::set_path).
    #[doc(hidden)]
    pub fn of(&self, dir: &Directory<'_>, up: Option<&Arc<IgnoreRules>>, len: usize) -> Loaded {
        IgnoreRules::of(dir, up, len, self.memory.as_ref())
    }
}

impl Filter for IgnoreFiles {
    type Visitor<V: Visitor> = Unignored<V>;

    fn wrap<V: Visitor>(&self, visitor: V) -> Unignored<V> {
        Unignored::new(self.clone(), visitor)
    }

    fn unwrap<V: Visitor>(wrapped: Unignored<V>) -> V {
        wrapped.into_inner()
    }
}
