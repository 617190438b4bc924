//! The list of failures that file tools have had, and `cargo xtask horrors`, which reproduces them with ftk and its
//! peers.
//!
//! [`scenarios`] defines the trees, the commands and the judges; [`place`] runs the commands; [`seen`] is what a judge
//! sees; [`page`] prints the results.

mod command;
mod entries;
mod page;
mod place;
mod scenario;
mod scenarios;
mod seen;
mod verdict;

pub(crate) use command::run;
pub(crate) use entries::{ENTRIES, Entry, Untested};
