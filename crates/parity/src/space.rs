//! The parts of a parity file that its present state does not use.

use std::ops::Range;

use crate::Batch;
use crate::head::Head;
use crate::pages::{PAGE, pages_len};
use crate::round_up;

/// The free ranges of a file, and its end.
pub(crate) struct Space {
    free: Vec<Range<u64>>,
    end: u64,
}

impl Space {
    /// Finds what a head and its batches do not use.
    pub(crate) fn new(head: &Head, batches: &[Batch]) -> Self {
        let sections = [head.index, head.manifest].into_iter();
        let sections = sections.flat_map(|it| it.copies.map(|copy| (copy, pages_len(it.len))));
        let recovery = batches.iter().map(|it| (it.offset, it.recovery_blocks() * head.block));
        let heads = head.places().map(|place| (place, PAGE));
        let mut used: Vec<_> = sections.chain(recovery).chain(heads).collect();
        used.sort_unstable();
        let (mut free, mut end) = (Vec::new(), 0);
        for (start, len) in used {
            if start > end {
                free.push(end..start);
            }
            end = end.max(round_up(start.saturating_add(len), PAGE));
        }
        // The last page is the last copy of the head.
        Self { free, end: end.max(head.len) }
    }

    /// Returns where what was reserved ends, and the old state.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Reserves the first range of this length, which begins at a page.
    pub(crate) fn first(&mut self, len: u64) -> u64 {
        let len = round_up(len, PAGE);
        let Some(range) = self.free.iter_mut().find(|it| len <= it.end - it.start) else {
            return self.append(len);
        };
        range.start += len;
        range.start - len
    }

    /// Reserves the last range of this length: second copies are far from the first ones.
    pub(crate) fn last(&mut self, len: u64) -> u64 {
        let len = round_up(len, PAGE);
        let fits = |it: &&mut Range<u64>| len <= (it.end / PAGE * PAGE).saturating_sub(it.start);
        let Some(range) = self.free.iter_mut().rev().find(fits) else { return self.append(len) };
        range.end = range.end / PAGE * PAGE - len;
        range.end
    }

    fn append(&mut self, len: u64) -> u64 {
        self.end += len;
        self.end - len
    }
}
