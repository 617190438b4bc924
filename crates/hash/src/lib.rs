//! Digests: algorithms, and engines that hash many messages side by side. No I/O, no threads.
//!
//! An [`Algorithm`] makes an [`Engine`]; pieces of messages go in by value, [`Event`]s come out, and every
//! piece is given back. A whole message in memory needs no engine of its own:
//!
//! ```
//! use ftk_hash::{Algorithm, Platform};
//!
//! let digest = Algorithm::Sha1.hash_one(Platform::detect(), b"abc");
//! assert_eq!(digest.to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
//! ```

mod algorithm;
mod arch;
mod batch;
mod digest;
mod dispatch;
mod engine;
mod function;
mod lane;
mod lanes;
mod platform;
mod serial;
mod stream;
mod tree_engine;
mod tree_hasher;
mod windows;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use digest::Digest;
pub use engine::{Engine, Event};
pub use platform::{MissingSimd, Platform, Simd, UnknownSimd};
pub use windows::{Subtree, Windows};

/// What a [`Subtree`] comes to.
pub use blake3::hazmat::ChainingValue;
