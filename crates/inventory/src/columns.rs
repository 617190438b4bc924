//! What a shard keeps beside names and types, where it is asked for: nothing else is allocated or looked at.

use ftk_walk::Metadata;

use crate::metadata::Record;
use crate::shard::Packed;

/// Columns of one shard. Those not asked for stay empty.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// The sizes of regular files, by row.
    pub(crate) sizes: Vec<u64>,
    /// The rows, ascending, of files on another device than their directory (mounted over a file, reached by a
    /// link, given as arguments), and that device.
    devices: Vec<(u32, u64)>,
    /// What `stat` said, in the order of arrival; a row holds the number of its record.
    pub(crate) records: Vec<Record>,
    /// The numbers of starting points that are entries themselves, by the places of their names, ascending.
    arguments: Vec<(u32, u32)>,
    /// What the listing under way will add to the columns, in the order of arrival; until then the rows hold
    /// the numbers of these.
    seen: Vec<Seen>,
}

/// A file of the listing under way.
#[derive(Clone, Copy, Debug)]
struct Seen {
    dev: u64,
    ino: u64,
    size: u64,
}

impl Columns {
    /// Bytes they take, without the slack of vectors.
    pub(crate) fn bytes(&self) -> u64 {
        let sizes = self.sizes.len() * size_of::<u64>() + self.devices.len() * size_of::<(u32, u64)>();
        let records = self.records.len() * size_of::<Record>();
        let arguments = self.arguments.len() * size_of::<(u32, u32)>();
        (sizes + records + arguments + self.seen.len() * size_of::<Seen>()) as u64
    }

    /// Keeps the size of a file of the listing under way. Its row gets what is returned in the place of its inode
    /// number, until [`settle`](Self::settle) puts that there.
    pub(crate) fn note(&mut self, file: &Metadata) -> u64 {
        self.seen.push(Seen { dev: file.dev, ino: file.ino, size: file.size });
        self.seen.len() as u64 - 1
    }

    /// Keeps all that `stat` said. The number of the record goes into the row in the place of the inode number.
    pub(crate) fn record(&mut self, entry: &Metadata) -> u64 {
        self.records.push(Record::new(entry));
        self.records.len() as u64 - 1
    }

    /// Keeps the number of a starting point whose name lies at `name_offset`.
    pub(crate) fn argument(&mut self, name_offset: u32, root: u32) {
        self.arguments.push((name_offset, root));
    }

    /// Ends a listing of the directory on `dev`, whose rows, now sorted, begin at `start`.
    pub(crate) fn settle(&mut self, start: u32, rows: &mut [Packed], dev: u64) {
        if self.seen.is_empty() {
            return;
        }
        debug_assert_eq!(self.sizes.len(), start as usize, "every row of the table has a size");
        for (at, row) in (start..).zip(rows) {
            let seen = self.seen[row.ino as usize];
            row.ino = seen.ino;
            self.sizes.push(seen.size);
            if seen.dev != dev {
                self.devices.push((at, seen.dev));
            }
        }
        self.seen.clear();
    }

    /// The device of the file in this row, if it is not its directory's.
    pub(crate) fn device(&self, row: u32) -> Option<u64> {
        let at = self.devices.binary_search_by_key(&row, |&(row, _)| row).ok()?;
        Some(self.devices[at].1)
    }

    /// The number of the starting point whose name lies here.
    pub(crate) fn argument_at(&self, name_offset: u32) -> Option<u32> {
        let at = self.arguments.binary_search_by_key(&name_offset, |&(offset, _)| offset).ok()?;
        Some(self.arguments[at].1)
    }
}
