//! Groups files by the result of a pass.

use ftk_inventory::{DirNo, FileNo, Inventory};

/// Two or more files with the same size and digest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class<'c> {
    pub(crate) size: u64,
    pub(crate) digest: &'c [u8],
    keys: &'c [Key],
    files: &'c [FileNo],
}

impl Class<'_> {
    /// Returns the files in ascending order.
    pub(crate) fn files(&self) -> impl Iterator<Item = FileNo> {
        self.keys.iter().map(|key| self.files[key.row as usize])
    }
}

/// A row whose state is `Ok`, with its sort key.
#[derive(Clone, Copy, Debug)]
struct Key {
    /// The sum of the size and the first bytes of the digest. If two keys have the same sum and the same
    /// digest, they also have the same size, so the size need not be compared. Most keys already differ in
    /// the sum.
    sum: u64,
    row: u32,
}

/// Memory for sorting in addition to the rows: a key, and the number in the list of files.
pub(crate) const BYTES_PER_FILE: usize = size_of::<Key>() + size_of::<FileNo>();

/// Calls `each` for every class among the files. `sizes` has their sizes, and `digest` returns the digest of
/// a row. A file without a digest is in no class.
///
/// # Panics
/// If digests are shorter than 8 bytes.
pub(crate) fn classes<'d>(
    files: &[FileNo],
    sizes: impl Iterator<Item = u64>,
    digest: impl Fn(u32) -> Option<&'d [u8]>,
    mut each: impl FnMut(Class<'_>),
) {
    let head = |digest: &[u8]| u64::from_be_bytes(*digest.first_chunk().expect("digests have 8 bytes"));
    let mut keys = Vec::with_capacity(files.len());
    keys.extend((0..).zip(sizes).filter_map(|(row, size)| {
        let sum = head(digest(row)?).wrapping_add(size);
        Some(Key { sum, row })
    }));
    let digest = |key: &Key| digest(key.row).expect("only rows with a digest have keys");
    let compare = |a: &Key, b: &Key| a.sum.cmp(&b.sum).then_with(|| digest(a).cmp(digest(b)));
    keys.sort_unstable_by(|a, b| compare(a, b).then(a.row.cmp(&b.row)));
    for keys in keys.chunk_by(|a, b| compare(a, b).is_eq()).filter(|keys| keys.len() > 1) {
        let digest = digest(&keys[0]);
        let size = keys[0].sum.wrapping_sub(head(digest));
        each(Class { size, digest, keys, files });
    }
}

/// Returns the sizes of these files, which must be in ascending order.
pub(crate) fn sizes(inventory: &Inventory, files: &[FileNo]) -> impl Iterator<Item = u64> {
    let mut dir = DirNo(0);
    files.iter().map(move |&file| {
        while inventory.files_of(dir).end <= file.0 {
            dir.0 += 1;
        }
        inventory.size(dir, file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_agree_in_size_and_in_the_whole_digest() {
        let digest = |head: u64, tail: u64| [head.to_be_bytes(), tail.to_be_bytes()].concat();
        let rows = [
            (10, Some(digest(7, 1))),
            (10, None),
            (10, Some(digest(7, 2))),
            // The same sum as the first row.
            (11, Some(digest(6, 1))),
            (11, Some(digest(7, 1))),
            (10, Some(digest(7, 1))),
            (11, Some(digest(6, 1))),
            (0, None),
            (u64::MAX, Some(digest(17, 1))),
            (u64::MAX, Some(digest(17, 1))),
        ];
        let files: Vec<_> = (100..110).map(FileNo).collect();
        let mut found = Vec::new();
        let sizes = rows.iter().map(|(size, _)| *size);
        let nth = |row: u32| rows[row as usize].1.as_deref();
        classes(&files, sizes, nth, |class| {
            found.push((
                class.size,
                class.digest.to_vec(),
                class.files().map(|file| file.0).collect::<Vec<_>>(),
            ));
        });
        found.sort();
        let expected = [
            (10, digest(7, 1), vec![100, 105]),
            (11, digest(6, 1), vec![103, 106]),
            (u64::MAX, digest(17, 1), vec![108, 109]),
        ];
        assert_eq!(found, expected);
    }
}
