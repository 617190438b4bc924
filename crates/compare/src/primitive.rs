//! What a search is built from. The model check compiles `search.rs` against its own twin of this file.

pub(crate) use std::sync::Mutex;
pub(crate) use std::sync::atomic::AtomicU64;
