//! The page cache, warm or cold.

use anyhow::{Context, Result};

/// Whether file contents may be in memory when a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    /// The run for the answer has read everything once.
    Warm,
    /// Dropped before each run, directory entries and inodes too.
    Cold,
}

impl Cache {
    /// Brings the cache into this state as far as a run needs it.
    pub(crate) fn prepare(self) -> Result<()> {
        match self {
            Self::Warm => Ok(()),
            Self::Cold => drop_all(),
        }
    }
}

/// # Errors
/// Without the rights of root.
pub(crate) fn drop_all() -> Result<()> {
    rustix::fs::sync();
    std::fs::write("/proc/sys/vm/drop_caches", "3").context("cannot drop the page cache (needs root)")
}
