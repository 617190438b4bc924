//! The primitives that a search is built from. The loom test compiles `search.rs` with its own version of
//! this file.

pub(crate) use std::sync::Mutex;
pub(crate) use std::sync::atomic::AtomicU64;
