//! Comparing a tree with its manifest: first find the files that must be read, then give the verdicts.

mod judge;
mod look;
mod plan;

pub use plan::{Batch, VerifyPlan};
