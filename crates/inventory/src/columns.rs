//! Optional columns of a shard: sizes, times, devices, metadata, and numbers of starting points.

use ftk_file::{PackedStat, Stat};
use ftk_walk::Metadata;

use crate::shard::Packed;

/// The optional columns of one shard. Those that [`Keep`](crate::Keep) does not need stay empty.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// The sizes of regular files, by row.
    pub(crate) sizes: Vec<u64>,
    /// The times of regular files, by row; empty if they are not kept.
    pub(crate) times: Vec<Times>,
    /// Row and device of files that are on a different device from their directory, by ascending row. They
    /// are mounted over a file, reached through a link, or given as starting points.
    devices: Vec<(u32, u64)>,
    /// Metadata in the order of arrival. A row holds the index of its record.
    pub(crate) records: Vec<PackedStat>,
    /// Name offset and number of each starting point that is an entry itself, by ascending offset.
    starting_points: Vec<(u32, u32)>,
    /// Files of the current listing in the order of arrival. Until the listing ends, a row holds an index
    /// into this.
    seen: Vec<Seen>,
}

/// The times of the last changes to the content and to the inode, in nanoseconds since the epoch. `i64::MIN`
/// stands for a time that does not fit (before 1677 or after 2262).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) mtime_ns: i64,
    pub(crate) ctime_ns: i64,
}

/// A file of the current listing.
#[derive(Clone, Copy, Debug)]
struct Seen {
    dev: u64,
    ino: u64,
    size: u64,
    times: Option<Times>,
}

impl Times {
    fn of(file: &Metadata) -> Self {
        let fit = |nanos| i64::try_from(nanos).unwrap_or(i64::MIN);
        Self { mtime_ns: fit(file.mtime_ns), ctime_ns: fit(file.ctime_ns) }
    }
}

impl Columns {
    /// Returns the bytes in use, without unused capacity.
    pub(crate) fn bytes(&self) -> u64 {
        let sizes = self.sizes.len() * size_of::<u64>() + self.devices.len() * size_of::<(u32, u64)>();
        let records = self.records.len() * size_of::<PackedStat>();
        let starting_points = self.starting_points.len() * size_of::<(u32, u32)>();
        let times = self.times.len() * size_of::<Times>();
        (sizes + times + records + starting_points + self.seen.len() * size_of::<Seen>()) as u64
    }

    /// Adds a file of the current listing. Its row must hold the returned index instead of the inode number
    /// until [`end_listing`](Self::end_listing) stores that.
    pub(crate) fn add_seen(&mut self, file: &Metadata, with_times: bool) -> u64 {
        let times = with_times.then(|| Times::of(file));
        self.seen.push(Seen { dev: file.dev, ino: file.ino, size: file.size, times });
        self.seen.len() as u64 - 1
    }

    /// Adds metadata. Its row must hold the returned index instead of the inode number.
    pub(crate) fn record(&mut self, entry: &Metadata) -> u64 {
        self.records.push((&Stat::from(entry)).into());
        self.records.len() as u64 - 1
    }

    /// Adds the number of a starting point whose name is at `name_offset`.
    pub(crate) fn add_starting_point(&mut self, name_offset: u32, root: u32) {
        self.starting_points.push((name_offset, root));
    }

    /// Ends the listing of a directory on `dev`. Its rows are sorted and begin at `start`; the first `files` are
    /// regular files.
    pub(crate) fn end_listing(&mut self, start: u32, rows: &mut [Packed], files: u32, dev: u64) {
        if self.seen.is_empty() {
            return;
        }
        // Earlier listings may have rows without a size: those of other entries.
        self.sizes.resize(start as usize, 0);
        for (at, row) in (start..).zip(&mut rows[..files as usize]) {
            let seen = self.seen[row.ino as usize];
            row.ino = seen.ino;
            self.sizes.push(seen.size);
            self.times.extend(seen.times);
            if seen.dev != dev {
                self.devices.push((at, seen.dev));
            }
        }
        self.seen.clear();
    }

    /// Returns the device of the file in this row, if it differs from the device of its directory.
    pub(crate) fn device(&self, row: u32) -> Option<u64> {
        let at = self.devices.binary_search_by_key(&row, |&(row, _)| row).ok()?;
        Some(self.devices[at].1)
    }

    /// Returns the number of the starting point whose name is at `name_offset`.
    pub(crate) fn starting_point_at(&self, name_offset: u32) -> Option<u32> {
        let at = self.starting_points.binary_search_by_key(&name_offset, |&(offset, _)| offset).ok()?;
        Some(self.starting_points[at].1)
    }
}
