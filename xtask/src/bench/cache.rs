//! The page cache, warm or cold.

use std::fmt;

use anyhow::{Context, Result};

/// The state of the page cache when a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    /// The run that compares the result has read everything.
    Warm,
    /// The cache is dropped before each run, with directory entries and inodes.
    Cold,
}

/// The word in records.
impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Warm { "warm" } else { "cold" })
    }
}

impl Cache {
    /// Brings the cache into this state.
    pub(crate) fn prepare(self) -> Result<()> {
        match self {
            Self::Warm => Ok(()),
            Self::Cold => drop_all(),
        }
    }
}

/// Whether the cache can be dropped. Prints the reason if not.
pub(crate) fn can_drop() -> bool {
    drop_all().inspect_err(|error| println!(" not measured: {error:#}")).is_ok()
}

/// # Errors
/// If the caller is not root.
fn drop_all() -> Result<()> {
    rustix::fs::sync();
    std::fs::write("/proc/sys/vm/drop_caches", "3").context("cannot drop the page cache (needs root)")
}
