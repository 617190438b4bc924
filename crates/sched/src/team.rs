//! A team of workers: one phase is one spawn and one join.

use crate::Stop;

/// How many workers take part in a phase.
#[derive(Clone, Copy, Debug)]
pub struct Team {
    workers: usize,
}

impl Team {
    /// A team of this many workers, the calling thread included; `0` counts as 1.
    pub fn new(workers: usize) -> Self {
        Self { workers: workers.max(1) }
    }
    /// Runs `work` on every worker, the caller being number 0, and returns what each made, in their order.
    ///
    /// A thread that cannot be started is left out: the work must be claimed at run time, not dealt out by
    /// worker number.
    ///
    /// # Panics
    /// With the payload of the first worker that panicked, after raising `stop` and joining the others.
    pub fn run<T: Send>(self, stop: &Stop, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let _ = (self.workers, stop, work);
        todo!()
    }
}
