//! `--max-results`, shared by all workers.

use std::sync::atomic::{AtomicU64, Ordering};

use ftk_walk::Step;

/// The number of entries that may still be found.
#[derive(Debug)]
pub(super) struct Limit(AtomicU64);

impl Limit {
    pub(super) fn new(most: u64) -> Self {
        Self(AtomicU64::new(most))
    }

    /// Counts one entry. Returns how to go on after it, or `None` if the limit had been reached before.
    /// Without a limit, every entry counts.
    pub(super) fn claim(limit: Option<&Self>) -> Option<Step> {
        limit.map_or(Some(Step::Descend), Self::claim_one)
    }

    fn claim_one(&self) -> Option<Step> {
        // Relaxed: the number does not guard any other data.
        let before =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
        Some(if before == 1 { Step::Stop } else { Step::Descend })
    }
}
