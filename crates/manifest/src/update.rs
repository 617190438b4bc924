//! A new manifest from an old one, reading only what may have changed.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;

use ftk_inventory::{Budget, FileNo};
use ftk_process::Rows;

use crate::contents::Content;
use crate::create::{Made, Maker};
use crate::entry::ROOT;
use crate::keys::Reservation;
use crate::merge::merge;
use crate::verdict::finding;
use crate::walked_tree::{Failed, Seen, WalkedTree};
use crate::{Contents, Entry, Error, Field, Finding, Manifest, Sample, Stat, Verdict, Writer};

/// Which files have to be read for a new manifest of a tree, and then its entries.
///
/// A file is taken for unchanged if device, inode, size, time of content and time of inode are what the old manifest
/// says, and both times are older than the run that made it: a file written while it was read has a later one.
///
/// What could not be looked at keeps its old record. So does a file whose content changed while size and time of content
/// did not; it is marked as damaged, and read again by every update until it has its old content again, is changed openly,
/// or is accepted.
#[derive(Debug)]
pub struct Update<'u> {
    /// The files to be read, ascending: with [`Rows::with_stats`] and the algorithms of the manifest.
    pub files: Vec<FileNo>,
    /// How many entries below the root were recorded.
    pub recorded: u64,
    /// How many of them are gone. What lies where nothing could be listed is not gone.
    pub missing: u64,
    /// Whether both device and inode of the root are other ones than were recorded.
    pub is_other_root: bool,
    /// Paths to be accepted that are not regular files with digests in the manifest and in the tree.
    pub unknown: BTreeSet<Vec<u8>>,
    old: &'u Manifest,
    tree: WalkedTree<'u>,
    failed: Failed,
    accept: &'u BTreeSet<Vec<u8>>,
    /// Files to be read whose old records say nothing certain of what is there now: see [`is_young`].
    young: Vec<FileNo>,
    /// Whether such a record is kept because nothing could be listed where the file lies.
    keeps_young: bool,
}

/// What became of the entries of a new manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// How many entries it has.
    pub entries: u64,
    /// How many of them are old records of what could not be looked at, in whole or in part.
    pub kept: u64,
    /// How many are old records of files that are damaged.
    pub corrupted: u64,
    /// How many entries of the tree it has not, because something about them could not be asked for.
    pub failed: u64,
}

impl<'u> Update<'u> {
    /// Goes through the old manifest and the tree, whose walk must have kept what `stat` says of all entries. Of the
    /// files that are taken for unchanged, `check` are read all the same. Damaged files whose paths are in `accept` are
    /// recorded as they are now.
    ///
    /// # Errors
    /// When the manifest cannot be read or holds what a manifest may not, or what has to be kept does not fit into the
    /// budget.
    ///
    /// # Panics
    /// If the walk has not kept what `stat` says of regular files.
    pub fn new(
        old: &'u Manifest,
        tree: &WalkedTree<'u>,
        check: Option<&Sample>,
        accept: &'u BTreeSet<Vec<u8>>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let header = old.header();
        let reads = !header.algorithms.is_empty();
        let mut reserved = Reservation::new(budget);
        let mut update = Self {
            files: Vec::new(),
            recorded: 0,
            missing: 0,
            is_other_root: false,
            unknown: accept.clone(),
            old,
            tree: *tree,
            failed: Failed::of(tree),
            accept,
            young: Vec::new(),
            keeps_young: false,
        };
        merge(&mut old.entries()?, &mut tree.walk(), |old, new| {
            let (old, new) = (old.map(|old| old.entry()), new.map(|new| &new.seen));
            update.recorded += u64::from(old.is_some_and(|old| old.path != ROOT));
            let Some(seen) = new else {
                if let Some(old) = old {
                    update.note_gone(&old);
                }
                return Ok(ControlFlow::Continue(()));
            };
            if let Some(old) = old.filter(|_| seen.is_root()) {
                let now = stat(seen);
                update.is_other_root = old.stat.dev != now.dev && old.stat.ino != now.ino;
            }
            let old = old.filter(|old| old.stat.is_regular());
            if let Some(file) = seen.file.filter(|_| reads)
                && old.is_none_or(|old| update.has_to_read(&old, seen, check))
            {
                reserved.consume(size_of::<FileNo>() as u64)?;
                update.files.push(file);
                if old.is_some_and(|old| is_young(&old.stat, header.start_ns)) {
                    reserved.consume(size_of::<FileNo>() as u64)?;
                    update.young.push(file);
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        update.files.sort_unstable();
        Ok(update)
    }

    /// Counts what is recorded and was not met.
    fn note_gone(&mut self, old: &Entry<'_>) {
        if self.failed.covers(old.path) {
            self.keeps_young |= old.stat.is_regular() && is_young(&old.stat, self.old.header().start_ns);
        } else {
            self.missing += u64::from(old.path != ROOT);
            if old.damaged_ns.is_some() {
                self.unknown.remove(old.path);
            }
        }
    }

    /// Whether a regular file that was recorded has to be read.
    fn has_to_read(&mut self, old: &Entry<'_>, seen: &Seen, check: Option<&Sample>) -> bool {
        let is_accepted = self.unknown.remove(old.path);
        is_accepted
            || old.damaged_ns.is_some()
            || !is_unchanged(&old.stat, &stat(seen), self.old.header().start_ns)
            || check.is_some_and(|check| check.matches(old.path))
    }

    /// What the new manifest has to say of its start: `now_ns`, unless it keeps records that are certain only for a run
    /// that began when the old one did. `rows`: what became of the files.
    pub fn start_ns(&self, rows: &Rows, now_ns: i128) -> i128 {
        let contents = self.contents(rows);
        let is_kept = |file: &FileNo| contents.of(*file) == Content::Failed;
        if self.keeps_young || self.young.iter().any(is_kept) { self.old.header().start_ns } else { now_ns }
    }

    /// Writes the entries, after the files were read into `rows`. `each` is told of files that are corrupted, and of
    /// entries whose extended attributes cannot be read.
    ///
    /// # Errors
    /// When the old manifest cannot be read or was changed meanwhile, the new one cannot be written, or a file was
    /// never looked at.
    pub fn write<S: FnMut(&[u8]) -> io::Result<()>>(
        &self,
        rows: &Rows,
        now_ns: i128,
        writer: &mut Writer<S>,
        each: &mut dyn FnMut(&Finding<'_>),
    ) -> Result<Updated, Error> {
        let mut maker = Maker::new(&self.tree, self.contents(rows), self.old.header().xattrs);
        let (mut updated, mut pending) = (Updated::default(), 0);
        merge(&mut self.old.entries()?, &mut self.tree.walk(), |old, new| {
            let old = old.map(|old| old.entry());
            let known = old.map_or(&[][..], |old| old.digests);
            let entry = match new.map(|new| maker.make(&new.seen, known)) {
                None => match old {
                    Some(old) if self.failed.covers(old.path) => {
                        updated.kept += 1;
                        Some(old)
                    }
                    // Perhaps it was renamed, and its damage would be recorded under the new name as if it were right.
                    Some(old) if old.damaged_ns.is_some() && !self.accept.contains(old.path) => {
                        updated.corrupted += 1;
                        each(&finding(Verdict::Corrupted, &old));
                        Some(old)
                    }
                    _ => None,
                },
                Some(Made::Unread) => {
                    let old = old.filter(|old| old.stat.is_regular());
                    updated.keep(old.is_some());
                    old
                }
                Some(Made::Pending) => {
                    pending += 1;
                    None
                }
                Some(Made::Entry(entry)) => Some(self.judge(old, entry, now_ns, &mut updated, each)),
                Some(Made::WithoutXattrs(entry, error)) => {
                    each(&Finding { error: Some(&error), ..finding(Verdict::Unreadable, &entry) });
                    let old = old.filter(|old| old.stat.file_type == entry.stat.file_type);
                    updated.keep(old.is_some());
                    let entry = Entry { xattrs: old.and_then(|old| old.xattrs), ..entry };
                    old.is_some().then(|| self.judge(old, entry, now_ns, &mut updated, each))
                }
            };
            if let Some(entry) = entry {
                writer.entry(&entry)?;
                updated.entries += 1;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if pending > 0 { Err(Error::Unprocessed(pending)) } else { Ok(updated) }
    }

    /// What to record of an entry: the old record, if the file is corrupted and not accepted.
    fn judge<'e>(
        &self,
        old: Option<Entry<'e>>,
        entry: Entry<'e>,
        now_ns: i128,
        updated: &mut Updated,
        each: &mut dyn FnMut(&Finding<'_>),
    ) -> Entry<'e> {
        match old {
            Some(old) if is_corrupted(&old, &entry) && !self.accept.contains(old.path) => {
                updated.corrupted += 1;
                let changed = &[Field::Digests];
                each(&Finding { new: Some(entry), changed, ..finding(Verdict::Corrupted, &old) });
                Entry { damaged_ns: old.damaged_ns.or(Some(now_ns)), ..old }
            }
            _ => entry,
        }
    }

    fn contents<'c>(&'c self, rows: &'c Rows) -> Contents<'c> {
        Contents::read(Some(&self.files), rows)
    }
}

impl Updated {
    /// Counts something that could not be looked at.
    fn keep(&mut self, has_record: bool) {
        *(if has_record { &mut self.kept } else { &mut self.failed }) += 1;
    }
}

/// What the walk kept of an entry.
fn stat(seen: &Seen) -> Stat {
    Stat::walked(seen.file_type, seen.metadata.as_ref().expect("the walk keeps what stat says"))
}

/// Whether the content of a file is another one although size and time of content are the same, whatever the time of the
/// inode says.
fn is_corrupted(old: &Entry<'_>, new: &Entry<'_>) -> bool {
    Verdict::of(old, new, if old.digests == new.digests { &[] } else { &[Field::Digests] })
        == Verdict::Corrupted
}

/// Whether a file cannot have been written since it was read for a manifest whose run began at `start_ns`.
fn is_unchanged(old: &Stat, new: &Stat, start_ns: i128) -> bool {
    let key = |stat: &Stat| (stat.file_type, stat.dev, stat.ino, stat.size, stat.mtime_ns, stat.ctime_ns);
    key(old) == key(new) && !is_young(old, start_ns)
}

/// Whether a file may have been written once more, without a trace in its times, after a run that began at `start_ns`
/// read it.
fn is_young(stat: &Stat, start_ns: i128) -> bool {
    stat.mtime_ns.max(stat.ctime_ns) >= start_ns - tick_ns(stat.ctime_ns)
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
