//! The atomics and thread functions that `idle.rs` uses. `tests/loom.rs` compiles `idle.rs` with loom's
//! instead.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
pub(crate) use std::thread::{Thread, current, park};
