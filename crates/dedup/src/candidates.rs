//! The candidates: files whose size another file has too.

use std::ops::RangeInclusive;

use ftk_inventory::{DirNo, FileNo, Inventory};

use crate::links::Links;

/// Returns the files within `sizes` whose size another file has too, in ascending order. Hard links count as
/// one file, which is represented by its first name.
pub(crate) fn candidates(inventory: &Inventory, sizes: &RangeInclusive<u64>, links: &Links) -> Vec<FileNo> {
    let other = links.other_names();
    let names = || {
        let sized = files(inventory).map(|(dir, file)| (inventory.size(dir, file), dir, file));
        sized.filter(|&(size, dir, file)| {
            let is_other_name = || inventory.is_linked(dir, file) && other.binary_search(&file).is_ok();
            sizes.contains(&size) && !is_other_name()
        })
    };

    // Sorting only the sizes and searching the repeated ones needs half the memory of sorting pairs, and
    // keeps the files in order.
    let mut all = Vec::with_capacity(inventory.files() as usize);
    all.extend(names().map(|(size, ..)| size));
    all.sort_unstable();
    let repeated: Vec<u64> =
        all.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| same[0]).collect();
    drop(all);
    let mut candidates = Vec::with_capacity(inventory.files() as usize);
    candidates
        .extend(names().filter(|(size, ..)| repeated.binary_search(size).is_ok()).map(|(.., file)| file));
    candidates.shrink_to_fit();
    candidates
}

/// Returns all files, each with its directory.
pub(crate) fn files(inventory: &Inventory) -> impl Iterator<Item = (DirNo, FileNo)> {
    let dirs = (0..inventory.dirs()).map(DirNo);
    dirs.flat_map(|dir| inventory.files_of(dir).map(move |file| (dir, FileNo(file))))
}
