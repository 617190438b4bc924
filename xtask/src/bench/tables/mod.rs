//! The tables of the benchmark, one file each.

mod catalogue;
mod cmp;
mod dup;
mod hash;
mod kernels;
mod lake;
mod listing;
mod lists;
mod manifest;
mod parity;
mod reuse;
mod scale;
mod scaling;
mod slow;
mod threads;
mod walkers;

pub(crate) use catalogue::{ALL, names};
pub(crate) use hash::algorithms;
