//! Finds the mapping that contains an address. A signal handler can call this.
//!
//! Other threads map and unmap while the handler searches. The handler must never combine the start of one
//! mapping with the end of the next one that uses the same guard: it would overwrite the memory between them,
//! which may belong to any other code.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::primitive::{AtomicBool, AtomicUsize};

/// A slot that holds the address range of one mapping for the handler.
#[derive(Debug)]
pub(crate) struct Guard {
    /// `0`: the slot is free. `1`: a thread is filling it in.
    pub(crate) start: AtomicUsize,
    pub(crate) end: AtomicUsize,
    pub(crate) is_hit: AtomicBool,
}

impl Guard {
    /// Claims the slot for the mapping `start..end`. Returns whether the slot was free.
    pub(crate) fn acquire(&self, start: usize, end: usize) -> bool {
        if self.start.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            return false;
        }
        self.is_hit.store(false, Relaxed);
        // Release: a thread that sees this end also sees the 1 stored above or a later start, so it cannot
        // combine this end with the start of the previous mapping.
        self.end.store(end, Release);
        // Release: a thread that sees this start also sees the matching end.
        self.start.store(start, Release);
        true
    }

    /// Frees the slot. Must come before the addresses are unmapped.
    pub(crate) fn release(&self) {
        self.start.store(0, Release);
    }

    /// Returns the end of the mapping if `at` lies in it.
    pub(crate) fn end_of(&self, at: usize) -> Option<usize> {
        let start = self.start.load(Acquire);
        let end = self.end.load(Acquire);
        // Load the start again: if another mapping has claimed the slot meanwhile, the end belongs to that
        // one.
        let is_consistent = start > 1 && self.start.load(Relaxed) == start;
        (is_consistent && (start..end).contains(&at)).then_some(end)
    }

    /// Records that a page of the mapping was missing.
    pub(crate) fn hit(&self) {
        // Release: the handler maps zeros after this call, so a thread that reads the zeros finds the flag
        // set.
        self.is_hit.store(true, Release);
    }

    /// Returns whether a page was missing since the slot was claimed.
    pub(crate) fn is_hit(&self) -> bool {
        self.is_hit.load(Acquire)
    }
}
