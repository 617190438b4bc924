//! The result of a comparison.

use crate::Side;

/// The result of a comparison. Its mismatches were already passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How many mismatches were passed on.
    pub mismatches: u64,
    /// The offset of the first mismatch.
    pub first: Option<u64>,
    /// What ended the comparison.
    pub end: End,
    /// The number of lines, if requested and if there is a difference.
    pub lines: Option<Lines>,
    /// How the comparison was done.
    pub plan: FilePlan,
}

impl Outcome {
    /// Whether the compared ranges are identical, including their lengths.
    pub fn is_equal(&self) -> bool {
        self.mismatches == 0 && self.end == End::Together
    }
}

/// What ended a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Both inputs ended at the same offset, or the byte limit was reached. All mismatches are known.
    Together,
    /// One input ended before the other. All mismatches before that offset are known.
    Shorter {
        /// The input that ended.
        side: Side,
        /// Its length in bytes, without the skipped bytes.
        bytes: u64,
    },
    /// The requested number of mismatches was found, or `found` returned `Break`.
    Enough {
        /// Nothing was compared from this offset on.
        at: u64,
    },
    /// The stop flag was raised. The mismatches so far are not a complete result.
    Stopped,
}

/// Lines in the equal bytes before the first mismatch. If one input is a prefix of the other, these are the
/// lines of the shorter one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The number of newlines. The first mismatch is in the line after them.
    pub newlines: u64,
    /// Whether there are no equal bytes, or they end with a newline.
    pub is_line_start: bool,
}

/// How a comparison was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// The method that was used.
    pub way: Way,
    /// Why this method was used.
    pub reason: Reason,
    /// The maximum number of workers that took part.
    pub workers: usize,
    /// The block size in bytes.
    pub block: usize,
}

/// Methods of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The inputs are the same file, so no byte was read.
    SameFile,
    /// The calling thread read both inputs from start to end.
    Sequential,
    /// Several workers read blocks.
    Stream,
    /// Several workers mapped ranges.
    Mapped,
}

/// Why a method was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The caller requested it.
    Asked,
    /// Both files have the same device and inode number, and the same number of skipped bytes.
    Identity,
    /// At least one input is a stream.
    Pipe,
    /// There is too little work for several threads, or enough mismatches were found early.
    Small,
    /// A file is on a network file system, or on one that another program provides.
    Remote,
    /// Mappings would evade a rate limit or change the page cache.
    Restricted,
    /// Both files together exceed the memory limit.
    TooLarge,
    /// Both files fit into the memory limit.
    Fits,
}
