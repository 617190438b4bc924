//! The files of a release: static programs, packed for people and package managers.

mod archive;
mod build;
mod check;
mod command;
mod graph;
mod image;
mod licences;
pub(crate) mod notes;
mod packages;
mod sbom;
mod source;
mod sums;
mod target;
mod tools;
mod trial;

pub(crate) use command::{Options, is_clean, run};
