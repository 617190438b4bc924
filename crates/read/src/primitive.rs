//! The atomics that `guard.rs` uses. The loom test compiles `guard.rs` with loom's atomics instead.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize};
