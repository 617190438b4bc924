//! A tree held against a manifest: first what has to be read, then the verdicts.

mod judge;
mod look;
mod plan;

pub use plan::{Batch, VerifyPlan};
