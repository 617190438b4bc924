//! Plans groups of directories: which stay, and which are handled as a whole.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ftk_file::Version;
use ftk_inventory::Inventory;

use super::linked::{Linked, linked_files};
use super::pruning::{simple, sorted};
use super::{Copies, Decision, Effect, Gain, Item, MemberDecision, Protection, Pruning, SkipReason, Why};
use crate::report::{DirectoryGroup, Group};
use crate::{Choice, Contents, DirGroup, DirSurvey, Directories, DirectoryRules, Fates, Member, Names};

/// The plan for the directories of a scan.
#[derive(Debug)]
pub struct PlannedDirectories {
    /// The items of all groups, those with the largest waste first.
    pub items: Vec<Item>,
    /// What they mean for all directories.
    pub fates: Fates,
    /// The number of directories that are equal to no other because an entry of them is unknown.
    pub partial: u64,
}

impl Pruning {
    /// Returns whether directories that share files count as one copy. Actions that replace files can go on with
    /// directories of which some files are links already, unless the rules count copies.
    fn joins_linked(&self) -> bool {
        self.effect.removes() || self.rules.isolate || self.rules.min_copies > 1
    }

    /// Plans the directories of a scan.
    pub fn scanned_directories(
        &self,
        inventory: &Inventory,
        contents: &Contents,
        rules: &DirectoryRules<'_>,
    ) -> PlannedDirectories {
        let directories = Directories::new(inventory, contents, rules);
        let mut survey = DirSurvey::new(inventory);
        let mut planned = BTreeMap::new();
        let (groups, fates) = directories.decide(|group| {
            let mut scanned = Scanned { pruning: self, directories: &directories, survey: &mut survey };
            let (items, choices) = scanned.group(group);
            planned.insert(group.dirs[0], items);
            choices
        });
        let items = groups.iter().filter_map(|(group, _)| planned.remove(&group.dirs[0])).flatten().collect();
        PlannedDirectories { items, fates, partial: directories.partial() }
    }

    /// Plans the directories of a report, and removes the files inside surplus ones from its groups of files. Members
    /// inside directories that stay are marked.
    pub fn recorded_directories(
        &self,
        mut directories: Vec<DirectoryGroup>,
        groups: &mut [Group],
    ) -> Vec<Item> {
        let mut places = Places::default();
        let mut items = Vec::new();
        // A directory has more entries than one inside it.
        directories.sort_by_key(|group| Reverse(group.entries));
        for mut group in directories {
            places.apply(&mut group.members);
            if group.names == Names::Ignored {
                for member in group.members {
                    places.kept.insert(member.path.clone());
                    items.push(directory(member, Decision::Leave(SkipReason::OtherNames)));
                }
                continue;
            }
            let (mut linked, mut members) = (Linked::default(), Vec::new());
            for member in group.members {
                let files = if self.joins_linked() { linked_files(&member.path) } else { Ok(Vec::new()) };
                match files {
                    Ok(files) => {
                        linked.push(files);
                        members.push(member);
                    }
                    Err(error) => {
                        places.kept.insert(member.path.clone());
                        items.push(directory(member, Decision::Refuse(error)));
                    }
                }
            }
            let (mut some, goes) = self.equal(members.clone(), &linked, group.files);
            for (member, goes) in members.into_iter().zip(goes) {
                let set = if goes { &mut places.gone } else { &mut places.kept };
                set.insert(member.path);
            }
            items.append(&mut some);
        }
        groups.iter_mut().for_each(|group| places.apply(&mut group.members));
        items
    }

    /// Returns the items of equal directories with this number of files, and for each whether it goes.
    fn equal(&self, mut members: Vec<Member>, linked: &Linked, files: u64) -> (Vec<Item>, Vec<bool>) {
        let mut decided = self.decide_directories(&mut members, &linked.firsts());
        self.rule_use.note(&decided);
        if self.effect == Effect::Remove {
            decided.add_all_kept(&members);
        }
        let goes = |decision: &MemberDecision| matches!(decision, MemberDecision::Goes { .. });
        let goes: Vec<_> = decided.decisions.iter().map(goes).collect();
        let copies = decided.copies.map(|copies| {
            let Copies { files, needs } = copies.of(&members);
            Arc::new(Copies { files: files.into_iter().map(bare).collect(), needs })
        });
        let decision = |decision| match decision {
            MemberDecision::Goes { keeper, .. } => {
                let (keeper, copies) = (bare(members[keeper].clone()), copies.clone());
                Decision::Go { keeper, copies, gain: Gain::default(), files }
            }
            MemberDecision::Stays(Why::SameFile) => Decision::Keep(Why::Linked),
            decision => simple(decision),
        };
        let decisions: Vec<_> = decided.decisions.into_iter().map(decision).collect();
        let going = members.into_iter().zip(&goes).map(|(it, &goes)| if goes { bare(it) } else { it });
        (sorted(going.collect(), decisions, true), goes)
    }
}

/// Plans groups of a scan.
struct Scanned<'p, 'i> {
    pruning: &'p Pruning,
    directories: &'p Directories<'i>,
    survey: &'p mut DirSurvey<'i>,
}

impl Scanned<'_, '_> {
    /// Returns the items of a group, and a choice for each of its directories that may go.
    fn group(&mut self, group: &DirGroup) -> (Vec<Item>, Vec<Choice>) {
        let (mut members, mut numbers, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        let mut linked = Linked::default();
        for (nth, dir) in group.all().enumerate() {
            match self.survey.member(dir) {
                Ok(mut member) => {
                    if nth < group.kept.len() {
                        member.standing.protect(Protection::InKept);
                    }
                    members.push(member);
                    numbers.push(nth);
                    let files = self.directories.linked_files(dir);
                    linked.push(files.filter(|_| self.pruning.joins_linked()));
                }
                Err(error) => {
                    let unknown = Member::new(0, self.directories.path(dir), Version::default());
                    refused.push(directory(unknown, Decision::Refuse(error)));
                }
            }
        }
        let (mut items, goes) = self.pruning.equal(members, &linked, group.files);
        items.append(&mut refused);
        // A directory that cannot be opened stays.
        let mut choices = vec![Choice::Stays; group.dirs.len()];
        for (nth, _) in numbers.iter().zip(&goes).filter(|(_, goes)| **goes) {
            choices[nth - group.kept.len()] = Choice::Goes;
        }
        (items, choices)
    }
}

fn directory(member: Member, decision: Decision) -> Item {
    Item { member, is_directory: true, decision, with_next: false }
}

/// Removes slashes at the end of a directory's path.
fn bare(mut directory: Member) -> Member {
    while directory.path.len() > 1 && directory.path.ends_with(b"/") {
        directory.path.pop();
    }
    directory
}

/// Paths of directories that stay or go as a whole.
#[derive(Debug, Default)]
struct Places {
    kept: BTreeSet<Vec<u8>>,
    gone: BTreeSet<Vec<u8>>,
}

impl Places {
    /// Removes the members inside surplus directories, and marks those inside directories that stay.
    fn apply(&self, members: &mut Vec<Member>) {
        if self.kept.is_empty() && self.gone.is_empty() {
            return;
        }
        members.retain(|member| !is_inside(&member.path, &self.gone));
        for member in members.iter_mut().filter(|member| is_inside(&member.path, &self.kept)) {
            member.standing.protect(Protection::InKept);
        }
    }
}

/// Returns whether a path is below one of the directories.
fn is_inside(path: &[u8], directories: &BTreeSet<Vec<u8>>) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    slashes.into_iter().any(|at| directories.contains(&path[..at]) || directories.contains(&path[..=at]))
}
