//! The groups of hard links in a new manifest that keeps old records.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ftk_file::Stat;
use ftk_inventory::{Budget, Full, LinkNames};

use crate::Entry;
use crate::damaged_inodes::DamagedInodes;
use crate::entry::LinkGroup;

/// The group of an old record, and the content and metadata that are recorded now: only records that have both in common
/// stay in one group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    group: LinkGroup,
    digests: Box<[u8]>,
    /// A hash of everything else.
    rest: u64,
}

impl Origin {
    pub(crate) fn new(group: &[u8], entry: &Entry<'_>) -> Self {
        let Stat { mode, uid, gid, mtime_ns, .. } = entry.stat;
        let mut rest = DefaultHasher::new();
        (mode, uid, gid, mtime_ns, entry.target).hash(&mut rest);
        entry.xattrs.unwrap_or_default().iter().for_each(|it| (&it.name, &it.value).hash(&mut rest));
        Self { group: group.into(), digests: entry.digests.into(), rest: rest.finish() }
    }

    /// The bytes of memory that it uses.
    pub(crate) fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.group.len() + self.digests.len()) as u64
    }
}

/// Names the groups of the entries of a new manifest, which are passed in path order.
///
/// A record that is kept although its file is damaged or cannot be read stays in its group, also if its name is a separate
/// file now: together with the names of the group that have the same record. A group has the name of one of its entries,
/// since a new file may take any other path.
#[derive(Debug)]
pub(crate) struct LinkGroups<'d> {
    damaged: &'d DamagedInodes,
    /// The name of each old group in the new manifest.
    names: LinkNames<Origin>,
    /// The old groups of kept records.
    kept: HashSet<Origin>,
    /// The new names of present groups.
    renamed: HashMap<LinkGroup, LinkGroup>,
}

impl<'d> LinkGroups<'d> {
    pub(crate) fn new(damaged: &'d DamagedInodes, budget: &Budget) -> Self {
        Self { damaged, names: LinkNames::new(budget), kept: HashSet::new(), renamed: HashMap::new() }
    }

    /// Returns the group of an entry. `now`: the present file, if the group of the entry is that of the file.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(crate) fn of(
        &mut self,
        entry: &Entry<'_>,
        old: Option<&Entry<'_>>,
        now: Option<&Stat>,
    ) -> Result<Option<LinkGroup>, Full> {
        // Two contents can be recorded for the names of one inode.
        let is_one = |now: &&Stat| !self.damaged.has_other_content(now, entry.digests);
        let seen = now.filter(is_one).and(entry.link_group);
        let seen = seen.map(|group| self.renamed.get(group).map_or_else(|| group.into(), Clone::clone));
        let new_name = || now.filter(|_| seen.is_some()).and_then(|now| self.damaged.group_of(now));
        let Some(origin) = old.map_or_else(new_name, |old| old.link_group) else { return Ok(seen) };
        let origin = Origin::new(origin, entry);
        let is_kept = now.is_none() || self.damaged.keeps(&origin) || self.kept.contains(&origin);
        let Some(group) = seen else {
            if !is_kept {
                return Ok(None);
            }
            self.kept.insert(origin.clone());
            return Ok(Some(self.names.first(entry.path, Some(origin))?.into()));
        };
        let first = LinkGroup::from(self.names.first(&group, Some(origin))?);
        // The entry with the path is the first one of the group.
        if !is_kept || first == group || *group != *entry.path {
            return Ok(Some(group));
        }
        self.renamed.insert(group, first.clone());
        Ok(Some(first))
    }
}
