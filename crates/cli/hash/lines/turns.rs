//! Writes the output of several workers in the order of the input.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::list::List;

/// The output, to which each block is written when it is its turn.
pub(super) struct Turns<'o> {
    state: Mutex<State<'o>>,
    turned: Condvar,
}

struct State<'o> {
    list: List<'o>,
    /// Number of the block to write next.
    turn: u64,
    /// Whether nothing more will be written, because a write failed or a block is missing.
    is_over: bool,
}

impl<'o> Turns<'o> {
    /// Creates the output. The first block to write is number 0.
    pub(super) fn new(list: List<'o>) -> Self {
        let state = State { list, turn: 0, is_over: false };
        Self { state: Mutex::new(state), turned: Condvar::new() }
    }

    /// Waits until all blocks before `mine` have been written, and writes block `mine`. Returns `false` if
    /// nothing more will be written.
    pub(super) fn write(&self, mine: u64, bytes: &[u8]) -> bool {
        let mut state = self.lock();
        while state.turn != mine && !state.is_over {
            state = self.turned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_over {
            return false;
        }
        state.list.write(bytes);
        state.is_over = state.list.is_over();
        state.turn += 1;
        self.turned.notify_all();
        !state.is_over
    }

    /// Returns a guard that ends the output and wakes all waiting workers if its holder panics. They would
    /// wait forever for the block of that worker.
    pub(super) fn guard(&self) -> Guard<'_, 'o> {
        Guard(self)
    }

    pub(super) fn into_list(self) -> List<'o> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).list
    }

    fn lock(&self) -> MutexGuard<'_, State<'o>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Turns::guard`].
pub(super) struct Guard<'t, 'o>(&'t Turns<'o>);

impl Drop for Guard<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().is_over = true;
            self.0.turned.notify_all();
        }
    }
}
