//! What is measured: one file a table.

mod algorithm;
mod catalogue;
mod find;
mod hash;
mod hashers;
mod kernels;
mod lists;
mod scale;
mod startup;
mod threads;

pub(crate) use algorithm::Algorithm;
pub(crate) use catalogue::ALL;
