//! Internal to ftk: the driver that reads and hashes the files of an inventory in parallel.
//!
//! It exists so that `hash`, `dup` and `manifest` read files in one way. The input is an inventory, or some of
//! its files. The output is one row for each file, with a state and digests.
//!
//! The files are jobs for the scheduler ([`ftk_sched::Run`]), so [`process`] has four steps:
//!
//! 1. The calling thread processes a small *sample* of the files. These files are done; they are not read
//!    again.
//! 2. The cost model *chooses* the number of workers and the reader from what the sample cost.
//! 3. A *team* of workers claims runs of the remaining files.
//! 4. The *large* files, which were deferred on the way, come last, largest first.
//!
//! This crate prints nothing, walks nothing, and leaves the use of the digests to its callers.
//!
//! ```
//! use ftk_hash::{Algorithm, Platform};
//! use ftk_inventory::{Collect, Inventory, Keep};
//! use ftk_process::{Resources, Rows, State, Work, process};
//! use ftk_read::Span;
//! use ftk_sched::{Constants, Limits, Model, Stop, Threads};
//! use ftk_walk::Walker;
//!
//! let parts = Walker::new(["src"]).run(|worker| Collect::new(worker, Keep::Files));
//! let inventory = Inventory::merge(parts)?;
//!
//! let algorithms = &[Algorithm::Sha256];
//! let platform = Platform::detect();
//! let work = Work { inventory: &inventory, algorithms, platform, only: None, span: Span::Whole, fixed_sizes: false, prefix: None };
//! let model = Model::new(Constants::default());
//! let limits = Limits { threads: Threads::Auto, backend: None, ring: true, cpus: 0 };
//! let resources = Resources { model: &model, limits, memory: 64 << 20, stop: &Stop::new(), watch: None, cache: None };
//! let mut rows = Rows::new(work.files(), algorithms);
//! let report = process(&work, &mut rows, &resources);
//!
//! assert!(report.failed.is_empty());
//! for row in 0..work.files() {
//!     assert_eq!(rows.state(row), State::Ok);
//!     assert_eq!(rows.digest(row, 0).unwrap().len(), 32);
//! }
//! # Ok::<(), ftk_inventory::Full>(())
//! ```

mod attributes;
mod backend_monitor;
mod calibrate;
mod claims;
mod driver;
mod engines;
mod file_systems;
mod large;
mod progress;
mod readers;
mod reuse;
mod rows;
mod run;
mod sample;
mod shared;
mod small;
mod spare;
mod stats;
mod stream;
mod work;

pub use attributes::AttributeSet;
pub use calibrate::calibrate;
pub use driver::Failed;
pub use file_systems::{file_system, file_systems};
pub use ftk_cache::FileSystems;
pub use ftk_sched::{Progress, RunPlan};
pub use progress::{Watch, meanwhile};
pub use rows::{Rows, State};
pub use run::{Report, Resources, process};
pub use stream::hash_stream;
pub use work::{Prefix, Work};
