//! Compares every reader with `std::fs::read`: with files that change, vanish, have holes or are not regular,
//! with too few descriptors, and on a ring that fails, misreports and delays.

mod changing;
#[cfg(target_os = "linux")]
mod descriptors;
mod fake;
pub(crate) mod harness;
mod misbehaving;
mod not_regular;
mod random;
mod same_bytes;
mod sampled;
mod sparse;
