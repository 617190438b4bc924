//! The tables of the benchmark, one file each.

mod catalogue;
mod cmp;
mod du;
mod dup;
mod expressions;
mod find;
mod hash;
mod kernels;
mod lists;
mod manifest;
mod reuse;
mod scale;
mod scaling;
mod startup;
mod threads;

pub(crate) use catalogue::{ALL, names};
pub(crate) use hash::algorithms;
