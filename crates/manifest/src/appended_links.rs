//! The hard links that an append-only update records.

use std::collections::{HashMap, HashSet};

use ftk_file::Stat;
use ftk_inventory::{Budget, LinkPairs, Reservation};

use crate::entry::LinkGroup;
use crate::verdict::compares_links;
use crate::{Entry, Error};

/// Compares the hard links of a manifest and a tree like a verification, and finds the groups of new names.
///
/// Recorded groups never get another name. A new name joins the recorded group of its file. If the links of a name of this
/// file differ, that could change the result for a recorded name. Then the links of the new name are not recorded, so no
/// verification compares them.
#[derive(Debug)]
pub(crate) struct AppendedLinks {
    pairs: LinkPairs<LinkGroup, (u64, u64)>,
    /// All recorded groups.
    recorded: HashSet<LinkGroup>,
    /// The recorded groups of files of the tree.
    groups: HashMap<(u64, u64), LinkGroup>,
    /// Files of which new names do not get links.
    excluded: HashSet<(u64, u64)>,
    reserved: Reservation,
}

impl AppendedLinks {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            pairs: LinkPairs::new(budget),
            recorded: HashSet::new(),
            groups: HashMap::new(),
            excluded: HashSet::new(),
            reserved: Reservation::new(budget),
        }
    }

    /// Adds a recorded entry, whether it still exists or not.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(crate) fn record(&mut self, old: &Entry<'_>) -> Result<(), Error> {
        if let Some(group) = old.link_group.filter(|group| !self.recorded.contains(*group)) {
            self.reserved.consume((2 * size_of::<LinkGroup>() + group.len()) as u64)?;
            self.recorded.insert(group.into());
        }
        Ok(())
    }

    /// Adds an entry that was recorded and still exists. In path order.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(crate) fn add(&mut self, old: &Entry<'_>, now: &Stat) -> Result<(), Error> {
        let Some(group) = old.links().filter(|_| compares_links(old, now.file_type)) else { return Ok(()) };
        let inode = now.linked_identity();
        if self.pairs.add(old.path, group.map(Into::into), inode)?.is_some() {
            self.exclude(now)?;
        }
        if let (Some(group), Some(inode)) = (group, inode)
            && !self.groups.contains_key(&inode)
        {
            self.reserved.consume((2 * size_of::<((u64, u64), LinkGroup)>() + group.len()) as u64)?;
            self.groups.insert(inode, group.into());
        }
        Ok(())
    }

    /// Returns the first paths of an entry that was [added](Self::add), in the record and now, if they differ.
    pub(crate) fn find<'l>(&'l self, old: &Entry<'l>, now: &Stat) -> Option<[&'l [u8]; 2]> {
        let group = old.links().filter(|_| compares_links(old, now.file_type))?;
        self.pairs.find(old.path, group.map(Into::into), now.linked_identity())
    }

    /// Notes that an entry keeps its record. If that has no group, other names of the file cannot be links to it.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(crate) fn keep(&mut self, old: &Entry<'_>, now: &Stat) -> Result<(), Error> {
        match old.link_group {
            Some(_) if compares_links(old, now.file_type) => Ok(()),
            _ => self.exclude(now),
        }
    }

    /// Excludes a file: its new names do not get links.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(crate) fn exclude(&mut self, now: &Stat) -> Result<(), Error> {
        if let Some(inode) = now.linked_identity().filter(|inode| !self.excluded.contains(inode)) {
            self.reserved.consume(2 * size_of_val(&inode) as u64)?;
            self.excluded.insert(inode);
        }
        Ok(())
    }

    /// Returns a new record with its links, after all entries were added. `old`: its old record, if it has one.
    pub(crate) fn link<'e>(&'e self, old: Option<&Entry<'e>>, new: Entry<'e>) -> Entry<'e> {
        let known = old.and_then(Entry::links);
        let Some(inode) = new.stat.linked_identity().filter(|_| !matches!(known, Some(Some(_)))) else {
            return Entry { link_group: known.flatten(), ..new };
        };
        let link_group = match self.groups.get(&inode) {
            _ if self.excluded.contains(&inode) => None,
            Some(group) => Some(&**group),
            // Another file may have a recorded group of this name.
            None => new.link_group.filter(|group| !self.recorded.contains(*group)),
        };
        // With the present number, it would not be known that the name was recorded without other names.
        let is_alone = link_group.is_none() && known == Some(None);
        let nlink = if is_alone { 1 } else { new.stat.nlink };
        Entry { link_group, stat: Stat { nlink, ..new.stat }, ..new }
    }
}
