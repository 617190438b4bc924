//! Where the contents of a tree's files are known from.

use ftk_inventory::FileNo;
use ftk_process::{Rows, State};

use crate::Stat;

/// What is known of the contents of a tree's files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contents<'c> {
    /// The files that were to be read, ascending, and what became of them.
    read: Option<(Option<&'c [FileNo]>, &'c Rows)>,
    kept: Option<&'c Kept>,
}

/// What is known of the content of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content<'c> {
    /// It was not to be read.
    Unread,
    /// Nobody read it, but the manifest made before still holds.
    Kept(&'c [u8]),
    /// It was read: the number of its row, and what its descriptor said.
    Read(u32, Stat),
    /// It could not be read, or changed meanwhile.
    Failed,
    /// It was to be read and nobody did: a fault of the program.
    Pending,
}

impl<'c> Contents<'c> {
    /// Nothing: only metadata is known.
    pub fn none() -> Self {
        Self::default()
    }

    /// What was read, into [`Rows::with_stats`]: of these files, which are ascending and as many as the rows are; or
    /// of all files of the inventory.
    pub fn read(files: Option<&'c [FileNo]>, rows: &'c Rows) -> Self {
        Self { read: Some((files, rows)), kept: None }
    }

    /// The same, and what is known from before.
    pub(crate) fn with_kept(self, kept: &'c Kept) -> Self {
        Self { kept: Some(kept), ..self }
    }

    pub(crate) fn of(&self, file: FileNo) -> Content<'c> {
        if let Some(digests) = self.kept.and_then(|kept| kept.get(file)) {
            return Content::Kept(digests);
        }
        self.read_of(file)
    }

    /// The same, but only what was read in this run.
    pub(crate) fn read_of(&self, file: FileNo) -> Content<'c> {
        let Some((files, rows)) = self.read else { return Content::Unread };
        let row = match files {
            None => file.0,
            Some(files) => match row_of(files, file) {
                Some(row) => row,
                None => return Content::Unread,
            },
        };
        match rows.state(row) {
            State::Ok => Content::Read(row, Stat::read(rows.stat(row).expect("the row is Ok"))),
            State::Pending | State::Deferred => Content::Pending,
            _ => Content::Failed,
        }
    }

    /// Replaces `digests` by those of a row that is `Ok`, one behind the other.
    pub(crate) fn digests(&self, row: u32, digests: &mut Vec<u8>) {
        digests.clear();
        let (_, rows) = self.read.expect("a row was found");
        rows.digests(row).expect("the row is Ok").for_each(|digest| digests.extend_from_slice(digest));
    }
}

/// The row of a file among those of `files`, which are ascending: as far before its number as there are gaps before it.
fn row_of(files: &[FileNo], file: FileNo) -> Option<u32> {
    let gaps = files.last()?.0 as usize + 1 - files.len();
    let last = file.0 as usize + 1;
    let start = last.saturating_sub(gaps + 1).min(files.len());
    let row = files[start..last.min(files.len())].binary_search(&file).ok()?;
    Some((start + row) as u32)
}

/// Digests that are known from an earlier manifest, by file.
#[derive(Debug)]
pub(crate) struct Kept {
    width: usize,
    digests: Vec<u8>,
    is_known: Vec<bool>,
}

impl Kept {
    /// A table without any, for so many files with digests of `width` bytes in all.
    pub(crate) fn new(files: u32, width: usize) -> Self {
        let files = files as usize;
        Self { width, digests: vec![0; files * width], is_known: vec![false; files] }
    }

    /// Bytes that a file takes.
    pub(crate) fn bytes_per_file(width: usize) -> usize {
        width + size_of::<bool>()
    }

    /// Where the digests of a file go.
    pub(crate) fn put(&mut self, file: FileNo) -> &mut [u8] {
        let file = file.0 as usize;
        self.is_known[file] = true;
        &mut self.digests[file * self.width..][..self.width]
    }

    fn get(&self, file: FileNo) -> Option<&[u8]> {
        let file = file.0 as usize;
        self.is_known[file].then(|| &self.digests[file * self.width..][..self.width])
    }
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
