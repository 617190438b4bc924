//! Plans groups of files: which members are kept and why, and which go.

use std::collections::{BTreeSet, HashSet};
use std::ffi::CString;
use std::sync::Arc;

use super::gain::{Blocks, Contribution, contributions};
use super::place::{Places, UnitTest};
use super::plan::{Identity, plan_copies};
use super::{
    Below, Decision, Effect, Gain, GroupDecision, Item, KeepRules, MemberDecision, Protection, RuleUse,
    Sidecars, SkipReason, Why, plan,
};
use crate::Member;
use crate::report::Group;

/// Everything that decides what is removed in a run.
#[derive(Debug)]
pub struct Pruning {
    /// Which copies are kept.
    pub rules: KeepRules,
    /// What is never removed.
    pub references: References,
    /// What is done with the surplus copies.
    pub effect: Effect,
    /// Which rules decided something.
    pub rule_use: RuleUse,
    /// Length of the path of each starting point, by its number.
    pub root_lens: Vec<usize>,
    places: Places,
}

/// What is never removed.
#[derive(Debug, Default)]
pub struct References {
    /// Numbers of starting points below which everything stays.
    pub roots: BTreeSet<usize>,
    /// Directories below which everything stays.
    pub directories: Below,
}

impl References {
    /// Protects the starting points that are one of the directories or below one.
    pub fn protect_roots(&mut self, roots: &[CString]) {
        let is_protected = |root: &CString| !self.directories.at_or_above(root.as_bytes()).is_empty();
        self.roots = (0..).zip(roots).filter(|(_, root)| is_protected(root)).map(|(nth, _)| nth).collect();
    }

    /// Returns whether a file is below a reference.
    fn contain(&self, member: &Member) -> bool {
        self.roots.contains(&member.root) || self.directories.contains(&member.path)
    }

    /// Returns whether a directory is a reference, below one or above one.
    fn touch(&self, directory: &Member) -> bool {
        self.roots.contains(&directory.root) || self.directories.touches(&directory.path)
    }
}

/// Returns the lengths of the paths of starting points.
pub fn root_lens(roots: &[CString]) -> Vec<usize> {
    roots.iter().map(|root| root.as_bytes().len()).collect()
}

impl Pruning {
    /// Creates what decides in a run with these starting points. `is_unit` returns whether a directory above one is a unit.
    pub fn new(
        rules: KeepRules,
        references: References,
        effect: Effect,
        roots: &[CString],
        is_unit: Option<UnitTest>,
    ) -> Self {
        let (rule_use, places) = (RuleUse::default(), Places::new(is_unit));
        Self { rules, references, effect, rule_use, root_lens: root_lens(roots), places }
    }

    /// Creates what deletes surplus copies by the default rules.
    pub fn by_default(roots: &[CString]) -> Self {
        Self::new(KeepRules::default(), References::default(), Effect::Remove, roots, None)
    }

    /// Decides about the members of a group, and sorts them: the freed bytes of a file with several hard links are
    /// counted at the last of them in this order.
    pub fn decide(&self, members: &mut [Member]) -> GroupDecision {
        for member in &mut *members {
            self.places.mark(member, self.root_lens[member.root], false);
            if self.references.contain(member) {
                member.standing.protect(Protection::Reference);
            }
        }
        members.sort_unstable();
        self.with_snapshots(plan(members, &self.rules), members)
    }

    /// Says of members in snapshots that they could be cloned.
    fn with_snapshots(&self, mut decided: GroupDecision, members: &[Member]) -> GroupDecision {
        if self.effect == Effect::Clone && !self.rules.into_snapshots {
            let left = decided.decisions.iter_mut().zip(members);
            let left =
                left.filter(|(_, member)| member.standing.is_in_snapshot).map(|(decision, _)| decision);
            for decision in left.filter(|it| **it == MemberDecision::Skipped(SkipReason::ReadOnly)) {
                *decision = MemberDecision::Skipped(SkipReason::Snapshot);
            }
        }
        decided
    }

    /// Decides about equal directories. `copies` are the numbers of the copies that they belong to.
    pub(super) fn decide_directories(&self, members: &mut [Member], copies: &[usize]) -> GroupDecision {
        for member in &mut *members {
            self.places.mark(member, self.root_lens[member.root], true);
            if self.references.touch(member) {
                member.standing.protect(Protection::Reference);
            }
        }
        self.with_snapshots(plan_copies(members, Identity::Numbered(copies), &self.rules), members)
    }

    /// Plans groups of files one after the other. A group in which all members are kept has no items. `shares` returns
    /// whether the first of two files already shares all its blocks with the second; cloning it would free nothing.
    pub fn items<'p>(
        &'p self,
        groups: impl Iterator<Item = Group> + 'p,
        mut shares: impl FnMut(&Member, &Member) -> bool + 'p,
    ) -> impl Iterator<Item = Item> + 'p {
        groups.flat_map(move |group| self.group(group, &mut shares))
    }

    /// Does the same as [`items`](Self::items), but never removes a sidecar without its files, nor a file whose sidecar is
    /// not also a copy of a sidecar of the kept file. The whole plan is in memory.
    pub fn items_with_sidecars(
        &self,
        groups: impl Iterator<Item = Group>,
        mut sidecars: Sidecars,
    ) -> Vec<Item> {
        let groups: Vec<_> = groups.map(|group| sidecars.take(group)).collect();
        let items = self.items(groups.into_iter().filter(|group| group.members.len() > 1), |_, _| false);
        let is_chosen = |member: &Member| self.rules.chosen.contains(&member.path);
        sidecars.bind(items.collect(), |member| self.references.contain(member) || is_chosen(member))
    }

    /// Returns what is freed if the decisions for a group are carried out. Sorts its members.
    pub fn gain(&self, members: &mut [Member]) -> Gain {
        let decided = self.decide(members);
        self.contributions(members, &decided.decisions).into_iter().map(|it| it.gain).sum()
    }

    /// Returns the members of a group that are removed if the decisions for it are carried out. Sorts all members.
    pub fn removed<'m>(&self, members: &'m mut [Member]) -> impl Iterator<Item = &'m Member> {
        let decided = self.decide(members);
        let goes = |decision: &MemberDecision| matches!(decision, MemberDecision::Goes { .. });
        members.iter().zip(decided.decisions).filter(move |(_, it)| goes(it)).map(|(member, _)| member)
    }

    /// Returns what the step for each member contributes. The gain of a file is that of its last name, or for a clone that
    /// of its first one. Every name of a file is needed if one is.
    fn contributions(&self, members: &[Member], decisions: &[MemberDecision]) -> Vec<Contribution> {
        let identity = |nth: usize| members[nth].version.identity();
        let mut names: Vec<_> = (0..members.len()).collect();
        // The sort is stable, so the names of a file keep their order.
        names.sort_by_key(|&nth| identity(nth));
        // The number of the name of each file whose step counts.
        let (mut files, mut steps) = (Vec::with_capacity(names.len()), vec![0; names.len()]);
        for names in names.chunk_by(|&a, &b| identity(a) == identity(b)) {
            let step = if self.effect == Effect::Clone { names[0] } else { names[names.len() - 1] };
            names.iter().for_each(|&nth| steps[nth] = step);
            files.push(step);
        }
        files.sort_unstable();
        let blocks = |&nth: &usize| {
            let goes = match decisions[nth] {
                MemberDecision::Goes { outside, .. } => {
                    self.effect == Effect::Clone || (outside == 0 && self.effect != Effect::Move)
                }
                _ => false,
            };
            Blocks { allocated: members[nth].allocated(), shared: &members[nth].shared, goes }
        };
        let blocks: Vec<_> = files.iter().map(blocks).collect();
        let of_files = contributions(&blocks);
        let contribution = |(nth, step)| {
            let of_file = of_files[files.binary_search(&step).expect("a step is that of a file")];
            if nth == step { of_file } else { Contribution { gain: Gain::default(), ..of_file } }
        };
        steps.into_iter().enumerate().map(contribution).collect()
    }

    /// Returns the items of a group: kept members, then members to remove, then protected ones, each sorted by starting
    /// point and path.
    fn group(&self, mut group: Group, shares: &mut dyn FnMut(&Member, &Member) -> bool) -> Vec<Item> {
        let mut decided = self.decide(&mut group.members);
        self.rule_use.note(&decided);
        if self.effect == Effect::Remove {
            decided.add_all_kept(&group.members);
        }
        let copies = decided.copies.map(|copies| Arc::new(copies.of(&group.members)));
        let contributions = self.contributions(&group.members, &decided.decisions);
        let mut cloned = HashSet::new();
        let decisions: Vec<_> = group
            .members
            .iter()
            .zip(decided.decisions)
            .zip(contributions)
            .map(|((member, decision), contribution)| {
                let MemberDecision::Goes { keeper, .. } = decision else { return simple(decision) };
                let keeper = &group.members[keeper];
                match self.effect {
                    // Cloning keeps the inode, so one step for the first of its hard links replaces the blocks.
                    Effect::Clone if !cloned.insert(member.version.identity()) => {
                        return Decision::Keep(Why::SameFile);
                    }
                    Effect::Clone if shares(member, keeper) => return Decision::Keep(Why::Shares),
                    Effect::Clone | Effect::Link if !contribution.is_needed => {
                        return Decision::Leave(SkipReason::FreesNothing);
                    }
                    _ => {}
                }
                let (keeper, copies) = (keeper.clone(), copies.clone());
                Decision::Go { keeper, copies, gain: contribution.gain, files: 1 }
            })
            .collect();
        sorted(group.members, decisions, false)
    }
}

/// Returns the items of members with these decisions: kept members, then members to remove, then protected ones. Returns
/// none if all are kept.
pub(super) fn sorted(members: Vec<Member>, decisions: Vec<Decision>, is_directory: bool) -> Vec<Item> {
    if decisions.iter().all(|decision| matches!(decision, Decision::Keep(_))) {
        return Vec::new();
    }
    let item = |(member, decision)| Item { member, is_directory, decision, with_next: false };
    let mut items: Vec<_> = members.into_iter().zip(decisions).map(item).collect();
    // The sort is stable.
    items.sort_by_key(|item| match item.decision {
        Decision::Keep(_) => 0,
        Decision::Go { .. } => 1,
        Decision::Leave(_) | Decision::Apart(_) | Decision::Refuse(_) => 2,
    });
    items
}

/// Returns the decision for a member that does not go.
pub(super) fn simple(decision: MemberDecision) -> Decision {
    match decision {
        MemberDecision::Stays(why) => Decision::Keep(why),
        MemberDecision::Skipped(why) => Decision::Leave(why),
        MemberDecision::Goes { .. } => unreachable!("the caller handles this"),
    }
}
