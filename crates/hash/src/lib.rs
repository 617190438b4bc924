//! Digests: algorithms, and engines that hash many messages side by side. No I/O, no threads.

mod algorithm;
mod digest;
mod engine;

pub use algorithm::{Algorithm, Platform};
pub use digest::Digest;
pub use engine::{Engine, Event};
