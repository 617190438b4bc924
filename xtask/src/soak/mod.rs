//! `cargo xtask soak`: what takes too long to run at every change.
//!
//! [`parts`] says what there is. Each part counts what it did, and fails if anything was not as it must be; a
//! [`record`] keeps both.

mod command;
mod exhaustive;
mod figures;
mod ground;
mod options;
mod parts;
mod peaks;
mod process;
mod races;
mod record;
mod shapes;
mod squeeze;
mod stress;
mod swapper;

pub(crate) use command::run;
