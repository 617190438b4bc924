//! A ceiling for the memory of one run, shared by those who fill its tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Full;

/// Bytes that the tables of a run may still take. Clones share them.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Account>);

#[derive(Debug)]
struct Account {
    bytes: u64,
    left: AtomicU64,
    /// The largest budget that a draw would have needed.
    needed: AtomicU64,
}

impl Budget {
    /// What a worker draws at once: rarely enough that the shared counter costs nothing.
    pub(crate) const UNIT: u64 = 64 << 10;

    /// A budget of `bytes`.
    pub fn new(bytes: u64) -> Self {
        Self(Arc::new(Account { bytes, left: AtomicU64::new(bytes), needed: AtomicU64::new(0) }))
    }

    /// Takes `bytes` out of the budget, for good.
    ///
    /// # Errors
    /// [`Full::Memory`] when fewer are left; then nothing is taken.
    pub fn reserve(&self, bytes: u64) -> Result<(), Full> {
        // Relaxed: the number stands for itself, nothing is published with it.
        let reserve = |left: u64| left.checked_sub(bytes);
        self.0.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve).map(drop).map_err(|left| {
            self.0.needed.fetch_max((self.0.bytes - left).saturating_add(bytes), Ordering::Relaxed);
            Full::Memory
        })
    }

    /// The smallest budget with which no draw so far would have failed, if one has. What would have been drawn
    /// after it is not known.
    pub fn needed(&self) -> Option<u64> {
        Some(self.0.needed.load(Ordering::Relaxed)).filter(|needed| *needed > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_drawn_than_there_is() {
        let budget = Budget::new(100);
        let clone = budget.clone();
        assert_eq!(budget.needed(), None);
        assert_eq!(budget.reserve(60), Ok(()));
        assert_eq!(clone.reserve(41), Err(Full::Memory));
        assert_eq!(budget.needed(), Some(101));
        assert_eq!(clone.reserve(40), Ok(()));
        assert_eq!(budget.reserve(0), Ok(()));
        assert_eq!(budget.reserve(1), Err(Full::Memory));
    }
}
