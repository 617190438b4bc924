//! Internal to ftk: remembers the digests of files, so that a file that did not change is not read again.
//!
//! It exists so that every command that hashes files shares one store and one rule for when a digest is still
//! valid: size, mtime and ctime are unchanged, and both times are older than the read ([`Stat::is_recent`]).
//!
//! - [`Cache`] is the store of a run. It starts the thread that stores new digests.
//! - [`Known`] looks digests up. Every worker has its own.
//! - [`FileSystems`] translates device numbers, which change with every mount, to lasting identities.
//! - [`Batch`] is what was read and is to be stored.
//!
//! A file is found by the identity of its file system and its inode number, so files keep their digests when a
//! directory above them is renamed. A rename of the file itself changes its ctime on most file systems, and the
//! file is read once more. Files on file systems [without an identity](ftk_file::FsId) are never remembered.
//!
//! A listing has the inode numbers of its entries. So a run first asks whether a file is known at all
//! ([`Known::has`]), and only then for its metadata: files that are new to the store cost no system call.
//!
//! [`Stat::is_recent`]: ftk_file::Stat::is_recent
//!
//! # The store
//!
//! It is an SQLite database. LMDB (heed 0.23) and redb 4.6 were compared with it:
//!
//! | | LMDB | redb | SQLite 3.54 |
//! |---|---|---|---|
//! | look-ups of a million rows, CPU time per row | 0.19 us | 0.28 us | 0.30 us |
//! | a million inserts, CPU time | 0.4 s | 0.9 s | 0.8 s |
//! | size of a million rows | 203 MB | 272 MB | 98 MB |
//! | open after a kill, ten million rows | 0 s | 7.6 s | 0.04 s |
//! | committed rows lost in 200 kills | 0 | 0 | 0 |
//! | 1,380 damaged files | 190 signals | panics, 2 aborts | errors only |
//!
//! A damaged store must not end a run, which decides for SQLite. (It was measured with a row for each file, in WAL mode.
//! The store uses a rollback journal instead, because WAL maps a file, and a mapped file that is truncated ends the
//! process.) What SQLite does not notice is found by checksums.
//!
//! A row of the database is a block: it holds up to 32 files whose inode numbers are neighbours, as those of a directory
//! usually are. Most of the cost of an insert or a look-up does not depend on its size, so a block costs about as much
//! as a file would. The checksum covers the block, the identity of the file system, and the number of the block.
//!
//! - A commit syncs the journal and the store, not more. After a power cut the last commit may be missing.
//! - The tables of a new store are part of its first commit.
//! - Old rows are searched for once a week. A store without old rows is not written to.
//! - Look-ups and commits of one run take turns. Those of different runs wait for each other: a look-up for some
//!   seconds, a commit in the middle of a run for a second, and the last commit for half a minute. Rows that could not
//!   be stored wait for the next commit.
//! - [`Cache::clear`] waits for look-ups and commits in progress, and then removes the tables instead of the file:
//!   SQLite finds a journal by its name, so a process with a removed store would use the journal of a new one.
//!
//! SQLite's locks belong to the process and are lost as soon as the process closes any descriptor of the file.
//! So a walk must skip the store: see [`Cache::identities`].
//!
//! # Example
//!
//! ```
//! use std::time::UNIX_EPOCH;
//!
//! use ftk_cache::{Batch, Cache, Content};
//! use ftk_file::{FsId, Stat};
//! use ftk_hash::Algorithm;
//! use ftk_read::Span;
//!
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("ftk/digests");
//! let cache = Cache::open(&path).expect("a new store");
//!
//! // A file of ten bytes that was last changed a second after the epoch, and is read now.
//! let now_ns = UNIX_EPOCH.elapsed().expect("a time after the epoch").as_nanos() as i128;
//! let (fs, second) = (FsId::from_bytes([1; 16]), 1_000_000_000);
//! let stat = Stat { ino: 7, size: 10, mtime_ns: second, ctime_ns: second, ..Stat::EMPTY };
//! let content = Content { algorithm: Algorithm::Sha256, span: Span::Whole };
//! let digest = content.algorithm.hash_one(b"0123456789");
//! let mut read = Batch::default();
//! read.add(fs, &stat, now_ns, &[content], digest.as_bytes());
//! cache.new_rows().send(read);
//! assert_eq!(cache.finish().files, 1);
//!
//! // A later run.
//! let cache = Cache::open(&path).expect("the same store");
//! let (mut digests, mut used) = (Vec::new(), Batch::default());
//! let mut known = cache.known().expect("the store is open");
//! assert!(known.digests(fs, &stat, &[content], &mut digests, &mut used).expect("it can be read"));
//! assert_eq!(digests, digest.as_bytes());
//! # Ok::<(), std::io::Error>(())
//! ```
#![forbid(unsafe_code)]

mod batch;
mod block;
mod cache;
mod file_systems;
mod place;
mod recorder;
mod row;
mod store;
mod unusable;

pub use batch::Batch;
pub use cache::{Cache, Contents, Known};
pub use file_systems::FileSystems;
pub use recorder::{NewRows, Stored};
pub use row::Content;
pub use unusable::Unusable;
