//! Every reader against `std::fs::read`: on files that change, vanish or never were regular, with descriptors
//! running out, and on a ring that fails, lies and dawdles.

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
