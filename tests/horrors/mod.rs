//! How tools of this kind have lost data, lied, hung or been taken over, each as a test.
//!
//! The numbers are those of the project's table of failures, so that it can say which of them hold here.

mod aliases;
mod changes;
mod checks;
mod commands;
mod comparing;
mod duplicates;
mod familiar;
mod guards;
mod journals;
mod limits;
mod lists;
mod manifests;
mod names;
mod outputs;
mod proofs;
mod pruning;
mod rings;
mod signals;
mod totals;
mod trees;
mod views;
mod workers;
