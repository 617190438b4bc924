//! A parallel directory walker: bounded descriptors, errors as values, nothing shared between workers.
//!
//! A walk is a [`Walker`] over some starting points and one [`Visitor`] a worker. A visitor is shown every
//! entry and answers with a [`Step`]: go on, descend, or end the walk. Visitors are handed back when the walk
//! ends, so what they gathered needs no lock:
//!
//! ```
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
//! let counts = Walker::new([c"src".into()]).run(|_| Count(0));
//! assert!(counts.iter().map(|count| count.0).sum::<usize>() > 0);
//! ```
//!
//! # What it does
//!
//! - Directories wait in work-stealing deques, one a worker. The walk starts on the calling thread and adds
//!   threads only once directories pile up; a worker without work sleeps.
//! - On Linux a directory costs `openat`, `fstat`, `getdents64` and `close`, and an entry costs no system call
//!   at all until [`Entry::metadata`] is asked for. No memory is allocated for an entry.
//! - Depth, path length and the descriptor limit are no limits: a directory remembers its name and its parent,
//!   and a few descriptors a worker are kept open.
//! - Whatever goes wrong is a [`WalkError`] handed to the visitor, and the walk goes on.
//!
//! # What it does not do
//!
//! It does not filter, sort or read ignore files: a visitor sees everything, in no particular order. It takes
//! no snapshot: what changes during the walk may or may not be seen.
#![forbid(unsafe_code)]

mod entry;
mod error;
mod idle;
mod metadata;
mod node;
mod opener;
mod primitive;
mod roots;
mod sys;
mod visitor;
mod walker;
mod worker;

pub use entry::{Directory, Entry};
pub use error::{Op, WalkError};
pub use metadata::{FileType, Metadata};
pub use visitor::{Step, Visitor};
pub use walker::{Follow, Walker};
