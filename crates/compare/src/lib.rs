//! Internal to ftk: byte-exact comparison of memory, of two files by several workers, and of two trees.
//!
//! [`first_difference`] and [`differences`] compare slices. [`same_content`] proves that two open files have
//! identical content. [`compare()`] finds where two files or streams differ. [`trees`] compares two trees.
//!
//! It exists because every other command depends on an exact answer: `cmp` reports it, and `dup` and `prune`
//! act on it.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::atomic::AtomicU64;
//!
//! use ftk_compare::{FileResources, Options, Source, compare};
//! use ftk_sched::Stop;
//!
//! let (mut a, mut b) = (&b"some bytes"[..], &b"same byte"[..]);
//! let resources =
//!     FileResources { workers: 0, memory: 1 << 30, stop: &Stop::new(), done: &AtomicU64::new(0) };
//! let mut found = Vec::new();
//! let mut collect = |mismatch| {
//!     found.push(mismatch);
//!     ControlFlow::Continue(())
//! };
//! let (a, b) = (Source::Stream(&mut a), Source::Stream(&mut b));
//! let outcome = compare(a, b, &Options::default(), &resources, &mut collect);
//! assert!(!outcome.expect("reading a slice cannot fail").is_equal());
//! assert_eq!((found[0].offset, found[0].a, found[0].b), (1, b'o', b'a'));
//! ```
//!
//! The module comment of `search.rs` explains why a search by several workers gives an exact result although
//! every worker looks ahead.

mod compare;
mod files;
mod input;
mod kernel;
mod mismatch;
mod options;
mod outcome;
mod pair;
mod parallel;
mod primitive;
mod same;
mod search;
mod sequential;
mod shared;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod trees;

pub use compare::{compare, sizes_differ};
pub use kernel::{differences, first_difference};
pub use mismatch::Mismatch;
pub use options::{FileResources, Method, Options, Source};
pub use outcome::{End, FilePlan, Lines, Outcome, Reason, Way};
pub use same::{Side, same_content, same_content_with};
