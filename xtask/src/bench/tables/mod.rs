//! The tables of the benchmark, one file each.

mod algorithm;
mod catalogue;
mod cmp;
mod du;
mod dup;
mod expressions;
mod find;
mod hash;
mod hashers;
mod kernels;
mod lists;
mod manifest;
mod reuse;
mod scale;
mod scaling;
mod startup;
mod threads;

pub(crate) use algorithm::Algorithm;
pub(crate) use catalogue::ALL;
