//! Two trees: what is only in one of them, and what differs between entries of one name.
//!
//! Both were walked before, into an [`Inventory`](ftk_inventory::Inventory) each that keeps what `stat` says of every
//! entry. [`Trees`] goes through the two in path order, as one merges sorted lists. That alone tells everything but the
//! content of files of equal size. [`Trees::plan`] lists the pairs that have to be read for it, [`Trees::compare`] reads
//! them with several workers, and [`Trees::differences`] goes through the trees once more and tells all of it in order.
//!
//! Memory goes to pairs, not to differences: 32 bytes for each pair that has to be read.

mod claims;
mod classify;
mod difference;
mod merge;
mod pairs;
mod run;
mod sample;
mod tree;
mod worker;

pub use classify::Rules;
pub use difference::{Difference, Field, What};
pub use pairs::Plan;
pub use run::{Done, Env, Report};
pub use tree::{Tree, Trees};
