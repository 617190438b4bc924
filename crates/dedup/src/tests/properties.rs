//! Guarantees of every plan, for any group and any rules.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use ftk_file::Version;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

use crate::Member;
use crate::prune::{
    KeepRule, KeepRules, MemberDecision, MemberTest, Protection, SkipReason, Standing, Why, plan,
};

/// A file with one or more names in the group. `outside` is the number of its names outside the group; it is
/// negative if the link count is too small. There are few different values, so that ties are common.
#[derive(Clone, Debug)]
struct Inode {
    dev: u64,
    mtime_ns: i128,
    names: Vec<(usize, bool, Standing)>,
    outside: i64,
}

fn inode() -> impl Strategy<Value = Inode> {
    let name = (0..4_usize, prop::bool::weighted(0.1), standing());
    let outside = select(vec![0, 0, 0, 0, 1, 5, -1]);
    (1..3_u64, 0..3_i128, vec(name, 1..4), outside).prop_map(|(dev, mtime_ns, names, outside)| Inode {
        dev,
        mtime_ns,
        names,
        outside,
    })
}

/// What is known about a name, except whether it is below a reference.
fn standing() -> impl Strategy<Value = Standing> {
    let flag = || prop::bool::weighted(0.3);
    (prop::bool::weighted(0.2), flag(), 0..3_u32, flag(), any::<bool>()).prop_map(
        |(is_inside, is_trash, hidden, is_read_only, is_subvolume)| {
            let protection = if is_inside { Protection::InKept } else { Protection::Free };
            let is_in_snapshot = is_read_only && is_subvolume;
            Standing { protection, is_trash, hidden, is_read_only, is_in_snapshot }
        },
    )
}

fn members() -> impl Strategy<Value = Vec<Member>> {
    (vec(inode(), 1..9), btree_set(0..4_usize, 0..3)).prop_map(|(inodes, references)| {
        let mut members = Vec::new();
        for (ino, inode) in (1..).zip(&inodes) {
            let nlink = inode.names.len() as i64 + inode.outside;
            for &(root, via_link, standing) in &inode.names {
                let nth = members.len();
                let path = format!("{root}/{:01$}", nth, 1 + nth * 7 % 4).into();
                let version =
                    Version { dev: inode.dev, ino, size: 10, mtime_ns: inode.mtime_ns, ctime_ns: 0 };
                members.push(Member {
                    blocks: 8,
                    nlink: nlink as u64,
                    via_link,
                    standing: match references.contains(&root) {
                        true => Standing { protection: Protection::Reference, ..standing },
                        false => standing,
                    },
                    ..Member::new(root, path, version)
                });
            }
        }
        members
    })
}

/// Tests for paths that rules contain.
fn test(nth: u8) -> MemberTest {
    match nth {
        0 => Box::new(|member| member.path.ends_with(b"1")),
        1 => Box::new(|member| member.path.starts_with(b"2/")),
        _ => Box::new(|member| member.path.starts_with(b"3/")),
    }
}

fn rules() -> impl Strategy<Value = KeepRules> {
    let numbers = (vec(0..9_u8, 0..4), vec(0..3_u8, 0..3), btree_set(0..20_usize, 0..2));
    (numbers, any::<[bool; 3]>(), 0..5_usize).prop_map(|((keep, one_per, chosen), flags, min_copies)| {
        let [isolate, names_survive, into_snapshots] = flags;
        // Only clones can do that.
        let into_snapshots = names_survive && into_snapshots;
        let rule = |rule| match rule {
            0 => KeepRule::First,
            1 => KeepRule::Oldest,
            2 => KeepRule::Newest,
            3 => KeepRule::Shortest,
            4 => KeepRule::Argument,
            5 => KeepRule::Shallowest,
            6 => KeepRule::Deepest,
            other => KeepRule::Path(test(other - 7)),
        };
        let one_per = one_per.into_iter().map(test).collect();
        // Numbers of members, which are in their paths.
        let path =
            |nth: usize| (0..4).map(move |root| format!("{root}/{:01$}", nth, 1 + nth * 7 % 4).into_bytes());
        let chosen = chosen.into_iter().flat_map(path).collect();
        let keep = keep.into_iter().map(rule).collect();
        KeepRules { keep, isolate, min_copies, one_per, chosen, names_survive, into_snapshots }
    })
}

/// The number of names of each file in the group.
type Names = BTreeMap<(u64, u64), u64>;

/// Compares two names by one rule after the other.
fn by_rules(a: &Member, b: &Member, rules: &KeepRules, names: &Names) -> Ordering {
    let depth = |member: &Member| member.path.iter().filter(|&&byte| byte == b'/').count();
    let by_place = || (a.root, &a.path).cmp(&(b.root, &b.path));
    let by_rule = |rule: &KeepRule| match rule {
        KeepRule::First => by_place(),
        KeepRule::Argument => a.root.cmp(&b.root),
        KeepRule::Shallowest => depth(a).cmp(&depth(b)),
        KeepRule::Deepest => depth(b).cmp(&depth(a)),
        KeepRule::Oldest => a.version.mtime_ns.cmp(&b.version.mtime_ns),
        KeepRule::Newest => b.version.mtime_ns.cmp(&a.version.mtime_ns),
        KeepRule::Shortest => a.path.len().cmp(&b.path.len()),
        KeepRule::Path(accepts) => accepts(b).cmp(&accepts(a)),
    };
    let by_default = |member: &Member| {
        let Standing { hidden, is_read_only, .. } = member.standing;
        let is_held = rules.names_survive && member.nlink > names[&member.version.identity()];
        let path = &member.path;
        (!is_held, hidden, is_read_only, member.version.mtime_ns, path.len(), path.clone())
    };
    let by_trash = (counts_as_read_only(a, rules), is_trash(a, rules))
        .cmp(&(counts_as_read_only(b, rules), is_trash(b, rules)));
    let by_rules = rules.keep.iter().map(by_rule).find(|order| order.is_ne()).unwrap_or(Ordering::Equal);
    by_trash.then(by_rules).then_with(|| by_default(a).cmp(&by_default(b))).then_with(by_place)
}

/// Returns whether a name is in the trash and the user did not name it.
fn is_trash(member: &Member, rules: &KeepRules) -> bool {
    member.standing.is_trash && !is_named(member, rules)
}

/// Returns whether names disappear, a name is on a read-only file system, and the user did not name it.
fn counts_as_read_only(member: &Member, rules: &KeepRules) -> bool {
    member.standing.is_read_only && !rules.names_survive && !is_named(member, rules)
}

fn is_named(member: &Member, rules: &KeepRules) -> bool {
    let is_accepted = |rule: &KeepRule| matches!(rule, KeepRule::Path(accepts) if accepts(member));
    member.standing.protection == Protection::Reference || rules.keep.iter().any(is_accepted)
}

/// Returns whether the user wants no copy here.
fn is_bad_place(member: &Member, rules: &KeepRules) -> bool {
    is_trash(member, rules) || counts_as_read_only(member, rules)
}

/// Returns whether a file stays, but is no copy in whose favour others are removed.
fn is_unwanted(names: &[&Member], rules: &KeepRules) -> bool {
    names.iter().any(|name| name.standing.stays())
        && !names.iter().any(|name| rules.chosen.contains(&name.path))
        && regular(names).iter().all(|name| is_bad_place(name, rules))
}

fn regular<'m>(names: &[&'m Member]) -> Vec<&'m Member> {
    names.iter().filter(|name| !name.via_link).copied().collect()
}

/// Returns the identities of the files that stay, by going through the files from the best to the worst.
fn expected(members: &[Member], rules: &KeepRules) -> BTreeSet<(u64, u64)> {
    let mut files: BTreeMap<_, Vec<&Member>> = BTreeMap::new();
    members.iter().for_each(|member| files.entry(member.version.identity()).or_default().push(member));
    let counts: Names = files.iter().map(|(identity, names)| (*identity, names.len() as u64)).collect();
    let is_reference = |names: &[&Member]| names.iter().any(|name| name.standing.stays());
    let mut stays: BTreeSet<_> =
        files.iter().filter(|(_, names)| is_reference(names)).map(|(identity, _)| *identity).collect();
    files.retain(|_, names| !regular(names).is_empty() && !is_unwanted(names, rules));
    let is_chosen = |names: &[&Member]| names.iter().any(|name| rules.chosen.contains(&name.path));
    stays.extend(files.iter().filter(|(_, names)| is_chosen(names)).map(|(identity, _)| *identity));
    let mut order: Vec<_> = files
        .iter()
        .map(|(identity, names)| {
            (*identity, regular(names).into_iter().min_by(|a, b| by_rules(a, b, rules, &counts)).unwrap())
        })
        .collect();
    order.sort_by(|(_, a), (_, b)| by_rules(a, b, rules, &counts));
    let copies = |stays: &BTreeSet<_>| stays.iter().filter(|identity| files.contains_key(*identity)).count();
    for (identity, _) in &order {
        if copies(&stays) < rules.min_copies.max(1) {
            stays.insert(*identity);
        }
    }
    // References and chosen files come first, but they stay anyway.
    for accepts in &rules.one_per {
        let has_one = |identity: &(u64, u64)| regular(&files[identity]).iter().any(|name| accepts(name));
        let accepted: Vec<_> = order.iter().map(|(identity, _)| *identity).filter(has_one).collect();
        if let Some(first) =
            accepted.first().filter(|_| !accepted.iter().any(|identity| stays.contains(identity)))
        {
            stays.insert(*first);
        }
    }
    stays
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn enough_copies_stay_and_references_are_untouched(members in members(), rules in rules()) {
        let decided = plan(&members, &rules);
        let decisions = decided.decisions;
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
            prop_assert!(!members[nth].standing.stays(), "nothing below a reference goes");
            prop_assert!(matches!(decisions[keeper], MemberDecision::Stays(_)) && !members[keeper].via_link);
            prop_assert!(identity(keeper) != identity(nth), "a file is no copy of itself");
            let same_file = || all.clone().filter(|&other| identity(other) == identity(nth));
            prop_assert!(same_file().all(is_gone), "all names go or none");
            prop_assert!(same_file().all(|nth| regular(&nth)), "a symbolic link would lead nowhere");
            prop_assert_eq!(same_file().count() as u64 + outside, members[nth].nlink);
            *freed.entry((identity(nth), outside)).or_default() += frees;
            let names = |at: usize| -> Vec<_> {
                let same = members.iter().filter(|it| it.version.identity() == identity(at));
                same.collect()
            };
            let is_near = |at: usize| members[at].version.dev == members[nth].version.dev;
            let near_or_far = |&at: &usize| matches!(decisions[at], MemberDecision::Stays(why) if why != Why::SameFile)
                && regular(&at) && !is_unwanted(&names(at), &rules);
            let near = |at: &usize| near_or_far(at) && is_near(*at);
            let all_good = |at: usize| names(at).iter().all(|name| !is_bad_place(name, &rules));
            let is_good = |at: usize| rules.names_survive || !is_bad_place(&members[at], &rules);
            let are_all_good = all.clone().filter(near_or_far).all(is_good);
            prop_assert!(!are_all_good || is_near(keeper) == all.clone().any(|at| near(&at)));
            prop_assert!(are_all_good || is_good(keeper) || !all.clone().filter(near_or_far).any(all_good));
            let is_permitted = rules.into_snapshots && members[nth].standing.is_in_snapshot;
            let is_fixed = members[nth].standing.is_read_only && !is_permitted;
            prop_assert!(!is_fixed, "nothing on a read-only file system is changed");
            if rules.isolate {
                let roots: BTreeSet<_> = same_file().map(|at| members[at].root).collect();
                let kept = all.clone().filter(|&at| matches!(decisions[at], MemberDecision::Stays(_)) && regular(&at));
                prop_assert!(kept.into_iter().all(|at| !roots.contains(&members[at].root)));
            }
        }
        for ((_, outside), bytes) in freed {
            prop_assert_eq!(bytes, if outside == 0 { 4096 } else { 0 });
        }
        for nth in all.filter(|&nth| members[nth].standing.stays()) {
            prop_assert!(matches!(decisions[nth], MemberDecision::Stays(Why::Reference | Why::InKept)));
        }
        let is_kept = |nth: usize| matches!(decisions[nth], MemberDecision::Stays(_)) && regular(&nth);
        // A copy in the trash or a snapshot is no reason to remove one outside.
        let is_outside = |nth: usize| !is_bad_place(&members[nth], &rules) || rules.chosen.contains(&members[nth].path);
        let all = 0..members.len();
        // The user may have chosen the file by a name that a link leads to.
        let is_chosen = |at: usize| rules.chosen.contains(&members[at].path);
        let has_outside_name = |nth: usize| {
            let mut names = all.clone().filter(|&at| identity(at) == identity(nth));
            names.any(|at| (regular(&at) || is_chosen(at)) && is_outside(at))
        };
        let is_any_gone_outside = all.clone().any(|nth| is_gone(nth) && is_outside(nth));
        let is_any_kept_outside = all.clone().any(|nth| is_kept(nth) && has_outside_name(nth));
        prop_assert!(is_any_kept_outside || !is_any_gone_outside, "{:?}", decisions);
        // What the removals count on stays, and meets the requirements.
        let is_any_gone = all.clone().any(is_gone);
        let needs_many = rules.min_copies > 1 || all.clone().filter(|&nth| regular(&nth) && rules.chosen.contains(&members[nth].path)).map(identity).collect::<BTreeSet<_>>().len() > 1;
        prop_assert!(decided.copies.is_none() || is_any_gone);
        prop_assert!(decided.copies.is_some() || !is_any_gone || !needs_many);
        for need in decided.copies.iter().flat_map(|copies| &copies.needs) {
            let files = &decided.copies.as_ref().unwrap().files;
            prop_assert!(need.among.iter().all(|&nth| is_kept(files[nth])));
            let distinct: BTreeSet<_> = need.among.iter().map(|&nth| identity(files[nth])).collect();
            prop_assert!(distinct.len() >= need.count && need.count > 0);
        }
        let isolated = decisions.contains(&MemberDecision::Skipped(SkipReason::Isolated));
        prop_assert!(rules.isolate || !isolated);
    }

    #[test]
    fn the_files_that_stay_are_those_of_the_model(members in members(), rules in rules()) {
        let decided = plan(&members, &rules);
        let is_kept = |nth: &usize| matches!(decided.decisions[*nth], MemberDecision::Stays(_));
        let all = 0..members.len();
        let stays: BTreeSet<_> = all.filter(is_kept).map(|nth| members[nth].version.identity()).collect();
        prop_assert_eq!(stays, expected(&members, &rules), "{:?}", decided);
        prop_assert!(decided.decided.iter().all(|&nth| nth < rules.keep.len()));
        prop_assert!(decided.kept_one.iter().all(|&nth| nth < rules.one_per.len()));
        // Without a test that kept nothing, the decisions are the same.
        let mut fewer = KeepRules { keep: Vec::new(), one_per: Vec::new(), chosen: rules.chosen.clone(), ..rules };
        fewer.keep = rules.keep;
        fewer.one_per = rules.one_per.into_iter().enumerate().filter(|(nth, _)| decided.kept_one.contains(nth)).map(|(_, test)| test).collect();
        prop_assert_eq!(plan(&members, &fewer).decisions, decided.decisions);
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
