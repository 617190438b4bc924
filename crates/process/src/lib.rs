//! The driver that hash, dup and manifest share: the files of an inventory, or some of them, in; a row with a
//! state and digests for each out.
//!
//! [`process`] goes through four steps. The calling thread processes a small *sample* of the files, which are
//! real work and stay done. From what they cost the model *chooses* workers and reader. The *team* claims runs
//! of the remaining files. The *large* files that were met on the way come last, largest first.
//!
//! Nothing here prints, walks, or decides what is done with a digest.

mod calibrate;
mod claims;
mod driver;
mod engines;
mod large;
mod progress;
mod readers;
mod regime;
mod rows;
mod run;
mod sample;
mod shared;
mod small;
mod spare;
mod stream;
mod work;

pub use calibrate::calibrate;
pub use driver::Failed;
pub use progress::{Progress, Watch, meanwhile};
pub use rows::{Rows, State};
pub use run::{Report, Resources, RunPlan, process};
pub use stream::hash_stream;
pub use work::Work;
