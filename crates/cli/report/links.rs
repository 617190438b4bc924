//! Hard links, whose file counts only once.

use std::collections::HashSet;
use std::hash::Hash;

use ftk_file::Stat;
use ftk_report::Usage;

/// The files that several names share, by the identity `I`.
pub(super) struct Links<I> {
    seen: HashSet<I>,
}

impl<I: Eq + Hash> Links<I> {
    pub(super) fn new() -> Self {
        Self { seen: HashSet::new() }
    }

    /// Returns `usage` for the first name of a file, and without bytes for its other names.
    ///
    /// A file without an identity counts for each of its names.
    pub(super) fn counted(&mut self, stat: &Stat, identity: Option<I>, usage: Usage) -> Usage {
        let is_first = stat.nlink < 2
            || !stat.is_regular()
            || identity.is_none_or(|identity| self.seen.insert(identity));
        if is_first { usage } else { Usage { allocated: 0, apparent: 0, ..usage } }
    }
}
