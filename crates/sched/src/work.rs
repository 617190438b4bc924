//! The price of what is left to do, for a number of workers and a reader.

use crate::{Backend, Constants, Sample};

/// What is left to do, priced.
pub(crate) struct Work<'c> {
    constants: &'c Constants,
    files: u64,
    /// What one of them takes the calling thread alone with plain reads.
    file_ns: f64,
    file_bytes: f64,
    cold: bool,
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
        Self { constants, files, file_ns, file_bytes, cold: seen.is_cold(), cpus }
    }

    /// Wall time of all of it.
    pub(crate) fn wall_ns(&self, workers: usize, backend: Backend) -> f64 {
        self.start_ns(workers, backend) + self.files as f64 * self.each_ns(workers, backend)
    }

    /// Wall time before a team of this size is at work.
    fn start_ns(&self, workers: usize, backend: Backend) -> f64 {
        let c = self.constants;
        let ring = if backend == Backend::Uring { c.ring_ns } else { 0 };
        let team = match workers {
            1 => 0.0,
            more => (c.team_ns + c.worker_ns) as f64 + c.thread_ns as f64 * (more - 1) as f64,
        };
        ring as f64 + team
    }

    /// Wall time a file adds once the team is at work. Never more with more workers.
    fn each_ns(&self, workers: usize, backend: Backend) -> f64 {
        let c = self.constants;
        match (backend, self.cold) {
            (Backend::Sync, false) => self.cached_ns(workers),
            (Backend::Uring, false) => self.cached_ns(workers) * c.ring_warm,
            (Backend::Sync, true) => self.disk_ns(workers, share(workers, c.cold_contention)),
            // A disk gives a ring what it can, whatever the number of workers.
            (Backend::Uring, true) => self.disk_ns(workers, 1.0 / c.ring_cold.min(self.files.max(1) as f64)),
        }
    }

    /// A cached file: the workers are slowed by each other, or by the memory they share.
    fn cached_ns(&self, workers: usize) -> f64 {
        let one = self.constants.memory_one_bytes_per_s as f64;
        let all = one.max(self.constants.memory_each_bytes_per_s as f64 * self.cpus as f64);
        let memory = all.min(one * workers as f64);
        (self.file_ns * self.warm_share(workers)).max(self.file_bytes / memory * 1e9)
    }

    /// A file from a disk: what it would take if it were cached, and this share of the rest, which is waiting.
    fn disk_ns(&self, workers: usize, share_of_waiting: f64) -> f64 {
        let computing = self.file_ns.min(self.constants.file_ns as f64);
        (self.file_ns - computing) * share_of_waiting + computing * self.warm_share(workers)
    }

    /// The share of workers that compute: those beyond the CPUs only take turns.
    fn warm_share(&self, workers: usize) -> f64 {
        share(workers.min(self.cpus), self.constants.contention)
    }
}

/// The part of a lone worker's time that each piece of work takes among `workers`: Amdahl's law, `contention`
/// being the serial part.
fn share(workers: usize, contention: f64) -> f64 {
    let workers = workers as f64;
    (1.0 + (workers - 1.0) * contention) / workers
}
