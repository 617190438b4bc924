//! Failures in which tools of this kind lost data, printed wrong results, hung or were exploited, each as a
//! test.
//!
//! The numbers are those of docs/horrors.md. `cargo xtask tidy` checks that every failure has a test or a
//! reason for having none.

mod aliases;
mod changes;
mod checks;
mod commands;
mod comparing;
mod duplicates;
mod familiar;
mod guards;
mod holes;
mod identities;
mod journals;
mod limits;
mod lists;
mod manifests;
mod names;
mod outputs;
mod proofs;
mod pruning;
mod repeated;
mod reused;
mod revoked;
mod rings;
mod scenarios;
mod signals;
mod totals;
mod trees;
mod views;
mod workers;
