//! Entries other than directories that are kept by name.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Facts;
use crate::names::Place;

/// A kept entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// The directory that contains it.
    pub(crate) node: Place,
    pub(crate) name: Place,
    pub(crate) apparent: u64,
    pub(crate) allocated: u64,
}

/// Keeps the largest entries, in memory for that many.
#[derive(Debug)]
pub(crate) struct Largest {
    most: usize,
    /// The smallest is at the top. Paths are compared only if sizes are equal.
    heap: BinaryHeap<Reverse<Ranked>>,
}

/// Size, path, directory, and facts. The first paths rank highest.
type Ranked = (u64, Reverse<Vec<u8>>, Place, [u64; 2]);

impl Largest {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, heap: BinaryHeap::new() }
    }

    /// Keeps an entry of this size if it is one of the largest. `path` is called only if the size may be enough.
    pub(crate) fn offer(&mut self, size: u64, node: Place, facts: &Facts, path: impl FnOnce() -> Vec<u8>) {
        let is_full = self.heap.len() >= self.most;
        if is_full && self.heap.peek().is_none_or(|smallest| size < smallest.0.0) {
            return;
        }
        self.heap.push(Reverse((size, Reverse(path()), node, [facts.apparent, facts.allocated])));
        if is_full {
            self.heap.pop();
        }
    }

    /// Adds the entries of another worker.
    pub(crate) fn append(&mut self, other: Self) {
        self.heap.extend(other.heap);
        while self.heap.len() > self.most {
            self.heap.pop();
        }
    }

    /// Returns the directory, the path and the facts of each entry.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (Place, Vec<u8>, Facts)> {
        self.heap.into_iter().map(|Reverse((_, Reverse(path), node, [apparent, allocated]))| {
            (node, path, Facts { apparent, allocated, link: None })
        })
    }
}
