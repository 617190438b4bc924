//! `cargo xtask bench`: whole commands of ftk against its peers.
//!
//! Answers are compared before anything is timed, runs are interleaved, and what is printed is medians with
//! their spread. [`tables`] says what is run, [`measure`] runs it, [`record`] keeps it, [`report`] shows it.

mod answer;
mod build;
mod cache;
mod case;
mod chart;
mod command;
mod compare;
mod context;
mod derived;
mod floor;
mod format;
mod groups;
mod install;
mod interrupt;
mod machine;
mod markdown;
mod measure;
mod once;
mod options;
mod peers;
mod record;
mod report;
mod roles;
mod scratch;
mod shape;
mod splice;
mod stats;
mod tables;
mod tree;

pub(crate) use command::run;
