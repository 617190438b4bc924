//! Writes the output of several workers in the order of the input.

use std::io::{self, Write as _};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::list::List;
use crate::stdout::Stdout;

/// The output, to which each block is written when it is its turn.
pub(super) struct Turns<'o> {
    stdout: &'o Stdout,
    state: Mutex<State<'o>>,
    turned: Condvar,
}

struct State<'o> {
    list: List<'o>,
    /// Number of the block to write next.
    turn: u64,
    /// Whether nothing more will be written, because a write failed or a block is missing.
    is_over: bool,
    failure: Option<io::Error>,
}

impl<'o> Turns<'o> {
    /// Creates the output. The first block to write is number 0. `list` writes to `stdout` or to a file.
    pub(super) fn new(list: List<'o>, stdout: &'o Stdout) -> Self {
        let state = State { list, turn: 0, is_over: false, failure: None };
        Self { stdout, state: Mutex::new(state), turned: Condvar::new() }
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
        state.is_over = match &mut state.list {
            List::Stdout(_) => !self.stdout.write(bytes),
            List::File(output, _) => {
                output.write_all(bytes).map_err(|error| state.failure = Some(error)).is_err()
            }
        };
        state.turn += 1;
        self.turned.notify_all();
        !state.is_over
    }

    /// Returns a guard that ends the output and wakes all waiting workers if its holder panics. They would
    /// wait forever for the block of that worker.
    pub(super) fn guard(&self) -> Guard<'_, 'o> {
        Guard(self)
    }

    /// Returns the list, or the error of a write.
    pub(super) fn into_list(self) -> io::Result<List<'o>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failure.map_or(Ok(state.list), Err)
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
