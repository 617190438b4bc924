//! How a comparison ended.

use crate::Side;

/// How a comparison ended. Its mismatches have been handed out on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How many mismatches were handed out.
    pub mismatches: u64,
    /// Where the first of them was.
    pub first: Option<u64>,
    /// What ended it.
    pub end: End,
    /// Lines, if they were asked for and there is a difference.
    pub lines: Option<Lines>,
    /// How it was done.
    pub plan: FilePlan,
}

impl Outcome {
    /// Whether all that was to be compared is equal, lengths included.
    pub fn is_equal(&self) -> bool {
        self.mismatches == 0 && self.end == End::Together
    }
}

/// What ended a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Both inputs ended at the same place, or the limit of bytes was reached: all mismatches are known.
    Together,
    /// One input ended and the other goes on. All mismatches before are known.
    Shorter {
        /// The one that ended.
        side: Side,
        /// The bytes it had behind what was skipped.
        bytes: u64,
    },
    /// As many mismatches as were asked for, or as somebody wanted to hear of.
    Enough {
        /// Nothing was asked from this offset on.
        at: u64,
    },
    /// The stop flag was raised: what was found is no result.
    Stopped,
}

/// Lines in what is equal: before the first mismatch, or, where one input only goes on behind the other, in the
/// shorter one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Ends of lines. The first mismatch is in the line after so many.
    pub newlines: u64,
    /// Whether the equal bytes end with the end of a line, or there are none.
    pub is_line_start: bool,
}

/// How a comparison was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// The way.
    pub way: Way,
    /// Why that way.
    pub reason: Reason,
    /// How many workers took part at most.
    pub workers: usize,
    /// Bytes of a block.
    pub block: usize,
}

/// Ways to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// No byte was read: the same file.
    SameFile,
    /// Both read from the start to the end by the calling thread.
    Sequential,
    /// Blocks read by several workers.
    Stream,
    /// Windows mapped by several workers.
    Mapped,
}

/// Why a way was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It was asked for.
    Asked,
    /// Device and inode number are the same, and what is skipped.
    Identity,
    /// One of the inputs can only be read on.
    Pipe,
    /// What there is, or what it took to find enough, is no work for several threads.
    Small,
    /// A file is on a file system of the network, or of another program.
    Remote,
    /// Both files together are larger than the memory that may be used.
    TooLarge,
    /// Both files fit into memory.
    Fits,
}
