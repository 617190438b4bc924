//! A limit on the memory of one run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Full;

/// The number of bytes that the tables of a run may still use. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Account>);

#[derive(Debug)]
struct Account {
    bytes: u64,
    left: AtomicU64,
    /// The largest budget that a failed reservation would have needed.
    needed: AtomicU64,
}

impl Budget {
    /// The number of bytes that a worker reserves at once, large enough that the shared counter costs
    /// nothing.
    pub(crate) const UNIT: u64 = 64 << 10;

    /// Makes a budget of `bytes`.
    pub fn new(bytes: u64) -> Self {
        Self(Arc::new(Account { bytes, left: AtomicU64::new(bytes), needed: AtomicU64::new(0) }))
    }

    /// Reserves `bytes`, until they are [released](Self::release) or the run ends.
    ///
    /// # Errors
    /// [`Full::Memory`] if fewer are left; then nothing is reserved.
    pub fn reserve(&self, bytes: u64) -> Result<(), Full> {
        // Relaxed is enough, because the counter publishes no other data.
        let reserve = |left: u64| left.checked_sub(bytes);
        self.0.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve).map(drop).map_err(|left| {
            self.0.needed.fetch_max((self.0.bytes - left).saturating_add(bytes), Ordering::Relaxed);
            Full::Memory
        })
    }

    /// Returns `bytes` that were reserved and are no longer used.
    pub fn release(&self, bytes: u64) {
        self.0.left.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the number of bytes that are not reserved.
    pub fn left(&self) -> u64 {
        self.0.left.load(Ordering::Relaxed)
    }

    /// Returns the smallest budget with which no reservation so far would have failed, or `None` if none has
    /// failed.
    ///
    /// The run may need more than this, because a failure ends it.
    pub fn needed(&self) -> Option<u64> {
        Some(self.0.needed.load(Ordering::Relaxed)).filter(|needed| *needed > 0)
    }
}

/// A part of a budget that is reserved in advance and consumed in small amounts.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    left: u64,
    consumed: u64,
}

impl Reservation {
    /// Creates an empty reservation.
    pub fn new(budget: &Budget) -> Self {
        Self { budget: budget.clone(), left: 0, consumed: 0 }
    }

    /// Consumes `bytes` of the reservation. If fewer are left, first reserves more from the budget.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn consume(&mut self, bytes: u64) -> Result<(), Full> {
        if self.left < bytes {
            let reserve = bytes.max(Budget::UNIT);
            self.budget.reserve(reserve)?;
            self.left += reserve;
        }
        self.left -= bytes;
        self.consumed += bytes;
        Ok(())
    }

    /// Returns everything to the budget, consumed or not.
    pub fn release(self) {
        self.budget.release(self.left + self.consumed);
    }

    /// Consumes what is missing to `total` consumed bytes. So the reservation follows the largest size of something that
    /// grows and shrinks.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn reach(&mut self, total: u64) -> Result<(), Full> {
        match total.checked_sub(self.consumed) {
            Some(more) if more > 0 => self.consume(more),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_never_exceed_the_budget() {
        let budget = Budget::new(100);
        let clone = budget.clone();
        assert_eq!(budget.needed(), None);
        assert_eq!(budget.reserve(60), Ok(()));
        assert_eq!(clone.reserve(41), Err(Full::Memory));
        assert_eq!(budget.needed(), Some(101));
        assert_eq!(clone.reserve(40), Ok(()));
        assert_eq!(budget.reserve(0), Ok(()));
        assert_eq!(budget.reserve(1), Err(Full::Memory));
        budget.release(30);
        assert_eq!((budget.left(), budget.reserve(30)), (30, Ok(())));
        assert_eq!((budget.left(), budget.reserve(1)), (0, Err(Full::Memory)));
    }

    #[test]
    fn a_reservation_reaches_each_size_once() {
        let budget = Budget::new(2 * Budget::UNIT);
        let mut reservation = Reservation::new(&budget);
        for total in [10, 5, 10, Budget::UNIT, 0, Budget::UNIT] {
            reservation.reach(total).unwrap();
            assert_eq!(budget.left(), Budget::UNIT);
        }
        reservation.reach(Budget::UNIT + 1).unwrap();
        assert_eq!(budget.left(), 0);
        assert_eq!(reservation.reach(2 * Budget::UNIT + 1), Err(Full::Memory));
        reservation.release();
        assert_eq!(budget.left(), 2 * Budget::UNIT);
    }
}
