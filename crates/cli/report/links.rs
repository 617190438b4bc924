//! Hard links, whose file uses its space only once.

use std::collections::HashSet;
use std::hash::Hash;

use ftk_file::Stat;

/// The files that several names share, by the identity `I`.
pub(super) struct Links<I> {
    seen: HashSet<I>,
}

impl<I: Eq + Hash> Links<I> {
    pub(super) fn new() -> Self {
        Self { seen: HashSet::new() }
    }

    /// Returns the bytes on the disk that the name adds: none if another name of the same file came before.
    ///
    /// A file without an identity counts for each of its names.
    pub(super) fn allocated(&mut self, stat: &Stat, identity: Option<I>) -> u64 {
        let is_first = stat.nlink < 2
            || !stat.is_regular()
            || identity.is_none_or(|identity| self.seen.insert(identity));
        if is_first { stat.blocks.saturating_mul(512) } else { 0 }
    }
}
