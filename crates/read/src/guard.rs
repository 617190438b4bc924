//! Which mapping an address lies in, as a signal handler may ask.
//!
//! Mappings come and go on other threads while the handler looks through their places. It must never take the start
//! of one and the end of the next in the same place for a mapping: what lies between may be anybody's, and would be
//! overwritten.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::primitive::{AtomicBool, AtomicUsize};

/// A place for what the handler knows of one mapping.
#[derive(Debug)]
pub(crate) struct Guard {
    /// `0`: free. `1`: being filled in.
    pub(crate) start: AtomicUsize,
    pub(crate) end: AtomicUsize,
    pub(crate) is_hit: AtomicBool,
}

impl Guard {
    /// Takes the place for the mapping `start..end` and says whether it was free.
    pub(crate) fn take(&self, start: usize, end: usize) -> bool {
        if self.start.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            return false;
        }
        self.is_hit.store(false, Relaxed);
        // Release: whoever sees this end sees that the start before it is no more.
        self.end.store(end, Release);
        // Release: whoever sees this start sees the end that belongs to it.
        self.start.store(start, Release);
        true
    }

    /// Gives the place up, which has to come before the addresses are given up.
    pub(crate) fn release(&self) {
        self.start.store(0, Release);
    }

    /// The end of the mapping, if `at` lies in it.
    pub(crate) fn end_of(&self, at: usize) -> Option<usize> {
        let start = self.start.load(Acquire);
        let end = self.end.load(Acquire);
        // Once more, since the end may be that of a mapping which has taken the place meanwhile.
        let is_one = start > 1 && self.start.load(Relaxed) == start;
        (is_one && (start..end).contains(&at)).then_some(end)
    }

    /// Something of the mapping was missing.
    pub(crate) fn hit(&self) {
        // Release: before anybody sees what is put in its place, and so before they can ask.
        self.is_hit.store(true, Release);
    }

    /// Whether something was missing since the place was taken.
    pub(crate) fn is_hit(&self) -> bool {
        self.is_hit.load(Acquire)
    }
}
