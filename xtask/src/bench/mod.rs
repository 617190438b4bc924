//! `cargo xtask bench`: benchmarks of whole commands of ftk and its peers.
//!
//! Results are compared before anything is timed, runs are interleaved, and medians are printed with their spread.
//! [`tables`] defines the commands, [`measure`] runs them, [`record`] stores the times, [`mod@report`] shows them.

pub(crate) mod answer;
pub(crate) mod build;
mod cache;
pub(crate) mod case;
mod chart;
mod command;
mod commands;
mod compare;
mod context;
mod derived;
mod floor;
mod format;
mod groups;
mod install;
pub(crate) mod interrupt;
mod late;
pub(crate) mod machine;
mod markdown;
mod measure;
pub(crate) mod once;
pub(crate) mod options;
pub(crate) mod peers;
pub(crate) mod record;
mod report;
pub(crate) mod roles;
pub(crate) mod scratch;
pub(crate) mod shape;
pub(crate) mod splice;
mod stats;
mod tables;
mod tree;

pub(crate) use command::{Args, help_out, run};
pub(crate) use report::run as report;
