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

    /// Takes one of the limit, if there is one: what to do after this entry, or `None` when all were taken before.
    pub(super) fn take(limit: Option<&Self>) -> Option<Step> {
        limit.map_or(Some(Step::Descend), Self::take_one)
    }

    fn take_one(&self) -> Option<Step> {
        // Relaxed: the number stands for itself, nothing is published with it.
        let before =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
        Some(if before == 1 { Step::Stop } else { Step::Descend })
    }
}
