//! A parallel directory walker: every entry once, every error reported, at any depth, with few descriptors.
//!
//! You implement [`Visitor`] and give it to a [`Walker`] with some starting points. The walker shows each
//! entry to the visitor, and the visitor answers with a [`Step`]: continue, descend into the directory, or
//! stop the walk. Each worker thread has its own visitor. [`Walker::run`] returns all visitors at the end, so
//! collecting results needs no lock.
//!
//! # Examples
//!
//! **Count entries.** This is the smallest visitor. [`Step::Descend`] means the same as [`Step::Next`] for
//! entries that are not directories:
//!
//! ```
//! use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
//!
//! struct Count(usize);
//!
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
//! let entries: usize = counts.iter().map(|count| count.0).sum();
//! assert!(entries > 0);
//! ```
//!
//! **Skip directories.** [`Visitor::entry`] decides for each directory: [`Step::Descend`] lists it,
//! [`Step::Next`] skips everything below it. Names are bytes, and reading one makes no system call:
//!
//! ```
//! # use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
//! /// Collects the paths of Rust sources and skips hidden directories.
//! struct Sources(Vec<Vec<u8>>);
//!
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
//! **Read metadata and keep errors.** [`Entry::metadata`] is the only method of an entry that makes a system
//! call, and it makes it once. Errors are values that name the operation, the path and the cause:
//!
//! ```
//! # use ftk_walk::{Entry, FileType, Step, Visitor, WalkError, Walker};
//! /// Adds up the sizes of regular files and keeps all errors.
//! #[derive(Default)]
//! struct Usage { bytes: u64, errors: Vec<WalkError> }
//!
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
//! let parts = Walker::new([c"src".into(), c"missing".into()]).run(|_| Usage::default());
//! assert!(parts.iter().map(|part| part.bytes).sum::<u64>() > 0);
//! let errors: Vec<_> = parts.iter().flat_map(|part| &part.errors).collect();
//! assert_eq!(errors[0].path, b"missing");
//! assert_eq!(errors[0].to_string(), r#"cannot stat "missing""#);
//! ```
//!
//! **Pass a value from directory to directory.** [`Visitor::descend`] makes a value of your type
//! [`Visitor::Dir`] for each directory. The walk keeps it with the directory and passes it to the visitor
//! that lists the directory, on any worker. Here the value is the directory's depth. It could hold the rules
//! of an ignore file, or a node of your own tree:
//!
//! ```
//! # use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
//! /// Finds the depth of the deepest directory that has entries, and stops at 100.
//! struct Deepest(u32);
//!
//! impl Visitor for Deepest {
//!     type Dir = u32;
//!     fn descend(&mut self, parent: Option<&u32>, _: &Entry<'_>) -> u32 {
//!         parent.map_or(0, |depth| depth + 1)
//!     }
//!     fn entry(&mut self, depth: &u32, _: &mut Entry<'_>) -> Step {
//!         self.0 = self.0.max(*depth);
//!         if *depth >= 100 { Step::Stop } else { Step::Descend }
//!     }
//! #   fn error(&mut self, _: WalkError) -> Step { Step::Next }
//! }
//!
//! let parts = Walker::new([c"src".into()]).threads(2).run(|_| Deepest(0));
//! assert!(parts.iter().any(|part| part.0 > 0));
//! ```
//!
//! # Why use it
//!
//! It is made for programs that walk millions of entries, have their own filters and tables, and must not
//! lose an error:
//!
//! - **Few system calls.** On Linux a directory costs `openat`, `fstat`, two or more `getdents64`, and
//!   `close`. An entry costs no system call and no allocation until you ask for its metadata.
//! - **Nothing shared.** Each visitor belongs to one worker, so two threads never call the same visitor at
//!   once. There are no channels, and no locks around your data.
//! - **Small trees start no threads.** The walk starts on the calling thread and adds threads only when
//!   directories accumulate. Workers without work sleep.
//! - **Little memory.** A queued directory is its name, a pointer to its parent, and your [`Visitor::Dir`].
//!
//! # Guarantees
//!
//! - Every entry of every directory that a visitor descends into is shown once, except `.` and `..`. This
//!   holds for overlapping starting points too; [`Walker::run`] explains under which path.
//! - All entries of a directory go to the same visitor, between one [`Visitor::enter`] and one
//!   [`Visitor::leave`], with no entry of another directory in between.
//! - Every failure reaches a visitor as a [`WalkError`] with operation, path and cause, and the walk
//!   continues. A panic in a visitor ends all workers, and [`Walker::run`] resumes it.
//! - Deep trees, long paths and low descriptor limits do not stop a walk. On Linux, 10,000 levels, paths
//!   longer than `PATH_MAX`, and a limit of 16 descriptors are tested.
//! - A directory that is replaced by a symbolic link after it was listed is not entered.
//! - A directory that is also above itself (the same device and inode) is an error, and is not entered. Bind mounts and
//!   links lead to such directories.
//! - Links are followed only on request ([`Follow`]). If links lead to one directory in several ways, the directory is entered once; [`Follow::Always`]
//!   says under which path.
//!
//! # Limits
//!
//! - Entries and directories come in no particular order. Sort what the visitors return.
//! - A walk is not a snapshot. Entries that are created, removed or renamed during the walk may be seen or
//!   missed.
//! - The crate has no globs, no ignore files, no sorting and no iterator: the walk calls you.
//! - Visitors run at the same time. To print during the walk, let each visitor collect whole lines, and write
//!   them under a lock in [`Visitor::leave`].
//! - There is no Windows support. On Unixes other than Linux the walk uses `readdir`, needs more descriptors,
//!   and is less tested.
//!
//! # Alternatives
//!
//! - `walkdir` is an iterator on one thread. It sorts and runs everywhere. Use it where simplicity matters
//!   more than time.
//! - `ignore` walks in parallel with visitors too, and has ignore files, globs and file types. Use it to
//!   search sources.
//! - `jwalk` walks in parallel and returns a sorted iterator.
#![forbid(unsafe_code)]

mod entry;
mod error;
mod fields;
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
pub use fields::Fields;
pub use metadata::{FileType, Metadata};
pub use opener::make_room;
pub use visitor::{Step, Visitor};
pub use walker::{Follow, Walker};
