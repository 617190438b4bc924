//! What becomes of the members of a group: who stays and why, and the steps for the rest.

use ftk_apply::{Action, Seen, Step};
use ftk_dedup::report::Group;
use ftk_dedup::{KeepRules, Member, MemberDecision, Why, plan};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::dup::sharing::seen;

/// What becomes of a member.
#[derive(Debug)]
pub(super) enum Item {
    Keep {
        path: Vec<u8>,
        why: String,
    },
    /// It would go, but the rules find that it must not.
    Leave {
        path: Vec<u8>,
        why: String,
    },
    /// It goes, which frees so many bytes once all steps before it are done.
    Go {
        step: Step,
        frees: u64,
    },
}

/// Makes plans for groups.
#[derive(Debug)]
pub(super) struct Planner<'p> {
    pub(super) rules: &'p KeepRules,
    pub(super) action: &'p Action,
    /// Length of each starting point, by its number.
    pub(super) roots: &'p [usize],
}

impl Planner<'_> {
    /// The items of a group: what stays, what goes, and what is left alone, each in the order of the arguments and
    /// paths.
    pub(super) fn items(&self, mut group: Group) -> Vec<Item> {
        // In this order bytes are credited to the last name of a file.
        group.members.sort_unstable();
        let members = &group.members;
        let decisions = plan(members, self.rules).decisions;
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
                MemberDecision::Stays(why) => items.push(Item::Keep { path, why: reason(why, member) }),
                MemberDecision::Skipped(why) => left.push(Item::Leave { path, why: why.to_string() }),
                MemberDecision::Goes { keeper, frees, .. } => {
                    let identity = (member.dev, member.ino);
                    let frees = match self.action {
                        // The inode stays, and gives up its blocks with the first of its names.
                        Action::Reflink if cloned.contains(&identity) => {
                            items.push(Item::Keep { path, why: Why::SameFile.to_string() });
                            continue;
                        }
                        Action::Reflink => member.blocks.saturating_mul(512),
                        Action::Move(_) => 0,
                        _ => frees,
                    };
                    cloned.push(identity);
                    let step = Step { victim: self.seen(member), keeper: self.seen(&members[keeper]) };
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

/// `oldest (2019-07-02 18:22)`
fn reason(why: Why, member: &Member) -> String {
    match why {
        Why::Oldest | Why::Newest => match Timestamp::from_nanosecond(member.mtime_ns) {
            Ok(time) => format!("{why} ({})", time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M")),
            Err(_) => why.to_string(),
        },
        _ => why.to_string(),
    }
}
