//! The cost model: from a sample of real work to a choice of workers and reader.

use crate::Constants;
use crate::work::Work;

/// Files that may come from a cache for each wait that says they do not: 2 waits among 32 files are a disk.
///
/// Cached files were seen to wait never, evicted ones once each.
const FILES_PER_WAIT: u32 = 16;

/// Workers with plain reads that a disk is offered: 32 and 64 did equally well, 16 some 10 % worse.
pub const COLD_WORKERS: usize = 32;

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
        self.files > 0 && self.waits >= self.files.div_ceil(FILES_PER_WAIT)
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
        let cpus = limits.cpus.max(1);
        let work = Work::new(&self.constants, seen, files_left, cpus);
        let choice = |workers, backend, reason| {
            // A float beyond the range saturates.
            let forecast_nanos = work.wall_ns(workers, backend) as u64;
            Choice { workers, backend, cold, forecast_nanos, reason }
        };
        if let Threads::Fixed(asked) = limits.threads {
            return choice(asked.clamp(1, at_least_one(files_left)), backend, Reason::Asked);
        }

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
        let is_alone = best == 1 && backend == plain;
        let had_choice = cold || cpus > 1;
        if is_alone && had_choice || wall_ns(best) > work.wall_ns(1, plain) {
            return choice(1, plain, Reason::BelowBreakEven);
        }
        choice(best, backend, reason)
    }
}

/// This many workers as a number of them, and one where there are none.
fn at_least_one(workers: u64) -> usize {
    usize::try_from(workers).unwrap_or(usize::MAX).max(1)
}
