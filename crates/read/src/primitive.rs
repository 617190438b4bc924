//! What a guard is built from. The model check compiles `guard.rs` against its own twin of this file.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize};
