//! What a run is to do, and which file each of its rows belongs to.

use ftk_hash::{Algorithm, Platform};
use ftk_inventory::{DirNo, FileNo, Inventory};
use ftk_read::Span;

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Work<'w> {
    /// Where the files are.
    pub inventory: &'w Inventory,
    /// The digests wanted of each, at least one. A file is read once for all of them.
    pub algorithms: &'w [Algorithm],
    /// What the CPU can do.
    pub platform: Platform,
    /// The files wanted, strictly ascending; `None`: all of the inventory.
    pub only: Option<&'w [FileNo]>,
    /// What is read of each.
    pub span: Span,
}

impl Work<'_> {
    /// How many files are wanted, and so how many rows there are.
    pub fn files(&self) -> u32 {
        self.only.map_or(self.inventory.files(), |only| only.len() as u32)
    }

    /// The file that row number `row` belongs to.
    ///
    /// # Panics
    /// If not all files are wanted and there is no such row.
    pub fn file(&self, row: u32) -> FileNo {
        self.only.map_or(FileNo(row), |only| only[row as usize])
    }

    /// The number of a wanted file's row.
    pub(crate) fn row(&self, file: FileNo) -> u32 {
        self.only.map_or(file.0, |only| only.binary_search(&file).expect("a file that is wanted") as u32)
    }

    /// The directory of a file that lies in `dir` or behind it: mostly not far behind.
    pub(crate) fn dir_from(&self, dir: DirNo, file: FileNo) -> DirNo {
        /// Directories tried before the file is searched for.
        const NEAR: u32 = 8;
        // The first that ends behind the file, so none is asked about that is not there.
        (dir.0..dir.0 + NEAR)
            .map(DirNo)
            .find(|&dir| file.0 < self.inventory.files_of(dir).end)
            .unwrap_or_else(|| self.inventory.dir_of(file))
    }

    pub(crate) fn assert_ascending(&self) {
        let ascending = self.only.is_none_or(|only| only.is_sorted_by(|a, b| a < b));
        assert!(ascending, "files given twice, or not in their order");
    }
}
