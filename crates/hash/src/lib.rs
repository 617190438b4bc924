//! Internal to ftk: computes digests, many messages at once. It does no I/O and starts no threads.
//!
//! An [`Algorithm`] creates an [`Engine`]. The caller feeds pieces of messages to the engine, each piece an
//! owned value. The engine returns [`Event`]s, which give every piece back. An engine hashes many messages
//! side by side in the lanes of a vector, which is faster than one after the other. That is why ftk has this
//! crate besides the usual hash crates.
//!
//! # Example
//!
//! ```
//! use ftk_hash::{Algorithm, Event, Platform};
//!
//! let platform = Platform::detect();
//!
//! // A message that is in memory as a whole:
//! let digest = Algorithm::Sha1.hash_one(platform, b"abc");
//! assert_eq!(digest.to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
//!
//! // The same message in two pieces, under the key 0:
//! let mut engine = Algorithm::Sha1.engine(platform, 1);
//! let mut events = Vec::new();
//! engine.feed(0, true, false, b"a".as_slice());
//! engine.step(&mut events);
//! assert!(matches!(events.pop(), Some(Event::Dry { key: 0, .. })));
//! engine.feed(0, false, true, b"bc".as_slice());
//! engine.step(&mut events);
//! let Some(Event::Done { digest: same, .. }) = events.pop() else { panic!("no digest") };
//! assert_eq!(same, digest);
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
mod xxh3;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use digest::Digest;
pub use engine::{Engine, Event};
pub use platform::{MissingSimd, Platform, Simd, Tuning, UnknownSimd};
pub use windows::{Subtree, Windows};

/// The result of a [`Subtree`]: the value of one node of the BLAKE3 tree.
pub use blake3::hazmat::ChainingValue;
