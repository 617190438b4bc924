//! Which entries of a tree a command wants.
//!
//! A [`Selection`] is compiled once and shared by all workers of a walk; [`Filtered`] puts it before any
//! visitor, which then sees only what was selected. Tests of one kind are alternatives, and an entry must pass
//! every kind that was asked for. Everything is included by default, hidden entries too.
//!
//! Names are bytes. They are looked at before anything that costs a system call, and nothing is allocated for
//! an entry. What is left out for another reason than a filter is counted in [`Skipped`].
#![forbid(unsafe_code)]

mod builder;
mod error;
mod extensions;
mod filtered;
mod glob;
mod selection;
mod size;
mod skipped;
mod types;

pub use builder::SelectionBuilder;
pub use error::{GlobError, ParseError};
pub use filtered::Filtered;
pub use selection::Selection;
pub use size::Size;
pub use skipped::Skipped;
pub use types::Types;
