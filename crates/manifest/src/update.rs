//! A new manifest from an old one, reading only what may have changed.

use std::ops::ControlFlow;

use ftk_hash::Algorithm;
use ftk_inventory::{Budget, FileNo};
use ftk_process::Rows;

use crate::common::range;
use crate::contents::{Content, Kept};
use crate::keys::Purse;
use crate::merge::merge;
use crate::tree::Tree;
use crate::{Contents, Error, Manifest, Sample, Stat};

/// When content and inode changed last.
type Times = (i128, i128);

/// Which files have to be read for a new manifest of a tree, and the digests of the others.
///
/// A file is taken for unchanged if device, inode, size, time of content and time of inode are what the old manifest
/// says, and both times are older than the run that made it: a file written while it was read has a later one.
#[derive(Debug)]
pub struct Update {
    /// The files to be read, ascending: with [`Rows::with_stats`] and the algorithms of the new manifest.
    pub files: Vec<FileNo>,
    kept: Kept,
    /// Those of the files to be read that are taken for unchanged, and the times that say so.
    checked: Vec<(FileNo, Times)>,
}

impl Update {
    /// Goes through the old manifest and the tree, whose walk must have kept what `stat` says of all entries. Of the
    /// files that are taken for unchanged, `check` are read all the same. The digests that are kept take as much memory
    /// as those that are made anew.
    ///
    /// # Errors
    /// When the manifest cannot be read or holds what a manifest may not, or the digests do not fit into the budget.
    ///
    /// # Panics
    /// If the walk has not kept what `stat` says of regular files.
    pub fn new(
        old: &Manifest,
        tree: &Tree<'_>,
        algorithms: &[Algorithm],
        check: Option<&Sample>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let width = algorithms.iter().map(|algorithm| algorithm.digest_len()).sum();
        let files = tree.inventory.files();
        let header = old.header();
        let ranges: Option<Vec<_>> =
            algorithms.iter().map(|algorithm| range(&header.algorithms, *algorithm)).collect();
        let mut purse = Purse::new(budget);
        purse.spend(u64::from(files) * Kept::bytes_per_file(width) as u64)?;
        let mut update = Self { files: Vec::new(), kept: Kept::new(files, width), checked: Vec::new() };
        if algorithms.is_empty() {
            return Ok(update);
        }
        merge(&mut old.entries()?, &mut tree.walk(), |old, new| {
            let Some((file, seen)) = new.and_then(|new| Some((new.seen.file?, &new.seen))) else {
                return Ok(ControlFlow::Continue(()));
            };
            let metadata = seen.metadata.as_ref().expect("the walk keeps what stat says");
            let stat = Stat::walked(seen.file_type, metadata);
            let old =
                old.map(|old| old.entry()).filter(|old| is_unchanged(&old.stat, &stat, header.start_ns));
            let mut is_read = true;
            if let Some((old, ranges)) = old.zip(ranges.as_ref()) {
                let mut rest = update.kept.put(file);
                for range in ranges {
                    let digest = rest.split_off_mut(..range.len()).expect("as long as all digests");
                    digest.copy_from_slice(&old.digests[range.clone()]);
                }
                is_read = check.is_some_and(|check| check.takes(old.path));
                if is_read {
                    purse.spend(size_of::<(FileNo, Times)>() as u64)?;
                    update.checked.push((file, (stat.mtime_ns, stat.ctime_ns)));
                }
            }
            if is_read {
                purse.spend(size_of::<FileNo>() as u64)?;
                update.files.push(file);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        update.files.sort_unstable();
        Ok(update)
    }

    /// The contents for the new manifest, after the files were read into `rows`.
    pub fn contents<'c>(&'c self, rows: &'c Rows) -> Contents<'c> {
        Contents::read(Some(&self.files), rows).with_kept(&self.kept)
    }

    /// How many files were taken for unchanged and read all the same.
    pub fn checked(&self) -> usize {
        self.checked.len()
    }

    /// Those of the checked files whose content is another one although nothing else has changed, by path. The new
    /// manifest keeps the old digests of them, so that it goes on telling.
    pub fn corrupted(&self, rows: &Rows) -> Vec<FileNo> {
        let contents = self.contents(rows);
        let mut digests = Vec::new();
        let mut is_corrupted = |file: FileNo, times: Times| {
            let (Content::Read(row, stat), Content::Kept(kept)) = (contents.read_of(file), contents.of(file))
            else {
                return false;
            };
            contents.digests(row, &mut digests);
            (stat.mtime_ns, stat.ctime_ns) == times && digests != kept
        };
        let checked = self.checked.iter().filter(|(file, times)| is_corrupted(*file, *times));
        checked.map(|(file, _)| *file).collect()
    }
}

/// Whether a file cannot have been written since it was read for a manifest whose run began at `start_ns`.
fn is_unchanged(old: &Stat, new: &Stat, start_ns: i128) -> bool {
    let key = |stat: &Stat| (stat.file_type, stat.dev, stat.ino, stat.size, stat.mtime_ns, stat.ctime_ns);
    key(old) == key(new) && old.mtime_ns.max(old.ctime_ns) < start_ns - tick_ns(old.ctime_ns)
}

/// How far a time stamp of a file system may lie behind the clock. The kernel's own stamps come from its timer, which
/// ticks every 10 ms at the slowest; two of them are granted. A stamp of whole seconds comes from a file system that has
/// no better ones, and the coarsest in use (FAT) counts every other second.
fn tick_ns(stamp_ns: i128) -> i128 {
    const SECOND: i128 = 1_000_000_000;
    if stamp_ns % SECOND == 0 { 2 * SECOND } else { SECOND / 50 }
}

#[cfg(test)]
mod tests {
    use ftk_walk::FileType;

    use super::*;

    const START: i128 = 1_763_713_800_500_000_000;

    fn stat(mtime_ns: i128, ctime_ns: i128) -> Stat {
        Stat {
            file_type: FileType::Regular,
            size: 3,
            mtime_ns,
            ctime_ns,
            mode: 0o644,
            uid: 1,
            gid: 2,
            dev: 4,
            ino: 5,
            nlink: 1,
            rdev: 0,
        }
    }

    #[test]
    fn only_what_is_older_than_the_run_and_the_same_is_unchanged() {
        let old = stat(START - 30_000_000, START - 30_000_001);
        assert!(is_unchanged(&old, &old, START));
        for (mtime_ns, ctime_ns) in [
            (START, START - 30_000_000),
            (START - 30_000_000, START),
            (START - 10_000_000, START - 10_000_000),
            // Whole seconds: another write within the same two would not show.
            (START - 1_500_000_000, START - 1_500_000_000),
            (START - 1_500_000_000, START + 1),
        ] {
            let young = stat(mtime_ns, ctime_ns);
            assert!(!is_unchanged(&young, &young, START), "{young:?}");
        }
        let whole = stat(START - 2_500_000_000, START - 2_500_000_000);
        assert!(is_unchanged(&whole, &whole, START));
        let old = stat(START / 2, START / 2 + 1);
        for new in [
            Stat { size: 4, ..old },
            Stat { mtime_ns: 1, ..old },
            Stat { ctime_ns: old.ctime_ns + 1, ..old },
            Stat { dev: 9, ..old },
            Stat { ino: 9, ..old },
            Stat { file_type: FileType::Fifo, ..old },
        ] {
            assert!(!is_unchanged(&old, &new, START), "{new:?}");
        }
        // What the time of the inode vouches for is not asked again.
        assert!(is_unchanged(&old, &Stat { nlink: 2, ..old }, START));
    }
}
