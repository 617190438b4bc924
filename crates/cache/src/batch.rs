//! What was read, on its way to the store.

use ftk_file::{FsId, Stat};

use crate::Content;
use crate::row::{Head, Row, encode};

/// Rows that were not stored yet. They are kept in the bytes that are stored, one after the other, because a run makes
/// one for every file.
#[derive(Debug, Default)]
pub struct Batch {
    pub(crate) files: Vec<Place>,
    pub(crate) bytes: Vec<u8>,
}

/// A file, and where its row is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) fs: FsId,
    pub(crate) ino: u64,
    start: u32,
    end: u32,
}

impl Batch {
    /// Adds a file with the metadata that it had when it was opened, at `read_ns` or later (nanoseconds since the
    /// epoch), and the digests of what was read, one after the other. Does nothing if they could not be relied on
    /// later, because the file was written too recently.
    ///
    /// # Panics
    /// If `digests` does not have one digest for each content, or if the batch has 4 GiB.
    pub fn add(&mut self, fs: FsId, stat: &Stat, read_ns: i128, contents: &[Content], digests: &[u8]) {
        if let Some(head) = Head::new(stat, read_ns) {
            self.push(fs, stat.ino, |bytes| encode(&head, contents, digests, bytes));
        }
    }

    /// Adds a row that was used on this day.
    pub(crate) fn add_used(&mut self, fs: FsId, ino: u64, row: &Row<'_>, day: u32) {
        self.push(fs, ino, |bytes| row.used(day, bytes));
    }

    fn push(&mut self, fs: FsId, ino: u64, fill: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        fill(&mut self.bytes);
        let [start, end] = [start, self.bytes.len()].map(|at| u32::try_from(at).expect("less than 4 GiB"));
        self.files.push(Place { fs, ino, start, end });
    }

    /// Frees unused capacity. Many batches may wait for a commit.
    pub(crate) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.files.shrink_to_fit();
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the bytes of a row.
    pub(crate) fn row(&self, place: &Place) -> &[u8] {
        &self.bytes[place.start as usize..place.end as usize]
    }
}
