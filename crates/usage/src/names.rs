//! Names of entries, one after the other, and references into the memory of a worker.

/// A reference to something that a worker keeps: the number of the worker, and a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u64);

/// Bits of the position.
const POSITION: u32 = 48;

impl Default for Place {
    fn default() -> Self {
        Self::NONE
    }
}

impl Place {
    /// Refers to nothing.
    pub(crate) const NONE: Self = Self(u64::MAX);

    /// # Panics
    /// If there are more than 65,535 workers.
    pub(crate) fn new(worker: usize, position: usize) -> Self {
        assert!(worker < 0xffff, "a worker has a number of 16 bits");
        Self((worker as u64) << POSITION | position as u64)
    }

    pub(crate) fn worker(self) -> usize {
        (self.0 >> POSITION) as usize
    }

    pub(crate) fn position(self) -> usize {
        (self.0 & ((1 << POSITION) - 1)) as usize
    }
}

/// Names that end with NUL.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<u8>);

impl Names {
    /// Adds a name and returns its position. Names contain no NUL.
    pub(crate) fn push(&mut self, name: &[u8]) -> usize {
        let start = self.0.len();
        self.0.extend_from_slice(name);
        self.0.push(0);
        start
    }

    pub(crate) fn get(&self, start: usize) -> &[u8] {
        let rest = &self.0[start..];
        &rest[..rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len())]
    }

    /// Returns the bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity()
    }
}
