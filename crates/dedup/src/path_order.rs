//! The names of a group in path order, if its files have several names.

use ftk_inventory::{FileNo, Inventory};

use crate::groups::Group;

/// Returns the names sorted by path, each with the number of its file. A group lists them file by file.
pub(crate) fn by_path(inventory: &Inventory, group: &Group<'_>) -> Vec<(FileNo, u32)> {
    let numbered =
        (0..).zip(group.clusters()).flat_map(|(nth, names)| names.iter().map(move |&name| (name, nth)));
    let mut names: Vec<_> = numbered.collect();
    names.sort_by_cached_key(|&(name, _)| inventory.path(name));
    names
}
