//! What a table knows of its files beside their names, where that was asked for.

use crate::metadata::Record;
use crate::shard::{Packed, Shard};
use crate::{DirNo, FileNo, Inventory, Keep};

impl Inventory {
    /// Whether the sizes, identities and link counts of regular files are known: in tables of [`Keep::Sizes`], and
    /// of [`Keep::Stats`] with `files`.
    pub fn has_sizes(&self) -> bool {
        matches!(self.keep, Keep::Sizes | Keep::Stats { files: true })
    }

    /// The file's length in bytes when it was walked.
    ///
    /// # Panics
    /// When [sizes are not known](Self::has_sizes), or the file is not in the directory. So do
    /// [`identity`](Self::identity) and [`is_linked`](Self::is_linked).
    pub fn size(&self, dir: DirNo, file: FileNo) -> u64 {
        self.assert_sizes();
        let (shard, at) = self.place(dir, file);
        match self.record(shard, &shard.entries[at]) {
            Some(record) => record.size,
            None => shard.columns.sizes[at],
        }
    }

    /// Device and inode number of the file, by which its hard links are known; those of its target for a link that
    /// is followed.
    pub fn identity(&self, dir: DirNo, file: FileNo) -> (u64, u64) {
        self.assert_sizes();
        let (shard, at) = self.place(dir, file);
        let row = &shard.entries[at];
        match self.record(shard, row) {
            Some(record) => (record.dev, record.ino),
            None => {
                let dev = shard.columns.device(at as u32).unwrap_or(self.dirs[dir.0 as usize].dev);
                (dev, row.ino)
            }
        }
    }

    /// Whether the file had more than one hard link, in the table or elsewhere.
    pub fn is_linked(&self, dir: DirNo, file: FileNo) -> bool {
        self.assert_sizes();
        let (shard, at) = self.place(dir, file);
        shard.entries[at].is_linked()
    }

    /// The number of the starting point that the file was reached from, as the walk counts them.
    ///
    /// # Panics
    /// When the table was made without [`Keep::Sizes`] or [`Keep::Stats`], or the file is not in the directory.
    pub fn root_of(&self, dir: DirNo, file: FileNo) -> usize {
        assert!(self.keep.asks(), "the table keeps no starting points");
        let root = if self.dir_name(dir).is_empty() {
            let (shard, at) = self.place(dir, file);
            let name = shard.entries[at].name();
            shard.columns.argument_at(name.offset).expect("an argument was noted with its name")
        } else {
            self.dirs[dir.0 as usize].root
        };
        root as usize
    }

    /// What `stat` said of an entry, if that is kept for entries of its type.
    pub(crate) fn record<'s>(&self, shard: &'s Shard, row: &Packed) -> Option<&'s Record> {
        let Keep::Stats { .. } = self.keep else { return None };
        self.keep.asks_about(row.file_type).then(|| &shard.columns.records[row.ino as usize])
    }

    /// Who holds a file's row, and where.
    pub(crate) fn place(&self, dir: DirNo, file: FileNo) -> (&Shard, usize) {
        assert!(self.files_of(dir).contains(&file.0), "file {} lies elsewhere", file.0);
        let dir = &self.dirs[dir.0 as usize];
        (&self.shards[usize::from(dir.shard)], (dir.start + (file.0 - dir.first)) as usize)
    }

    fn assert_sizes(&self) {
        assert!(self.has_sizes(), "the table keeps no sizes");
    }
}

#[cfg(test)]
mod tests {
    use ftk_walk::FileType;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::Metadata;
    use crate::fixture::{forest, metadata, target};

    proptest! {
        #[test]
        fn what_was_said_of_an_entry_stays_with_it(
            forest in forest(),
            keep in select(vec![Keep::Sizes, Keep::Stats { files: false }, Keep::Stats { files: true }]),
        ) {
            let (parts, lines) = forest.collect(keep);
            let inventory = Inventory::merge(parts).unwrap();
            let mut order = inventory.in_path_order();
            let mut seen = 0;
            while let Some(item) = order.next() {
                seen += 1;
                let ino = match item.file {
                    Some(file) => inventory.ino(item.dir, file),
                    None => item.metadata.expect("what is no file is always asked").ino,
                };
                let &(ref path, file_type, _) = &lines[ino as usize];
                prop_assert_eq!((item.path, item.file_type), (&path[..], file_type));
                let said = metadata(ino, file_type);
                let is_recorded = keep != Keep::Sizes && keep.asks_about(file_type);
                prop_assert_eq!(item.metadata, is_recorded.then_some(Metadata {
                    mode: said.mode,
                    uid: said.uid,
                    gid: said.gid,
                    dev: said.dev,
                    rdev: said.rdev,
                    ino,
                    nlink: said.nlink,
                    size: said.size,
                    blocks: said.blocks,
                    mtime_ns: said.mtime_ns,
                    ctime_ns: said.ctime_ns,
                }));
                let target = (file_type == FileType::Symlink).then(|| target(ino));
                prop_assert_eq!(item.target, target.as_deref().map(|target| target.to_bytes()));
                if let Some(file) = item.file.filter(|_| inventory.has_sizes()) {
                    prop_assert_eq!(inventory.size(item.dir, file), said.size);
                    prop_assert_eq!(inventory.identity(item.dir, file), (said.dev, ino));
                    prop_assert_eq!(inventory.is_linked(item.dir, file), said.nlink > 1);
                }
            }
            prop_assert_eq!(seen, lines.len());
        }
    }

    #[test]
    #[should_panic(expected = "keeps no sizes")]
    fn what_was_not_asked_for_is_no_zero() {
        let mut part = crate::Collect::new(0, Keep::Files);
        part.shard.add(c"file", 1, FileType::Regular, false).unwrap();
        let inventory = Inventory::merge(vec![part]).unwrap();
        inventory.identity(DirNo(0), FileNo(0));
    }
}
