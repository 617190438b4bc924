//! The cost model: from a sample of real work to a choice of workers and reader.

use crate::Constants;

/// Files that may come from a cache for each wait that says they do not: 2 waits among 32 files are a disk.
///
/// Cached files were seen to wait never, evicted ones once each.
const FILES_PER_WAIT: u32 = 16;

/// Workers with plain reads that a disk is offered: 32 and 64 did equally well, 16 some 10 % worse.
const COLD_WORKERS: usize = 32;

/// Files that must be left for each of them, lest half of them find nothing to do.
const FILES_PER_COLD_WORKER: u64 = 4;

/// What the caller measured on a few files of this tree, processed alone with the plain reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Files processed.
    pub files: u32,
    /// Bytes processed.
    pub bytes: u64,
    /// Time taken, in nanoseconds.
    pub nanos: u64,
    /// Voluntary context switches of the thread meanwhile: waits for a disk.
    pub waits: u32,
}

impl Sample {
    /// Whether these files had to come from a disk: 2 waits or more among 32 files, and in proportion.
    ///
    /// Holds for any run of files that one thread read by itself with the plain reader and no helper.
    pub fn is_cold(&self) -> bool {
        self.waits > 0 && self.waits >= self.files.div_ceil(FILES_PER_WAIT)
    }
}

/// How many workers the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// The model decides.
    #[default]
    Auto,
    /// Exactly this many, the calling thread included; `0` counts as 1.
    Fixed(usize),
}

/// How files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Plain system calls.
    Sync,
    /// io_uring.
    Uring,
}

/// What the model may choose from.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Workers asked for.
    pub threads: Threads,
    /// The reader asked for; `None`: the model decides.
    pub backend: Option<Backend>,
    /// Whether a ring can be made here.
    pub ring: bool,
    /// Logical CPUs; `0` counts as 1.
    pub cpus: usize,
}

/// Why the model decided as it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Starting more workers, or a ring, would take longer than it saves.
    BelowBreakEven,
    /// The files are cached: plain reads, one worker a CPU at most.
    Warm,
    /// The files come from a disk, and rings keep it busy.
    ColdRing,
    /// The files come from a disk, and many waiting workers keep it busy.
    ColdThreads,
    /// The user fixed the number of workers.
    Asked,
}

/// What the model decided, and what it expects of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Workers, the calling thread included; at least 1, and no more than files are left.
    pub workers: usize,
    /// The reader.
    pub backend: Backend,
    /// Whether the content has to come from a disk.
    pub cold: bool,
    /// Forecast of the time for what is left, in nanoseconds.
    pub forecast_nanos: u64,
    /// What decided.
    pub reason: Reason,
}

/// The cost model.
#[derive(Clone, Debug)]
pub struct Model {
    constants: Constants,
}

impl Model {
    /// A model over these constants.
    pub fn new(constants: Constants) -> Self {
        Self { constants }
    }

    /// What it knows of the machine.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// The choice that takes the least wall time for `files_left` more files like those of the sample.
    ///
    /// An empty sample counts as cached files of the usual cost. A reader that was asked for is chosen even
    /// where it cannot be had: refusing it is the caller's.
    pub fn choose(&self, seen: Sample, files_left: u64, limits: Limits) -> Choice {
        let cold = seen.is_cold();
        let backend =
            limits.backend.unwrap_or(if cold && limits.ring { Backend::Uring } else { Backend::Sync });
        let work = Work::new(&self.constants, seen, files_left);
        let choice = |workers, backend, reason| {
            // A float beyond the range saturates.
            let forecast_nanos = work.wall_ns(workers, backend) as u64;
            Choice { workers, backend, cold, forecast_nanos, reason }
        };
        if let Threads::Fixed(asked) = limits.threads {
            return choice(asked.clamp(1, at_least_one(files_left)), backend, Reason::Asked);
        }

        let cpus = limits.cpus.max(1);
        let (most, reason) = match (backend, cold) {
            (Backend::Uring, true) => (cpus, Reason::ColdRing),
            (Backend::Sync, true) => {
                let busy = at_least_one(files_left / FILES_PER_COLD_WORKER);
                (busy.min(cpus.max(COLD_WORKERS)), Reason::ColdThreads)
            }
            (_, false) => (cpus, Reason::Warm),
        };
        let most = most.min(at_least_one(files_left));
        let wall_ns = |workers| work.wall_ns(workers, backend);
        let best =
            (2..=most).fold(1, |best, workers| if wall_ns(workers) < wall_ns(best) { workers } else { best });

        let plain = limits.backend.unwrap_or(Backend::Sync);
        if best == 1 && cpus > 1 && backend == plain || wall_ns(best) > work.wall_ns(1, plain) {
            return choice(1, plain, Reason::BelowBreakEven);
        }
        choice(best, backend, reason)
    }
}

/// What is left to do, priced.
struct Work<'c> {
    constants: &'c Constants,
    files: u64,
    /// What one of them takes the calling thread alone with plain reads.
    file_ns: f64,
    file_bytes: f64,
    cold: bool,
}

impl<'c> Work<'c> {
    fn new(constants: &'c Constants, seen: Sample, files: u64) -> Self {
        let mean = |total: u64| total as f64 / f64::from(seen.files);
        let (file_ns, file_bytes) = if seen.files == 0 {
            (constants.file_ns as f64, 0.0)
        } else {
            (mean(seen.nanos), mean(seen.bytes))
        };
        Self { constants, files, file_ns, file_bytes, cold: seen.is_cold() }
    }

    /// Wall time of all of it.
    fn wall_ns(&self, workers: usize, backend: Backend) -> f64 {
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
            (Backend::Sync, false) => self.warm_ns(workers),
            (Backend::Uring, false) => self.warm_ns(workers) * c.ring_warm,
            (Backend::Sync, true) => self.file_ns * share(workers, c.cold_contention),
            (Backend::Uring, true) => {
                // The disk gives what it can whatever the workers do; what they share is the computing.
                let in_flight = c.ring_cold.min(self.files.max(1) as f64);
                let computing = self.file_ns.min(c.file_ns as f64);
                self.file_ns / in_flight + computing * share(workers, c.contention)
            }
        }
    }

    fn warm_ns(&self, workers: usize) -> f64 {
        let c = self.constants;
        let memory = (c.memory_one_bytes_per_s as f64 * workers as f64).min(c.memory_all_bytes_per_s as f64);
        (self.file_ns * share(workers, c.contention)).max(self.file_bytes / memory * 1e9)
    }
}

/// The part of a lone worker's time that each piece of work takes among `workers`: Amdahl's law, `contention`
/// being the serial part.
fn share(workers: usize, contention: f64) -> f64 {
    let workers = workers as f64;
    (1.0 + (workers - 1.0) * contention) / workers
}

/// This many workers as a number of them, and one where there are none.
fn at_least_one(workers: u64) -> usize {
    usize::try_from(workers).unwrap_or(usize::MAX).max(1)
}
