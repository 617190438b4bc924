//! The order of the entries in a manifest.

use std::cmp::Ordering;

use crate::EntryError;
use crate::entry::key;
use crate::shard::member::parent;
use crate::shard::{Shard, Split};

/// Checks that each entry comes after the one before, and belongs to its part.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    /// The path before.
    last: Option<Vec<u8>>,
    /// A directory, and the shard to which all entries in it belong. Successive entries often have the same directory.
    dir: Vec<u8>,
    owner: Option<u32>,
}

impl Sequence {
    /// # Errors
    /// If the entry at `path` is out of order or belongs to another shard than this one.
    pub(crate) fn add(&mut self, path: &[u8], shard: Option<&Shard>) -> Result<(), EntryError> {
        if let Some(last) = &self.last {
            check_order(last, path)?;
        }
        if shard.is_some_and(|shard| !self.is_of(path, shard)) {
            return Err(EntryError::OutsideShard(path.to_vec()));
        }
        let last = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(path);
        Ok(())
    }

    fn is_of(&mut self, path: &[u8], shard: &Shard) -> bool {
        if matches!(shard.split, Split::Plan { .. }) {
            return shard.contains(path);
        }
        let dir = parent(path);
        if (self.owner, &*self.dir) == (Some(shard.number), dir) {
            return true;
        }
        let is_own = shard.contains(path);
        self.owner = is_own.then_some(shard.number);
        self.dir.clear();
        self.dir.extend_from_slice(dir);
        is_own
    }
}

/// Checks that the entry at `path` may come after the one at `last`.
pub(crate) fn check_order(last: &[u8], path: &[u8]) -> Result<(), EntryError> {
    match key(last).cmp(key(path)) {
        Ordering::Less => Ok(()),
        Ordering::Equal => Err(EntryError::Twice(path.to_vec())),
        Ordering::Greater => Err(EntryError::Order(path.to_vec())),
    }
}
