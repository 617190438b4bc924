//! Manifests: what a tree is, and what changed since.
//!
//! A [`Manifest`] has a line for every entry of a tree: its path, what `stat` says of it, where a link points to, and
//! the digests of a regular file. A [`Header`] before them says what it is of, and a footer behind them that it is
//! complete; without that it is refused. `docs/manifest-format.md` describes the format.
//!
//! - [`create()`] writes the entries of a tree that was walked and read;
//! - [`VerifyPlan`] finds out what has to be read to hold a tree against a manifest, and then gives the verdicts;
//! - [`diff()`] holds two manifests against each other, and [`unique()`] tells what only one of them has;
//! - [`Update`] finds out what has to be read for a new manifest if an old one is there.
//!
//! Everything is gone through by path, a manifest beside a manifest or a tree, so that memory does not grow with what
//! is the same. Nothing here walks, hashes or prints, and nothing that a manifest says leads anywhere: only what a walk
//! found is opened.
//!
//! # Memory
//!
//! Bytes a file, with SHA-256, beside what a walk keeps of it (16, its name, and 72 more for what `stat` says where that
//! is kept):
//!
//! | | bytes |
//! |---|---|
//! | [`VerifyPlan`], of a file that is read | 8 for its number; 33 for its row and 96 for what its descriptor says |
//! | [`VerifyPlan`], of a file that is gone | 56 |
//! | [`Update`], of a file that is read | 4 for its number, and its row |
//! | [`diff()`], of a file that only the old manifest has | 64 |
//! | [`diff()`], of a file that only the new one has | 65 and its path |
//! | [`unique()`], of a file of the manifest that is searched | 56 |
//!
//! A manifest itself takes 65 bytes for every 256 KiB, and a buffer of so many while it is gone through.
//!
//! Ten million files with names of 20 bytes are verified in 1.8 GB, and nothing is kept of what two manifests have in
//! common.
//!
//! # Example
//!
//! ```
//! use ftk_hash::Algorithm;
//! use ftk_manifest::{Entry, Header, Manifest, Stat, Writer};
//! use ftk_walk::FileType;
//! use std::io::Write;
//!
//! let mut file = tempfile::tempfile()?;
//! let header =
//!     Header { root: b"/a".to_vec(), algorithms: vec![Algorithm::Md5], xattrs: false, options: vec![], start_ns: 0 };
//! let stat = Stat {
//!     file_type: FileType::Regular,
//!     size: 0,
//!     mtime_ns: 0,
//!     ctime_ns: 0,
//!     mode: 0o644,
//!     uid: 0,
//!     gid: 0,
//!     dev: 1,
//!     ino: 2,
//!     nlink: 1,
//!     rdev: 0,
//! };
//! let mut writer = Writer::new(&header, |line: &[u8]| file.write_all(line))?;
//! writer.entry(&Entry { path: b"empty", stat, target: None, digests: &[0xd4; 16], xattrs: None, damaged_ns: None })?;
//! writer.finish()?;
//!
//! let manifest = Manifest::open(file)?;
//! let mut entries = manifest.entries()?;
//! assert_eq!(entries.next()?.unwrap().path, b"empty");
//! assert!(entries.next()?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod blocks;
mod canonical;
mod common;
mod contents;
mod create;
mod criteria;
mod diff;
mod entry;
mod error;
mod field;
mod header;
mod keys;
mod lines;
mod merge;
mod pairs;
mod parse;
mod reader;
mod sample;
mod sniff;
mod text;
mod unique;
mod update;
mod verdict;
mod verify;
mod walked_tree;
mod write;
mod xattrs;

pub use contents::Contents;
pub use create::create;
pub use criteria::{Criteria, Mode};
pub use diff::diff;
pub use entry::{Entry, Stat, Xattr};
pub use error::{Error, Which};
pub use field::{Field, UnknownField};
pub use header::{Header, OPTIONS};
pub use reader::{Entries, Manifest};
pub use sample::Sample;
pub use sniff::{Kind, sniff};
pub use unique::unique;
pub use update::{Update, Updated};
pub use verdict::{Finding, Summary, Verdict};
pub use verify::{Batch, VerifyPlan};
pub use walked_tree::WalkedTree;
pub use write::Writer;
