//! The limit for memory. An allocation that fails says how large the limit would have to be.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// Begins the message of an allocation that failed; the limit that it needs follows.
const NEEDED: &str = "the limit for memory in bytes would have to be ";

/// A pool in which consumers that can spill have equal shares.
#[derive(Debug)]
pub(crate) struct Memory {
    pool: FairSpillPool,
    limit: usize,
    /// The number of consumers that can spill.
    spillers: AtomicUsize,
    /// The bytes that the other consumers have.
    fixed: AtomicUsize,
}

impl Memory {
    pub(crate) fn new(limit: usize) -> Self {
        let (spillers, fixed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { pool: FairSpillPool::new(limit), limit, spillers, fixed }
    }

    /// Returns the limit with which an allocation would have succeeded.
    fn needed(&self, reservation: &MemoryReservation, additional: usize) -> usize {
        let needed = if reservation.consumer().can_spill() {
            let share = reservation.size().saturating_add(additional);
            let shares = self.spillers.load(Ordering::Relaxed).saturating_mul(share);
            shares.saturating_add(self.fixed.load(Ordering::Relaxed))
        } else {
            self.pool.reserved().saturating_add(additional)
        };
        // Another thread may have returned memory meanwhile.
        needed.max(self.limit.saturating_add(1))
    }
}

/// Returns the limit that an allocation needs, in bytes, if `error` is that it failed.
pub(crate) fn needed(error: &DataFusionError) -> Option<usize> {
    let DataFusionError::ResourcesExhausted(message) = error.find_root() else { return None };
    message.strip_prefix(NEEDED)?.parse().ok()
}

impl MemoryPool for Memory {
    fn name(&self) -> &str {
        self.pool.name()
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.spillers.fetch_add(usize::from(consumer.can_spill()), Ordering::Relaxed);
        self.pool.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.spillers.fetch_sub(usize::from(consumer.can_spill()), Ordering::Relaxed);
        self.pool.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.pool.grow(reservation, additional);
        if !reservation.consumer().can_spill() {
            self.fixed.fetch_add(additional, Ordering::Relaxed);
        }
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        if !reservation.consumer().can_spill() {
            self.fixed.fetch_sub(shrink, Ordering::Relaxed);
        }
        self.pool.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        if self.pool.try_grow(reservation, additional).is_err() {
            let needed = self.needed(reservation, additional);
            return Err(DataFusionError::ResourcesExhausted(format!("{NEEDED}{needed}")));
        }
        if !reservation.consumer().can_spill() {
            self.fixed.fetch_add(additional, Ordering::Relaxed);
        }
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.pool.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.pool.memory_limit()
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pool.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Two consumers that can spill share what a third one leaves.
    #[test]
    fn the_limit_that_is_needed_suffices() {
        let failed = |limit| {
            let pool: Arc<dyn MemoryPool> = Arc::new(Memory::new(limit));
            let consumer = |name, can_spill| MemoryConsumer::new(name).with_can_spill(can_spill);
            let fixed = consumer("fixed", false).register(&pool);
            let (one, other) =
                (consumer("one", true).register(&pool), consumer("other", true).register(&pool));
            fixed.try_grow(100)?;
            one.try_grow(70)?;
            other.try_grow(10)?;
            one.try_grow(5)?;
            fixed.try_grow(90)
        };
        let needed = |limit| needed(&failed(limit).unwrap_err());
        assert_eq!(needed(99), Some(100));
        assert_eq!(needed(100), Some(2 * 70 + 100));
        assert_eq!(needed(240), Some(2 * 75 + 100));
        assert_eq!(needed(250), Some(100 + 75 + 10 + 90));
        assert!(failed(275).is_ok());
    }
}
