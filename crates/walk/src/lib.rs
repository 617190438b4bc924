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
//! # Embedding it
//!
//! **Say where to go on.** What [`Visitor::entry`] returns decides about each directory: [`Step::Descend`] lists
//! it too, [`Step::Next`] leaves it out with all below it. Names are bytes, and looking at one costs nothing:
//!
//! ```
//! # use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
//! /// Paths of Rust sources; what is hidden is not entered.
//! struct Sources(Vec<Vec<u8>>);
//! impl Visitor for Sources {
//!     type Dir = ();
//!     fn descend(&mut self, _: Option<&()>, _: &Entry<'_>) {}
//!     fn entry(&mut self, _: &(), entry: &mut Entry<'_>) -> Step {
//!         if entry.name().starts_with(b".") {
//!             return Step::Next;
//!         }
//!         if entry.name().ends_with(b".rs") {
//!             let mut path = Vec::new();
//!             entry.push_path(&mut path);
//!             self.0.push(path);
//!         }
//!         Step::Descend
//!     }
//! #   fn error(&mut self, error: WalkError) -> Step { panic!("{error}") }
//! }
//!
//! let parts = Walker::new([c"src".into()]).run(|_| Sources(Vec::new()));
//! let mut paths: Vec<_> = parts.into_iter().flat_map(|part| part.0).collect();
//! paths.sort();
//! assert!(paths.contains(&b"src/lib.rs".to_vec()));
//! ```
//!
//! **Ask for metadata only where it matters.** [`Entry::metadata`] is the only call on an entry that asks the
//! system, once. It fails like everything else, with a value that names the path:
//!
//! ```
//! # use ftk_walk::{Entry, FileType, Step, Visitor, WalkError, Walker};
//! /// Bytes in regular files, and what could not be looked at.
//! #[derive(Default)]
//! struct Usage { bytes: u64, errors: Vec<WalkError> }
//! impl Visitor for Usage {
//!     type Dir = ();
//!     fn descend(&mut self, _: Option<&()>, _: &Entry<'_>) {}
//!     fn entry(&mut self, _: &(), entry: &mut Entry<'_>) -> Step {
//!         if entry.file_type() == FileType::Regular {
//!             match entry.metadata() {
//!                 Ok(metadata) => self.bytes += metadata.size,
//!                 Err(error) => self.errors.push(error),
//!             }
//!         }
//!         Step::Descend
//!     }
//!     fn error(&mut self, error: WalkError) -> Step {
//!         self.errors.push(error);
//!         Step::Next
//!     }
//! }
//!
//! let parts = Walker::new([c"src".into(), c"no such name".into()]).run(|_| Usage::default());
//! assert!(parts.iter().map(|part| part.bytes).sum::<u64>() > 0);
//! assert_eq!(parts.iter().flat_map(|part| &part.errors).next().unwrap().path, b"no such name");
//! ```
//!
//! **Know the directory an entry lies in.** [`Visitor::Dir`] is a value of yours that waits with each directory
//! that is queued, and is there again, on whichever worker, when its entries come. Here it is the number of
//! directories above; it could be the rules of an ignore file, or a node of your own tree:
//!
//! ```
//! # use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
//! /// The deepest level, and an end to the walk once that is deep enough.
//! struct Deepest(u32);
//! impl Visitor for Deepest {
//!     type Dir = u32;
//!     fn descend(&mut self, above: Option<&u32>, _: &Entry<'_>) -> u32 {
//!         above.map_or(0, |above| above + 1)
//!     }
//!     fn entry(&mut self, above: &u32, _: &mut Entry<'_>) -> Step {
//!         self.0 = self.0.max(*above);
//!         if *above >= 100 { Step::Stop } else { Step::Descend }
//!     }
//! #   fn error(&mut self, _: WalkError) -> Step { Step::Next }
//! }
//!
//! let parts = Walker::new([c"src".into()]).threads(2).run(|_| Deepest(0));
//! assert!(parts.iter().any(|part| part.0 > 0));
//! ```
//!
//! **Mind the threads.** Each visitor belongs to one worker and is never called by two at once. For an order, sort
//! what the visitors bring back; for lines that go out at once, let each gather whole lines and hand them to a
//! lock, directory by directory, in [`Visitor::leave`]. [`Visitor::enter`] has the directory's device and depth,
//! to stay on one file system or above some level.
//!
//! # What is guaranteed
//!
//! - Every entry of every directory that a visitor descends into is shown once, `.` and `..` left out, also where
//!   starting points overlap ([`Walker::run`] says how).
//! - All entries of a directory reach one visitor in one piece: `enter`, each `entry`, `leave`.
//! - Whatever goes wrong is a [`WalkError`] with path and cause, handed to a visitor, and the walk goes on. A panic
//!   in a visitor ends all workers and surfaces in [`Walker::run`].
//! - Depth, path length and the descriptor limit are no limits: ten thousand levels, paths beyond `PATH_MAX` and
//!   16 descriptors are all walked.
//! - A directory that was swapped for a symbolic link after it was listed is not entered. Links are followed when
//!   that is asked for, and one that leads back is an error, not an endless walk. Where links lead to one directory in
//!   several ways, it is entered once ([`Follow::Always`] says under which path).
//!
//! Not guaranteed is any order, or a snapshot: what changes during the walk may or may not be seen.
//!
//! # What it costs
//!
//! On Linux a directory costs `openat`, `fstat`, two or more `getdents64` and `close`; an entry costs no system call
//! and no allocation until its metadata is asked for. A queued directory is its name, a pointer to its parent and
//! your [`Visitor::Dir`]. The walk starts on the calling thread and adds threads only once directories pile up, so
//! that a small tree starts none; a worker without work sleeps. Descriptors are bounded by the process's limit,
//! a few a worker.
//!
//! # Beside others
//!
//! `walkdir` is an iterator on one thread, sorts, and runs everywhere: take it where ease counts more than time.
//! `ignore` walks in parallel with visitors too, and brings ignore files, globs and file types: take it to search
//! sources. `jwalk` hands a parallel walk out as a sorted iterator. This crate brings none of that. It is for
//! programs that walk millions of entries, have filters and tables of their own, must not lose an error, and must
//! not be stopped by a deep tree or a low descriptor limit.
//!
//! There is no Windows. On Unixes other than Linux the walk goes through `readdir`, needs more descriptors, and is
//! less tested.
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

pub use entry::{Directory, Entry, Repeat, is_pseudo};
pub use error::{Op, WalkError};
pub use metadata::{FileType, Metadata};
pub use visitor::{Step, Visitor};
pub use walker::{Follow, Walker};
