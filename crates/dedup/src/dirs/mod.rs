//! Directories with the same content, from what the funnel found. Nothing more is read.
//!
//! [`Contents`] gives each file the number of its content: the smallest number of the files that have it. From
//! these, [`Directories`] computes a digest of each directory, bottom up. Directories with the same digest are
//! compared entry by entry before they form a group, so a collision of the digest cannot make them equal.
//!
//! A directory is equal to no other if the table lacks an entry of it, or if the content of a file below it is
//! unknown: excluded, unreadable, changed, or reached twice.
//!
//! [`Directories::decide`] goes from the outermost directories to the innermost. The caller chooses in each group
//! which directories stay. What is inside the others is not reported again, and what is inside the ones that stay
//! serves only as a copy of something outside.
//!
//! [`contained()`] finds directories of which a large share also exists elsewhere. It needs no pairs of directories:
//! the contents that exist nowhere outside of a directory are those whose files are all inside, and the innermost
//! directory that contains all files of a content follows from its first and its last file.

mod choice;
mod contained;
mod contents;
mod equality;
mod groups;
mod outside;
mod report;
mod survey;
mod table;

pub use choice::{Choice, Fate, Fates};
pub use contained::{Contained, Holder, Share, contained};
pub use contents::{Class, Contents};
pub use groups::{DirGroup, Directories, DirectoryRules, Names, UnitPlace};
pub use report::DirReport;
pub use survey::DirSurvey;
