//! The hard links of two trees.

use ftk_inventory::{Budget, Full, LinkPairs, LinkSplits};

use super::merge::Entry;
use crate::Side;

/// What identifies a file with several names.
type File = (u64, u64);

/// The hard links between the paths that both trees have.
#[derive(Debug)]
pub(crate) struct Links {
    pairs: LinkPairs<File, File>,
    /// On which side files may be separate that have several names on the other side.
    /// On which side all files may be separate.
    splits: [(Side, LinkSplits<File, File>); 2],
    /// How many paths differ.
    differing: u64,
}

impl Links {
    pub(crate) fn new(budget: &Budget) -> Self {
        let splits = [Side::A, Side::B].map(|side| (side, LinkSplits::new(budget)));
        Self { pairs: LinkPairs::new(budget), splits, differing: 0 }
    }

    /// Adds two entries with the same path, in path order.
    pub(crate) fn add(&mut self, a: &Entry, b: &Entry) -> Result<(), Full> {
        let files = files(a, b);
        if files != [None; 2] {
            self.differing += u64::from(self.pairs.add(&a.path, files[0], files[1])?.is_some());
            for (side, splits) in &mut self.splits {
                splits.add(files[1 - *side as usize], files[*side as usize])?;
            }
        }
        Ok(())
    }

    /// Returns the number of differences.
    pub(crate) fn differences(&self) -> u64 {
        if self.split().is_some() { 1 } else { self.differing }
    }

    /// Returns the side that has no links although the other one has some, and how many files these are.
    pub(crate) fn split(&self) -> Option<(Side, u64)> {
        self.splits.iter().find_map(|(side, splits)| Some((*side, splits.separate()?)))
    }

    /// Returns the first path of the file of these entries in each tree, if the paths differ.
    pub(crate) fn find<'l>(&'l self, a: &'l Entry, b: &Entry) -> Option<[&'l [u8]; 2]> {
        let [file_a, file_b] = files(a, b);
        self.pairs.find(&a.path, file_a, file_b)
    }
}

fn files(a: &Entry, b: &Entry) -> [Option<File>; 2] {
    if a.file_type != b.file_type {
        return [None; 2];
    }
    [a, b].map(|entry| entry.metadata.as_ref().and_then(ftk_file::Stat::linked_identity))
}
