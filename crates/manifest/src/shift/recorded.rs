//! Recorded times of some files of a tree.

use std::collections::HashSet;

use ftk_file::{EvenSample, Stat};
use ftk_inventory::{Budget, FileNo, LinkOnce};

use crate::walked_tree::Seen;
use crate::{Contents, Entry, Error, Field};

/// The recorded mtimes of some regular files that still exist, evenly distributed over the tree. A file with several names
/// counts once.
#[derive(Debug)]
pub(crate) struct RecordedTimes {
    files: EvenSample<Recorded>,
    once: LinkOnce<u64, (u64, u64)>,
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
        Self { files: EvenSample::default(), once: LinkOnce::new(budget) }
    }

    /// Returns the memory to the budget.
    pub(crate) fn release(self) {
        self.once.release();
    }

    /// Adds a recorded file that the walk found, if its time is known.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(crate) fn add(&mut self, old: &Entry<'_>, seen: &Seen) -> Result<(), Error> {
        let now = seen.metadata.as_ref().and_then(Stat::linked_identity);
        if let Some(file) = seen.file.filter(|_| old.stat.is_regular() && old.knows(Field::Mtime))
            && self.once.add(old.group_hash(), now)?
        {
            let (size, mtime_ns) = (old.size(), old.stat.mtime_ns);
            self.files.add(Recorded { file, size, mtime_ns, seen: seen.metadata });
        }
        Ok(())
    }

    /// Returns the recorded and the present mtime of each file that has its recorded size.
    pub(super) fn changes(&self, contents: &Contents<'_>) -> Vec<(i128, i128)> {
        let mut linked = HashSet::new();
        let now = |file: &Recorded| {
            let (stat, _) = contents.stat(file.file, file.seen)?;
            let is_first = stat.linked_identity().is_none_or(|inode| linked.insert(inode));
            (is_first && file.size == Some(stat.size)).then_some((file.mtime_ns, stat.mtime_ns))
        };
        self.files.items().iter().filter_map(now).collect()
    }
}
