//! What the idle protocol is built from. The model check compiles `idle.rs` against its own twin of this file.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
pub(crate) use std::thread::{Thread, current, park};
