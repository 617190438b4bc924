//! Finds duplicates by the digests in manifests. No file is read.
//!
//! Any number of manifests fits into little memory: records are sorted in temporary files. Files are
//! sorted by identity, to find contradicting records, and by digest, to find groups; groups are sorted by waste.

mod codec;
mod contradictions;
mod groups;
mod member;
mod mounted;
mod named;
mod search;
mod sorter;

pub use groups::{Contradiction, Contradictions, RecordedGroups, RecordedName, RecordedNames};
pub use member::{RecordedFile, RecordedGroup, RecordedMember, recorded_path};
pub use mounted::{FoundDifference, MountedTrees, NotFound};
pub use named::ManifestNames;
pub use search::RecordedSearch;
