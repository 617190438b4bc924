//! Recorded times of some files of a tree.

use ftk_file::{EvenSample, Stat};
use ftk_inventory::{Budget, FileNo, Full, Witnesses};

use crate::walked_tree::Seen;
use crate::whole_seconds::Archives;
use crate::{Contents, Entry, Field};

/// The recorded mtimes of some regular files that still exist, evenly distributed over the tree. They tell whether it is worth
/// while to look for a shift.
#[derive(Debug)]
pub(crate) struct RecordedTimes {
    /// One of each [witness](Witnesses). If the walk has kept no metadata, one of each recorded file.
    files: EvenSample<Recorded>,
    /// If the walk has kept no metadata, other names of recorded files. A copy without links has made them separate files.
    names: EvenSample<Recorded>,
    witnesses: Witnesses<u64, (u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Recorded {
    file: FileNo,
    size: Option<u64>,
    mtime_ns: i128,
    seen: Option<Stat>,
}

impl RecordedTimes {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self { files: EvenSample::default(), names: EvenSample::default(), witnesses: Witnesses::new(budget) }
    }

    /// Returns the memory to the budget.
    pub(crate) fn release(self) {
        self.witnesses.release();
    }

    /// Adds a recorded file that the walk found, if its time is known.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(crate) fn add(&mut self, old: &Entry<'_>, seen: &Seen) -> Result<(), Full> {
        let (size, now) = (old.size(), seen.metadata);
        if let Some(file) = seen.file
            && old.stat.is_regular()
            && old.knows(Field::Mtime)
            && now.is_none_or(|now| size == Some(now.size))
        {
            let inode = now.as_ref().map(Stat::linked_identity);
            let recorded = Recorded { file, size, mtime_ns: old.stat.mtime_ns, seen: now };
            if self.witnesses.add(old.linked_identity(), inode, None)? {
                self.files.add(recorded);
            } else if now.is_none() {
                self.names.add(recorded);
            }
        }
        Ok(())
    }

    /// Returns the recorded and the present mtime of each file that has its recorded size: of files, and of other names.
    pub(super) fn changes(&self, contents: &Contents<'_>, archives: Archives) -> [Vec<(i128, i128)>; 2] {
        let now = |file: &Recorded| {
            let (stat, _) = contents.stat(file.file, file.seen)?;
            let [old_ns, new_ns] = archives.compared([file.mtime_ns, stat.mtime_ns]);
            (file.size == Some(stat.size)).then_some((old_ns, new_ns))
        };
        [&self.files, &self.names].map(|sample| sample.items().iter().filter_map(now).collect())
    }
}
