//! Internal to ftk: manifests, which record what a tree contains and show later what has changed.
//!
//! A checksum list has only digests. A [`Manifest`] has a line for every entry of a tree: its path, its
//! metadata, the target of a link, and the digests of a regular file. So a verification can distinguish a
//! file that was edited from one that was damaged. A [`Header`] at the start describes the run, and a footer
//! at the end proves that the manifest is complete; a manifest without a valid footer is refused.
//! `docs/manifest-format.md` describes the format.
//!
//! - [`create()`] writes the entries of a tree that was walked and read.
//! - [`VerifyPlan`] finds the files that must be read to compare a tree with its manifest, and then gives the
//!   verdicts.
//! - [`diff()`] compares two manifests, and [`unique()`] finds contents that only one of them has.
//! - [`ContentSet`] finds contents of a manifest or a tree in another one.
//! - [`Update`] finds the files that must be read to make a new manifest from an old one.
//! - [`Scrub`] reads the files in turn, a part in each run, and records when each was last verified.
//! - [`RepairPlan`] finds the files that must be read to find what is damaged or missing, [`Search`] finds its
//!   content in copies, and [`rewrite`] writes the manifest of the repaired tree.
//! - [`Export`] writes a manifest in another [`Format`], and [`Import`] reads one.
//!
//! Manifests and trees are merged in path order, so that memory use does not grow with the entries that are
//! the same. This crate does not walk, hash or print. It never opens a path from a manifest, only entries
//! that a walk found.
//!
//! # Memory
//!
//! Memory in bytes for each file, with SHA-256 digests. The walk itself uses 16 bytes and the name, and 92
//! more if it keeps the metadata.
//!
//! | | bytes |
//! |---|---|
//! | [`VerifyPlan`], file that is read | 8 for its number, 33 for its digests, 92 for its `fstat` |
//! | [`VerifyPlan`], missing file | 56, and 64 more if it has less than 64 bytes |
//! | [`Update`], file that is read | 4 for its number, 33 for its digests, 92 for its `fstat` |
//! | [`Update`], the same if the file may have been written during the old run | 4 more |
//! | [`Scrub`], recorded file | 68 |
//! | [`Scrub`], file that is read, until its batch is written | 16 for its numbers, 33 for its digests, 92 for its `fstat` |
//! | [`diff()`], file that only the old manifest has | 64, and 64 more if it has less than 64 bytes |
//! | [`diff()`], file that only the new manifest has | 65 and its path, and 64 more if it has less than 64 bytes |
//! | [`unique()`], file of the manifest that is searched | 56 |
//!
//! Writing a manifest uses the length of the digests for each directory.
//!
//! If extended attributes are recorded or compared, a file that is read uses 4 bytes more, and each different set of
//! attributes its own length. While a manifest is written, so do the attributes of entries that are not read.
//!
//! A manifest itself uses 65 bytes per 256 KiB of its length, and a buffer of 256 KiB while it is read.
//!
//! Verifying ten million files with names of 20 bytes uses 1.8 GB. Comparing two manifests keeps nothing of
//! what they have in common.
//!
//! # Example
//!
//! ```
//! use ftk_file::Stat;
//! use ftk_hash::Algorithm;
//! use ftk_manifest::{Entry, Failed, Header, Manifest, Provenance, Writer};
//! use std::io::Write;
//!
//! let mut file = tempfile::tempfile()?;
//! let header = Header {
//!     version: Header::VERSION,
//!     root: b"/a".to_vec(),
//!     algorithms: vec![Algorithm::Md5],
//!     xattrs: false,
//!     trusted_xattrs: true,
//!     options: vec![],
//!     start_ns: 0,
//!     root_identity: None,
//!     mounts: vec![],
//!     failed: Failed::default(),
//!     shard: None,
//!     is_tar: false,
//!     provenance: Provenance::default(),
//! };
//! let stat = Stat { mode: 0o644, dev: 1, ino: 2, nlink: 1, ..Stat::EMPTY };
//! let mut writer = Writer::new(&header, |line: &[u8]| file.write_all(line));
//! writer.entry(&Entry { digests: &[0xd4; 16], ..Entry::new(b"empty", stat) })?;
//! writer.finish()?;
//!
//! let manifest = Manifest::open(file)?;
//! let mut entries = manifest.entries()?;
//! assert_eq!(entries.next()?.unwrap().path, b"empty");
//! assert!(entries.next()?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod aligned;
mod appended_links;
mod blocks;
mod canonical;
mod common;
mod contents;
mod create;
mod criteria;
mod damaged_inodes;
mod diff;
mod entry;
mod error;
mod examination;
mod failed;
mod field;
mod field_name;
mod field_set;
mod film;
mod first_line;
mod formats;
mod git;
mod growing;
mod header;
mod json_line;
mod kept;
mod kept_xattrs;
mod keys;
mod kinship;
mod lines;
mod link_groups;
mod merge;
mod mount;
mod moves;
mod outline;
mod pairs;
mod parse;
mod pass;
mod provenance;
mod reader;
mod recording;
mod repair;
mod resemblance;
mod respelled;
mod root_identity;
mod sample;
mod scrub;
mod selector;
mod sequence;
mod shard;
mod shift;
mod since;
mod sniff;
mod start;
mod survey;
mod text;
mod tree_digest;
mod trees;
mod unique;
mod update;
mod verdict;
mod verify;
mod walked_digest;
mod walked_tree;
mod whole_seconds;
mod write;
mod xattrs;

pub use contents::Contents;
pub use create::create;
pub use criteria::{Criteria, Mode};
pub use diff::diff;
pub use entry::{Entry, Xattr};
pub use error::{EntryError, Error, Which};
pub use examination::{Examination, Examining};
pub use failed::Failed;
pub use field::Field;
pub use field_name::UnknownField;
pub use field_set::FieldSet;
pub use film::{
    ASCMHL, CHAIN, Chain, ChainLink, GenerationCounts, GenerationState, History, HistoryError, HistoryFile,
    Inconsistency, NewGeneration, UnusableItem,
};
pub use formats::{
    Account, Export, ExportError, FindAccount, Format, HashMember, Import, ImportError, TarTree, begins_mtree,
};
pub use git::git_blob;
pub use header::{Header, OPTIONS};
pub use kinship::Kinship;
pub use mount::{LostMount, Mount};
pub use pass::Piece;
pub use provenance::{Examined, Provenance, RecordedSubvolume};
pub use reader::{Entries, Manifest};
pub use repair::{
    Damage, Found, Joined, Left, LinkTo, Name, NearestDirectory, OtherMetadata, Recorded, RepairOptions,
    RepairPlan, Search, Unasked, Wanted, Why, has_content, rewrite,
};
pub use resemblance::resembled;
pub use root_identity::{OtherRoot, RootIdentity};
pub use sample::Sample;
pub use scrub::{ForUpdate, Part, Scrub, ScrubBatch, Scrubbed};
pub use selector::{Selector, Selects};
pub use shard::{
    Balance, Changes, Cost, Listed, Meanwhile, MergeError, Merged, Parts, PathRange, Place, Plan, PlanError,
    PlannedShard, Planner, Renames, Root, Shard, ShardTag, Sharded, Split, is_plan, named_like_parts,
    part_files,
};
pub use shift::{Shift, ShiftKind};
pub use since::Snapshot;
pub use sniff::{Kind, sniff};
pub use start::start_ns;
pub use survey::Survey;
pub use tree_digest::TreeForm;
pub use unique::{ContentSet, recorded_sizes, unique};
pub use update::{Update, UpdateOptions, Updated};
pub use verdict::{Finding, Summary, Verdict};
pub use verify::{Batch, VerifyPlan};
pub use walked_digest::{TreeDigest, tree_digest, tree_digest_files};
pub use walked_tree::WalkedTree;
pub use write::Writer;
