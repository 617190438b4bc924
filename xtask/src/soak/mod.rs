//! `cargo xtask soak`: tests that take too long to run at every change.
//!
//! [`parts`] lists them. Each part counts what it did, and fails if it found a deviation. A [`record`] keeps both.

mod busy;
mod command;
mod figures;
mod fixture;
mod histories;
mod holes;
mod kills;
mod limits;
mod options;
mod parts;
mod peaks;
mod process;
mod races;
mod record;
mod reused;
mod shapes;
mod shards;
mod stale;
mod stress;
mod swapper;
mod views;

pub(crate) use command::run;
pub(crate) use options::Options;
