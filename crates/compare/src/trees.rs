//! Two trees: what is only in one of them, and what differs between entries of one name.
//!
//! Both were walked before, into an [`Inventory`](ftk_inventory::Inventory) each that keeps what [`TreeCriteria::keep`] says.
//! [`Trees`] goes through the two in path order, as one merges sorted lists. That alone tells everything but what differs
//! in size or content. [`Trees::plan`] lists the pairs that have to be opened for it, [`Trees::compare`] does that with
//! several workers, and [`Trees::differences`] goes through the trees once more, up to the last difference, and tells all
//! of them in order.
//!
//! Memory goes to pairs, not to differences: 32 bytes for each pair that has to be read.

mod claims;
mod classify;
mod difference;
mod facts;
mod large;
mod merge;
mod pairs;
mod run;
mod sample;
mod tree;
mod worker;

pub use classify::TreeCriteria;
pub use difference::{Difference, Field, What};
pub use pairs::PairTable;
pub use run::{Done, Report, TreeResources};
pub use tree::{Trees, WalkedTree};
