//! Which entries of a tree a command wants.
//!
//! A [`Selection`] is compiled once and shared by all workers of a walk; [`Filtered`] puts it before any
//! visitor, which then sees only what was selected. Tests of one kind are alternatives, and an entry must pass
//! every kind that was asked for. Everything is included by default, hidden entries too.
//!
//! Names are bytes. They are looked at before anything that costs a system call, and nothing is allocated for
//! an entry. What is left out for another reason than a filter is counted in [`Skipped`].
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
