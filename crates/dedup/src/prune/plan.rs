//! Decides which members of a group stay and which are removed.

use std::collections::BTreeSet;

use super::units::{Unit, criterion, units};
use super::{Copies, GroupDecision, KeepRule, KeepRules, MemberDecision, Need, Protection, SkipReason, Why};
use crate::Member;

/// Which members are one copy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Identity<'c> {
    /// Names with the same device and inode number are one file, and so one copy.
    Inodes,
    /// The number of the copy that each member belongs to: directories that share files.
    Numbered(&'c [usize]),
}

/// Decides which members stay and which may be removed. All members must be identical. Their order does not
/// matter.
///
/// Names with the same device and inode number are one file and count as one copy: all of them stay, or all
/// are removed. At least as many files stay as the rules request, or all if there are fewer. A symbolic link
/// never counts as a copy. No member is removed whose standing protects it.
///
/// ```
/// use ftk_dedup::Member;
/// use ftk_dedup::prune::{KeepRule, KeepRules, MemberDecision, Why, plan};
/// use ftk_file::Version;
///
/// let member = |path: &str, ino, mtime_ns| {
///     let version = Version { dev: 1, ino, size: 9, mtime_ns, ctime_ns: 0 };
///     Member { blocks: 8, ..Member::new(0, path.into(), version) }
/// };
/// let members = [member("copy", 1, 2000), member("original", 2, 1000)];
/// let rules = KeepRules { keep: vec![KeepRule::Oldest], ..KeepRules::default() };
/// let goes = MemberDecision::Goes { keeper: 1, outside: 0, frees: 4096 };
/// assert_eq!(plan(&members, &rules).decisions, [goes, MemberDecision::Stays(Why::Oldest)]);
/// ```
pub fn plan(members: &[Member], rules: &KeepRules) -> GroupDecision {
    plan_copies(members, Identity::Inodes, rules)
}

/// Returns for each member the names of the rules that would keep it if they were the only ones.
pub fn kept_by_each(members: &[Member]) -> Vec<Vec<&'static str>> {
    let mut kept_by = vec![Vec::new(); members.len()];
    // Members of one group may lie below the same starting point.
    for name in KeepRule::NAMES.into_iter().filter(|name| *name != "argument") {
        let keep = KeepRule::named(name.as_bytes()).into_iter().collect();
        let decisions = plan(members, &KeepRules { keep, ..KeepRules::default() }).decisions;
        let kept = decisions.iter().zip(&mut kept_by);
        kept.filter(|(it, _)| matches!(it, MemberDecision::Stays(_))).for_each(|(_, names)| names.push(name));
    }
    kept_by
}

/// Does the same as [`plan`] for any kind of copies.
pub(crate) fn plan_copies(members: &[Member], identity: Identity<'_>, rules: &KeepRules) -> GroupDecision {
    let units = units(members, identity, rules);
    let (unit_decisions, kept_one) = unit_decisions(&units, members, identity, rules);
    let removed = units
        .iter()
        .zip(&unit_decisions)
        .find_map(|(unit, decision)| (*decision == UnitDecision::Goes).then_some(unit));
    let keepers = keepers(&units, &unit_decisions, rules);
    let mut decided = BTreeSet::new();
    let mut decisions = vec![MemberDecision::Skipped(SkipReason::ViaLink); members.len()];
    for (unit, decision) in units.iter().zip(&unit_decisions) {
        let why = match decision {
            UnitDecision::Stays(Some(why)) => *why,
            UnitDecision::Stays(None) => match (&unit.best, removed.and_then(|it| it.best.as_ref())) {
                (Some(best), Some(removed)) => {
                    let (why, rule) = criterion(best, removed, rules);
                    decided.extend(rule);
                    why
                }
                _ => Why::Enough,
            },
            UnitDecision::Goes | UnitDecision::Skipped(_) => Why::Enough,
        };
        for (nth, &name) in unit.names.iter().enumerate() {
            let member = &members[name];
            decisions[name] = match decision {
                UnitDecision::Stays(_) if member.standing.protection == Protection::Reference => {
                    MemberDecision::Stays(Why::Reference)
                }
                UnitDecision::Stays(_) if member.standing.protection == Protection::InKept => {
                    MemberDecision::Stays(Why::InKept)
                }
                _ if member.via_link => MemberDecision::Skipped(SkipReason::ViaLink),
                UnitDecision::Stays(_) if unit.best.as_ref().is_some_and(|best| best.name == name) => {
                    MemberDecision::Stays(why)
                }
                UnitDecision::Stays(_) => MemberDecision::Stays(Why::SameFile),
                UnitDecision::Skipped(reason) => MemberDecision::Skipped(*reason),
                UnitDecision::Goes => {
                    let outside = match identity {
                        Identity::Inodes => member.nlink - unit.names.len() as u64,
                        Identity::Numbered(_) => 0,
                    };
                    let is_last = outside == 0 && nth + 1 == unit.names.len();
                    MemberDecision::Goes {
                        keeper: keeper(&keepers, members, member.version.dev),
                        outside,
                        frees: if is_last { member.blocks.saturating_mul(512) } else { 0 },
                    }
                }
            };
        }
    }
    let kept = units.iter().zip(&unit_decisions);
    let kept = kept.filter(|(_, decision)| matches!(decision, UnitDecision::Stays(_))).map(|(unit, _)| unit);
    let kept: Vec<_> = kept.filter(|unit| unit.best.is_some() && !unit.is_unwanted).collect();
    let copies = removed.and_then(|_| counted_on(&kept, members, rules));
    GroupDecision { decisions, decided, kept_one, copies }
}

/// Returns the best names of the files that stay and replace others, the preferred ones first.
fn keepers(units: &[Unit], decisions: &[UnitDecision], rules: &KeepRules) -> Vec<usize> {
    let kept = units.iter().zip(decisions);
    let kept = kept.filter(|(unit, it)| matches!(it, UnitDecision::Stays(_)) && !unit.is_unwanted);
    let mut kept: Vec<_> = kept.filter_map(|(unit, _)| unit.best.as_ref()).collect();
    // The copy that a removal relies on is one that the user wants.
    if !rules.names_survive && kept.iter().any(|best| !best.is_unwanted()) {
        kept.retain(|best| !best.is_unwanted());
    }
    kept.into_iter().map(|best| best.name).collect()
}

/// Further copies from which a requirement can be met if one of the preferred copies is not there any more. A group may
/// keep thousands.
const SPARE: usize = 16;

/// Returns the copies that the rules count on; `None` if these are only the keeper.
fn counted_on(kept: &[&Unit], members: &[Member], rules: &KeepRules) -> Option<Copies<usize>> {
    let is_file = |&name: &usize| !members[name].via_link;
    let best = |unit: &&Unit| unit.best.as_ref().map(|best| best.name);
    let mut copies = Copies { files: Vec::new(), needs: Vec::new() };
    let min_copies = rules.min_copies.max(1);
    if min_copies > 1 {
        copies.need(min_copies, kept.iter().filter_map(best).take(min_copies.saturating_add(SPARE)));
    }
    let is_chosen = |name: &usize| is_file(name) && rules.chosen.contains(&members[*name].path);
    let chosen = kept.iter().filter(|unit| unit.is_chosen);
    let chosen: Vec<_> =
        chosen.filter_map(|unit| unit.names.iter().copied().find(is_chosen).or(best(unit))).collect();
    copies.need(chosen.len(), chosen);
    for accepts in &rules.one_per {
        let is_accepted = |name: &usize| is_file(name) && accepts(&members[*name]);
        let accepted = kept.iter().filter_map(|unit| unit.names.iter().copied().find(is_accepted));
        let accepted: Vec<_> = accepted.take(SPARE).collect();
        copies.need(accepted.len().min(1), accepted);
    }
    let is_keeper = |name: &usize| kept.len() == 1 && best(&kept[0]) == Some(*name);
    (!copies.files.iter().all(is_keeper)).then_some(copies)
}

impl Copies<usize> {
    /// Adds a requirement of at least one copy.
    fn need(&mut self, count: usize, names: impl IntoIterator<Item = usize>) {
        if count == 0 {
            return;
        }
        let files = &mut self.files;
        let index = |name| {
            files.iter().position(|&it| it == name).unwrap_or_else(|| {
                files.push(name);
                files.len() - 1
            })
        };
        let among = names.into_iter().map(index).collect();
        self.needs.push(Need { count, among });
    }
}

/// The decision for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnitDecision {
    /// The reason, unless it is a rule that prefers the file to the removed ones.
    Stays(Option<Why>),
    Goes,
    Skipped(SkipReason),
}

/// Decides for each file. The files must be sorted with the preferred ones first. Returns also the numbers of the
/// tests of [`KeepRules::one_per`] that keep a file.
fn unit_decisions(
    units: &[Unit],
    members: &[Member],
    identity: Identity<'_>,
    rules: &KeepRules,
) -> (Vec<UnitDecision>, BTreeSet<usize>) {
    let mut stays = stays(units, rules);
    let kept_one = keep_one_per(units, members, rules, &mut stays);
    // A reference is a place of its own, also inside a starting point.
    let root =
        |&name: &usize| (members[name].root, members[name].standing.protection == Protection::Reference);
    let roots = |unit: &Unit| unit.names.iter().map(root).collect::<Vec<_>>();
    let has_links = |unit: &Unit, name: usize| match identity {
        Identity::Inodes => members[name].nlink >= unit.names.len() as u64,
        Identity::Numbered(_) => true,
    };
    let is_copy = |(unit, why): &(&Unit, &Option<_>)| why.is_some() && unit.best.is_some();
    let kept = units.iter().zip(&stays).filter(is_copy);
    let kept_roots: BTreeSet<_> = kept.flat_map(|(unit, _)| roots(unit)).collect();
    let decision = |(unit, why): (&Unit, Option<Option<Why>>)| match why {
        Some(why) => UnitDecision::Stays(why),
        None if unit.best.is_none() => UnitDecision::Skipped(SkipReason::ViaLink),
        None if rules.isolate && roots(unit).iter().any(|root| kept_roots.contains(root)) => {
            UnitDecision::Skipped(SkipReason::Isolated)
        }
        None if unit.is_fixed => UnitDecision::Skipped(SkipReason::ReadOnly),
        None if unit.has_via_link(members) => UnitDecision::Skipped(SkipReason::ViaLink),
        None if !unit.names.iter().all(|&name| has_links(unit, name)) => {
            UnitDecision::Skipped(SkipReason::Unidentified)
        }
        None => UnitDecision::Goes,
    };
    (units.iter().zip(stays).map(decision).collect(), kept_one)
}

/// Returns for each file whether it stays, and if so, the reason unless it is a rule: protected files, chosen files,
/// and as many others as copies are needed.
fn stays(units: &[Unit], rules: &KeepRules) -> Vec<Option<Option<Why>>> {
    let mut copies = 0;
    let mut stays = |unit: &Unit| {
        let is_file = unit.best.is_some();
        let why = match () {
            () if unit.stays => Some(Some(Why::Reference)),
            () if unit.is_chosen && is_file => Some(Some(Why::Chosen)),
            () if is_file && copies < rules.min_copies.max(1) => Some(None),
            () => None,
        };
        copies += usize::from(is_file && why.is_some() && !unit.is_unwanted);
        why
    };
    units.iter().map(&mut stays).collect()
}

/// Lets the preferred file stay that a test accepts, if no file stays that it accepts. Returns the numbers of the
/// tests that did so.
fn keep_one_per(
    units: &[Unit],
    members: &[Member],
    rules: &KeepRules,
    stays: &mut [Option<Option<Why>>],
) -> BTreeSet<usize> {
    let mut kept_one = BTreeSet::new();
    for (nth, accepts) in rules.one_per.iter().enumerate() {
        let is_accepted = |&at: &usize| {
            let mut names = units[at].names.iter().map(|&name| &members[name]);
            !units[at].is_unwanted && names.any(|member| !member.via_link && accepts(member))
        };
        let accepted: Vec<_> = (0..units.len()).filter(is_accepted).collect();
        if let Some(&first) = accepted.first().filter(|_| accepted.iter().all(|&at| stays[at].is_none())) {
            stays[first] = Some(Some(Why::OnePer));
            kept_one.insert(nth);
        }
    }
    kept_one
}

/// Returns the best kept file on this device, because hard links cannot cross devices. Returns the best kept file of all
/// if no kept file is on this device.
fn keeper(keepers: &[usize], members: &[Member], dev: u64) -> usize {
    let near = keepers.iter().find(|&&keeper| members[keeper].version.dev == dev);
    *near.or(keepers.first()).expect("a copy stays before any is removed")
}
