//! Files sorted by what a pass has found.

use ftk_inventory::{DirNo, FileNo, Inventory};
use ftk_process::Rows;

/// Files of equal size and digest, two or more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class<'c> {
    pub(crate) size: u64,
    pub(crate) digest: &'c [u8],
    keys: &'c [Key],
    files: &'c [FileNo],
}

impl Class<'_> {
    /// In ascending order.
    pub(crate) fn files(&self) -> impl Iterator<Item = FileNo> {
        self.keys.iter().map(|key| self.files[key.row as usize])
    }
}

/// A row that is `Ok`, by which it is sorted.
#[derive(Clone, Copy, Debug)]
struct Key {
    /// The sum of the size and the first bytes of the digest. Two keys that agree in it and in the digest have
    /// the same size, so it need not be compared; and most keys differ here already.
    sum: u64,
    row: u32,
}

/// What sorting takes beside the rows: a key, and the number in the list of files.
pub(crate) const BYTES_PER_FILE: usize = size_of::<Key>() + size_of::<FileNo>();

/// Calls `each` for every class among the files of which row by row the digest is in `rows`. What was not read
/// is in no class.
///
/// # Panics
/// If digests are shorter than 8 bytes.
pub(crate) fn classes(inventory: &Inventory, files: &[FileNo], rows: &Rows, mut each: impl FnMut(Class<'_>)) {
    let digest = |key: &Key| rows.digest(key.row, 0).expect("only rows that are ok have keys");
    let head = |digest: &[u8]| u64::from_be_bytes(*digest.first_chunk().expect("digests have 8 bytes"));
    let mut keys = Vec::with_capacity(files.len());
    keys.extend((0..).zip(sizes(inventory, files)).filter_map(|(row, size)| {
        let sum = head(rows.digest(row, 0)?).wrapping_add(size);
        Some(Key { sum, row })
    }));
    let compare = |a: &Key, b: &Key| a.sum.cmp(&b.sum).then_with(|| digest(a).cmp(digest(b)));
    keys.sort_unstable_by(|a, b| compare(a, b).then(a.row.cmp(&b.row)));
    for keys in keys.chunk_by(|a, b| compare(a, b).is_eq()).filter(|keys| keys.len() > 1) {
        let digest = digest(&keys[0]);
        let size = keys[0].sum.wrapping_sub(head(digest));
        each(Class { size, digest, keys, files });
    }
}

/// The sizes of these files, given in ascending order.
pub(crate) fn sizes(inventory: &Inventory, files: &[FileNo]) -> impl Iterator<Item = u64> {
    let mut dir = DirNo(0);
    files.iter().map(move |&file| {
        while inventory.files_of(dir).end <= file.0 {
            dir.0 += 1;
        }
        inventory.size(dir, file)
    })
}
