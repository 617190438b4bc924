//! The failures that file tools have had, each of them with tests, and `cargo xtask horrors`: which tools have them.
//!
//! [`scenarios`] says what is made to happen and what is typed, [`place`] runs it, [`seen`] is what is judged,
//! [`page`] shows it.

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
