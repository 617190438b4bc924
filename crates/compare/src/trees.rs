//! Compares two trees: which entries exist in only one of them, and how entries with the same path differ.
//!
//! Both trees are walked before, each into an [`Inventory`](ftk_inventory::Inventory) that keeps what
//! [`TreeCriteria::keep`] requests. The comparison has three steps:
//!
//! 1. [`Trees::plan`] merges the two inventories in path order. This finds all differences except those in
//!    the size or content of files, and lists the pairs of files that must be opened.
//! 2. [`Trees::compare`] opens and compares these pairs with several workers.
//! 3. [`Trees::differences`] merges the inventories again and reports all differences in path order. It stops
//!    after the last one.
//!
//! Memory is needed for pairs: 32 bytes for each pair that must be opened; and, if metadata is compared, a path for each
//! file with several hard links, and what differs in extended attributes. Names that differ only in their Unicode normal
//! form are found in more passes over the inventories, if there are any, and need memory as
//! [`Unpaired`](ftk_inventory::Unpaired) and its successors say.

mod attributes;
mod classify;
mod difference;
mod large;
mod links;
mod merge;
mod names;
mod pairs;
mod run;
mod tree;
mod worker;

pub use classify::{EqualTimes, Ignored, TreeCriteria};
pub use difference::{Below, Difference, Field, What};
pub use pairs::PairTable;
pub use tree::{Trees, WalkedTree};
