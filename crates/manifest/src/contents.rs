//! The file contents that a run has read.

use std::sync::Arc;

use ftk_file::{Attribute, Stat};
use ftk_inventory::FileNo;
use ftk_process::{AttributeSet, Rows, State};

use crate::walked_tree::Seen;

/// What is known of the contents of a tree's files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contents<'c> {
    /// The files that were to be read, ascending (`None`: all files), and their rows.
    read: Option<(Option<&'c [FileNo]>, &'c Rows)>,
}

/// What is known of the content of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The file was not to be read.
    Unread,
    /// The file was read: the number of its row, and `fstat` of its descriptor.
    Read(u32, Stat),
    /// The file could not be read, or changed while being read.
    Failed,
    /// The file was to be read but was not: a bug in ftk.
    Pending,
}

impl<'c> Contents<'c> {
    /// Creates contents without any file: only metadata is known.
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates contents from rows that were made [with stats](Rows::with_stats).
    ///
    /// `files` are the files of the rows, in ascending order; `None` means all files of the inventory.
    pub fn read(files: Option<&'c [FileNo]>, rows: &'c Rows) -> Self {
        Self { read: Some((files, rows)) }
    }

    pub(crate) fn of(&self, file: FileNo) -> Content {
        let Some((row, rows)) = self.row(file) else { return Content::Unread };
        match rows.state(row) {
            State::Ok => Content::Read(row, rows.stat(row).expect("the row is Ok")),
            State::Pending | State::Deferred => Content::Pending,
            _ => Content::Failed,
        }
    }

    /// Returns the row of a file that was to be read.
    fn row(&self, file: FileNo) -> Option<(u32, &'c Rows)> {
        let (files, rows) = self.read?;
        Some((files.map_or(Some(file.0), |files| row_of(files, file))?, rows))
    }

    /// Returns the extended attributes of a file, if they were read together with its content.
    pub(crate) fn attributes(&self, file: FileNo) -> Option<AttributeSet> {
        let (row, rows) = self.row(file)?;
        rows.attributes(row)
    }

    /// Returns the attributes of a set that is not empty.
    pub(crate) fn set(&self, set: AttributeSet) -> Arc<[Attribute]> {
        self.read.expect("a row was found").1.set(set)
    }

    /// Returns the present metadata of a file, and its row if it was read. `walked` is what the walk kept.
    /// `None` if the metadata is not known.
    pub(crate) fn stat(&self, file: FileNo, walked: Option<Stat>) -> Option<(Stat, Option<u32>)> {
        match self.of(file) {
            Content::Read(row, stat) => Some((stat, Some(row))),
            Content::Unread => walked.map(|stat| (stat, None)),
            Content::Failed | Content::Pending => None,
        }
    }

    /// Like [`stat`](Self::stat), for an entry of any type.
    pub(crate) fn stat_of(&self, seen: &Seen) -> Option<Stat> {
        match seen.file {
            Some(file) => self.stat(file, seen.metadata).map(|(stat, _)| stat),
            None => seen.metadata,
        }
    }

    /// Replaces `digests` with the concatenated digests of a row that is `Ok`.
    pub(crate) fn digests(&self, row: u32, digests: &mut Vec<u8>) {
        digests.clear();
        let (_, rows) = self.read.expect("a row was found");
        rows.digests(row).expect("the row is Ok").for_each(|digest| digests.extend_from_slice(digest));
    }
}

/// Finds the row of a file: its index in `files`, which are ascending.
///
/// The index is at most the file's number, and smaller by at most the count of numbers missing from `files`.
/// The search is limited to that range.
fn row_of(files: &[FileNo], file: FileNo) -> Option<u32> {
    let gaps = files.last()?.0 as usize + 1 - files.len();
    let last = file.0 as usize + 1;
    let start = last.saturating_sub(gaps + 1).min(files.len());
    let row = files[start..last.min(files.len())].binary_search(&file).ok()?;
    Some((start + row) as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_found(files in prop::collection::btree_set(0..40_u32, 0..40)) {
            let files: Vec<_> = files.into_iter().map(FileNo).collect();
            for file in (0..45).map(FileNo) {
                let row = files.iter().position(|it| *it == file).map(|row| row as u32);
                prop_assert_eq!(row_of(&files, file), row);
            }
        }
    }
}
