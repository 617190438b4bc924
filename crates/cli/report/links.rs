//! Hard links, whose file counts only once.

use std::collections::HashSet;
use std::hash::Hash;

use ftk_file::Stat;
use ftk_inventory::{Budget, Full, Reservation};
use ftk_report::Usage;

/// The files that several names share, by the identity `I`.
pub(super) struct Links<I> {
    seen: HashSet<I>,
    memory: Reservation,
}

impl<I: Eq + Hash> Links<I> {
    pub(super) fn new(budget: &Budget) -> Self {
        Self { seen: HashSet::new(), memory: Reservation::new(budget) }
    }

    /// Returns `usage` for the first name of a file, and without bytes for its other names.
    ///
    /// A file without an identity counts for each of its names.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(super) fn counted(&mut self, stat: &Stat, identity: Option<I>, usage: Usage) -> Result<Usage, Full> {
        let is_first = stat.nlink < 2
            || !stat.is_regular()
            || identity.is_none_or(|identity| self.seen.insert(identity));
        // A growing set has an old table and a new one, which is half empty.
        self.memory.reach((self.seen.capacity() * (size_of::<I>() + 1) * 2) as u64)?;
        Ok(if is_first { usage } else { Usage { allocated: 0, apparent: 0, ..usage } })
    }
}
