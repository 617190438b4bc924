//! Checks of the conventions of the project.
//!
//! Each rule is a function from the tracked files to findings, so that its tests can pass it a bad tree.

mod architecture;
mod documents;
mod file_types;
mod guarantees;
mod horrors;
mod manifests;
mod release;
mod repository;
mod run;
mod sources;
mod tree;
mod words;

pub(crate) use run::{is_clean, run};
