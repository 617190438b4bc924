//! `cargo xtask bench`: whole commands of ftk against its peers.
//!
//! Answers are compared before anything is timed, runs are interleaved, and what is printed is medians with
//! their spread. [`tables`] says what is run, [`measure`] runs it, [`record`] keeps it, [`report`] shows it.

mod answer;
pub(crate) mod build;
mod cache;
pub(crate) mod case;
mod chart;
mod command;
mod compare;
mod context;
mod derived;
mod floor;
mod format;
mod groups;
mod install;
pub(crate) mod interrupt;
pub(crate) mod machine;
mod markdown;
mod measure;
pub(crate) mod once;
pub(crate) mod options;
pub(crate) mod peers;
mod record;
mod report;
pub(crate) mod roles;
pub(crate) mod scratch;
pub(crate) mod shape;
pub(crate) mod splice;
mod stats;
mod tables;
mod tree;

pub(crate) use command::run;
