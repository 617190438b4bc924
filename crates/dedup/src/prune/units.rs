//! Groups members by inode, and ranks them by the rules.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::plan::Identity;
use super::{KeepRule, KeepRules, Why};
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
    /// Whether it stays only because a directory stays as a whole that is in a trash or system directory, or on a read-only
    /// file system. It then counts as no copy: no file outside is removed in its favour.
    pub(crate) is_unwanted: bool,
    /// Whether one of its names cannot or must not be changed.
    pub(crate) is_fixed: bool,
    /// The name that the rules prefer, with its rank; `None` if every path is a symbolic link.
    pub(crate) best: Option<Best>,
}

/// A name and its rank. A smaller rank is better.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Best {
    /// Whether the standing does not protect the name, whether it is on a read-only file system that counts, whether it is
    /// in a trash directory, then one value for each rule, how much becomes free with it, the default order, then its position by starting point
    /// and path.
    pub(crate) rank: Vec<i128>,
    pub(crate) name: usize,
}

impl Best {
    /// Returns whether the name is in a place in whose favour no copy outside is removed.
    pub(crate) fn is_unwanted(&self) -> bool {
        self.rank[1..BEFORE_RULES].iter().any(|value| *value != 0)
    }
}

/// The number of values in a rank before those of the rules.
const BEFORE_RULES: usize = 3;

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
    let mut by_path = order.clone();
    by_path.sort_by_key(|&name| &members[name].path);
    let mut path_places = vec![0; members.len()];
    by_path.iter().enumerate().for_each(|(place, &name)| path_places[name] = place);
    let has_times = matches!(identity, Identity::Inodes);
    let counts = if has_times && rules.names_survive { counts(members) } else { HashMap::new() };
    let best = |(place, &name): (usize, &usize)| {
        let member = &members[name];
        let held = counts.get(&member.version.identity()).map_or(0, |&names| held(member, names));
        let ranker = Ranker { rules, has_times, held, place, path_place: path_places[name] };
        (!member.via_link).then(|| Best { rank: ranker.rank(member), name })
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
                unit.is_fixed |= is_fixed(&members[name], rules);
                if compare(&best, &unit.best).is_lt() {
                    unit.best = best;
                }
            }
            _ => {
                let stays = members[name].standing.stays();
                let is_chosen = rules.chosen.contains(&members[name].path);
                let is_fixed = is_fixed(&members[name], rules);
                units.push(Unit { names: vec![name], stays, is_chosen, is_unwanted: false, is_fixed, best });
            }
        }
    }
    for unit in &mut units {
        let mut names = unit.names.iter().map(|&name| &members[name]).filter(|member| !member.via_link);
        unit.is_unwanted = unit.stays
            && !unit.is_chosen
            && names.all(|member| is_trash(member, rules) || counts_as_read_only(member, rules));
    }
    let order = |unit: &Unit| (!unit.stays, !unit.is_chosen);
    units.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| compare(&a.best, &b.best)));
    units
}

/// Returns the number of names of each file.
fn counts(members: &[Member]) -> HashMap<(u64, u64), u64> {
    let mut counts = HashMap::new();
    members.iter().for_each(|member| *counts.entry(member.version.identity()).or_default() += 1);
    counts
}

/// Returns a smaller number if less becomes free when a file with so many names in the group loses its blocks, because
/// other names or other files have them. All files that have their blocks alone are equal.
fn held(member: &Member, names: u64) -> i128 {
    let shared = member.shared.iter().fold(0_u64, |sum, it| sum.saturating_add(it.len));
    match (member.nlink > names, shared) {
        (true, _) => 0,
        (false, 0) => i128::MAX,
        (false, _) => i128::from(member.allocated().saturating_sub(shared)),
    }
}

/// Orders by rank. A file without a rank comes last.
fn compare(a: &Option<Best>, b: &Option<Best>) -> Ordering {
    (a.is_none(), a).cmp(&(b.is_none(), b))
}

/// Returns how many names a path has. Repeated slashes and `.` do not count.
fn depth(path: &[u8]) -> i128 {
    path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".").count() as i128
}

/// Returns whether a member is in a trash or system directory and the user did not name it.
fn is_trash(member: &Member, rules: &KeepRules) -> bool {
    member.standing.is_trash && !is_named(member, rules)
}

/// Returns whether names are removed, the member is on a read-only file system or subvolume, and the user did not name it.
/// A snapshot disappears some day, and its copies with it.
fn counts_as_read_only(member: &Member, rules: &KeepRules) -> bool {
    !rules.names_survive && member.standing.is_read_only && !is_named(member, rules)
}

/// Returns whether a reference contains the member, or a rule names its path.
fn is_named(member: &Member, rules: &KeepRules) -> bool {
    let is_accepted = |rule: &KeepRule| matches!(rule, KeepRule::Path(accepts) if accepts(member));
    member.standing.is_reference() || rules.keep.iter().any(is_accepted)
}

/// Returns whether a member cannot or must not be changed.
fn is_fixed(member: &Member, rules: &KeepRules) -> bool {
    let standing = member.standing;
    standing.is_read_only && !(rules.into_snapshots && standing.is_in_snapshot)
}

/// Ranks a name of a group.
struct Ranker<'r> {
    rules: &'r KeepRules,
    /// Whether times say something about age. Those of directories do not.
    has_times: bool,
    /// How much becomes free with it, if that matters.
    held: i128,
    /// Its place by starting point and path.
    place: usize,
    /// Its place by path alone.
    path_place: usize,
}

impl Ranker<'_> {
    fn rank(&self, member: &Member) -> Vec<i128> {
        let Self { rules, has_times, held, place, path_place } = *self;
        let standing = member.standing;
        let by_rule = rules.keep.iter().map(|rule| match rule {
            KeepRule::First => place as i128,
            KeepRule::Argument => member.root as i128,
            KeepRule::Shallowest => depth(&member.path),
            KeepRule::Deepest => !depth(&member.path),
            KeepRule::Oldest => member.version.mtime_ns,
            // The complement reverses the order and, unlike negation, cannot overflow.
            KeepRule::Newest => !member.version.mtime_ns,
            KeepRule::Shortest => member.path.len() as i128,
            KeepRule::Path(accepts) => i128::from(!accepts(member)),
        });
        let time = if has_times { member.version.mtime_ns } else { 0 };
        let order = [
            held,
            i128::from(standing.hidden),
            i128::from(standing.is_read_only),
            time,
            member.path.len() as i128,
            path_place as i128,
            place as i128,
        ];
        let places = [counts_as_read_only(member, rules), is_trash(member, rules)];
        let before: [_; BEFORE_RULES] = [!standing.stays(), places[0], places[1]].map(i128::from);
        before.into_iter().chain(by_rule).chain(order).collect()
    }
}

/// Returns the criterion that prefers the first of two ranks, and the number of the rule if it is one.
pub(crate) fn criterion(better: &Best, worse: &Best, rules: &KeepRules) -> (Why, Option<usize>) {
    // The first element is not a matter of preference.
    let mut ranks = better.rank.iter().zip(&worse.rank).skip(1);
    let decided = ranks.position(|(a, b)| a != b).unwrap_or(usize::MAX);
    let after = |number: usize| decided.checked_sub(number);
    match (decided, after(2).filter(|&nth| nth < rules.keep.len()), after(2 + rules.keep.len())) {
        (0, ..) => (Why::Writable, None),
        (1, ..) => (Why::NotTrash, None),
        (_, Some(nth), _) => (rules.keep[nth].why(), Some(nth)),
        (.., Some(0)) => (Why::Held, None),
        (.., Some(1)) if better.rank[decided + 1] == 0 => (Why::NotHidden, None),
        (.., Some(1)) => (Why::LessHidden, None),
        (.., Some(2)) => (Why::Writable, None),
        (.., Some(3)) => (Why::Oldest, None),
        (.., Some(4)) => (Why::Shortest, None),
        _ => (Why::ByteOrder, None),
    }
}
