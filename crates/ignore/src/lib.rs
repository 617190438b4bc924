//! The files that git ignores: `.gitignore` and `.ignore` files for the parallel walker [`ftk_walk`].
//!
//! [`IgnoreFiles`] is a filter for [`Walker::filter_with`](ftk_walk::Walker::filter_with). With it, every form of a walk skips
//! what the ignore files of the tree ignore. The tests compare it with git on random trees and patterns.
//!
//! # Examples
//!
//! **A sorted list.** Hidden entries, such as `.git`, are skipped by a predicate of the walker:
//!
//! ```
//! use ftk_ignore::IgnoreFiles;
//! use ftk_walk::Walker;
//! # let dir = ftk_harness::Dir::new();
//! # dir.file("main.c", b"").file("main.o", b"").file("target/debug/main", b"");
//! # let root = &dir.path("");
//!
//! std::fs::write(root.join(".gitignore"), "*.o\n/target/\n")?;
//! let walker = Walker::new([root])
//!     .filter_entry(|entry| !entry.name().starts_with(b"."))
//!     .filter_with(IgnoreFiles::new());
//! let (entries, errors) = walker.collect_sorted();
//! assert!(errors.is_empty());
//! let paths: Vec<_> = entries.into_iter().map(|entry| entry.into_path()).collect();
//! assert_eq!(paths, [root.clone(), root.join("main.c")]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! **Search.** A whole program, the example `search`. It searches the files of a tree on all processors:
//!
#![doc = concat!("```no_run\n", include_str!("../examples/search.rs"), "```")]
//!
//! **One file.** [`IgnoreFile`] parses the content of an ignore file, and says which line decides about a path.
//!
//! # Rules
//!
//! - Each directory may have a `.gitignore` and an `.ignore` file. The pattern language is that of
//!   [gitignore](https://git-scm.com/docs/gitignore). Files in deeper directories take precedence, and later lines.
//! - `.ignore` files have the same language and are not read by git. All of them take precedence over all `.gitignore`
//!   files, even over deeper ones.
//! - A repository is a directory that has an entry `.git`, whatever that is. `.git/info/exclude` is read there.
//!   `.gitignore` files outside a repository do not apply in it. [`filter_entry`](ftk_walk::Walker::filter_entry) does not
//!   hide `.git` from this search.
//! - `.gitignore` files apply in directories that are not in a repository too.
//! - If a starting point is inside a repository, the ignore files above it apply, up to the top of the repository. What is
//!   above it is found in its canonical path, so for a link that is followed it is what is above the target.
//! - Starting points are never ignored, even below an ignored directory: `build` is walked, although a walk of `.` skips it.
//! - Names are bytes. They need not be UTF-8.
//!
//! An ignored directory is not entered, so nothing in it can be included again with `!`, as in git.
//!
//! # Errors
//!
//! Only regular files are ignore files, and links to them. Anything else with such a name is no ignore file, without an error.
//!
//! An ignore file that cannot be read is an error of the walk with its path, and the walk continues without it. The same holds
//! for a file of more than 4 MiB, and for one with so many wildcards that matching a name could take more than about ten
//! milliseconds. No pattern takes exponential time. A directory whose path is so long that matching
//! below it could take longer is an error too, and is not listed. Without such patterns, any length is accepted.
//!
//! # Cost
//!
//! Each directory costs three system calls: one for `.git`, and one for each file that is not there. An entry costs no system
//! call and no allocation. Patterns without wildcards and suffixes such as `*.o` are compared directly.
//!
//! # Limits
//!
//! - The index of git is not read: a file that git tracks although a pattern matches it is ignored here.
//! - The configuration of git is not read: no `core.excludesFile`, no `core.ignoreCase`.
//! - Where `.git` is a file, as in a linked worktree or a submodule, the `info/exclude` that it leads to is not read.
//! - Git does not follow an ignore file that is a symbolic link. This crate does.
//! - `.ignore` files are always read.
//! - The directory `.git` is an entry like any other. Skip it, or all hidden entries, with
//!   [`filter_entry`](ftk_walk::Walker::filter_entry).
//! - It supports Unix only, as ftk-walk does.
#![forbid(unsafe_code)]

mod brackets;
mod file;
mod files;
mod line;
mod memory;
mod rules;
mod tokens;
mod unignored;

pub use file::{IgnoreFile, Match};
pub use files::IgnoreFiles;
pub use memory::IgnoreMemory;
#[doc(hidden)] // for ftk-select, whose filter has more than ignore files
pub use rules::{Decisive, IgnoreRules, Loaded};
pub use unignored::{Tag, Unignored};
