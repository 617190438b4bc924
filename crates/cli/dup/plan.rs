//! Plans a group: which members are kept and why, and the steps for the rest.

use std::collections::HashSet;

use ftk_apply::{Action, Seen, Step};
use ftk_dedup::report::Group;
use ftk_dedup::{GroupDecision, KeepRules, Member, MemberDecision, SkipReason, Why, plan};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::dup::rule_use::RuleUse;
use crate::dup::sharing::seen;

/// The plan for one member.
#[derive(Debug)]
pub(super) enum Item {
    Keep {
        path: Vec<u8>,
        why: String,
    },
    /// Surplus, but protected by a rule.
    Leave {
        path: Vec<u8>,
        why: String,
    },
    /// To be removed or replaced.
    Go {
        step: Step,
        /// Bytes that the step frees, provided that all steps before it are done.
        frees: u64,
    },
}

/// Plans groups.
#[derive(Debug)]
pub(super) struct Planner<'p> {
    pub(super) rules: &'p KeepRules,
    pub(super) rule_use: &'p RuleUse,
    pub(super) action: &'p Action,
    /// Length of the path of each starting point, by its number.
    pub(super) roots: &'p [usize],
    /// Members with this or a higher number of their starting point are inside directories that stay as a whole.
    pub(super) kept_from: usize,
}

impl Planner<'_> {
    /// Returns the items of a group: kept members, then members to remove, then protected ones, each sorted
    /// by starting point and path. Returns nothing if all members are kept.
    pub(super) fn items(&self, mut group: Group) -> Vec<Item> {
        // The freed bytes of a file with several hard links are counted at the last of them in this order.
        group.members.sort_unstable();
        let members = &group.members;
        let decided = decisions(members, self.rules, self.kept_from);
        self.rule_use.note(&decided);
        let decisions = decided.decisions;
        if !decisions
            .iter()
            .any(|decision| matches!(decision, MemberDecision::Goes { .. } | MemberDecision::Skipped(_)))
        {
            return Vec::new();
        }
        let (mut items, mut going, mut left) = (Vec::new(), Vec::new(), Vec::new());
        let mut cloned = Vec::new();
        for (member, decision) in members.iter().zip(&decisions) {
            let path = member.path.clone();
            match *decision {
                MemberDecision::Stays(Why::Reference) if member.root >= self.kept_from => {
                    items.push(Item::Keep { path, why: IN_KEPT.into() });
                }
                MemberDecision::Stays(why) => items.push(Item::Keep { path, why: reason(why, member) }),
                MemberDecision::Skipped(why) => left.push(Item::Leave { path, why: why.to_string() }),
                MemberDecision::Goes { keeper, frees, .. } => {
                    let identity = member.version.identity();
                    let frees = match self.action {
                        // Cloning keeps the inode, so one step for the first of its hard links replaces the
                        // blocks.
                        Action::Reflink if cloned.contains(&identity) => {
                            items.push(Item::Keep { path, why: Why::SameFile.to_string() });
                            continue;
                        }
                        Action::Reflink => member.blocks.saturating_mul(512),
                        Action::Move(_) => 0,
                        _ => frees,
                    };
                    cloned.push(identity);
                    let step = Step::new(self.seen(member), self.seen(&members[keeper]));
                    going.push(Item::Go { step, frees });
                }
            }
        }
        items.append(&mut going);
        items.append(&mut left);
        items
    }

    fn seen(&self, member: &Member) -> Seen {
        seen(member, self.roots[member.root])
    }
}

/// Why a member stays that is inside a directory that stays as a whole.
pub(super) const IN_KEPT: &str = "in a directory that stays as a whole";

/// Decides which members stay. Those whose starting points have the number `kept_from` or a higher one are inside
/// directories that stay as a whole: they count as copies below a reference, but with `--isolate`, below the starting
/// point that they are really below.
pub(super) fn decisions(members: &[Member], rules: &KeepRules, kept_from: usize) -> GroupDecision {
    let mut decided = plan(members, rules);
    if rules.isolate {
        let kept: Vec<_> = members.iter().filter_map(|member| member.root.checked_sub(kept_from)).collect();
        // All names of a file go, or none.
        let isolated = members.iter().filter(|member| kept.contains(&member.root));
        let isolated: HashSet<_> = isolated.map(|member| member.version.identity()).collect();
        for (member, decision) in members.iter().zip(&mut decided.decisions) {
            let is_isolated = isolated.contains(&member.version.identity());
            if matches!(decision, MemberDecision::Goes { .. }) && is_isolated {
                *decision = MemberDecision::Skipped(SkipReason::Isolated);
            }
        }
    }
    decided
}

/// Returns the reason for keeping a member, such as `oldest (2019-07-02 18:22)`.
pub(super) fn reason(why: Why, member: &Member) -> String {
    match why {
        Why::Oldest | Why::Newest => match date(member) {
            Some(date) => format!("{why} ({date})"),
            None => why.to_string(),
        },
        _ => why.to_string(),
    }
}

/// Returns the time of the last content change, such as `2019-07-02 18:22`. `None` if it is outside of the calendar.
pub(super) fn date(member: &Member) -> Option<String> {
    let time = Timestamp::from_nanosecond(member.version.mtime_ns).ok()?;
    Some(time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
}
