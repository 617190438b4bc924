//! Reports of duplicates as files: JSON with one object per line, sealed by a footer. `docs/dup-report.md`
//! describes the format.
//!
//! ```
//! use ftk_dedup::report::{Budget, Group, Header, Writer, read};
//! use ftk_hash::{Algorithm, Digest};
//!
//! let header = Header {
//!     program: "1.0",
//!     algorithm: Algorithm::Xxh128,
//!     is_verified: false,
//!     min_size: 1,
//!     max_size: None,
//!     start_ns: 0,
//!     directory: None,
//!     roots: vec![b"photos".into()],
//!     manifests: Vec::new(),
//!     unused_rules: Vec::new(),
//!     arguments: vec![b"dup".into(), b"photos".into()],
//! };
//! let mut file = Vec::new();
//! let mut writer = Writer::new(&header, &mut file)?;
//! let group = Group { size: 3, digest: Digest::from_bytes(&[7; 16]), members: Vec::new() };
//! writer.group(&group, &mut file);
//! writer.finish(&mut file);
//!
//! let report = read(&file[..], false, &Budget::new(1 << 20))?;
//! assert_eq!((report.roots, report.groups), (header.roots, vec![group]));
//! # Ok::<(), ftk_dedup::report::ReportError>(())
//! ```

mod decisions;
mod directories;
mod error;
mod group;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use decisions::decisions_header;
pub use directories::{ContainedDirectory, DirectoryGroup};
pub use error::{RecordError, ReportError};
/// What [`read()`] reserves its memory in.
pub use ftk_inventory::Budget;
pub use group::Group;
pub use read::{Recorded, Report, read};
pub use write::{Header, Writer};

/// The kind of file, as named in the first line.
const KIND: &str = "dup-report";

/// The kind of a file of decisions: lines of a report, each with the numbers of what to keep.
const DECISIONS: &str = "dup-decisions";

/// The version of reports of trees.
const VERSION: u32 = 1;

/// The version of reports of manifests, whose members have other fields. No other version is read.
const RECORDED_VERSION: u32 = 2;
