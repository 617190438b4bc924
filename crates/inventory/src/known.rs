//! Sizes, identities and metadata of the files in a table, if they were kept.

use ftk_file::{PackedStat, Stat};

use crate::columns::Times;
use crate::shard::{Packed, Shard};
use crate::{DirNo, FileNo, Inventory, Keep};

impl Inventory {
    /// Returns whether the table has sizes, identities and link counts of regular files.
    ///
    /// It has them with [`Keep::Sizes`], [`Keep::Times`] and [`Keep::Tree`], and with [`Keep::Stats`] if `files` is set.
    pub fn has_sizes(&self) -> bool {
        self.keep.has_sizes_in_columns() || self.keep == Keep::Stats { files: true }
    }

    /// Returns whether the table has what [`walked`](Self::walked) returns.
    ///
    /// It has it with [`Keep::Times`], and with [`Keep::Stats`] if `files` is set.
    pub fn has_times(&self) -> bool {
        matches!(self.keep, Keep::Times | Keep::Stats { files: true })
    }

    /// Makes a table with [`Keep::Times`] one with [`Keep::Sizes`]. Returns the number of bytes that this frees.
    pub fn forget_times(&mut self) -> u64 {
        if self.keep != Keep::Times {
            return 0;
        }
        self.keep = Keep::Sizes;
        let freed = |shard: &mut Shard| std::mem::take(&mut shard.columns.times).len() * size_of::<Times>();
        self.shards.iter_mut().map(freed).sum::<usize>() as u64
    }

    /// Returns the file's size in bytes at the time of the walk.
    ///
    /// # Panics
    /// If the table [has no sizes](Self::has_sizes), or the file is not in the directory.
    pub fn size(&self, dir: DirNo, file: FileNo) -> u64 {
        self.assert_sizes();
        let (shard, at) = self.place(dir, file);
        match self.record(shard, &shard.entries[at]) {
            Some(record) => record.size(),
            None => shard.columns.sizes[at],
        }
    }

    /// Returns the file's device and inode number; for a followed link, those of its target. Hard links share
    /// them.
    ///
    /// # Panics
    /// If the table [has no sizes](Self::has_sizes), or the file is not in the directory.
    pub fn identity(&self, dir: DirNo, file: FileNo) -> (u64, u64) {
        self.assert_sizes();
        let (shard, at) = self.place(dir, file);
        let row = &shard.entries[at];
        match self.record(shard, row) {
            Some(record) => record.identity(),
            None => {
                let dev = shard.columns.device(at as u32).unwrap_or(self.dirs[dir.0 as usize].dev);
                (dev, row.ino)
            }
        }
    }

    /// Returns what the walk saw of a file: device, inode number, size and times, and with
    /// [`Keep::Stats`] all the rest. `None` if its times cannot be stored in the table.
    ///
    /// # Panics
    /// If the table has no times of files, or the file is not in the directory.
    pub fn walked(&self, dir: DirNo, file: FileNo) -> Option<Stat> {
        let (shard, at) = self.place(dir, file);
        if let Some(record) = self.record(shard, &shard.entries[at]) {
            return Some(record.into());
        }
        let ((dev, ino), size) = (self.identity(dir, file), self.size(dir, file));
        let &Times { mtime_ns, ctime_ns } = shard.columns.times.get(at).expect("the table has times");
        let fits = mtime_ns != i64::MIN && ctime_ns != i64::MIN;
        let (mtime_ns, ctime_ns) = (mtime_ns.into(), ctime_ns.into());
        fits.then_some(Stat { dev, ino, size, mtime_ns, ctime_ns, ..Stat::EMPTY })
    }

    /// Returns the metadata of a file at the time of the walk. `now` is its current metadata, which also
    /// supplies what the table does not contain.
    ///
    /// # Panics
    /// If the table [has no sizes](Self::has_sizes), or the file is not in the directory.
    pub fn stat_then(&self, dir: DirNo, file: FileNo, now: &Stat) -> Stat {
        let (dev, ino) = self.identity(dir, file);
        Stat { dev, ino, size: self.size(dir, file), ..*now }
    }

    /// Returns whether the file had more than one hard link, in the table or elsewhere.
    ///
    /// # Panics
    /// If the table [has no sizes](Self::has_sizes), or the file is not in the directory.
    pub fn is_linked(&self, dir: DirNo, file: FileNo) -> bool {
        self.assert_sizes();
        let (shard, at) = self.place(dir, file);
        shard.entries[at].is_linked()
    }

    /// Returns the number of the starting point that the file was reached from.
    ///
    /// # Panics
    /// If the table was made without [`Keep::Sizes`], [`Keep::Times`], [`Keep::Tree`] or [`Keep::Stats`], or the file
    /// is not in the directory.
    pub fn root_of(&self, dir: DirNo, file: FileNo) -> usize {
        assert!(self.keep.needs_stat(), "the table has no starting points");
        let root = if self.dir_name(dir).is_empty() {
            let (shard, at) = self.place(dir, file);
            let name = shard.entries[at].name();
            shard
                .columns
                .starting_point_at(name.offset)
                .expect("the number of every starting point was added")
        } else {
            self.dirs[dir.0 as usize].root
        };
        root as usize
    }

    /// Returns the metadata of an entry, if it is kept for entries of its type.
    pub(crate) fn record<'s>(&self, shard: &'s Shard, row: &Packed) -> Option<&'s PackedStat> {
        let Keep::Stats { .. } = self.keep else { return None };
        self.keep.needs_stat_for(row.file_type).then(|| &shard.columns.records[row.ino as usize])
    }

    /// Returns the shard that contains a file's row, and the index of the row.
    pub(crate) fn place(&self, dir: DirNo, file: FileNo) -> (&Shard, usize) {
        assert!(self.files_of(dir).contains(&file.0), "file {} is not in this directory", file.0);
        let dir = &self.dirs[dir.0 as usize];
        (&self.shards[usize::from(dir.shard)], (dir.start + (file.0 - dir.first)) as usize)
    }

    fn assert_sizes(&self) {
        assert!(self.has_sizes(), "the table has no sizes");
    }
}

#[cfg(test)]
mod tests {
    use ftk_file::Symlinks;
    use ftk_walk::FileType;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::fixture::{fixture, metadata, target};

    proptest! {
        #[test]
        fn metadata_stays_with_its_entry(
            fixture in fixture(),
            keep in select(vec![
                Keep::Sizes,
                Keep::Times,
                Keep::Stats { files: false },
                Keep::Stats { files: true },
            ]),
        ) {
            let (parts, lines) = fixture.collect(keep);
            let inventory = Inventory::merge(parts).unwrap();
            let mut order = inventory.in_path_order();
            let mut seen = 0;
            while let Some(item) = order.next() {
                seen += 1;
                let ino = match item.file {
                    Some(file) => inventory.ino(item.dir, file),
                    None => item.metadata.expect("other types always have metadata").ino,
                };
                let &(ref path, file_type, _) = &lines[ino as usize];
                prop_assert_eq!((item.path, item.file_type), (&path[..], file_type));
                let stat = metadata(ino, file_type);
                let is_recorded = matches!(keep, Keep::Stats { .. }) && keep.needs_stat_for(file_type);
                prop_assert_eq!(item.metadata, is_recorded.then_some(Stat::from(&stat)));
                let target = (file_type == FileType::Symlink).then(|| target(ino));
                prop_assert_eq!(item.target, target.as_deref().map(|target| target.to_bytes()));
                if let Some(file) = item.file.filter(|_| inventory.has_sizes()) {
                    prop_assert_eq!(inventory.size(item.dir, file), stat.size);
                    prop_assert_eq!(inventory.identity(item.dir, file), (stat.dev, ino));
                    prop_assert_eq!(inventory.is_linked(item.dir, file), stat.nlink > 1);
                    if keep != Keep::Sizes {
                        let walked = inventory.walked(item.dir, file).expect("times that fit");
                        prop_assert!(walked.is_same_content(&Stat::from(&stat)), "{walked:?}");
                    }
                }
            }
            prop_assert_eq!(seen, lines.len());
        }
    }

    proptest! {
        #[test]
        fn a_table_without_its_times_still_has_sizes(fixture in fixture()) {
            let mut inventory = Inventory::merge(fixture.collect(Keep::Times).0).unwrap();
            let expected = Inventory::merge(fixture.collect(Keep::Sizes).0).unwrap();
            prop_assert_eq!(inventory.forget_times(), 16 * u64::from(inventory.files()));
            prop_assert!(inventory.has_sizes() && !inventory.has_times() && inventory.forget_times() == 0);
            for file in (0..inventory.files()).map(FileNo) {
                let dir = inventory.dir_of(file);
                prop_assert_eq!(inventory.size(dir, file), expected.size(dir, file));
                prop_assert_eq!(inventory.identity(dir, file), expected.identity(dir, file));
            }
        }
    }

    #[test]
    #[should_panic(expected = "has no sizes")]
    fn identities_that_were_not_kept_panic() {
        let mut part = crate::Collect::new(0, Keep::Files);
        part.shard.add(c"file", 1, FileType::Regular, Symlinks::NoFollow).unwrap();
        let inventory = Inventory::merge(vec![part]).unwrap();
        inventory.identity(DirNo(0), FileNo(0));
    }
}
