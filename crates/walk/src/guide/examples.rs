//! Four programs in full. A fifth, a searcher that obeys `.gitignore`, is in the documentation of
//! [ftk-ignore](https://docs.rs/ftk-ignore).
//!
//! Each prints errors to standard error, goes on, and ends with status 2 if there was one. Each shows overlapping starting
//! points once, and works at any depth. Run one with `cargo run --release --example lines -- PATH...` in the folder of
//! this crate.
//!
//! # Count lines
//!
//! [`fold`](crate::Walker::fold) calls a closure with the state of its worker. The files of one large directory are shared
//! among the workers too.
//!
#![doc = concat!("```no_run\n", include_str!("../../examples/lines.rs"), "```")]
//!
//! # List a tree in order
//!
//! [`prefetch`](crate::Walker::prefetch) reads the sizes on all workers, and
//! [`collect_sorted`](crate::Walker::collect_sorted) returns the list in path order, component by component.
//!
#![doc = concat!("```no_run\n", include_str!("../../examples/index.rs"), "```")]
//!
//! # Stream to a consumer
//!
//! [`stream`](crate::Walker::stream) runs the walk on other threads, and at most so many entries ahead.
//!
#![doc = concat!("```no_run\n", include_str!("../../examples/stream.rs"), "```")]
//!
//! # Add up directories
//!
//! [`fold_dirs`](crate::Walker::fold_dirs) gives each directory a sum with everything below it. A starting point below
//! another one counts only there.
//!
#![doc = concat!("```no_run\n", include_str!("../../examples/sums.rs"), "```")]
