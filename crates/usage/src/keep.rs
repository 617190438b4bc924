//! Which entries of a tree are kept by name.

use crate::Facts;

/// The measure by which entries are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Allocated bytes.
    #[default]
    Allocated,
    /// Sizes in bytes.
    Apparent,
}

/// What a [`Part`](crate::Part) keeps besides sums. By default every directory and no other entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep {
    /// The depth of the deepest entries that are kept; starting points have depth 0. `None`: no limit.
    pub depth: Option<u32>,
    /// Whether entries other than directories are kept.
    pub files: bool,
    /// Keep only this many of those, the largest by `measure`; the first by path if they are equally large.
    /// `None`: all.
    pub top: Option<usize>,
    /// The measure for `top`.
    pub measure: Measure,
    /// Whether directories themselves count for nothing, because what this is compared with does not know their sizes.
    pub without_directories: bool,
    /// Whether inodes are counted: the sums of bytes are then numbers of inodes.
    pub inodes: bool,
}

impl Keep {
    /// Returns what an entry counts.
    pub(crate) fn counted(&self, facts: &Facts) -> Facts {
        if self.inodes { Facts { apparent: 1, allocated: 1, ..*facts } } else { *facts }
    }

    /// Returns whether entries at this depth are kept.
    pub(crate) fn reaches(&self, depth: u32) -> bool {
        self.depth.is_none_or(|deepest| depth <= deepest)
    }
}
