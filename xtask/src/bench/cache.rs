//! The page cache, warm or cold.

use std::fmt;

use anyhow::{Context, Result};

/// Whether file contents may be in memory when a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    /// The run for the answer has read everything once.
    Warm,
    /// Dropped before each run, directory entries and inodes too.
    Cold,
}

/// As records have it.
impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Warm { "warm" } else { "cold" })
    }
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

/// Whether the cache can be dropped; says why if not.
pub(crate) fn can_drop() -> bool {
    drop_all().inspect_err(|error| println!(" not measured: {error:#}")).is_ok()
}

/// # Errors
/// Without the rights of root.
fn drop_all() -> Result<()> {
    rustix::fs::sync();
    std::fs::write("/proc/sys/vm/drop_caches", "3").context("cannot drop the page cache (needs root)")
}
