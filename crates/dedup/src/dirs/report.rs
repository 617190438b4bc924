//! The directories to report.

use std::io;

use ftk_inventory::Inventory;

use crate::dirs::{
    Choice, Contained, Contents, DirGroup, DirSurvey, Directories, DirectoryRules, Fates, Names, Share,
    contained,
};
use crate::report::{ContainedDirectory, DirectoryGroup, Writer};

/// The directories to report.
#[derive(Debug)]
pub struct DirReport {
    /// Whether names count.
    pub names: Names,
    /// The groups of equal directories, those with the largest waste first.
    pub groups: Vec<DirGroup>,
    /// The directories that are mostly contained elsewhere.
    pub contained: Vec<Contained>,
    /// Which directories the groups account for.
    pub fates: Fates,
    /// Whether groups of directories, and then groups of files, are reported.
    pub has_groups: bool,
    /// Directories that are equal to no other because an entry of them is unknown.
    pub partial: u64,
}

impl DirReport {
    /// Finds equal directories. Finds also those of which `share` exists elsewhere; without the equal ones if groups are
    /// reported.
    pub fn new(
        inventory: &Inventory,
        contents: &Contents,
        rules: &DirectoryRules<'_>,
        has_groups: bool,
        share: Option<Share>,
    ) -> Self {
        let directories = Directories::new(inventory, contents, rules);
        let (groups, fates) = directories.decide(first_stays);
        let groups: Vec<_> = groups.into_iter().map(|(group, _)| group).collect();
        let elsewhere = |share: Share| contained(&directories, share, has_groups.then_some(&fates));
        let contained = share.map(elsewhere).unwrap_or_default();
        Self { names: rules.names, groups, contained, fates, has_groups, partial: directories.partial() }
    }

    /// Bytes that all groups waste.
    pub fn wasted(&self) -> u64 {
        self.groups.iter().fold(0, |sum, group| sum.saturating_add(group.wasted))
    }

    /// Calls `add` with each group of directories as a report has it, those with the largest waste first. Omits a directory
    /// that cannot be opened any more, and calls `failed` with its path.
    pub fn each_group(
        &self,
        inventory: &Inventory,
        mut failed: impl FnMut(&[u8], io::Error),
        mut add: impl FnMut(DirectoryGroup),
    ) {
        let mut survey = DirSurvey::new(inventory);
        for group in &self.groups {
            let mut members = Vec::new();
            for dir in group.kept.first().into_iter().chain(&group.dirs) {
                match survey.member(*dir) {
                    Ok(member) => members.push(member),
                    Err(error) => failed(&inventory.dir_path(*dir), error),
                }
            }
            members.sort_unstable_by(|a, b| a.path.cmp(&b.path));
            let &DirGroup { size, files, entries, wasted, .. } = group;
            if members.len() > 1 {
                add(DirectoryGroup { size, files, entries, wasted, names: self.names, members });
            }
        }
    }

    /// Writes the record of a directory that is mostly contained elsewhere.
    pub fn write_contained(
        contained: &Contained,
        inventory: &Inventory,
        writer: &mut Writer,
        out: &mut Vec<u8>,
    ) {
        let holders = contained.holders.iter();
        let holders: Vec<_> = holders.map(|it| (inventory.dir_path(it.dir), it.files, it.bytes)).collect();
        let record = ContainedDirectory {
            path: &inventory.dir_path(contained.dir),
            root: inventory.root_of_dir(contained.dir),
            all: (contained.files, contained.bytes),
            found: (contained.found_files, contained.found_bytes),
            is_whole: contained.is_whole,
            holders: &holders,
        };
        let missing = contained.missing.iter().map(|&file| inventory.path(file));
        writer.contained(&record, missing, out);
    }
}

/// Keeps the first directory of each group, or those that stay anyway.
fn first_stays(group: &DirGroup) -> Vec<Choice> {
    let mut choices = vec![Choice::Goes; group.dirs.len()];
    if group.kept.is_empty() {
        choices[0] = Choice::Stays;
    }
    choices
}
