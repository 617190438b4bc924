//! The parts of a plan.

use std::io;
use std::sync::Arc;

use super::{Copies, Gain, SkipReason, Why};
use crate::Member;

/// What is done with surplus copies, as far as a plan depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// They are removed.
    Remove,
    /// They are moved away, which frees nothing.
    Move,
    /// Their names become links to the kept file.
    Link,
    /// They share the blocks of the kept file from then on, and remain files of their own.
    Clone,
}

impl Effect {
    /// Returns whether names disappear, and with them whole directories.
    pub fn removes(self) -> bool {
        matches!(self, Self::Remove | Self::Move)
    }
}

/// The plan for one file or directory.
#[derive(Debug)]
pub struct Item {
    /// The file or directory.
    pub member: Member,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// What is to happen to it.
    pub decision: Decision,
    /// Whether it is handled only together with the next item.
    pub with_next: bool,
}

/// What is to happen to a file or directory.
#[derive(Debug)]
pub enum Decision {
    /// It stays.
    Keep(Why),
    /// It is surplus, but protected by a rule.
    Leave(SkipReason),
    /// It is surplus, but the sidecar at this path is not a copy of one of the kept file.
    Apart(Vec<u8>),
    /// It cannot be examined, so it stays.
    Refuse(io::Error),
    /// It is to be removed or replaced.
    Go {
        /// The kept copy that replaces it.
        keeper: Member,
        /// What must be proven besides the keeper. The items of a group share it.
        copies: Option<Arc<Copies<Member>>>,
        /// What this frees, provided that all earlier items are done. Nothing for directories, whose files are not known
        /// yet.
        gain: Gain,
        /// The number of files that it contains; 1 for a file.
        files: u64,
    },
}
