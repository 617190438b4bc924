//! Recorded times of some files of a tree.

use ftk_file::Stat;
use ftk_inventory::FileNo;

use crate::walked_tree::Seen;
use crate::{Contents, Entry, Field};

/// The recorded mtimes of at most [`MOST`] regular files that still exist, evenly distributed over the tree.
#[derive(Clone, Debug)]
pub(crate) struct RecordedTimes {
    files: Vec<(FileNo, i128, Option<Stat>)>,
    /// One file of this many is kept.
    stride: u64,
    /// The number of files so far.
    seen: u64,
}

/// Enough that a shift of half of all files cannot be missed by chance.
const MOST: usize = 512;

impl RecordedTimes {
    pub(crate) fn new() -> Self {
        Self { files: Vec::new(), stride: 1, seen: 0 }
    }

    /// Adds a recorded file that the walk found, if its time is known.
    pub(crate) fn add(&mut self, old: &Entry<'_>, seen: &Seen) {
        let Some(file) = seen.file.filter(|_| old.stat.is_regular() && old.knows(Field::Mtime)) else {
            return;
        };
        if self.seen.is_multiple_of(self.stride) {
            self.files.push((file, old.stat.mtime_ns, seen.metadata));
            if self.files.len() == MOST {
                let mut nth = 0;
                self.files.retain(|_| {
                    nth += 1;
                    nth % 2 == 1
                });
                self.stride *= 2;
            }
        }
        self.seen += 1;
    }

    /// Returns the recorded and the present mtime of each file whose present one is known.
    pub(super) fn changes(&self, contents: &Contents<'_>) -> Vec<(i128, i128)> {
        let now = |file, seen| contents.stat(file, seen).map(|(stat, _)| stat.mtime_ns);
        self.files.iter().filter_map(|&(file, old_ns, seen)| Some((old_ns, now(file, seen)?))).collect()
    }
}
