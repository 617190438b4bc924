//! Plans: the division of a tree into ranges of paths.

use crate::shard::{PathRange, PlanError, Shard, Split};
use crate::{Header, Mount, RootIdentity};

/// A division of the paths of a tree into ranges, one for each shard.
///
/// The ranges partition all possible paths, so a path that is new since the plan was made belongs to exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The directory that is divided.
    pub root: Root,
    /// Directories below it that were on another device than the directory that contains them, sorted.
    pub mounts: Vec<Mount>,
    /// The options that select entries, as in a [`Header`].
    pub options: Vec<Vec<u8>>,
    /// What the shards have in equal amounts.
    pub by: Balance,
    /// The shards in order; at least one.
    pub shards: Vec<PlannedShard>,
}

/// The directory that a plan divides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The path. It identifies the directory only if it is absolute and nothing else is known.
    pub path: Vec<u8>,
    /// What identifies the directory. `None` if another program or an older version recorded the tree.
    pub identity: Option<RootIdentity>,
}

impl Root {
    /// Returns the root that a manifest records.
    pub fn of(header: &Header) -> Self {
        Self { path: header.root.clone(), identity: header.root_identity.clone() }
    }

    /// Returns whether something is known that identifies the directory.
    pub fn is_known(&self) -> bool {
        self.path.starts_with(b"/") || self.identity.is_some()
    }
}

/// What the shards of a plan have in equal amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balance {
    /// Entries.
    Entries,
    /// Bytes of regular files.
    Bytes,
    /// The predicted time of reading and recording.
    Cost,
}

impl Balance {
    /// All kinds with their names in plans.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Entries, "entries"), (Self::Bytes, "bytes"), (Self::Cost, "cost")];

    /// Returns the name in plans.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).expect("every kind has a name").1
    }
}

/// One shard of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedShard {
    /// Its paths.
    pub range: PathRange,
    /// The entries in this range when the plan was made.
    pub entries: u64,
    /// The bytes of their regular files.
    pub bytes: u64,
}

impl Plan {
    /// Returns a shard for the header of a manifest.
    ///
    /// # Errors
    /// If the plan has not this number of shards, or no such shard.
    pub fn shard(&self, number: u32, of: u32) -> Result<Shard, PlanError> {
        let planned = self.shards.len() as u32;
        if of != planned {
            return Err(PlanError::OtherCount { asked: of, planned });
        }
        let index = (number as usize).checked_sub(1).filter(|index| *index < self.shards.len());
        let range = self.shards[index.ok_or(PlanError::NoShard { number, of })?].range.clone();
        let split = Split::Plan { digest: self.digest(), range };
        Ok(Shard { split, ..Shard::hashed(number, of) })
    }
}
