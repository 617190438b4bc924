//! The cost model: from a sample of real work to a choice of workers and reader.

use crate::Constants;

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

/// How many workers the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// The model decides.
    #[default]
    Auto,
    /// Exactly this many, the calling thread included.
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
    /// Logical CPUs.
    pub cpus: usize,
}

/// What the model decided, and what it expects of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Workers, the calling thread included.
    pub workers: usize,
    /// The reader.
    pub backend: Backend,
    /// Whether the content has to come from a disk.
    pub cold: bool,
    /// Forecast of the time for what is left, in nanoseconds.
    pub forecast_nanos: u64,
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
    /// The choice that takes the least wall time for `files_left` more files like those of the sample.
    pub fn choose(&self, seen: Sample, files_left: u64, limits: Limits) -> Choice {
        let _ = (&self.constants, seen, files_left, limits);
        todo!()
    }
}
