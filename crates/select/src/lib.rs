//! Which entries of a tree a command wants.
//!
//! A [`Selection`] is compiled once and shared by all workers of a walk; [`Filtered`] puts it before any
//! visitor, which then sees only what was selected. Tests of one kind are alternatives, and an entry must pass
//! every kind that was asked for. Everything is included by default, hidden entries too.
//!
//! Names and paths are bytes. They are looked at before anything that costs a system call, and nothing is
//! allocated for an entry. Where a test needs metadata, only an entry that passes all tests on its name, type
//! and path is asked about, and once. What is left out for another reason than a filter is counted in
//! [`Skipped`].
//!
//! Values come ready made, and all of them can be read from text. The user database is asked by the parser of
//! [`Owner`] and by nothing else; no clock and no environment is looked at: [`Time::parse`] is told what time it
//! is and in which zone.
//!
//! ```
//! use ftk_select::{Filtered, Selection};
//! use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
//!
//! struct Count(usize);
//! impl Visitor for Count {
//!     type Dir = ();
//!     fn descend(&mut self, _: Option<&()>, _: &Entry<'_>) {}
//!     fn entry(&mut self, _: &(), _: &mut Entry<'_>) -> Step {
//!         self.0 += 1;
//!         Step::Descend
//!     }
//!     fn error(&mut self, _: WalkError) -> Step {
//!         Step::Next
//!     }
//! }
//!
//! let selection = Selection::builder().extension("rs").size("+0".parse()?).max_depth(1).build()?;
//! let parts = Walker::new([c"src".into()]).run(|_| Filtered::new(&selection, Count(0)));
//! let count: usize = parts.into_iter().map(|part| part.into_parts().0.0).sum();
//! assert!(count > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod bound;
mod builder;
mod empty;
mod error;
mod extensions;
mod filtered;
mod glob;
mod ignoring;
mod inode;
mod links;
mod owner;
mod paths;
mod perm;
mod selection;
mod size;
mod skipped;
mod time;
mod types;

pub use builder::SelectionBuilder;
pub use error::{ParseError, PatternError};
pub use filtered::Filtered;
pub use glob::Glob;
pub use links::Links;
pub use owner::Owner;
pub use perm::Perm;
pub use selection::Selection;
pub use size::{Size, parse_bytes};
pub use skipped::Skipped;
pub use time::Time;
pub use types::Types;
