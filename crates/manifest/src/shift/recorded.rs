//! Recorded times of some files of a tree.

use ftk_file::{EvenSample, Stat};
use ftk_inventory::FileNo;

use crate::walked_tree::Seen;
use crate::{Contents, Entry, Field};

/// The recorded mtimes of some regular files that still exist, evenly distributed over the tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedTimes {
    files: EvenSample<Recorded>,
}

#[derive(Clone, Copy, Debug)]
struct Recorded {
    file: FileNo,
    size: Option<u64>,
    mtime_ns: i128,
    seen: Option<Stat>,
}

impl RecordedTimes {
    /// Adds a recorded file that the walk found, if its time is known.
    pub(crate) fn add(&mut self, old: &Entry<'_>, seen: &Seen) {
        if let Some(file) = seen.file.filter(|_| old.stat.is_regular() && old.knows(Field::Mtime)) {
            let (size, mtime_ns) = (old.size(), old.stat.mtime_ns);
            self.files.add(Recorded { file, size, mtime_ns, seen: seen.metadata });
        }
    }

    /// Returns the recorded and the present mtime of each file that has its recorded size.
    pub(super) fn changes(&self, contents: &Contents<'_>) -> Vec<(i128, i128)> {
        let now = |file: &Recorded| {
            let (stat, _) = contents.stat(file.file, file.seen)?;
            (file.size == Some(stat.size)).then_some((file.mtime_ns, stat.mtime_ns))
        };
        self.files.items().iter().filter_map(now).collect()
    }
}
