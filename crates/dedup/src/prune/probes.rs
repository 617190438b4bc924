//! Members that are known before they are examined: those on which an action can be tried before hours are spent on
//! reading, and those that rules may match.

use std::collections::{BTreeMap, BTreeSet};

use ftk_file::{Symlinks, Version};
use ftk_inventory::{DirNo, FileNo, Inventory};

use super::Below;
use crate::report::{DirectoryGroup, Group};
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
    let root = inventory.root_of(inventory.dir_of(file), file);
    Member::new(root, inventory.path(file), Version::default())
}

/// Returns two files of each file system of a saved report.
pub fn recorded_probes(groups: &[Group]) -> Vec<[Member; 2]> {
    let mut ends = BTreeMap::new();
    for member in groups.iter().flat_map(|group| &group.members) {
        ends.entry(member.version.dev).or_insert([member; 2])[1] = member;
    }
    ends.into_values().map(|ends| ends.map(Member::clone)).collect()
}

/// All members of a saved report.
#[derive(Clone, Copy, Debug)]
pub struct RecordedMembers<'r> {
    /// The groups of files.
    pub groups: &'r [Group],
    /// The groups of directories.
    pub directories: &'r [DirectoryGroup],
}

impl<'r> RecordedMembers<'r> {
    fn files(&self) -> impl Iterator<Item = &'r Member> + use<'r> {
        self.groups.iter().flat_map(|group| &group.members)
    }

    fn dirs(&self) -> impl Iterator<Item = &'r Member> + use<'r> {
        self.directories.iter().flat_map(|group| &group.members)
    }

    /// Returns files and directories.
    pub fn all(&self) -> impl Iterator<Item = &'r Member> + use<'r> {
        self.files().chain(self.dirs())
    }

    /// Returns for each of these directories whether a member is below it. A whole directory also counts for those inside
    /// it.
    pub fn have_files(&self, below: &Below) -> Vec<bool> {
        let mut have_files = vec![false; below.len()];
        let dirs = self.dirs().flat_map(|dir| below.touched(&dir.path));
        let files = self.files().flat_map(|file| below.holders(&file.path).to_vec());
        dirs.chain(files).for_each(|nth| have_files[nth] = true);
        have_files
    }

    /// Returns whether a starting point is a directory. `root_lens` are the lengths of their paths.
    pub fn has_tree(&self, root_lens: &[usize]) -> bool {
        self.dirs().next().is_some() || self.files().any(|file| file.path.len() > root_lens[file.root])
    }
}
