//! `cargo xtask scale`: a model of many hosts that record one large tree, compared with other ways to divide it.
//!
//! Nothing is measured here. The costs of one entry and one directory come from the benchmark records.

mod command;
mod costs;
mod cuts;
mod schedule;
mod table;
mod tree;

pub(crate) use command::run;
