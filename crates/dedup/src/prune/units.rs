//! Groups members by inode, and ranks them by the rules.

use std::cmp::Ordering;

use super::plan::Identity;
use super::{KeepRule, KeepRules};
use crate::Member;

/// All names of one file in a group. It is one copy, which stays or is removed as a whole.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Indices of the members, ordered by starting point and path.
    pub(crate) names: Vec<usize>,
    /// Whether the standing of one of the names protects it.
    pub(crate) stays: bool,
    /// Whether the user chose one of the names.
    pub(crate) is_chosen: bool,
    /// The name that the rules prefer, with its rank; `None` if every path is a symbolic link.
    pub(crate) best: Option<Best>,
}

/// A name and its rank. A smaller rank is better.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Best {
    /// Whether the standing does not protect the name, then one value for each rule, then its position by
    /// starting point and path.
    pub(crate) rank: Vec<i128>,
    pub(crate) name: usize,
}

impl Unit {
    pub(crate) fn has_via_link(&self, members: &[Member]) -> bool {
        self.names.iter().any(|&name| members[name].via_link)
    }
}

/// Returns the files of a group: first the protected ones, then the chosen ones, then the preferred ones. The order of the
/// members does not matter.
pub(crate) fn units(members: &[Member], identity: Identity<'_>, rules: &KeepRules) -> Vec<Unit> {
    let mut order: Vec<_> = (0..members.len()).collect();
    order.sort_unstable_by_key(|&name| &members[name]);
    let best = |(place, &name): (usize, &usize)| {
        let member = &members[name];
        (!member.via_link).then(|| Best { rank: rank(member, place, rules), name })
    };
    let mut ranked: Vec<_> = order.iter().enumerate().map(best).zip(&order).collect();
    let identity = |name: usize| match identity {
        Identity::Inodes => members[name].version.identity(),
        Identity::Numbered(numbers) => (0, numbers[name] as u64),
    };
    // The sort is stable, so the names of a file keep their order.
    ranked.sort_by_key(|&(_, &name)| identity(name));
    let mut units: Vec<Unit> = Vec::new();
    for (best, &name) in ranked {
        match units.last_mut() {
            Some(unit) if identity(unit.names[0]) == identity(name) => {
                unit.names.push(name);
                unit.stays |= members[name].standing.stays();
                unit.is_chosen |= rules.chosen.contains(&members[name].path);
                if compare(&best, &unit.best).is_lt() {
                    unit.best = best;
                }
            }
            _ => {
                let stays = members[name].standing.stays();
                let is_chosen = rules.chosen.contains(&members[name].path);
                units.push(Unit { names: vec![name], stays, is_chosen, best });
            }
        }
    }
    let order = |unit: &Unit| (!unit.stays, !unit.is_chosen);
    units.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| compare(&a.best, &b.best)));
    units
}

/// Orders by rank. A file without a rank comes last.
fn compare(a: &Option<Best>, b: &Option<Best>) -> Ordering {
    (a.is_none(), a).cmp(&(b.is_none(), b))
}

/// Returns how many names a path has. Repeated slashes and `.` do not count.
fn depth(path: &[u8]) -> i128 {
    path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".").count() as i128
}

fn rank(member: &Member, place: usize, rules: &KeepRules) -> Vec<i128> {
    let by_rule = rules.keep.iter().map(|rule| match rule {
        KeepRule::First => place as i128,
        KeepRule::Argument => member.root as i128,
        KeepRule::Shallowest => depth(&member.path),
        KeepRule::Deepest => !depth(&member.path),
        KeepRule::Oldest => member.version.mtime_ns,
        // The complement reverses the order and, unlike negation, cannot overflow.
        KeepRule::Newest => !member.version.mtime_ns,
        KeepRule::Shortest => member.path.len() as i128,
        KeepRule::Path(accepts) => i128::from(!accepts(&member.path)),
    });
    std::iter::once(i128::from(!member.standing.stays())).chain(by_rule).chain([place as i128]).collect()
}
