//! Checks whether an action works on the file systems of the files, before hours are spent on reading them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;

use anyhow::bail;
use ftk_apply::{Action, Obstacle, Reach, Seen, Step, probe};
use ftk_dedup::Member;
use ftk_dedup::report::Group;
use ftk_file::{Symlinks, Version};
use ftk_inventory::{DirNo, FileNo, Inventory};
use ftk_record::quote;

use crate::console::Console;
use crate::dup::sharing::seen;

/// Two files of each file system on which files may be removed.
pub(super) type Pairs = Vec<(Seen, Seen)>;

/// Returns the pairs of a walked tree. Files below a reference do not count, since they are never removed.
pub(super) fn pairs_of(inventory: &Inventory, roots: &[CString], references: &BTreeSet<usize>) -> Pairs {
    let mut ends = BTreeMap::new();
    for dir in (0..inventory.dirs()).map(DirNo) {
        for file in inventory.files_of(dir).map(FileNo) {
            if inventory.symlinks(dir, file) == Symlinks::NoFollow
                && !references.contains(&inventory.root_of(dir, file))
            {
                let (dev, _) = inventory.identity(dir, file);
                ends.entry(dev).or_insert((file, file)).1 = file;
            }
        }
    }
    let seen = |file| {
        let mut path = Vec::new();
        inventory.push_path(file, &mut path);
        let root = inventory.root_of(inventory.dir_of(file), file);
        // The version is unknown, and `probe` does not need it.
        Seen { path, root_len: roots[root].as_bytes().len(), version: Version::default() }
    };
    ends.into_values().map(|(first, last)| (seen(first), seen(last))).collect()
}

/// Returns the pairs of a saved report.
pub(super) fn pairs_in(groups: &[Group], roots: &[usize]) -> Pairs {
    let mut ends = BTreeMap::new();
    for member in groups.iter().flat_map(|group| &group.members) {
        ends.entry(member.version.dev).or_insert((member, member)).1 = member;
    }
    let seen = |member: &Member| seen(member, roots[member.root]);
    ends.into_values().map(|(first, last)| (seen(first), seen(last))).collect()
}

/// Warns about each file system on which the action does not work.
///
/// # Errors
/// If the action works on none of them.
pub(super) fn preflight(pairs: Pairs, action: &Action, console: &Console) -> anyhow::Result<()> {
    let mut reach = Reach::new();
    let n_pairs = pairs.len();
    let mut obstacles = 0;
    for (victim, keeper) in pairs {
        let place = quote(&victim.path);
        match probe(&mut reach, action, &Step::new(victim, keeper)) {
            Ok(_) => {}
            // These obstacles concern the probed files alone, which will be refused in their own steps.
            Err(Obstacle::Unreachable(_) | Obstacle::Unknown(_) | Obstacle::NotWritable) => {}
            Err(obstacle) => {
                obstacles += 1;
                let kind = action.kind();
                console
                    .warning(format_args!("{kind} does not work on the file system of {place}: {obstacle}"));
            }
        }
    }
    if n_pairs > 0 && obstacles == n_pairs {
        bail!("--action {} works on none of the file systems searched: choose another action", action.kind());
    }
    Ok(())
}
