//! Guarantees of every plan, for any group and any rules.

use std::collections::{BTreeMap, BTreeSet};

use ftk_file::Version;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

use crate::{KeepRule, KeepRules, Member, MemberDecision, SkipReason, Why, plan};

/// A file with one or more names in the group. `outside` is the number of its names outside the group; it is
/// negative if the link count is too small. There are few different values, so that ties are common.
#[derive(Clone, Debug)]
struct Inode {
    dev: u64,
    mtime_ns: i128,
    names: Vec<(usize, bool)>,
    outside: i64,
}

fn inode() -> impl Strategy<Value = Inode> {
    let name = (0..4_usize, prop::bool::weighted(0.1));
    let outside = select(vec![0, 0, 0, 0, 1, 5, -1]);
    (1..3_u64, 0..3_i128, vec(name, 1..4), outside).prop_map(|(dev, mtime_ns, names, outside)| Inode {
        dev,
        mtime_ns,
        names,
        outside,
    })
}

fn members() -> impl Strategy<Value = Vec<Member>> {
    vec(inode(), 1..9).prop_map(|inodes| {
        let mut members = Vec::new();
        for (ino, inode) in (1..).zip(&inodes) {
            let nlink = inode.names.len() as i64 + inode.outside;
            for &(root, via_link) in &inode.names {
                let nth = members.len();
                members.push(Member {
                    root,
                    path: format!("{root}/{:01$}", nth, 1 + nth * 7 % 4).into(),
                    version: Version { dev: inode.dev, ino, size: 10, mtime_ns: inode.mtime_ns, ctime_ns: 0 },
                    blocks: 8,
                    nlink: nlink as u64,
                    via_link,
                });
            }
        }
        members
    })
}

fn rules() -> impl Strategy<Value = KeepRules> {
    let keep = vec(0..6_u8, 0..4);
    (keep, btree_set(0..4_usize, 0..3), any::<bool>(), 0..5_usize).prop_map(
        |(keep, references, isolate, min_copies)| {
            let rule = |rule| match rule {
                0 => KeepRule::First,
                1 => KeepRule::Oldest,
                2 => KeepRule::Newest,
                3 => KeepRule::Shortest,
                4 => KeepRule::Path(Box::new(|path| path.ends_with(b"1"))),
                _ => KeepRule::Path(Box::new(|path| path.starts_with(b"2/"))),
            };
            KeepRules { keep: keep.into_iter().map(rule).collect(), references, isolate, min_copies }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn enough_copies_stay_and_references_are_untouched(members in members(), rules in rules()) {
        let decisions = plan(&members, &rules).decisions;
        prop_assert_eq!(decisions.len(), members.len());
        let identity = |nth: usize| members[nth].version.identity();
        let is_gone = |nth: usize| matches!(decisions[nth], MemberDecision::Goes { .. });
        let regular = |nth: &usize| !members[*nth].via_link;
        let all = 0..members.len();
        let before: BTreeSet<_> = all.clone().filter(regular).map(identity).collect();
        let after: BTreeSet<_> =
            all.clone().filter(regular).filter(|&nth| !is_gone(nth)).map(identity).collect();
        prop_assert!(after.len() >= before.len().min(rules.min_copies.max(1)), "{:?}", decisions);

        let mut freed: BTreeMap<_, u64> = BTreeMap::new();
        for nth in all.clone() {
            let MemberDecision::Goes { keeper, outside, frees } = decisions[nth] else { continue };
            prop_assert!(!rules.references.contains(&members[nth].root), "nothing below a reference goes");
            prop_assert!(matches!(decisions[keeper], MemberDecision::Stays(_)) && !members[keeper].via_link);
            prop_assert!(identity(keeper) != identity(nth), "a file is no copy of itself");
            let same_file = || all.clone().filter(|&other| identity(other) == identity(nth));
            prop_assert!(same_file().all(is_gone), "all names go or none");
            prop_assert!(same_file().all(|nth| regular(&nth)), "a symbolic link would lead nowhere");
            prop_assert_eq!(same_file().count() as u64 + outside, members[nth].nlink);
            *freed.entry((identity(nth), outside)).or_default() += frees;
            let is_near = |at: usize| members[at].version.dev == members[nth].version.dev;
            let near = |&at: &usize| matches!(decisions[at], MemberDecision::Stays(why) if why != Why::SameFile)
                && regular(&at) && is_near(at);
            prop_assert_eq!(is_near(keeper), all.clone().any(|at| near(&at)));
            if rules.isolate {
                let roots: BTreeSet<_> = same_file().map(|at| members[at].root).collect();
                let kept = all.clone().filter(|&at| matches!(decisions[at], MemberDecision::Stays(_)) && regular(&at));
                prop_assert!(kept.into_iter().all(|at| !roots.contains(&members[at].root)));
            }
        }
        for ((_, outside), bytes) in freed {
            prop_assert_eq!(bytes, if outside == 0 { 4096 } else { 0 });
        }
        for nth in all.filter(|&nth| rules.references.contains(&members[nth].root)) {
            prop_assert!(matches!(decisions[nth], MemberDecision::Stays(Why::Reference)));
        }
        let isolated = decisions.contains(&MemberDecision::Skipped(SkipReason::Isolated));
        prop_assert!(rules.isolate || !isolated);
    }

    #[test]
    fn no_unnecessary_copies_stay(members in members(), mut rules in rules()) {
        rules.isolate = false;
        let decisions = plan(&members, &rules).decisions;
        let inodes = |is_one: &dyn Fn(usize) -> bool| -> BTreeSet<_> {
            let those = (0..members.len()).filter(|&nth| is_one(nth));
            those.map(|nth| members[nth].version.identity()).collect()
        };
        let stays = inodes(&|nth| matches!(decisions[nth], MemberDecision::Stays(_)));
        let references = inodes(&|nth| rules.references.contains(&members[nth].root));
        let files = inodes(&|nth| !members[nth].via_link);
        let wanted = rules.min_copies.max(1).saturating_sub(references.intersection(&files).count());
        let others = files.difference(&references).count().min(wanted);
        prop_assert_eq!(stays.len(), references.len() + others, "{:?}", decisions);
        prop_assert!(stays.is_superset(&references));
    }

    #[test]
    fn the_order_of_the_members_makes_no_difference(
        (members, shuffled) in members().prop_flat_map(|members| (Just(members.clone()), Just(members).prop_shuffle())),
        rules in rules(),
    ) {
        let by_path = |members: &[Member]| -> BTreeMap<Vec<u8>, (String, Option<Vec<u8>>)> {
            let decisions = plan(members, &rules).decisions;
            let decision = |decision: MemberDecision| match decision {
                MemberDecision::Goes { keeper, outside, frees } => {
                    (format!("goes {outside} {frees}"), Some(members[keeper].path.clone()))
                }
                other => (format!("{other:?}"), None),
            };
            members.iter().map(|member| member.path.clone()).zip(decisions.into_iter().map(decision)).collect()
        };
        prop_assert_eq!(by_path(&members), by_path(&shuffled));
    }
}
