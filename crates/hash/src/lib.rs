//! Digests of files, readers and messages, many of them side by side: SHA-2, SHA-3, SHA-1, MD5, BLAKE2b, BLAKE3, XXH3,
//! XXH64 and CRC-32.
//!
//! An [`Algorithm`] is a value, so that users can choose it. All of its functions return a [`Digest`], which prints as
//! hexadecimal digits:
//!
//! ```
//! use ftk_hash::Algorithm;
//!
//! let algorithm: Algorithm = "sha1".parse()?;
//! assert_eq!(algorithm.hash_one(b"abc").to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
//! println!("{}  Cargo.toml", algorithm.hash_file("Cargo.toml")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | the message is | use |
//! |---|---|
//! | in memory | [`Algorithm::hash_one`] |
//! | one of many in memory | [`Algorithm::hash_many`], which hashes them side by side in the lanes of vectors |
//! | a file, or what a reader returns | [`Algorithm::hash_file`], [`Algorithm::hash_reader`] |
//! | arriving in pieces, or written | [`Hasher`], which is a writer |
//! | one of many that arrive in pieces | [`Algorithm::engine`] |
//! | one long BLAKE3 message, for several threads | [`Windows`] |
//!
//! An error of a reader or file is returned, and never turned into a digest of the part before it. The digest never depends
//! on the CPU, on the length of pieces, or on other messages.
//!
//! # Engines
//!
//! The caller feeds pieces of messages to an [`Engine`], each piece an owned value. The engine returns [`Event`]s, which give
//! every piece back. An engine hashes many messages side by side, which is faster than one after the other. That is why
//! ftk has this crate besides the usual hash crates.
//!
//! ```
//! use ftk_hash::{Algorithm, Event, Platform};
//!
//! // A message in two pieces, under the key 0:
//! let mut engine = Algorithm::Sha1.engine(Platform::detect(), 1);
//! let mut events = Vec::new();
//! engine.feed(0, true, false, b"a".as_slice());
//! engine.step(&mut events);
//! assert!(matches!(events.pop(), Some(Event::Dry { key: 0, .. })));
//! engine.feed(0, false, true, b"bc".as_slice());
//! engine.step(&mut events);
//! let Some(Event::Done { digest, .. }) = events.pop() else { panic!("no digest") };
//! assert_eq!(digest, Algorithm::Sha1.hash_one(b"abc"));
//! ```
//!
//! # Features
//!
//! - `digest`: the module `typed` and the traits of the crate [`digest`](https://docs.rs/digest) 0.11.

mod algorithm;
mod arch;
mod batch;
mod digest;
mod dispatch;
mod engine;
mod function;
mod hasher;
mod lane;
mod lanes;
mod message;
mod platform;
mod serial;
mod stream;
mod tree_engine;
mod tree_hasher;
#[cfg(feature = "digest")]
pub mod typed;
mod windows;
mod xxh3;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use digest::Digest;
pub use engine::{Engine, Event};
pub use hasher::Hasher;
pub use platform::{MissingSimd, Platform, Simd, Tuning, UnknownSimd};
pub use windows::{Subtree, Windows};

/// The result of a [`Subtree`]: the value of one node of the BLAKE3 tree.
pub use blake3::hazmat::ChainingValue;

/// Tests the examples of the front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
