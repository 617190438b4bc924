//! The work of a run, and the file that belongs to each row.

use ftk_hash::{Algorithm, Platform};
use ftk_inventory::{DirNo, FileNo, Inventory};
use ftk_read::Span;

/// Returns the bytes to hash before the content of a file of this size.
pub type Prefix = fn(size: u64) -> Vec<u8>;

/// The work of a run.
#[derive(Clone, Copy, Debug)]
pub struct Work<'w> {
    /// The table that contains the files.
    pub inventory: &'w Inventory,
    /// The digests to compute for each file; at least one. A file is read once for all of them.
    pub algorithms: &'w [Algorithm],
    /// The abilities of the CPU.
    pub platform: Platform,
    /// The files to process, strictly ascending; `None` means all files of the inventory.
    pub only: Option<&'w [FileNo]>,
    /// Which part of each file is read.
    pub span: Span,
    /// Whether a file whose size is different from that of the walk is a
    /// [`Failure::Changed`](ftk_file::Failure::Changed). The inventory must then have sizes.
    pub fixed_sizes: bool,
    /// What is hashed before the content of each file. Digests with a prefix are not remembered for later runs, and
    /// a file whose size is not the number of its bytes is a [`Failure::Changed`](ftk_file::Failure::Changed).
    pub prefix: Option<Prefix>,
}

impl Work<'_> {
    /// Returns the number of files to process, which is also the number of rows.
    pub fn files(&self) -> u32 {
        self.only.map_or(self.inventory.files(), |only| only.len() as u32)
    }

    /// Returns the file that belongs to row number `row`.
    ///
    /// # Panics
    /// If `only` is given and has no such row.
    pub fn file(&self, row: u32) -> FileNo {
        self.only.map_or(FileNo(row), |only| only[row as usize])
    }

    /// Returns the row number of a file that is processed.
    pub(crate) fn row(&self, file: FileNo) -> u32 {
        self.only.map_or(file.0, |only| only.binary_search(&file).expect("a file that is wanted") as u32)
    }

    /// Returns the directory of `file`. The file must be in `dir` or in a later directory; usually it is in
    /// one of the next.
    pub(crate) fn dir_from(&self, dir: DirNo, file: FileNo) -> DirNo {
        /// Directories tried before a binary search.
        const NEAR: u32 = 8;
        // `find` stops at the first directory that ends after the file, so it never asks for one past the
        // last.
        (dir.0..dir.0 + NEAR)
            .map(DirNo)
            .find(|&dir| file.0 < self.inventory.files_of(dir).end)
            .unwrap_or_else(|| self.inventory.dir_of(file))
    }

    pub(crate) fn assert_ascending(&self) {
        let ascending = self.only.is_none_or(|only| only.is_sorted_by(|a, b| a < b));
        assert!(ascending, "the files are not in ascending order");
    }
}
