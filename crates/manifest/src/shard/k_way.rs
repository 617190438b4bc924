//! Merging the entries of many parts by path.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::Error;
use crate::entry::key;
use crate::merge::Side;

/// The entries of several sorted sequences, in order.
///
/// A sequence is opened when its first possible path has been reached. So sequences of successive ranges are open one
/// after the other.
#[derive(Debug)]
pub(crate) struct KWay<S, O> {
    /// Opens the sequence of a number.
    open: O,
    /// The lower bounds of the sequences' paths, ascending, and their numbers; the next one is last.
    waiting: Vec<(Vec<u8>, usize)>,
    /// The sequence of the current entry.
    current: Option<Active<S>>,
    /// The other sequences that are open.
    active: BinaryHeap<Active<S>>,
}

#[derive(Debug)]
struct Active<S> {
    side: S,
    number: usize,
}

impl<S: Side, O: FnMut(usize) -> Result<S, Error>> KWay<S, O> {
    /// Merges the sequences with these lower bounds, the keys of paths. `open` opens the sequence of an index.
    pub(crate) fn new(bounds: impl IntoIterator<Item = Vec<u8>>, open: O) -> Self {
        let mut waiting: Vec<_> = bounds.into_iter().zip(0..).collect();
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        Self { open, waiting, current: None, active: BinaryHeap::new() }
    }

    /// Moves to the next entry and returns its sequence, with the number of that. Returns `None` at the end.
    ///
    /// # Errors
    /// Those of the sequences, with the number of the one that failed.
    pub(crate) fn next(&mut self) -> Result<Option<(usize, &mut S)>, (usize, Error)> {
        if let Some(mut current) = self.current.take() {
            let is_active = current.side.advance();
            self.current = is_active.map_err(|error| (current.number, error))?.then_some(current);
        }
        while let Some((bound, _)) = self.waiting.last() {
            let mut active = self.current.iter().chain(self.active.peek());
            if active.any(|it| key(it.side.path()) < &**bound) {
                break;
            }
            let (_, number) = self.waiting.pop().expect("one is waiting");
            let mut side = (self.open)(number).map_err(|error| (number, error))?;
            if side.advance().map_err(|error| (number, error))? {
                self.active.push(Active { side, number });
            }
        }
        match (&mut self.current, self.active.peek_mut()) {
            (Some(current), Some(mut first)) if *first > *current => std::mem::swap(current, &mut *first),
            (None, Some(first)) => self.current = Some(PeekMut::pop(first)),
            _ => {}
        }
        Ok(self.current.as_mut().map(|current| (current.number, &mut current.side)))
    }
}

/// The greatest is the one with the smallest path, then the smallest number.
impl<S: Side> Ord for Active<S> {
    fn cmp(&self, other: &Self) -> Ordering {
        (key(other.side.path()), other.number).cmp(&(key(self.side.path()), self.number))
    }
}

impl<S: Side> PartialOrd for Active<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Side> PartialEq for Active<S> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<S: Side> Eq for Active<S> {}
