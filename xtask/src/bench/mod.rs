//! `cargo xtask bench`: whole commands of ftk against its peers.
//!
//! Answers are compared before anything is timed, runs are interleaved, and what is printed is medians with
//! their spread. [`tables`] says what is run, [`measure`] runs it, [`record`] keeps it, [`report`] shows it.

mod answer;
mod build;
mod cache;
mod case;
mod command;
mod compare;
mod context;
mod floor;
mod install;
mod interrupt;
mod machine;
mod markdown;
mod measure;
mod options;
mod peak;
mod peers;
mod record;
mod report;
mod scratch;
mod shape;
mod splice;
mod stats;
mod tables;

pub(crate) use command::run;
