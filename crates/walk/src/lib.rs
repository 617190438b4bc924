//! A parallel directory walker.
//!
//! Directories wait in work-stealing deques, one a worker; whoever takes a directory lists it and hands
//! each entry to its own [`Visitor`]. Nothing is shared between visitors, so nothing is locked.
#![forbid(unsafe_code)]

mod entry;
mod error;
mod metadata;
mod visitor;
mod walker;

pub use entry::{Directory, Entry};
pub use error::{Op, WalkError};
pub use metadata::{FileType, Metadata};
pub use visitor::{Step, Visitor};
pub use walker::{Follow, Walker};
