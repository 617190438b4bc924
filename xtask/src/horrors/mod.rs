//! The failures that file tools have had, each of them with tests.

mod entries;

pub(crate) use entries::{ENTRIES, Entry, Untested};
