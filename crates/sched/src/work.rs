//! Predicts the run time of the remaining work for a number of workers and a reader.

use crate::{Backend, Constants, Sample};

/// The remaining work and what is known about its cost.
pub(crate) struct Work<'c> {
    constants: &'c Constants,
    files: u64,
    /// The time per file for one worker with plain reads.
    pub(crate) file_ns: f64,
    pub(crate) file_bytes: f64,
    cold: bool,
    /// The CPU time per file of a remote file system.
    remote_cpu_ns: Option<f64>,
    cpus: usize,
}

impl<'c> Work<'c> {
    pub(crate) fn new(constants: &'c Constants, seen: Sample, files: u64, cpus: usize) -> Self {
        let mean = |total: u64| total as f64 / f64::from(seen.files);
        let (file_ns, file_bytes) = if seen.files == 0 {
            (constants.file_ns as f64, 0.0)
        } else {
            (mean(seen.nanos), mean(seen.bytes))
        };
        let (cold, remote_cpu_ns) = (seen.is_cold(), seen.remote_cpu.map(mean));
        Self { constants, files, file_ns, file_bytes, cold, remote_cpu_ns, cpus }
    }

    /// Returns the predicted wall time of the remaining work.
    pub(crate) fn wall_ns(&self, workers: usize, backend: Backend) -> f64 {
        self.start_ns(workers, backend) + self.files as f64 * self.each_ns(workers, backend)
    }

    /// Returns the wall time until a team of this size has started.
    pub(crate) fn start_ns(&self, workers: usize, backend: Backend) -> f64 {
        let c = self.constants;
        let ring = if backend == Backend::Uring { c.ring_ns } else { 0 };
        let team = match workers {
            1 => 0.0,
            more => (c.team_ns + c.worker_ns) as f64 + c.thread_ns as f64 * (more - 1) as f64,
        };
        ring as f64 + team
    }

    /// Returns the wall time per file once the team has started. More workers never increase it.
    fn each_ns(&self, workers: usize, backend: Backend) -> f64 {
        let c = self.constants;
        match (backend, self.cold) {
            (Backend::Sync, false) => self.cached_ns(workers),
            (Backend::Uring, false) => self.cached_ns(workers) * c.ring_warm,
            // A server answers requests independently.
            (Backend::Sync, true) if self.remote_cpu_ns.is_some() => {
                self.disk_ns(workers, share(workers, 0.0))
            }
            (Backend::Sync, true) => self.disk_ns(workers, share(workers, c.cold_contention)),
            // With a ring, the disk is the limit, whatever the number of workers.
            (Backend::Uring, true) => self.disk_ns(workers, 1.0 / c.ring_cold.min(self.files.max(1) as f64)),
        }
    }

    /// Returns the time for a cached file. The limit is either the contention between workers or the memory
    /// bandwidth they share.
    fn cached_ns(&self, workers: usize) -> f64 {
        let one = self.constants.memory_one_bytes_per_s as f64;
        let all = one.max(self.constants.memory_each_bytes_per_s as f64 * self.cpus as f64);
        let memory = all.min(one * workers as f64);
        (self.file_ns * self.warm_share(workers)).max(self.file_bytes / memory * 1e9)
    }

    /// Returns the time for a file from a disk: the time it takes when cached, plus `share_of_waiting` of the
    /// rest, which is waiting.
    fn disk_ns(&self, workers: usize, share_of_waiting: f64) -> f64 {
        let computing = self.computing_ns();
        (self.file_ns - computing) * share_of_waiting + computing * self.warm_share(workers)
    }

    /// Returns the time that one worker computes for a file that is not cached.
    pub(crate) fn computing_ns(&self) -> f64 {
        self.file_ns.min(self.remote_cpu_ns.unwrap_or(self.constants.file_ns as f64))
    }

    /// Like [`share`], for computing. Workers beyond the number of CPUs do not help, since they only
    /// alternate with others.
    pub(crate) fn warm_share(&self, workers: usize) -> f64 {
        share(workers.min(self.cpus), self.constants.contention)
    }
}

/// Returns which part of a single worker's time the same work takes with `workers` workers. This is Amdahl's
/// law with `contention` as the serial part.
fn share(workers: usize, contention: f64) -> f64 {
    let workers = workers as f64;
    (1.0 + (workers - 1.0) * contention) / workers
}

/// Returns the contention with which [`share`] has this value; `workers` must be at least 2.
pub(crate) fn contention_of(share: f64, workers: usize) -> f64 {
    let workers = workers as f64;
    (share * workers - 1.0) / (workers - 1.0)
}
