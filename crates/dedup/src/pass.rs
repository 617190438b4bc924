//! The passes of the funnel: which bytes of a file each pass reads.

use ftk_hash::Algorithm;
use ftk_process::{Rows, Work};
use ftk_read::Span;

/// One pass over the remaining candidates. Each pass reduces their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Reads small files whole, and both ends of larger ones. This decides about small files.
    Ends,
    /// Reads pieces of huge files. This avoids reading disk images whole, which often have identical ends.
    Inside,
    /// Reads the remaining files from start to end.
    Whole,
}

impl Pass {
    /// Returns a verb for what the pass does with files.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Ends => "screen",
            Self::Inside => "sift",
            Self::Whole => "hash",
        }
    }
}

/// A pass that is about to run.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'s> {
    /// The pass.
    pub pass: Pass,
    /// The work to process.
    pub work: Work<'s>,
    /// The number of bytes that the pass reads, if no file has changed.
    pub bytes: u64,
}

impl Stage<'_> {
    /// Returns how many bytes the tables of all stages together need at most for each file of the inventory.
    pub fn max_memory_per_file(algorithm: Algorithm) -> usize {
        /// The number of variants of [`Pass`].
        const PASSES: usize = 3;
        PASSES * Self::row(&[algorithm])
    }

    fn row(algorithms: &[Algorithm]) -> usize {
        Rows::bytes_per_file(algorithms) + crate::classes::BYTES_PER_FILE
    }

    /// Returns the peak memory of this stage's tables in bytes: a row for each file with its state and
    /// digests, and space to sort them. The memory is freed before the next stage.
    pub fn memory(&self) -> u64 {
        u64::from(self.work.files()) * Self::row(self.work.algorithms) as u64
    }
}

/// The sizes that decide which bytes a pass reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    /// Files of at most this size, in bytes, are read whole in the first pass.
    pub(crate) whole: u64,
    /// Size of a piece of a larger file, in bytes.
    pub(crate) piece: u32,
    /// The number of pieces read of a huge file, including both ends.
    pub(crate) pieces: u32,
    /// Files of at least this size, in bytes, are huge.
    pub(crate) huge: u64,
}

impl Default for Thresholds {
    /// Reading a file of 64 to 128 KiB whole costs as much as reading its two ends if it is cached, and less
    /// if it is on a disk. A disk that must seek reads some 16 MiB in the time of sixteen seeks, so pieces
    /// save nothing for files smaller than that.
    fn default() -> Self {
        Self { whole: 128 << 10, piece: 16 << 10, pieces: 16, huge: 16 << 20 }
    }
}

impl Thresholds {
    pub(crate) fn span(&self, pass: Pass) -> Span {
        let sample = |pieces| Span::Sample { whole: self.whole, piece: self.piece, pieces };
        match pass {
            Pass::Ends => sample(2),
            Pass::Inside => sample(self.pieces),
            Pass::Whole => Span::Whole,
        }
    }
}
