//! Reading a part of a tree in each run, so that every file is read in turn.

mod judge;
mod part;
mod plan;
mod progress;
mod queue;
mod write;

pub use part::Part;
pub use plan::{ForUpdate, Scrub};
pub use progress::Scrubbed;
pub use queue::Batch as ScrubBatch;
