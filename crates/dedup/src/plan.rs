//! Decides which members of a group stay and which are removed.

use std::collections::BTreeSet;

use crate::decision::{GroupDecision, MemberDecision, SkipReason, Why};
use crate::units::{Unit, units};
use crate::{KeepRule, KeepRules, Member};

/// Decides which members stay and which may be removed. All members must be identical. Their order does not
/// matter.
///
/// Names with the same device and inode number are one file and count as one copy: all of them stay, or all
/// are removed. At least as many files stay as the rules request, or all if there are fewer. A symbolic link
/// never counts as a copy. No file below a reference is removed.
///
/// ```
/// use ftk_dedup::{KeepRule, Member, KeepRules, MemberDecision, Why, plan};
/// use ftk_file::Version;
///
/// let member = |path: &str, ino, mtime_ns| Member {
///     path: path.into(),
///     root: 0,
///     version: Version { dev: 1, ino, size: 9, mtime_ns, ctime_ns: 0 },
///     blocks: 8,
///     nlink: 1,
///     via_link: false,
/// };
/// let members = [member("copy", 1, 2000), member("original", 2, 1000)];
/// let rules = KeepRules { keep: vec![KeepRule::Oldest], ..KeepRules::default() };
/// let goes = MemberDecision::Goes { keeper: 1, outside: 0, frees: 4096 };
/// assert_eq!(plan(&members, &rules).decisions, [goes, MemberDecision::Stays(Why::Oldest)]);
/// ```
pub fn plan(members: &[Member], rules: &KeepRules) -> GroupDecision {
    let units = units(members, rules);
    let unit_decisions = unit_decisions(&units, members, rules);
    let removed = units
        .iter()
        .zip(&unit_decisions)
        .find_map(|(unit, decision)| (*decision == UnitDecision::Goes).then_some(unit));
    let keepers: Vec<_> = units
        .iter()
        .zip(&unit_decisions)
        .filter(|(_, decision)| matches!(decision, UnitDecision::Stays))
        .filter_map(|(unit, _)| Some(unit.best.as_ref()?.name))
        .collect();
    let mut decisions = vec![MemberDecision::Skipped(SkipReason::ViaLink); members.len()];
    for (unit, decision) in units.iter().zip(&unit_decisions) {
        let why = if unit.is_reference { Why::Reference } else { why(unit, removed, rules) };
        for (nth, &name) in unit.names.iter().enumerate() {
            let member = &members[name];
            decisions[name] = match decision {
                UnitDecision::Stays if rules.references.contains(&member.root) => {
                    MemberDecision::Stays(Why::Reference)
                }
                _ if member.via_link => MemberDecision::Skipped(SkipReason::ViaLink),
                UnitDecision::Stays if unit.best.as_ref().is_some_and(|best| best.name == name) => {
                    MemberDecision::Stays(why)
                }
                UnitDecision::Stays => MemberDecision::Stays(Why::SameFile),
                UnitDecision::Skipped(reason) => MemberDecision::Skipped(*reason),
                UnitDecision::Goes => {
                    let outside = member.nlink - unit.names.len() as u64;
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
    GroupDecision { decisions }
}

/// The decision for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnitDecision {
    Stays,
    Goes,
    Skipped(SkipReason),
}

/// Decides for each file. The files must be sorted with the preferred ones first, so after the first removed
/// file no more are kept.
fn unit_decisions(units: &[Unit], members: &[Member], rules: &KeepRules) -> Vec<UnitDecision> {
    let mut copies = 0;
    let mut kept_roots = BTreeSet::new();
    let mut decision = |unit: &Unit| {
        let roots = || unit.names.iter().map(|&name| members[name].root);
        let is_file = unit.best.is_some();
        if unit.is_reference || (is_file && copies < rules.min_copies.max(1)) {
            if is_file {
                copies += 1;
                kept_roots.extend(roots());
            }
            UnitDecision::Stays
        } else if !is_file {
            UnitDecision::Skipped(SkipReason::ViaLink)
        } else if rules.isolate && roots().any(|root| kept_roots.contains(&root)) {
            UnitDecision::Skipped(SkipReason::Isolated)
        } else if unit.has_via_link(members) {
            UnitDecision::Skipped(SkipReason::ViaLink)
        } else if unit.names.iter().any(|&name| members[name].nlink < unit.names.len() as u64) {
            UnitDecision::Skipped(SkipReason::Unidentified)
        } else {
            UnitDecision::Goes
        }
    };
    units.iter().map(&mut decision).collect()
}

/// Returns the reason why a file stays: the first rule that prefers it to the best removed file.
fn why(unit: &Unit, removed: Option<&Unit>, rules: &KeepRules) -> Why {
    let (Some(best), Some(removed)) = (&unit.best, removed.and_then(|removed| removed.best.as_ref())) else {
        return Why::Enough;
    };
    // The first element of a rank is for the references.
    let ranks = best.rank.iter().zip(&removed.rank).skip(1);
    let rule = ranks.zip(&rules.keep).find_map(|((a, b), rule)| (a != b).then_some(rule));
    match rule {
        None | Some(KeepRule::First) => Why::First,
        Some(KeepRule::Oldest) => Why::Oldest,
        Some(KeepRule::Newest) => Why::Newest,
        Some(KeepRule::Shortest) => Why::Shortest,
        Some(KeepRule::Path(_)) => Why::Path,
    }
}

/// Returns the best kept file on this device, because hard links cannot cross devices. If there is none,
/// returns the best kept file.
fn keeper(keepers: &[usize], members: &[Member], dev: u64) -> usize {
    let near = keepers.iter().find(|&&keeper| members[keeper].version.dev == dev);
    *near.or(keepers.first()).expect("a copy stays before any is removed")
}
