//! Noticing in mid-run that the other reader would be faster.

use ftk_sched::{Backend, Choice, voluntary_switches};

use crate::run::Crew;

/// Notices that the files have begun, or ceased, to come from a disk, and asks for the other reader.
///
/// Waits are voluntary context switches of this thread. The plain reader waits once a cold file; a ring waits
/// once for many, but never when all is cached. Two looks in a row decide, so that a wait for a lock does not.
#[derive(Debug)]
pub(crate) struct Regime {
    backend: Backend,
    /// Whether there is a choice at all.
    is_free: bool,
    /// Files begun since the last look, and the waits of the thread up to it.
    files: usize,
    waits: u64,
    contrary: u32,
}

impl Regime {
    pub(crate) fn new(crew: &Crew<'_>, choice: &Choice) -> Self {
        let limits = &crew.limits;
        // More workers than CPUs are there to wait: without a ring, all they can do.
        let is_free = limits.backend.is_none() && choice.workers <= limits.cpus;
        Self { backend: choice.backend, is_free, files: 0, waits: voluntary_switches(), contrary: 0 }
    }

    /// Told of every claim. The reader to change to before its files, if any.
    pub(crate) fn claimed(&mut self, files: usize) -> Option<Backend> {
        self.files += files;
        let (look_at, threshold, other) = match self.backend {
            Backend::Sync => (32, self.files / 8, Backend::Uring),
            // A ring is filled without waiting, so look at several times its depth.
            Backend::Uring => (1024, 0, Backend::Sync),
        };
        if !self.is_free || self.files < look_at {
            return None;
        }
        let waits = voluntary_switches();
        let waited = (waits - self.waits) as usize > threshold;
        let is_contrary = waited == (self.backend == Backend::Sync);
        (self.files, self.waits) = (0, waits);
        self.contrary = if is_contrary { self.contrary + 1 } else { 0 };
        if self.contrary < 2 {
            return None;
        }
        (self.backend, self.contrary) = (other, 0);
        Some(other)
    }
}
