//! The files of a tree in a compact table: what the walk produced, in path order, ready to be read.
//!
//! Every worker of a walk fills a part of its own ([`Collect`]), sorting each listing as it ends.
//! [`Inventory::merge`] then puts the directories of all parts in depth-first order, touching no file. In the
//! table a regular file is a number ([`FileNo`]) that also indexes every table of results; its name, its
//! directory and its inode can be asked for at any time, [`PathOrder`] goes through everything by whole path,
//! and [`Opener`] opens the directories again.
//!
//! ```
//! use ftk_inventory::{Collect, Inventory, Keep};
//! use ftk_walk::Walker;
//!
//! let parts = Walker::new([c"src".into()]).run(|worker| Collect::new(worker, Keep::Files));
//! let inventory = Inventory::merge(parts)?;
//! let mut order = inventory.in_path_order();
//! assert!(order.next().unwrap().path.starts_with(b"src/"));
//! # Ok::<(), ftk_inventory::Full>(())
//! ```
//!
//! A table can also be made from the paths of a list, without a walk: [`PathList`].
//!
//! A file costs 16 bytes and its name with a terminator, a directory 48 bytes and its name. No path is stored.
//! What [`Keep`] asks for beside that costs 8 bytes more a file for its size, or 80 an entry for what `stat` says.
#![forbid(unsafe_code)]

mod beneath;
mod budget;
mod collect;
mod columns;
mod cursor;
#[cfg(test)]
mod fixture;
mod full;
mod keep;
mod known;
mod list;
mod merge;
mod metadata;
mod names;
mod opener;
mod order;
mod shard;
mod skipped;
mod table;

pub use beneath::open as open_beneath;
pub use budget::Budget;
pub use collect::Collect;
pub use ftk_walk::is_pseudo;
pub use full::Full;
pub use keep::Keep;
pub use list::{PathList, Unlisted};
pub use metadata::Metadata;
pub use opener::{DirFd, Opener};
pub use order::{Item, PathOrder};
pub use skipped::{Refused, Skipped};
pub use table::{DirNo, FileNo, Inventory};
