//! Members that are known before they are examined: those on which an action can be tried before hours are spent on
//! reading, and those that rules may match.

use std::collections::{BTreeMap, BTreeSet};

use ftk_file::{Symlinks, Version};
use ftk_inventory::{DirNo, FileNo, Inventory};

use super::Standing;
use crate::report::Group;
use crate::{Groups, Member};

/// Returns two files of each file system of a walked tree on which files may be removed. Files below these starting
/// points do not count, since they are never removed. Their versions are unknown.
pub fn scanned_probes(inventory: &Inventory, references: &BTreeSet<usize>) -> Vec<[Member; 2]> {
    let mut ends = BTreeMap::new();
    for dir in (0..inventory.dirs()).map(DirNo) {
        for file in inventory.files_of(dir).map(FileNo) {
            if inventory.symlinks(dir, file) == Symlinks::NoFollow
                && !references.contains(&inventory.root_of(dir, file))
            {
                let (dev, _) = inventory.identity(dir, file);
                ends.entry(dev).or_insert([file; 2])[1] = file;
            }
        }
    }
    ends.into_values().map(|ends| ends.map(|file| unexamined(inventory, file))).collect()
}

/// Returns the members of the groups of a walked tree. Only their paths are known.
pub fn scanned_members<'i>(
    inventory: &'i Inventory,
    groups: &'i Groups,
) -> impl Iterator<Item = Member> + use<'i> {
    groups.iter().flat_map(|group| group.files().iter().map(|&file| unexamined(inventory, file)))
}

fn unexamined(inventory: &Inventory, file: FileNo) -> Member {
    let mut path = Vec::new();
    inventory.push_path(file, &mut path);
    let root = inventory.root_of(inventory.dir_of(file), file);
    let (version, standing) = (Version::default(), Standing::default());
    Member { root, path, version, blocks: 0, nlink: 1, via_link: false, standing }
}

/// Returns two files of each file system of a saved report.
pub fn recorded_probes(groups: &[Group]) -> Vec<[Member; 2]> {
    let mut ends = BTreeMap::new();
    for member in groups.iter().flat_map(|group| &group.members) {
        ends.entry(member.version.dev).or_insert([member; 2])[1] = member;
    }
    ends.into_values().map(|ends| ends.map(Member::clone)).collect()
}
