//! A parallel directory walker: every entry once, every error reported, at any depth, with few descriptors.
//!
//! A [`Walker`] takes some starting points and walks them with all processors. There are two ways to use it:
//!
//! - The **forms** need a closure: [`fold`](Walker::fold) calls it for every entry with the state of its worker,
//!   [`collect_sorted`](Walker::collect_sorted) returns a list, [`stream`](Walker::stream) is an iterator that another
//!   thread fills, and [`fold_dirs`](Walker::fold_dirs) adds up each directory.
//! - A **[`Visitor`]** sees the walk itself: directories that are opened and left, a value that goes from directory to
//!   directory, and everything that is not entered. Each worker has its own visitor, and [`Walker::run`] returns all of
//!   them at the end, so collecting results needs no lock.
//!
//! For each entry the answer is a [`Step`]: continue, descend into the directory, or stop the walk. The
//! [`examples`](guide::examples) are whole programs, and [`guide::recipes`] shows tokio, cancelling and back-pressure.
//!
//! # Examples
//!
//! **Count the lines of all files.** [`Entry::open`] opens the file at any depth. Every error is a value:
//!
//! ```
//! use std::io::{self, BufRead, BufReader};
//! use ftk_walk::{FileType, Step, Walker};
//!
//! let parts = Walker::new(["src"]).fold(|| Ok(0), |total: &mut io::Result<usize>, entry| {
//!     let lines = entry.and_then(|entry| match entry.file_type() {
//!         FileType::Regular => entry.open().map(Some),
//!         _ => Ok(None),
//!     });
//!     match (lines, &mut *total) {
//!         (Ok(Some(file)), Ok(total)) => *total += BufReader::new(file).lines().count(),
//!         (Err(error), total) => *total = Err(error.into()),
//!         _ => {}
//!     }
//!     if total.is_ok() { Step::Descend } else { Step::Stop }
//! });
//! let total: usize = parts.into_iter().sum::<io::Result<usize>>()?;
//! assert!(total > 1000);
//! # Ok::<(), io::Error>(())
//! ```
//!
//! **Skip directories.** A [filter](Walker::filter_entry) skips an entry and everything below it:
//!
//! ```
//! use std::path::Path;
//! use ftk_walk::Walker;
//!
//! let walker = Walker::new(["."]).filter_entry(|entry| entry.file_name() != "target");
//! let is_rust = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
//! let (entries, errors) = walker.collect_sorted();
//! assert!(errors.is_empty());
//! assert!(entries.iter().any(|entry| is_rust(entry.path())));
//! ```
//!
//! **Visit.** This is the smallest visitor. Starting points are entries too: their `dir` is `None`. [`Step::Descend`]
//! means the same as [`Step::Next`] for entries that are not directories:
//!
//! ```
//! use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
//!
//! struct Count(usize);
//!
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
//! let counts = Walker::new(["src"]).run(|_| Count(0));
//! let entries: usize = counts.iter().map(|count| count.0).sum();
//! assert!(entries > 1);
//! ```
//!
//! A visitor that forgets the starting points does not compile:
//!
//! ```compile_fail,E0053
//! # use ftk_walk::{Entry, Step, Visitor, WalkError};
//! # struct Count(usize);
//! impl Visitor for Count {
//!     type Dir = ();
//!     fn descend(&mut self, _: Option<&()>, _: &mut Entry<'_>) {}
//!     fn entry(&mut self, _: &(), _: &mut Entry<'_>) -> Step {
//!         self.0 += 1;
//!         Step::Descend
//!     }
//!     fn error(&mut self, _: WalkError) -> Step {
//!         Step::Next
//!     }
//! }
//! ```
//!
//! **Read metadata and keep errors.** [`Entry::metadata`] makes a system call, and makes it once. Errors are values that
//! name the operation, the path and the cause:
//!
//! ```
//! # use ftk_walk::{Entry, FileType, Step, Visitor, WalkError, Walker};
//! # use std::path::Path;
//! /// Adds up the sizes of regular files and keeps all errors.
//! #[derive(Default)]
//! struct Usage { bytes: u64, errors: Vec<WalkError> }
//!
//! impl Visitor for Usage {
//!     type Dir = ();
//!     fn entry(&mut self, _: Option<&()>, entry: &mut Entry<'_>) -> Step {
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
//! let parts = Walker::new(["src", "missing"]).run(|_| Usage::default());
//! assert!(parts.iter().map(|part| part.bytes).sum::<u64>() > 0);
//! let errors: Vec<_> = parts.iter().flat_map(|part| &part.errors).collect();
//! assert_eq!(errors[0].path(), Path::new("missing"));
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
//!     fn descend(&mut self, parent: Option<&u32>, _: &mut Entry<'_>) -> u32 {
//!         parent.map_or(0, |depth| depth + 1)
//!     }
//!     fn entry(&mut self, dir: Option<&u32>, _: &mut Entry<'_>) -> Step {
//!         let Some(depth) = dir else { return Step::Descend };
//!         self.0 = self.0.max(*depth);
//!         if *depth >= 100 { Step::Stop } else { Step::Descend }
//!     }
//! #   fn error(&mut self, _: WalkError) -> Step { Step::Next }
//! }
//!
//! let parts = Walker::new(["src"]).threads(2).run(|_| Deepest(0));
//! assert!(parts.iter().any(|part| part.0 > 0));
//! ```
//!
//! # Why use it
//!
//! It is made for programs that walk millions of entries and must not lose an error:
//!
//! - **Safe at depth.** Ten thousand levels and paths beyond `PATH_MAX` are walked with few descriptors, and files there
//!   can be opened. Directories and files that were replaced by links are not followed.
//! - **Sleeping workers.** Workers without work sleep; they do not spin.
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
//!   Only a visitor that asks for it ([`Visitor::shares_directories`], and all forms) shares a large directory among several
//!   workers, each of which has its own `enter` and `leave`.
//! - Starting points are entries. They are shown first, to the visitor of worker 0.
//! - Every failure reaches a visitor as a [`WalkError`] with operation, path and cause, and the walk
//!   continues. A panic in a visitor ends all workers, and [`Walker::run`] resumes it.
//! - Deep trees, long paths and low descriptor limits do not stop a walk. On Linux, 10,000 levels, paths
//!   longer than `PATH_MAX`, and a limit of 16 descriptors are tested.
//! - A directory that is replaced by a symbolic link after it was listed is not entered.
//! - A directory that is also above itself (the same device and inode) is an error, and is not entered. Bind mounts and
//!   links lead to such directories.
//! - Links are followed only on request ([`Follow`]). If links lead to one directory in several ways, the directory
//!   is entered once; [`Follow::Always`] says under which path.
//!
//! # Limits
//!
//! - Entries and directories come in no particular order. [`collect_sorted`](Walker::collect_sorted) sorts them.
//! - A walk is not a snapshot. Entries that are created, removed or renamed during the walk may be seen or
//!   missed.
//! - The crate has no globs. Ignore files are a [filter](Walker::filter_with) of the crate
//!   [ftk-ignore](https://docs.rs/ftk-ignore).
//! - Visitors run at the same time. To print during the walk, let each visitor collect whole lines, and write
//!   them under a lock in [`Visitor::leave`].
//! - There is no Windows support. On Unixes other than Linux the walk uses `readdir`, needs more descriptors,
//!   and is less tested.
//!
//! # Alternatives
//!
//! All of these run on Windows too. They open directories by path, so they stop where paths become longer than
//! `PATH_MAX`.
//!
//! - `walkdir` is an iterator on one thread. It sorts, and can yield directories after their contents. Use it where
//!   simplicity matters more than time and depth.
//! - `ignore` walks in parallel with visitors too, and has ignore files, globs and file types. Use it to
//!   search sources.
//! - `jwalk` returns the entries of a parallel walk in order while it runs. It is no longer maintained.
//! - `dua-core`, its successor, is an iterator over a parallel walk that reads metadata with it. Starting points can be
//!   added while it runs.
#![forbid(unsafe_code)]

#[cfg(not(unix))]
// The only error there: everything else is for Unix, and the other crates need this one.
compile_error!("ftk needs a Unix");

#[cfg(unix)]
mod dir_entry;
#[cfg(unix)]
mod entry;
#[cfg(unix)]
mod error;
#[cfg(unix)]
mod fields;
#[cfg(unix)]
mod filter;
#[cfg(unix)]
mod forms;
#[cfg(unix)]
pub mod guide;
#[cfg(unix)]
mod idle;
#[cfg(unix)]
mod limits;
#[cfg(unix)]
mod metadata;
#[cfg(unix)]
mod node;
#[cfg(unix)]
mod opener;
#[cfg(unix)]
mod primitive;
#[cfg(unix)]
mod replay;
#[cfg(unix)]
mod roots;
#[cfg(unix)]
mod sharing;
#[cfg(unix)]
mod sys;
#[cfg(unix)]
mod visitor;
#[cfg(unix)]
mod walker;
#[cfg(unix)]
mod worker;

#[cfg(unix)]
pub use dir_entry::DirEntry;
#[cfg(unix)]
pub use entry::{Directory, Entry, Repeat, is_pseudo, is_remote};
#[cfg(unix)]
pub use error::{Op, WalkError};
#[cfg(unix)]
pub use fields::Fields;
#[cfg(unix)]
pub use filter::{Filter, Unfiltered};
#[cfg(unix)]
pub use forms::Stream;
#[cfg(unix)]
pub use metadata::{FileType, Metadata};
#[cfg(unix)]
pub use opener::make_room;
#[cfg(unix)]
#[doc(hidden)]
pub use replay::{Doubt, Recorded, Replay, lacks};
#[cfg(unix)]
pub use visitor::{Step, Visitor};
#[cfg(unix)]
pub use walker::{Follow, Walker};
