//! The file systems that the entries of an inventory are on.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::os::fd::{AsFd as _, BorrowedFd};

use ftk_cache::FileSystems;
use ftk_file::{FsId, Subvolume, is_subvolume_stub};
use ftk_inventory::{DirNo, FileNo, Inventory, Opener};
use rustix::fs::{Mode, OFlags, fstatfs, openat};

/// Finds out which file systems with an identity the directories of a walk are on.
///
/// A device counts only if a directory is on it, or a file that is a starting point. The few files that are on
/// another device than their directory, because they are mounted over a file or reached through a link, have
/// the identity of their file system only if a directory is on that device too.
pub fn file_systems(inventory: &Inventory) -> FileSystems {
    let (mut found, mut lineages, mut settled) = (BTreeMap::new(), Vec::new(), Vec::new());
    let mut note_subvolume = |dev, open: BorrowedFd<'_>| {
        let Some(subvolume) = Subvolume::of(open) else { return };
        lineages.extend(subvolume.mounted_lineage(open).map(|lineage| (dev, lineage)));
        settled.extend(subvolume.settled_ns().map(|settled_ns| (dev, settled_ns)));
    };
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
            let (dev, ino) = inventory.identity_of_dir(dir);
            add(dev, &mut |opener| {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let open = openat(opener.open(dir).ok()?, c".", flags, Mode::empty()).ok()?;
                let id = FsId::of(&open).ok()?;
                // It would take the identity from the snapshot.
                if id.is_some_and(|id| is_subvolume_stub(id, ino)) {
                    return Some(None);
                }
                note_subvolume(dev, open.as_fd());
                Some(id)
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
                note_subvolume(dev, file.as_fd());
                FsId::of(file).ok()
            });
        }
    }
    FileSystems::new(found).with_lineages(lineages).with_snapshots(settled)
}

/// Returns a name for the file system that has all directories of the inventory: its identity, or else its type. `None`
/// if there are several, if files are starting points, or if it is unknown.
pub fn file_system(inventory: &Inventory) -> Option<String> {
    let mut dirs = (0..inventory.dirs()).map(DirNo);
    let first = dirs.next()?;
    let dev = |dir| (!inventory.has_starting_points(dir)).then(|| inventory.identity_of_dir(dir).0);
    if dev(first).is_none() || dirs.any(|dir| dev(dir) != dev(first)) {
        return None;
    }
    let mut opener = Opener::new(inventory);
    let dir = opener.open(first).ok()?;
    Some(match FsId::of(&dir).ok()? {
        Some(id) => format!("{:032x}", u128::from_be_bytes(*id.as_bytes())),
        None => format!("{:x}", fstatfs(&dir).ok()?.f_type),
    })
}
