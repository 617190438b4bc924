//! The files of a tree in a compact table: what the walk produced, in path order, ready to be read.
#![forbid(unsafe_code)]

mod collect;
mod opener;
mod order;
mod table;

pub use collect::{Collect, Keep};
pub use opener::{DirFd, Opener};
pub use order::{Item, PathOrder};
pub use table::{DirNo, FileNo, Inventory};
