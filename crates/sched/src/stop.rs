//! The flag that ends a phase early.

use std::sync::atomic::{AtomicBool, Ordering};

/// Raised once, seen by every worker between two pieces of work.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// A flag that is down.
    pub fn new() -> Self {
        Self::default()
    }
    /// Raises the flag for good.
    pub fn raise(&self) {
        // Relaxed: the flag carries no data with it; what workers made is handed over by the join.
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
