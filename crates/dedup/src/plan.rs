//! Which members of a group stay and which go.

use std::collections::BTreeSet;

use crate::units::{Unit, units};
use crate::verdict::{GroupDecision, Left, MemberDecision, Why};
use crate::{KeepRule, KeepRules, Member};

/// Decides what stays and what goes. All members must have the same content; how they are ordered makes no
/// difference.
///
/// Names that agree in device and inode number are one file, hence one copy, and all of them stay or all go. At
/// least as many files stay as the rules ask for, or all; a symbolic link is never one of them. Nothing below a
/// reference goes.
///
/// ```
/// use ftk_dedup::{KeepRule, Member, KeepRules, MemberDecision, Why, plan};
///
/// let member = |path: &str, ino, mtime_ns| Member {
///     path: path.into(), root: 0, dev: 1, ino, size: 9, blocks: 8, nlink: 1, mtime_ns, ctime_ns: 0, via_link: false,
/// };
/// let members = [member("copy", 1, 2000), member("original", 2, 1000)];
/// let rules = KeepRules { keep: vec![KeepRule::Oldest], ..KeepRules::default() };
/// let goes = MemberDecision::Goes { keeper: 1, outside: 0, frees: 4096 };
/// assert_eq!(plan(&members, &rules).verdicts, [goes, MemberDecision::Stays(Why::Oldest)]);
/// ```
pub fn plan(members: &[Member], rules: &KeepRules) -> GroupDecision {
    let units = units(members, rules);
    let fates = fates(&units, members, rules);
    let loser = units.iter().zip(&fates).find_map(|(unit, fate)| (*fate == Fate::Goes).then_some(unit));
    let keepers: Vec<_> = units
        .iter()
        .zip(&fates)
        .filter(|(_, fate)| matches!(fate, Fate::Stays))
        .filter_map(|(unit, _)| Some(unit.best.as_ref()?.name))
        .collect();
    let mut verdicts = vec![MemberDecision::Left(Left::ViaLink); members.len()];
    for (unit, fate) in units.iter().zip(&fates) {
        let why = if unit.is_reference { Why::Reference } else { why(unit, loser, rules) };
        for (nth, &name) in unit.names.iter().enumerate() {
            let member = &members[name];
            verdicts[name] = match fate {
                Fate::Stays if rules.references.contains(&member.root) => {
                    MemberDecision::Stays(Why::Reference)
                }
                _ if member.via_link => MemberDecision::Left(Left::ViaLink),
                Fate::Stays if unit.best.as_ref().is_some_and(|best| best.name == name) => {
                    MemberDecision::Stays(why)
                }
                Fate::Stays => MemberDecision::Stays(Why::SameFile),
                Fate::Left(left) => MemberDecision::Left(*left),
                Fate::Goes => {
                    let outside = member.nlink - unit.names.len() as u64;
                    let is_last = outside == 0 && nth + 1 == unit.names.len();
                    MemberDecision::Goes {
                        keeper: keeper(&keepers, members, member.dev),
                        outside,
                        frees: if is_last { member.blocks.saturating_mul(512) } else { 0 },
                    }
                }
            };
        }
    }
    GroupDecision { verdicts }
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    Goes,
    Left(Left),
}

/// Goes through the files, the most wanted first. Nothing stays any more once something goes.
fn fates(units: &[Unit], members: &[Member], rules: &KeepRules) -> Vec<Fate> {
    let mut copies = 0;
    let mut kept_roots = BTreeSet::new();
    let mut fate = |unit: &Unit| {
        let roots = || unit.names.iter().map(|&name| members[name].root);
        let is_file = unit.best.is_some();
        if unit.is_reference || (is_file && copies < rules.min_copies.max(1)) {
            if is_file {
                copies += 1;
                kept_roots.extend(roots());
            }
            Fate::Stays
        } else if !is_file {
            Fate::Left(Left::ViaLink)
        } else if rules.isolate && roots().any(|root| kept_roots.contains(&root)) {
            Fate::Left(Left::Isolated)
        } else if unit.has_via_link(members) {
            Fate::Left(Left::ViaLink)
        } else if unit.names.iter().any(|&name| members[name].nlink < unit.names.len() as u64) {
            Fate::Left(Left::Unidentified)
        } else {
            Fate::Goes
        }
    };
    units.iter().map(&mut fate).collect()
}

/// What sets a file that stays apart from the best one that goes.
fn why(unit: &Unit, loser: Option<&Unit>, rules: &KeepRules) -> Why {
    let (Some(best), Some(loser)) = (&unit.best, loser.and_then(|loser| loser.best.as_ref())) else {
        return Why::Enough;
    };
    // The first part of a rank is that of the references.
    let ranks = best.rank.iter().zip(&loser.rank).skip(1);
    let rule = ranks.zip(&rules.keep).find_map(|((a, b), rule)| (a != b).then_some(rule));
    match rule {
        None | Some(KeepRule::First) => Why::First,
        Some(KeepRule::Oldest) => Why::Oldest,
        Some(KeepRule::Newest) => Why::Newest,
        Some(KeepRule::Shortest) => Why::Shortest,
        Some(KeepRule::Path(_)) => Why::Path,
    }
}

/// The best of them on this device, since a link cannot lead to another; else the best.
fn keeper(keepers: &[usize], members: &[Member], dev: u64) -> usize {
    let near = keepers.iter().find(|&&keeper| members[keeper].dev == dev);
    *near.or(keepers.first()).expect("nothing goes before something stays")
}
