//! The passes of the funnel: which bytes of a file each reads.

use ftk_process::{Rows, Work};
use ftk_read::Span;

/// One time over the files that are still candidates. Each pass leaves fewer of them than it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Small files whole, of others the two ends. Decides the small ones.
    Ends,
    /// Pieces spread over huge files, so that images of disks, whose ends are mostly alike, are not all read
    /// whole to find a difference.
    Inside,
    /// What is left, from end to end.
    Whole,
}

impl Pass {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ends => "ends",
            Self::Inside => "inside",
            Self::Whole => "whole",
        }
    }
}

/// A pass that is about to run.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'s> {
    /// Which one.
    pub pass: Pass,
    /// What is to be processed.
    pub work: Work<'s>,
    /// How many bytes that reads if no file has changed.
    pub bytes: u64,
}

impl Stage<'_> {
    /// Bytes that the tables of this stage take at their peak, its rows among them. All of them are free before
    /// the next stage.
    pub fn memory(&self) -> u64 {
        let row = Rows::bytes_per_file(self.work.algorithms) + crate::classes::BYTES_PER_FILE;
        u64::from(self.work.files()) * row as u64
    }
}

/// Where the passes draw their lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuts {
    /// Files of at most so many bytes are read whole at once.
    pub(crate) whole: u64,
    /// Bytes of a piece of a larger file.
    pub(crate) piece: u32,
    /// Pieces that are read of a huge one, its ends among them.
    pub(crate) pieces: u32,
    /// The size in bytes that makes a file huge.
    pub(crate) huge: u64,
}

impl Default for Cuts {
    /// Up to 64 to 128 KiB one read of everything costs what two reads of the ends cost, from a cache, and less
    /// from a disk. A disk that has to seek reads some 16 MiB in the time of sixteen seeks, so below that pieces
    /// could not save anything.
    fn default() -> Self {
        Self { whole: 128 << 10, piece: 16 << 10, pieces: 16, huge: 16 << 20 }
    }
}

impl Cuts {
    pub(crate) fn span(&self, pass: Pass) -> Span {
        let sample = |pieces| Span::Sample { whole: self.whole, piece: self.piece, pieces };
        match pass {
            Pass::Ends => sample(2),
            Pass::Inside => sample(self.pieces),
            Pass::Whole => Span::Whole,
        }
    }
}
