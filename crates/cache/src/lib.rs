//! Internal to ftk: remembers the digests of files, so that a file that did not change is not read again.
//!
//! It exists so that every command that hashes files shares one store and one rule for when a digest is still
//! valid: size, mtime and ctime are unchanged, and both times are older than the read ([`Stat::is_recent`]).
//!
//! - [`Cache`] is the store of a run. It starts the thread that stores new digests.
//! - [`Known`] looks digests up. Every worker has its own.
//! - [`FileSystems`] translates device numbers, which change with every mount, to lasting identities.
//! - [`Remembered`] is what is stored about one file.
//!
//! A file is found by the identity of its file system and its inode number, so a renamed file keeps its
//! digests. Files on file systems [without an identity](FsId) are never remembered.
//!
//! [`Stat::is_recent`]: ftk_file::Stat::is_recent
//! [`FsId`]: ftk_file::FsId
//!
//! # The store
//!
//! It is an SQLite database. redb 4.6 and LMDB (heed 0.23) were compared with it. All three lost no committed
//! row in kills at random moments, and a look-up takes less than half a microsecond in each. They differ when
//! the file is damaged: after random changes to its pages, LMDB ended the process with a signal and redb with
//! a panic in many cases, while SQLite returned an error in every case that it noticed. What it did not notice
//! is found by the checksum of the row. SQLite's file is also the smallest.
#![forbid(unsafe_code)]

mod cache;
mod file_systems;
mod place;
mod recorder;
mod row;
mod store;
mod unusable;

pub use cache::{Cache, Contents, Known};
pub use file_systems::FileSystems;
pub use recorder::{Remembered, Stored};
pub use row::Content;
pub use unusable::Unusable;
