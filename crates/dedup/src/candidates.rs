//! The files worth reading: those whose size another file has.

use std::ops::RangeInclusive;

use ftk_inventory::{DirNo, FileNo, Inventory};

use crate::links::Links;

/// The files within these sizes whose size another one has, in ascending order. Of all names of a file only the
/// first counts.
pub(crate) fn candidates(inventory: &Inventory, sizes: &RangeInclusive<u64>, links: &Links) -> Vec<FileNo> {
    let further = links.further();
    let names = || {
        let sized = files(inventory).map(|(dir, file)| (inventory.size(dir, file), dir, file));
        sized.filter(|&(size, dir, file)| {
            let is_further = || inventory.is_linked(dir, file) && further.binary_search(&file).is_ok();
            sizes.contains(&size) && !is_further()
        })
    };

    // Sorted sizes, and a search in those that repeat, take half the memory of sorting pairs, and leave the
    // files in their order.
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

/// All files, each with its directory.
pub(crate) fn files(inventory: &Inventory) -> impl Iterator<Item = (DirNo, FileNo)> {
    let dirs = (0..inventory.dirs()).map(DirNo);
    dirs.flat_map(|dir| inventory.files_of(dir).map(move |file| (dir, FileNo(file))))
}
