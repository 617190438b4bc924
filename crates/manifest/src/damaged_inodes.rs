//! Damaged files by their inodes, so that no other name of one is recorded as a good file.

use std::collections::HashMap;

use ftk_file::Stat;
use ftk_inventory::Reservation;

use crate::{Entry, Error, FieldSet};

/// The old records of files whose content is damaged, or perhaps damaged, by device and inode number.
#[derive(Debug, Default)]
pub(crate) struct DamagedInodes {
    records: HashMap<(u64, u64), Record>,
}

#[derive(Debug)]
struct Record {
    digests: Vec<u8>,
    absent: FieldSet,
    verified_ns: Option<i128>,
    damaged_ns: Option<i128>,
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
        // Without other names the inode number does not matter, and some file systems make it up.
        if now.nlink > 1 {
            reserved.consume((2 * size_of::<Record>() + kept.digests.len()) as u64)?;
            let &Entry { absent, verified_ns, damaged_ns, .. } = kept;
            let record = Record { digests: kept.digests.to_vec(), absent, verified_ns, damaged_ns };
            self.records.entry(now.identity()).or_insert(record);
        }
        Ok(())
    }

    /// Returns the entry with the content that is recorded for another name of its inode, if that is damaged.
    pub(crate) fn apply<'e>(&'e self, entry: Entry<'e>) -> Entry<'e> {
        let is_linked = entry.stat.is_regular() && entry.stat.nlink > 1;
        match self.records.get(&entry.stat.identity()).filter(|_| is_linked) {
            Some(&Record { ref digests, absent, verified_ns, damaged_ns }) => {
                Entry { digests, absent, verified_ns, damaged_ns, ..entry }
            }
            None => entry,
        }
    }
}
