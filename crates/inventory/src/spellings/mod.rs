//! Names that differ only in their Unicode normal form, in a comparison of two trees.
//!
//! A tree may spell a name in another normal form than its copy: HFS+ decomposes names, and so do some programs that copy
//! to or from it. The bytes differ, so the paths differ, and so does their order. A comparison merges two trees in path
//! order, and pairs paths that are the same. Only if both trees have paths without a partner whose normal forms are equal,
//! it goes on as follows:
//!
//! 1. [`Unpaired`] collects a hash of the normal form of each path without a partner that is not ASCII, while the trees are
//!    merged. If the trees have no hash in common, nothing else happens.
//! 2. [`Candidates`] collects the names of these paths in a second merge, and pairs them. Directories are paired before
//!    what is below them. In two directories that are a pair, names that are the same are paired first. The rest are paired
//!    in byte order within each normal form, and what has no partner then stays alone.
//! 3. [`Spellings`] has the pairs whose names differ. An [`Aligner`] gives the paths of the second tree the spelling of
//!    the first.
//! 4. [`Relocated`] sorts the paths that got another spelling, so that the second tree can be merged with the first
//!    once more.
//!
//! All this is kept in memory, which counts towards the budget: [`Unpaired`] uses 24 bytes for each path that is not ASCII
//! and has no partner; [`Candidates`] 56 bytes and four times the name for each of them with an equal normal form on the
//! other side, and for each directory above it; [`Spellings`] 112 bytes, a path and a name for each pair of names that
//! differ; [`Relocated`] 96 bytes and twice the path for each entry at or below them.

mod align;
mod candidates;
mod relocated;
mod unpaired;

pub use align::{Aligned, Aligner, Spellings};
pub use candidates::Candidates;
pub use relocated::{MovedEntries, Place, Relocated, RelocatedMerge};
pub use unpaired::Unpaired;

#[cfg(test)]
mod tests;
