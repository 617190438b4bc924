//! Plans groups of directories: which stay, and which are handled as a whole.

use std::collections::BTreeSet;

use ftk_apply::{Seen, Step};
use ftk_dedup::report::{DirectoryGroup, Group};
use ftk_dedup::{
    Choice, Contents, DirSurvey, Directories, DirectoryRules, Fates, KeepRules, Member, MemberDecision,
    Names, Why,
};
use ftk_inventory::Inventory;

use crate::console::{Console, Outcome, cause};
use crate::dup::below::Below;
use crate::dup::dirs::DirArgs;
use crate::dup::dirs::linked::{Linked, linked_files};
use crate::dup::dirs::report::say_partial;
use crate::dup::plan::{IN_KEPT, decisions, reason};
use crate::dup::rule_use::RuleUse;

/// The plan for one directory.
#[derive(Debug)]
pub(in crate::dup) enum DirItem {
    Keep {
        path: Vec<u8>,
        why: String,
    },
    /// Surplus, but protected by a rule.
    Leave {
        path: Vec<u8>,
        why: String,
    },
    /// It cannot be examined, so it stays.
    Refuse {
        path: Vec<u8>,
        why: String,
    },
    /// To be removed, or all its files replaced.
    Go(Step),
}

/// Plans groups of directories.
#[derive(Debug)]
pub(in crate::dup) struct DirPlanner<'p> {
    pub(in crate::dup) rules: &'p KeepRules,
    pub(in crate::dup) rule_use: &'p RuleUse,
    /// Length of the path of each starting point, by its number.
    pub(in crate::dup) roots: &'p [usize],
    /// Members with this or a higher number of their starting point are inside directories that stay as a whole.
    pub(in crate::dup) kept_from: usize,
    /// Whether directories that share files by hard links are one copy.
    pub(in crate::dup) joins_linked: bool,
}

/// Why a directory stays that shares files with another one that stays.
const LINKED: &str = "contains hard links of the kept files";

impl DirPlanner<'_> {
    /// Returns the items of equal directories, and for each whether it goes.
    fn items(&self, members: &[Member], linked: &Linked) -> (Vec<DirItem>, Vec<bool>) {
        let decided = decisions(&linked.join(members), self.rules, self.kept_from);
        self.rule_use.note(&decided);
        let decisions = decided.decisions;
        let goes: Vec<_> =
            decisions.iter().map(|decision| matches!(decision, MemberDecision::Goes { .. })).collect();
        let (mut items, mut going, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for (member, decision) in members.iter().zip(&decisions) {
            let path = member.path.clone();
            match *decision {
                MemberDecision::Stays(Why::Reference) if member.root >= self.kept_from => {
                    items.push(DirItem::Keep { path, why: IN_KEPT.into() });
                }
                MemberDecision::Stays(Why::SameFile) => {
                    items.push(DirItem::Keep { path, why: LINKED.into() })
                }
                MemberDecision::Stays(why) => items.push(DirItem::Keep { path, why: reason(why, member) }),
                MemberDecision::Skipped(why) => left.push(DirItem::Leave { path, why: why.to_string() }),
                MemberDecision::Goes { keeper, .. } => {
                    let step = Step::new(self.seen(member), self.seen(&members[keeper]));
                    going.push(DirItem::Go(step));
                }
            }
        }
        if going.is_empty() && left.is_empty() {
            return (Vec::new(), goes);
        }
        items.append(&mut going);
        items.append(&mut left);
        (items, goes)
    }

    /// Returns a directory as it was seen, without slashes at the end of its path.
    fn seen(&self, member: &Member) -> Seen {
        let mut path = member.path.clone();
        while path.len() > 1 && path.ends_with(b"/") {
            path.pop();
        }
        Seen { root_len: self.roots[member.root].min(path.len()), path, version: member.version }
    }

    /// Plans the directories of a search. Returns the items, what they mean for all directories, and the outcome.
    pub(in crate::dup) fn search(
        &self,
        inventory: &Inventory,
        contents: &Contents,
        (args, references): (&DirArgs, &Below),
        console: &Console,
    ) -> (Vec<DirItem>, Fates, Outcome) {
        let rules =
            DirectoryRules { all: args.dirs, is_unit: &|name| args.is_unit(name), names: Names::Compared };
        let directories = Directories::new(inventory, contents, &rules);
        let mut survey = DirSurvey::new(inventory);
        let mut outcome = Outcome::Success;
        let mut planned = Vec::new();
        let (groups, fates) = directories.decide(|group| {
            let mut members = Vec::new();
            let mut numbers = Vec::new();
            for (nth, dir) in group.all().enumerate() {
                match survey.member(dir) {
                    Ok(member) => {
                        // The search enters a reference only as a starting point, so a directory that contains one may
                        // look equal to another one without it.
                        let stays = nth < group.kept.len()
                            || !self.rules.references.contains(&member.root)
                                && references.touches(&member.path);
                        let n_roots = if stays { self.kept_from } else { 0 };
                        members.push(Member { root: member.root + n_roots, ..member });
                        numbers.push(nth);
                    }
                    Err(error) => {
                        console.path_error("open", &directories.path(dir), cause(&error));
                        outcome = Outcome::Error;
                    }
                }
            }
            let mut linked = Linked::new(members.len());
            if self.joins_linked {
                let dirs: Vec<_> = group.all().collect();
                for (member, &nth) in numbers.iter().enumerate() {
                    linked.add(member, directories.linked_files(dirs[nth]));
                }
            }
            let (items, goes) = self.items(&members, &linked);
            // A directory that cannot be opened stays.
            let mut choices = vec![Choice::Stays; group.dirs.len()];
            for (nth, _) in numbers.iter().zip(&goes).filter(|(_, goes)| **goes) {
                choices[nth - group.kept.len()] = Choice::Goes;
            }
            planned.push((group.dirs[0], items));
            choices
        });
        // In the order of the groups: those with the largest waste first.
        let mut items = Vec::new();
        let mut planned: std::collections::BTreeMap<_, _> = planned.into_iter().collect();
        for (group, _) in &groups {
            items.append(&mut planned.remove(&group.dirs[0]).unwrap_or_default());
        }
        say_partial(directories.partial(), console);
        (items, fates, outcome)
    }

    /// Plans the directories of a report, and removes the files inside surplus ones from its groups of files. Members
    /// inside directories that stay are marked by the numbers of their starting points.
    pub(in crate::dup) fn report(
        &self,
        mut directories: Vec<DirectoryGroup>,
        groups: &mut [Group],
    ) -> Vec<DirItem> {
        let mut places = Places::default();
        let mut items = Vec::new();
        // A directory has more entries than one inside it.
        directories.sort_by_key(|group| std::cmp::Reverse(group.entries));
        for mut group in directories {
            places.apply(&mut group.members, self.kept_from);
            if group.names == Names::Ignored {
                for member in group.members {
                    places.kept.insert(member.path.clone());
                    let why = "the directories have different names in them".into();
                    items.push(DirItem::Leave { path: member.path, why });
                }
                continue;
            }
            let mut linked = Linked::new(group.members.len());
            let mut members = Vec::new();
            for member in group.members {
                let files = if self.joins_linked { linked_files(&member.path) } else { Ok(Vec::new()) };
                match files {
                    Ok(files) => {
                        linked.add(members.len(), files);
                        members.push(member);
                    }
                    Err(error) => {
                        places.kept.insert(member.path.clone());
                        items.push(DirItem::Refuse { path: member.path, why: cause(&error).to_string() });
                    }
                }
            }
            let (mut some, goes) = self.items(&members, &linked);
            for (member, goes) in members.into_iter().zip(goes) {
                let set = if goes { &mut places.gone } else { &mut places.kept };
                set.insert(member.path);
            }
            items.append(&mut some);
        }
        groups.iter_mut().for_each(|group| places.apply(&mut group.members, self.kept_from));
        items
    }
}

/// Paths of directories that stay or go as a whole.
#[derive(Debug, Default)]
struct Places {
    kept: BTreeSet<Vec<u8>>,
    gone: BTreeSet<Vec<u8>>,
}

impl Places {
    /// Removes the members inside surplus directories, and marks those inside directories that stay.
    fn apply(&self, members: &mut Vec<Member>, kept_from: usize) {
        if self.kept.is_empty() && self.gone.is_empty() {
            return;
        }
        members.retain(|member| !is_inside(&member.path, &self.gone));
        for member in members.iter_mut().filter(|member| is_inside(&member.path, &self.kept)) {
            member.root += kept_from;
        }
    }
}

/// Returns whether a path is below one of the directories.
fn is_inside(path: &[u8], directories: &BTreeSet<Vec<u8>>) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    slashes.into_iter().any(|at| directories.contains(&path[..at]) || directories.contains(&path[..=at]))
}
