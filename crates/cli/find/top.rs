//! Keeps the first entries in an order, in memory for that many.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use ftk_walk::{Entry, Fields, WalkError};

use super::order::Order;
use super::render::Render;

/// The first entries that one worker has seen.
pub(super) struct Top<'r> {
    render: Render<'r>,
    order: Order,
    most: usize,
    /// The last one in the order is at the top.
    heap: BinaryHeap<Kept>,
    path: Vec<u8>,
}

/// A kept entry.
pub(super) struct Kept {
    order: Order,
    number: i128,
    pub(super) path: Box<[u8]>,
    pub(super) record: Box<[u8]>,
}

impl<'r> Top<'r> {
    /// Keeps at most `most` entries.
    pub(super) fn new(render: Render<'r>, order: Order, most: usize) -> Self {
        Self { render, order, most, heap: BinaryHeap::new(), path: Vec::new() }
    }

    /// Returns the metadata that the order needs. Few entries get a record.
    pub(super) fn reads(&self) -> Fields {
        self.order.reads()
    }

    /// Keeps the entry if it is among the first ones. Only then its record is made.
    pub(super) fn add(&mut self, dir: &[u8], entry: &mut Entry<'_>) -> Result<(), WalkError> {
        let number = self.order.number(entry)?.unwrap_or_default();
        self.path.clear();
        self.path.extend_from_slice(dir);
        self.path.extend_from_slice(entry.name());
        let is_full = self.heap.len() >= self.most;
        if is_full
            && self
                .heap
                .peek()
                .is_none_or(|last| self.order.cmp((number, &self.path), (last.number, &last.path)).is_ge())
        {
            return Ok(());
        }
        let mut record = Vec::new();
        self.render.push(&mut record, dir, entry)?;
        self.heap.push(Kept { order: self.order, number, path: self.path[..].into(), record: record.into() });
        if is_full {
            self.heap.pop();
        }
        Ok(())
    }

    /// Returns the first entries of all workers, sorted.
    pub(super) fn merge(parts: Vec<Self>, most: usize) -> Vec<Kept> {
        let mut all: Vec<_> = parts.into_iter().flat_map(|part| part.heap).collect();
        all.sort_unstable();
        all.truncate(most);
        all
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.cmp((self.number, &self.path), (other.number, &other.path))
    }
}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Kept {}
