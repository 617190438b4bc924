//! The flag that ends a phase early.

use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that tells all workers to stop. They check it between two pieces of work.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Creates a flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }
    /// Raises the flag. It cannot be lowered again.
    pub fn raise(&self) {
        // Relaxed suffices, because the flag publishes no data. The join hands over the workers' results.
        self.0.store(true, Ordering::Relaxed);
    }
    /// Returns whether the flag was raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
