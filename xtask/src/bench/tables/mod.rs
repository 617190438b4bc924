//! What is measured: one file a table.

mod algorithm;
mod catalogue;
mod find;
mod hash;
mod memory;
mod scale;
mod startup;

pub(crate) use algorithm::{Algorithm, algorithm};
pub(crate) use catalogue::ALL;
