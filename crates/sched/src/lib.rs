//! Internal to ftk: the scheduler. It decides how many workers a run gets and which reader they use, and hands
//! them their jobs.
//!
//! - [`Run`] does all jobs of a table that implements [`Jobs`]: files to hash, or pairs of files to compare.
//!   It does a sample, chooses, and then does the small jobs and the large ones.
//! - [`Sampling`] spreads the sample over the table and measures it.
//! - [`Claims`] decides which worker does which jobs. [`Counters`] count what they have done.
//! - [`Model`] predicts the run time from a small [`Sample`] of the real work and the measured [`Constants`]
//!   of the machine, and chooses the fastest combination of workers and reader.
//! - [`Learned`] keeps what earlier runs measured, and replaces built-in constants by it.
//! - [`Team`] runs a closure on all workers and returns their results.
//! - [`Stop`] tells all workers to end early.
//!
//! The number of workers must depend on the job: starting a thread for a few small files costs more than it
//! saves, while files on a cold disk need many more workers than there are CPUs. This crate knows the number
//! and the size of files, but nothing else about them.
//!
//! # Example
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! use ftk_sched::{Constants, Limits, Model, Sample, Stop, Team, Threads};
//!
//! // The first 32 files took 12 µs each and never waited for a disk. 10,000 files are left.
//! let sample = Sample { files: 32, bytes: 32 * 17_000, nanos: 32 * 12_000, waits: 0, remote_cpu: None };
//! let limits = Limits { threads: Threads::Auto, backend: None, ring: false, cpus: 4 };
//! let choice = Model::new(Constants::default()).choose(sample, 10_000, limits);
//! assert_eq!(choice.workers, 4);
//!
//! // The workers claim files from a common counter.
//! let (stop, next) = (Stop::new(), AtomicUsize::new(0));
//! let counts = Team::new(choice.workers).run(&stop, |_worker| {
//!     let mut files = 0;
//!     while !stop.is_raised() && next.fetch_add(1, Ordering::Relaxed) < 10_000 {
//!         files += 1;
//!     }
//!     files
//! });
//! assert_eq!(counts.iter().sum::<usize>(), 10_000);
//! ```
#![forbid(unsafe_code)]
#![cfg(unix)] // ftk-walk reports other systems

mod claims;
mod constants;
mod cpus;
mod fields;
mod figures;
mod learned;
mod machine;
mod model;
mod progress;
mod run;
mod sampling;
mod stop;
mod store;
mod team;
mod usage;
mod work;

pub use claims::{Claims, lock};
pub use constants::{Constants, Kernel};
pub use cpus::{logical_cpus, physical_cores};
pub use fields::Implausible;
pub use figures::Figure;
pub use learned::{Learned, Used};
pub use model::{Backend, Choice, Limits, Model, Reason, Sample, Threads};
pub use progress::{Counters, Progress, WorkerCounters};
pub use run::{Jobs, MEASURED_JOBS, PROBE, Phase, Run, RunPlan};
pub use sampling::{Sampling, Storage, pick, spread};
pub use stop::Stop;
pub use store::NotLoaded;
pub use team::Team;
pub use usage::{CpuTime, Waits};
