//! `--max-results`, shared by all workers.

use std::sync::atomic::{AtomicU64, Ordering};

use ftk_walk::Step;

/// How many more entries may be found.
#[derive(Debug)]
pub(super) struct Limit(AtomicU64);

impl Limit {
    pub(super) fn new(most: u64) -> Self {
        Self(AtomicU64::new(most))
    }

    /// Takes one: what to do after this entry, or `None` when all have been taken before it.
    pub(super) fn take(&self) -> Option<Step> {
        // Relaxed: the number stands for itself, nothing is published with it.
        let before =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
        Some(if before == 1 { Step::Stop } else { Step::Descend })
    }
}
