//! The list of failures that file tools have had, and `cargo xtask horrors`, which reproduces them with ftk and its
//! peers.
//!
//! The files in `xtask/horrors/` define the trees, the commands and what must be true afterwards; [`scenario`] reads
//! them, [`place`] runs the commands, [`check`] and [`judges`] judge what was [`seen`], and [`page`] prints the results.

mod check;
mod command;
mod entries;
mod judges;
mod page;
mod place;
mod scenario;
mod seen;
mod verdict;

pub(crate) use command::{Options, run};
pub(crate) use entries::{ENTRIES, Entry};
