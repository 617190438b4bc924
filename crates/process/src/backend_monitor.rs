//! Notices during a run that the other reader would be faster.

use ftk_sched::{Backend, Choice, Sample, Waits};

use crate::run::Context;

/// Notices that files start, or stop, coming from a disk, and asks for the other reader.
///
/// The measure is the number of waits of this thread. The plain reader waits once for each uncached file. A ring
/// waits once for many files, and never when all files are cached; other threads may read for it, so its waits count
/// without input. Two measurements in a row must agree before the reader changes, because a thread also waits for
/// locks.
#[derive(Debug)]
pub(crate) struct BackendMonitor {
    backend: Backend,
    /// Whether the reader may change in this run.
    may_switch: bool,
    /// Files begun since the last measurement.
    files: usize,
    /// The waits of this thread up to the last measurement.
    waits: Waits,
    /// Measurements in a row that favoured the other reader.
    contrary: u32,
}

impl BackendMonitor {
    pub(crate) fn new(context: &Context<'_>, sample: &Sample, choice: &Choice) -> Self {
        let limits = &context.limits;
        // More workers than CPUs only make sense with plain reads, where each worker waits for the disk. A remote file
        // system does not gain by a ring.
        let is_remote = sample.remote_cpu.is_some();
        let may_switch = limits.backend.is_none() && choice.workers <= limits.cpus && !is_remote;
        Self { backend: choice.backend, may_switch, files: 0, waits: Waits::now(), contrary: 0 }
    }

    /// Counts a claim of `files` files. Returns the reader to change to before they are read, if any. `has_input` is
    /// that of [`Waits::since`].
    pub(crate) fn claimed(&mut self, files: usize, has_input: impl FnOnce() -> bool) -> Option<Backend> {
        self.files += files;
        let (check_at, threshold, other) = match self.backend {
            Backend::Sync => (32, self.files / 8, Backend::Uring),
            // A ring starts many files without a wait, so it is measured over several times its depth.
            Backend::Uring => (1024, 0, Backend::Sync),
        };
        if !self.may_switch || self.files < check_at {
            return None;
        }
        let (waits, is_plain) = (Waits::now(), self.backend == Backend::Sync);
        let waited = waits.since(self.waits, || is_plain && has_input()) as usize > threshold;
        let is_contrary = waited == is_plain;
        (self.files, self.waits) = (0, waits);
        self.contrary = if is_contrary { self.contrary + 1 } else { 0 };
        if self.contrary < 2 {
            return None;
        }
        (self.backend, self.contrary) = (other, 0);
        Some(other)
    }
}
