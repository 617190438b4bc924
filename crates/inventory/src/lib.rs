//! Internal to ftk: a compact table of the files that a walk found, in path order.
//!
//! ftk lists a whole tree before it reads the first file, so the list must be small and sorted. Each worker
//! of a walk fills its own part of the table with [`Collect`], and sorts each listing at its end.
//! [`Inventory::merge`] then puts the directories of all parts in depth-first order, without touching the
//! files.
//!
//! A regular file is a number ([`FileNo`]), which is also its index in every table of results. The table
//! gives its name, its directory and its inode number. [`PathOrder`] goes through all entries in the order of
//! their paths, and [`Opener`] opens directories again. A table can also be made from a list of paths,
//! without a walk: [`PathList`].
//!
//! # Example
//!
//! ```
//! use ftk_inventory::{Collect, Inventory, Keep};
//! use ftk_walk::Walker;
//!
//! let parts = Walker::new(["src"]).run(|worker| Collect::new(worker, Keep::Files));
//! let inventory = Inventory::merge(parts)?;
//! let mut order = inventory.in_path_order();
//! assert!(order.next().unwrap().path.starts_with(b"src/"));
//! # Ok::<(), ftk_inventory::Full>(())
//! ```
//!
//! # Memory
//!
//! A file costs 16 bytes plus its name and a terminator. A directory costs 48 bytes plus its name. Paths are
//! not stored. An entry costs 8 bytes more with [`Keep::Sizes`] and [`Keep::Tree`], and 24 with [`Keep::Times`]; with
//! [`Keep::Stats`], an entry with metadata costs 92 bytes more. [`Budget`] limits the memory of all tables of
//! a run.
#![forbid(unsafe_code)]

mod budget;
mod collect;
mod columns;
mod cursor;
#[cfg(test)]
mod fixture;
mod full;
mod keep;
mod known;
mod links;
mod list;
mod merge;
mod names;
mod normal_form;
mod open_dirs;
mod opener;
mod order;
mod shard;
mod skipped;
mod spellings;
mod table;
mod tree;

pub use budget::{Budget, Reservation};
pub use collect::Collect;
pub use ftk_walk::is_pseudo;
pub use full::Full;
pub use keep::Keep;
pub use links::{LinkNames, LinkPairs, LinkSplits, Witnesses};
pub use list::{PathList, Unlisted};
pub use normal_form::{NormalForm, push_normal};
pub use open_dirs::OpenDirs;
pub use opener::{DirFd, Opener};
pub use order::{Item, PathOrder};
pub use skipped::{Refused, Skipped};
pub use spellings::{
    Aligned, Aligner, Candidates, MovedEntries, Place, Relocated, RelocatedMerge, Spellings, Unpaired,
};
pub use table::{DirNo, FileNo, Inventory};
pub use tree::Other;
