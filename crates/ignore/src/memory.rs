//! The memory that ignore files use.

use std::fmt;
use std::io;
use std::sync::Arc;

/// A limit of the memory for ignore files, which a program may share with other data. For
/// [`IgnoreFiles::within`](crate::IgnoreFiles::within).
pub trait IgnoreMemory: Send + Sync {
    /// Reserves `bytes`.
    ///
    /// # Errors
    /// If fewer are left. Then nothing is reserved, and this becomes the error of the ignore file.
    fn reserve(&self, bytes: u64) -> io::Result<()>;
    /// Returns `bytes` that were reserved and are no longer used.
    fn release(&self, bytes: u64);
}

/// A shared limit.
#[derive(Clone)]
pub(crate) struct Memory(pub(crate) Arc<dyn IgnoreMemory>);

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

/// Memory that is reserved until this is dropped.
#[derive(Debug, Default)]
pub(super) struct Held {
    memory: Option<Memory>,
    bytes: u64,
}

impl Held {
    /// Reserves `bytes`, if there is a limit.
    ///
    /// # Errors
    /// If fewer are left.
    pub(super) fn reserve(memory: Option<&Memory>, bytes: u64) -> io::Result<Self> {
        if let Some(Memory(limit)) = memory {
            limit.reserve(bytes)?;
        }
        Ok(Self { memory: memory.cloned(), bytes })
    }

    /// Releases what exceeds `bytes`.
    pub(super) fn shrink_to(&mut self, bytes: u64) {
        let surplus = self.bytes.saturating_sub(bytes);
        self.bytes -= surplus;
        if let Some(Memory(limit)) = &self.memory {
            limit.release(surplus);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Limit(Mutex<u64>);

    impl IgnoreMemory for Limit {
        fn reserve(&self, bytes: u64) -> io::Result<()> {
            let mut left = self.0.lock().unwrap();
            *left = left.checked_sub(bytes).ok_or(io::ErrorKind::OutOfMemory)?;
            Ok(())
        }
        fn release(&self, bytes: u64) {
            *self.0.lock().unwrap() += bytes;
        }
    }

    #[test]
    fn what_is_reserved_is_released() {
        let limit = Arc::new(Limit(Mutex::new(100)));
        let memory = Memory(limit.clone());
        let left = || *limit.0.lock().unwrap();
        let mut held = Held::reserve(Some(&memory), 80).unwrap();
        assert_eq!(left(), 20);
        assert!(Held::reserve(Some(&memory), 21).is_err());
        held.shrink_to(50);
        assert_eq!(left(), 50);
        drop(held);
        assert_eq!(left(), 100);
        assert!(Held::reserve(None, u64::MAX).is_ok(), "without a limit");
    }
}
