//! A ceiling for the memory of one run, shared by those who fill its tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Full;

/// Bytes that the tables of a run may still take. Clones share them.
#[derive(Clone, Debug)]
pub struct Budget(Arc<AtomicU64>);

impl Budget {
    /// What a worker draws at once: rarely enough that the shared counter costs nothing.
    pub(crate) const UNIT: u64 = 64 << 10;

    /// A budget of `bytes`.
    pub fn new(bytes: u64) -> Self {
        Self(Arc::new(AtomicU64::new(bytes)))
    }

    /// Takes `bytes` out of the budget, for good.
    ///
    /// # Errors
    /// [`Full::Memory`] when fewer are left; then nothing is taken.
    pub fn draw(&self, bytes: u64) -> Result<(), Full> {
        // Relaxed: the number stands for itself, nothing is published with it.
        let draw = |left: u64| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, draw).map(drop).map_err(|_| Full::Memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_drawn_than_there_is() {
        let budget = Budget::new(100);
        let clone = budget.clone();
        assert_eq!(budget.draw(60), Ok(()));
        assert_eq!(clone.draw(41), Err(Full::Memory));
        assert_eq!(clone.draw(40), Ok(()));
        assert_eq!(budget.draw(0), Ok(()));
        assert_eq!(budget.draw(1), Err(Full::Memory));
    }
}
