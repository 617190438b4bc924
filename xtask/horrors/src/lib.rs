//! Failures that file tools have had, and the scenarios that reproduce them.
//!
//! The files next to this crate's `Cargo.toml` define the trees, the commands and what must be true afterwards;
//! `scenario` reads them, `place` runs the commands, and `check` judges what was `seen`. The integration tests run them
//! with ftk, and `cargo xtask horrors` with its peers too.

mod check;
mod entries;
mod place;
mod scenario;
mod seen;
mod verdict;

pub use entries::{ENTRIES, Entry};
pub use place::Place;
pub use scenario::{FAMILIES, Family, Scenario};
pub use seen::{Run, Seen};
pub use verdict::Verdict;
