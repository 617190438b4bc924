//! Internal to ftk: the filters that select which entries of a tree a command processes.
//!
//! All commands share the same selection options. This crate parses their values, compiles them once into a
//! [`Selection`], and applies it to a walk: [`Filtered`] wraps a visitor, which then sees only selected
//! entries. All workers of a walk share one [`Selection`].
//!
//! Everything is selected by default, including hidden entries. Filters of one kind are alternatives, and an
//! entry must match every kind that was given. [`Skipped`] counts what was not selected, by reason. [`Used`] says
//! which rules matched anything.
//!
//! # Paths in rules
//!
//! `./`, `//`, `/.` and a slash at the end of a glob make no difference, except that one at the end restricts it to
//! directories. A glob with a slash matches whole paths below the starting point. If the first names of the glob lead to
//! a starting point ([`Roots`]), it also means the path below that one.
//!
//! # Example
//!
//! This counts the Rust sources directly in `src` that are not empty:
//!
//! ```
//! use ftk_select::{Filtered, Selection};
//! use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
//!
//! struct Count(usize);
//! impl Visitor for Count {
//!     type Dir = ();
//!     fn entry(&mut self, _: Option<&()>, _: &mut Entry<'_>) -> Step {
//!         self.0 += 1;
//!         Step::Descend
//!     }
//!     fn error(&mut self, _: WalkError) -> Step {
//!         Step::Next
//!     }
//! }
//!
//! let selection = Selection::builder().extension("rs").size("+0".parse()?).max_depth(1).build()?;
//! let parts = Walker::new(["src"]).run(|_| Filtered::new(&selection, Count(0)));
//! let count: usize = parts.into_iter().map(|part| part.into_parts().visitor.0).sum();
//! assert!(count > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cost
//!
//! Names and paths are bytes. Tests on name, type and path come first and make no system call. Metadata is
//! read at most once per entry, only if these tests do not decide, and only the fields that the rest needs.
//! Nothing is allocated per entry.
//!
//! # Environment
//!
//! Every value can be parsed from text. Only the parser of [`Owner`] asks the user database. No parser reads
//! the clock or the environment: the caller gives [`Time::parse`] the current time and the time zone. A glob with a
//! slash makes [`SelectionBuilder::build_for`] examine the directories that its first names lead to.
#![forbid(unsafe_code)]

mod bound;
mod builder;
mod checks;
mod error;
mod explain;
mod expression;
mod extensions;
mod filtered;
mod glob;
mod lines;
mod links;
mod owner;
mod paths;
mod perm;
mod placed;
mod roots;
mod selection;
mod size;
mod skipped;
mod spelled;
mod spelling;
mod tags;
mod test;
mod time;
mod types;
mod unseen;
mod uses;

pub use builder::SelectionBuilder;
pub use checks::{Check, CheckError, Checks};
pub use error::{ParseError, PatternError};
pub use explain::{Explain, Explanation, Fate, Finding};
pub use expression::{Expression, ExpressionContext, ExpressionError, NamedFile};
pub use filtered::{Filtered, Parts};
pub use ftk_ignore::{IgnoreFile, IgnoreMemory};
pub use glob::Glob;
pub use links::Links;
pub use owner::Owner;
pub use paths::{PathGlob, Rest};
pub use perm::Perm;
pub use placed::Placed;
pub use roots::Roots;
pub use selection::Selection;
pub use size::{Size, parse_bytes};
pub use skipped::Skipped;
pub use spelled::SpelledGlob;
pub use spelling::{escape_glob, normalise_glob, normalise_path};
pub use time::Time;
pub use types::Types;
pub use unseen::{SkippedEntry, SkippedFile, Unseen};
pub use uses::{Rule, Used};
