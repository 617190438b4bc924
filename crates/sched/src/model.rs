//! The cost model: chooses workers and reader from a sample of the real work.

use crate::Constants;
use crate::work::Work;

/// A sample is cold if there was at least one wait per this many files: 2 waits among 32 files mean a disk.
///
/// Measured: cached files never waited, and files evicted from the cache waited once each.
const MAX_FILES_PER_WAIT: u32 = 16;

/// The most workers with plain reads for a disk or a remote file system, unless there are more CPUs. For a disk, 32 and
/// 64 were equally fast; 16 were about 10 % slower.
const COLD_WORKERS: usize = 32;

/// The least number of remaining files per such worker. With fewer, half of the workers may find nothing to
/// do.
const FILES_PER_COLD_WORKER: u64 = 4;

/// Measurements of a few files of this tree, processed by one worker with the plain reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Number of files processed.
    pub files: u32,
    /// Number of bytes processed.
    pub bytes: u64,
    /// Elapsed time in nanoseconds.
    pub nanos: u64,
    /// How often the thread waited for a disk during that time; see [`Waits::since`](crate::Waits::since).
    pub waits: u32,
    /// If the thread waited for remote file systems, its CPU time in nanoseconds.
    pub remote_cpu: Option<u64>,
}

impl Sample {
    /// Returns whether these files came from a disk and not from the cache: at least 2 waits among 32 files,
    /// or in that proportion.
    ///
    /// This also works for later files, if one thread read them with the plain reader and without a helper
    /// thread.
    pub fn is_cold(&self) -> bool {
        self.files > 0 && self.waits >= self.files.div_ceil(MAX_FILES_PER_WAIT)
    }

    /// Returns how many workers keep `cpus` CPUs busy with files from remote file systems: each CPU serves as many as
    /// the time of a file is longer than its CPU time, and at least one. `None` for other files.
    fn remote_workers(&self, cpus: usize) -> Option<usize> {
        let cpu = self.remote_cpu?.max(1);
        let busy = (cpus as u64).saturating_mul(self.nanos).div_ceil(cpu);
        Some(usize::try_from(busy).unwrap_or(usize::MAX).max(cpus))
    }
}

/// The number of workers that the user requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// The model decides.
    #[default]
    Auto,
    /// Exactly this many, including the calling thread; `0` counts as 1.
    Fixed(usize),
}

/// The kind of reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Plain system calls.
    Sync,
    /// io_uring.
    Uring,
}

/// The options that the model can choose from.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The requested number of workers.
    pub threads: Threads,
    /// The requested reader, or `None` to let the model decide.
    pub backend: Option<Backend>,
    /// Whether an io_uring can be created here.
    pub ring: bool,
    /// Number of logical CPUs; `0` counts as 1.
    pub cpus: usize,
}

impl Limits {
    /// Returns the number of workers for work that keeps every one of them busy: those that the user
    /// requested, or one for each CPU.
    pub fn busy_workers(&self) -> usize {
        match self.threads {
            Threads::Auto => self.cpus.max(1),
            Threads::Fixed(n) => n.max(1),
        }
    }

    /// Returns the most workers that the model may choose.
    pub fn max_workers(&self) -> usize {
        match self.threads {
            Threads::Auto => self.cpus.max(COLD_WORKERS),
            Threads::Fixed(n) => n.max(1),
        }
    }
}

/// The reason for the model's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Starting more workers or an io_uring would cost more time than it saves.
    BelowBreakEven,
    /// The files are cached: at most one worker per CPU, and plain reads unless the user requested io_uring.
    Warm,
    /// The files come from a disk, and io_uring keeps it busy.
    ColdRing,
    /// The files come from a disk, and many waiting workers keep it busy.
    ColdThreads,
    /// The files come from a remote file system: as many workers as keep the CPUs busy while most of them wait, with
    /// plain reads unless the user requested io_uring, whose requests the kernel would hand to threads of its own.
    Remote,
    /// The user requested the number of workers.
    Asked,
}

/// The model's choice and its forecast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Number of workers, including the calling thread; at least 1, and at most one per remaining file.
    pub workers: usize,
    /// The reader.
    pub backend: Backend,
    /// Whether the content has to be read from a disk.
    pub cold: bool,
    /// Forecast of the wall time for the remaining files, in nanoseconds.
    pub forecast_nanos: u64,
    /// The reason for the choice.
    pub reason: Reason,
}

/// The cost model.
#[derive(Clone, Debug)]
pub struct Model {
    constants: Constants,
}

impl Model {
    /// Creates a model from these constants.
    pub fn new(constants: Constants) -> Self {
        Self { constants }
    }

    /// Returns the constants of the machine.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// Returns the choice with the least wall time for `files_left` more files like those of the sample.
    ///
    /// An empty sample is treated as cached files of the usual cost. A requested reader is always chosen,
    /// even if it is not available; the caller must refuse it.
    pub fn choose(&self, seen: Sample, files_left: u64, limits: Limits) -> Choice {
        let cold = seen.is_cold();
        let cpus = limits.cpus.max(1);
        let remote = seen.remote_workers(cpus);
        let has_ring = cold && limits.ring && remote.is_none();
        let backend = limits.backend.unwrap_or(if has_ring { Backend::Uring } else { Backend::Sync });
        let work = Work::new(&self.constants, seen, files_left, cpus);
        let choice = |workers, backend, reason| {
            // The conversion of a float beyond the range saturates.
            let forecast_nanos = work.wall_ns(workers, backend) as u64;
            Choice { workers, backend, cold, forecast_nanos, reason }
        };
        if let Threads::Fixed(asked) = limits.threads {
            return choice(asked.clamp(1, at_least_one(files_left)), backend, Reason::Asked);
        }

        let (most, reason) = match (backend, cold) {
            (Backend::Uring, true) => (cpus, Reason::ColdRing),
            (Backend::Sync, true) => {
                let busy = at_least_one(files_left / FILES_PER_COLD_WORKER).min(cpus.max(COLD_WORKERS));
                remote.map_or((busy, Reason::ColdThreads), |remote| (busy.min(remote), Reason::Remote))
            }
            (_, false) => (cpus, Reason::Warm),
        };
        let most = most.min(at_least_one(files_left));
        let wall_ns = |workers| work.wall_ns(workers, backend);
        let best =
            (2..=most).fold(1, |best, workers| if wall_ns(workers) < wall_ns(best) { workers } else { best });

        let plain = limits.backend.unwrap_or(Backend::Sync);
        let is_alone = best == 1 && backend == plain;
        let had_choice = cold || cpus > 1;
        if is_alone && had_choice || wall_ns(best) > work.wall_ns(1, plain) {
            return choice(1, plain, Reason::BelowBreakEven);
        }
        choice(best, backend, reason)
    }
}

/// Converts a number of workers to `usize`, and 0 to 1.
fn at_least_one(workers: u64) -> usize {
    usize::try_from(workers).unwrap_or(usize::MAX).max(1)
}
