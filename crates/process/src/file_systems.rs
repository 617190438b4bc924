//! The file systems that the entries of an inventory are on.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ftk_cache::FileSystems;
use ftk_file::FsId;
use ftk_inventory::{DirNo, FileNo, Inventory, Opener};
use rustix::fs::{Mode, OFlags, openat};

/// Finds out which file systems with an identity the directories of a walk are on.
///
/// A device counts only if a directory is on it, or a file that is a starting point. The few files that are on
/// another device than their directory, because they are mounted over a file or reached through a link, have
/// the identity of their file system only if a directory is on that device too.
pub fn file_systems(inventory: &Inventory) -> FileSystems {
    let mut found = BTreeMap::new();
    let (mut opener, mut stats) = (Opener::new(inventory), Opener::new(inventory));
    // If one file or directory cannot be opened, the next one on the same device may be.
    let mut add = |dev, identify: &mut dyn FnMut(&mut Opener<'_>) -> Option<Option<FsId>>| {
        if let Entry::Vacant(entry) = found.entry(dev)
            && let Some(id) = identify(&mut opener)
        {
            entry.insert(id);
        }
    };
    for dir in (0..inventory.dirs()).map(DirNo) {
        if !inventory.has_starting_points(dir) {
            add(inventory.device(dir), &mut |opener| {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                FsId::of(openat(opener.open(dir).ok()?, c".", flags, Mode::empty()).ok()?).ok()
            });
            continue;
        }
        // The files given as starting points share a directory that is not theirs.
        for file in inventory.files_of(dir).map(FileNo) {
            let dev = match inventory.has_sizes() {
                true => inventory.identity(dir, file).0,
                false => match stats.stat_file(dir, file) {
                    Ok(stat) => stat.dev,
                    Err(_) => continue,
                },
            };
            add(dev, &mut |opener| {
                let file = opener.open_file(dir, file).ok().filter(|file| file.stat().dev == dev)?;
                FsId::of(file).ok()
            });
        }
    }
    FileSystems::new(found)
}
