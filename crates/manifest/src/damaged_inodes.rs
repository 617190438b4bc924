//! Damaged files by their inodes, so that no other name of one is recorded as a good file.

use std::collections::{HashMap, HashSet};

use ftk_file::Stat;
use ftk_inventory::Reservation;

use crate::entry::LinkGroup;
use crate::link_groups::Origin;
use crate::{Entry, Error, FieldSet};

/// The old records of files whose content is damaged, or perhaps damaged, by device and inode number.
#[derive(Debug, Default)]
pub(crate) struct DamagedInodes {
    records: HashMap<(u64, u64), Record>,
    /// The recorded groups of all of them, also of files without other names.
    origins: HashSet<Origin>,
}

#[derive(Debug)]
struct Record {
    digests: Vec<u8>,
    absent: FieldSet,
    verified_ns: Option<i128>,
    damaged_ns: Option<i128>,
    link_group: Option<LinkGroup>,
}

impl DamagedInodes {
    /// Adds the record that a file keeps. `now`: the file as it was read.
    ///
    /// # Errors
    /// When the record does not fit into the budget.
    pub(crate) fn add(
        &mut self,
        kept: &Entry<'_>,
        now: &Stat,
        reserved: &mut Reservation,
    ) -> Result<(), Error> {
        if let Some(group) = kept.link_group {
            let origin = Origin::new(group, kept);
            reserved.consume(2 * origin.bytes())?;
            self.origins.insert(origin);
        }
        // Without other names the inode number does not matter, and some file systems make it up.
        if now.nlink > 1 {
            reserved.consume((2 * size_of::<Record>() + kept.digests.len()) as u64)?;
            let &Entry { absent, verified_ns, damaged_ns, .. } = kept;
            let (digests, link_group) = (kept.digests.to_vec(), kept.link_group.map(LinkGroup::from));
            let record = Record { digests, absent, verified_ns, damaged_ns, link_group };
            self.records.entry(now.identity()).or_insert(record);
        }
        Ok(())
    }

    /// Returns the entry with the content that is recorded for another name of its inode, if that is damaged.
    pub(crate) fn apply<'e>(&'e self, entry: Entry<'e>) -> Entry<'e> {
        match self.record(&entry.stat) {
            Some(&Record { ref digests, absent, verified_ns, damaged_ns, .. }) => {
                Entry { digests, absent, verified_ns, damaged_ns, ..entry }
            }
            None => entry,
        }
    }

    fn record(&self, now: &Stat) -> Option<&Record> {
        self.records.get(&now.identity()).filter(|_| now.is_regular() && now.nlink > 1)
    }

    /// Returns whether another content is recorded for another name of this inode, if that is damaged.
    pub(crate) fn has_other_content(&self, now: &Stat, digests: &[u8]) -> bool {
        self.record(now).is_some_and(|record| record.digests != digests)
    }

    /// Returns the recorded group of another name of this inode, if that is damaged.
    pub(crate) fn group_of(&self, now: &Stat) -> Option<&[u8]> {
        self.record(now)?.link_group.as_deref()
    }

    /// Returns whether a damaged file with this group and this content is recorded.
    pub(crate) fn keeps(&self, origin: &Origin) -> bool {
        self.origins.contains(origin)
    }
}
