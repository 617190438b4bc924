//! One example for each rule.

use std::os::unix::fs::MetadataExt as _;

use ftk_file::Version;
use ftk_process::Failed;
use ftk_read::SharedBlocks;
use ftk_sched::Team;

use super::tree::{SMALL, Settings, Tree, run};
use crate::prune::{
    Copies, KeepRule, KeepRules, MemberDecision, MemberTest, Need, Protection, SkipReason, Why, plan,
};
use crate::{Member, Piece, Survey, SurveyOptions};

/// The shared blocks of a file.
const BLOCKS: SharedBlocks = SharedBlocks { disk: 1, start: 7, len: 4096 };

/// A file with one name below the first starting point.
fn member(path: &str, ino: u64, mtime_ns: i128) -> Member {
    let version = Version { dev: 1, ino, size: 100, mtime_ns, ctime_ns: 0 };
    Member { blocks: 8, ..Member::new(0, path.into(), version) }
}

fn goes(keeper: usize) -> MemberDecision {
    MemberDecision::Goes { keeper, outside: 0, frees: 4096 }
}

fn decisions(members: &[Member], rules: &KeepRules) -> Vec<MemberDecision> {
    plan(members, rules).decisions
}

fn keep(keep: Vec<KeepRule>) -> KeepRules {
    KeepRules { keep, ..KeepRules::default() }
}

fn glob(part: &'static str) -> KeepRule {
    KeepRule::Path(Box::new(move |member| member.path.ends_with(part.as_bytes())))
}

#[test]
fn earlier_rules_have_precedence() {
    let members = [member("b/long", 1, 30), member("a/longer", 2, 10), member("c/s", 3, 30)];
    for (rules, keeper, why) in [
        (vec![], 1, Why::Oldest),
        (vec![KeepRule::First], 1, Why::First),
        (vec![KeepRule::Oldest], 1, Why::Oldest),
        (vec![KeepRule::Newest], 2, Why::Shortest),
        (vec![KeepRule::Newest, KeepRule::Shortest], 2, Why::Shortest),
        (vec![KeepRule::Shortest], 2, Why::Shortest),
        (vec![glob("long")], 0, Why::Path),
        (vec![glob("nowhere"), KeepRule::Shortest], 2, Why::Shortest),
        (vec![KeepRule::First, KeepRule::Shortest], 1, Why::First),
    ] {
        let rules = keep(rules);
        let mut expected = [goes(keeper); 3];
        expected[keeper] = MemberDecision::Stays(why);
        assert_eq!(decisions(&members, &rules), expected, "{rules:?}");
    }
    let mut arguments = members;
    arguments[1].root = 1;
    assert_eq!(
        decisions(&arguments, &keep(vec![KeepRule::First]))[0],
        MemberDecision::Stays(Why::First),
        "arguments before paths"
    );
}

/// The first criterion in which two files differ decides, and is the reason.
#[test]
fn the_default_order_is_applied_criterion_by_criterion() {
    let worse: [fn(&mut Member); 6] = [
        |member| member.standing.is_trash = true,
        |member| member.standing.hidden += 1,
        |member| (member.standing.is_read_only, member.standing.is_in_snapshot) = (true, true),
        |member| member.version.mtime_ns += 1,
        |member| member.path = b"longer".to_vec(),
        |member| member.path[0] += 1,
    ];
    let reasons = [Why::NotTrash, Why::NotHidden, Why::Writable, Why::Oldest, Why::Shortest, Why::ByteOrder];
    for (nth, why) in reasons.into_iter().enumerate() {
        // The other file is worse by all later criteria, and its starting point comes later.
        let mut members = [member("b", 1, 5), member("c", 2, 5)];
        worse[nth](&mut members[0]);
        worse[nth + 1..].iter().for_each(|worse| worse(&mut members[1]));
        members[1].root = 1;
        if why == Why::ByteOrder {
            members[0].path = b"d".to_vec();
        }
        let rules =
            |keep| KeepRules { keep, names_survive: true, into_snapshots: true, ..KeepRules::default() };
        let expected = [goes(1), MemberDecision::Stays(why)];
        assert_eq!(decisions(&members, &rules(vec![])), expected, "{why:?}");
        if why != Why::NotTrash {
            let first = [MemberDecision::Stays(Why::First), goes(0)];
            assert_eq!(decisions(&members, &rules(vec![KeepRule::First])), first, "{why:?}");
        }
    }
}

#[test]
fn a_copy_in_the_trash_is_kept_only_if_it_is_named() {
    let mut members = [member("trash/a", 1, 0), member("b", 2, 9), member("c", 3, 9)];
    members[0].standing.is_trash = true;
    for rule in [KeepRule::First, KeepRule::Oldest, KeepRule::Deepest] {
        let rules = keep(vec![rule]);
        assert!(matches!(decisions(&members, &rules)[0], MemberDecision::Goes { .. }), "{rules:?}");
    }
    let named = decisions(&members, &keep(vec![glob("/a")]));
    assert_eq!(named, [MemberDecision::Stays(Why::Path), goes(0), goes(0)]);
    let rules = KeepRules { chosen: [b"trash/a".to_vec()].into(), ..KeepRules::default() };
    assert_eq!(decisions(&members, &rules), [MemberDecision::Stays(Why::Chosen), goes(0), goes(0)]);
    // If it stays with its directory, it is no copy in whose favour others are removed.
    members[0].standing.protection = Protection::InKept;
    let [kept, order] = [Why::InKept, Why::ByteOrder].map(MemberDecision::Stays);
    assert_eq!(decisions(&members, &keep(vec![])), [kept, order, goes(1)]);
    members[0].standing.protection = Protection::Reference;
    assert_eq!(decisions(&members, &keep(vec![]))[1..], [goes(0), goes(0)]);
}

/// A copy on a read-only file system replaces no other unless the user names it, and is never changed itself.
#[test]
fn a_read_only_copy_is_neither_kept_nor_changed() {
    let mut members = [member("snapshot/a", 1, 0), member("b", 2, 9), member("c", 3, 9)];
    (members[0].standing.is_read_only, members[0].standing.is_in_snapshot) = (true, true);
    let left = MemberDecision::Skipped(SkipReason::ReadOnly);
    let removes = |keep| KeepRules { keep, ..KeepRules::default() };
    for rule in [KeepRule::First, KeepRule::Oldest, KeepRule::Deepest] {
        let order = MemberDecision::Stays(Why::ByteOrder);
        assert_eq!(
            decisions(&members[..2], &removes(vec![rule])),
            [left, MemberDecision::Stays(Why::Enough)]
        );
        assert_eq!(decisions(&members, &removes(vec![])), [left, order, goes(1)]);
    }
    let named = decisions(&members, &removes(vec![glob("/a")]));
    assert_eq!(named, [MemberDecision::Stays(Why::Path), goes(0), goes(0)]);
    // If names survive, the rules decide which copy is kept.
    let survive = || KeepRules { keep: vec![KeepRule::Oldest], names_survive: true, ..KeepRules::default() };
    assert_eq!(decisions(&members, &survive()), [MemberDecision::Stays(Why::Oldest), goes(0), goes(0)]);
    let newest = || KeepRules { keep: vec![KeepRule::Newest], ..survive() };
    assert_eq!(decisions(&members, &newest())[0], left);
    let into = || KeepRules { into_snapshots: true, ..newest() };
    assert_eq!(decisions(&members, &into())[0], goes(1));
    // A mount is not a subvolume.
    members[0].standing.is_in_snapshot = false;
    assert_eq!(decisions(&members, &into())[0], left);
    // A file is left with all its names.
    members[0].version.mtime_ns = 99;
    members[2].version = members[0].version;
    members.iter_mut().for_each(|member| member.nlink = 2);
    members[1].nlink = 1;
    assert_eq!(decisions(&members, &removes(vec![]))[0], left);
    assert_eq!(decisions(&members, &removes(vec![]))[2], left);
    // One that stays with its directory is no copy in whose favour others are removed.
    let mut members = [member("snapshot/a", 1, 0), member("b", 2, 9), member("c", 3, 9)];
    (members[0].standing.is_read_only, members[0].standing.protection) = (true, Protection::InKept);
    let [kept, order] = [Why::InKept, Why::ByteOrder].map(MemberDecision::Stays);
    assert_eq!(decisions(&members, &removes(vec![])), [kept, order, goes(1)]);
    // A removal relies on the copy that can be written, although the other one is on its device.
    let mut members = [member("a", 1, 5), member("snapshot/b", 2, 0), member("c", 3, 9)];
    (members[1].standing.is_read_only, members[0].version.dev) = (true, 7);
    let one_per: Vec<MemberTest> = vec![Box::new(|member| member.path.starts_with(b"snapshot/"))];
    let rules = KeepRules { one_per, ..KeepRules::default() };
    assert_eq!(decisions(&members, &rules)[2], goes(0));
}

/// If names survive, the kept file is one whose blocks stay in use anyway: as many of the others as possible become free.
#[test]
fn a_file_that_is_held_from_outside_is_kept_if_names_survive() {
    let blocks = |len| vec![SharedBlocks { disk: 1, start: 0, len }];
    let rules = |keep| KeepRules { keep, names_survive: true, ..KeepRules::default() };
    let mut members = [member("a", 1, 0), member("b", 2, 1), member("c", 3, 2)];
    for (held, kept) in [(|members: &mut [Member]| members[2].nlink = 2) as fn(&mut [Member]), |members| {
        members[2].shared = vec![SharedBlocks { disk: 1, start: 0, len: 4096 }]
    }]
    .into_iter()
    .zip([2, 2])
    {
        let mut members = members.clone();
        held(&mut members);
        let mut expected = [goes(kept); 3];
        expected[kept] = MemberDecision::Stays(Why::Held);
        assert_eq!(decisions(&members, &rules(vec![])), expected);
        // Rules and references come first, and removals have the default order.
        assert_eq!(decisions(&members, &rules(vec![KeepRule::First]))[0], MemberDecision::Stays(Why::First));
        assert_eq!(decisions(&members, &keep(vec![]))[0], MemberDecision::Stays(Why::Oldest));
        members[1].standing.protection = Protection::Reference;
        assert_eq!(decisions(&members, &rules(vec![]))[1], MemberDecision::Stays(Why::Reference));
    }
    // All names of a file in the group are no names outside, and more held bytes are better than fewer.
    (members[0].shared, members[1].shared) = (blocks(1024), blocks(2048));
    members[2].version = members[1].version;
    (members[1].nlink, members[2].nlink) = (2, 2);
    let expected = [Why::Held, Why::SameFile].map(MemberDecision::Stays);
    assert_eq!(decisions(&members, &rules(vec![]))[1..], expected);
}

#[test]
fn removals_name_the_copies_that_they_count_on() {
    let starts = |with: &'static str| -> MemberTest {
        Box::new(move |member| member.path.starts_with(with.as_bytes()))
    };
    let members = [member("a/1", 1, 0), member("b/1", 2, 1), member("b/2", 3, 2), member("c/1", 4, 3)];
    let copies = |rules: &KeepRules| plan(&members, rules).copies;
    let need = |count, among: &[usize]| Need { count, among: among.to_vec() };
    assert_eq!(copies(&keep(vec![])), None, "the keeper is enough");
    let rules = KeepRules { min_copies: 2, ..KeepRules::default() };
    assert_eq!(copies(&rules), Some(Copies { files: vec![0, 1], needs: vec![need(2, &[0, 1])] }));
    assert_eq!(copies(&KeepRules { min_copies: 4, ..KeepRules::default() }), None, "nothing goes");
    let rules = KeepRules { one_per: vec![starts("a"), starts("b"), starts("z")], ..KeepRules::default() };
    let one_each = Copies { files: vec![0, 1], needs: vec![need(1, &[0]), need(1, &[1])] };
    assert_eq!(copies(&rules), Some(one_each));
    let chosen = [b"b/2".to_vec(), b"c/1".to_vec()];
    let rules = KeepRules { chosen: chosen.into(), ..KeepRules::default() };
    assert_eq!(copies(&rules), Some(Copies { files: vec![2, 3], needs: vec![need(2, &[0, 1])] }));
    let rules = KeepRules { chosen: [b"b/2".to_vec()].into(), ..KeepRules::default() };
    assert_eq!(copies(&rules), None, "the chosen file is the keeper");
}

#[test]
fn rules_by_argument_and_depth_leave_ties_to_the_next_rule() {
    let mut members =
        [member("z/a", 1, 30), member("a/b/c", 2, 10), member("a/./d", 3, 20), member("b//e", 4, 5)];
    (members[1].root, members[2].root, members[3].root) = (1, 1, 2);
    for (rules, keeper, why) in [
        (vec![KeepRule::Argument, KeepRule::Oldest], 0, Why::Argument),
        (vec![KeepRule::Shallowest, KeepRule::Oldest], 3, Why::Oldest),
        (vec![KeepRule::Deepest], 1, Why::Deepest),
        (vec![KeepRule::Shallowest, KeepRule::Newest], 0, Why::Newest),
    ] {
        let decided = plan(&members, &keep(rules));
        let stays: Vec<_> =
            (0..4).filter(|&nth| decided.decisions[nth] == MemberDecision::Stays(why)).collect();
        assert_eq!(stays, [keeper], "{decided:?}");
        assert_eq!(
            decided.decisions.iter().filter(|it| matches!(it, MemberDecision::Goes { .. })).count(),
            3
        );
    }
    assert_eq!(plan(&members[..1], &keep(vec![KeepRule::Deepest])).decided, [].into(), "nothing was removed");
    let oldest = plan(&members, &keep(vec![KeepRule::Deepest, KeepRule::Oldest]));
    assert_eq!(oldest.decided, [0].into());
}

#[test]
fn one_copy_stays_for_each_test() {
    let starts = |with: &'static str| -> MemberTest {
        Box::new(move |member| member.path.starts_with(with.as_bytes()))
    };
    let members = [member("a/1", 1, 0), member("b/1", 2, 9), member("b/2", 3, 1), member("c/1", 4, 2)];
    let rules =
        KeepRules { one_per: vec![starts("a/"), starts("b/"), starts("d/")], ..keep(vec![KeepRule::Oldest]) };
    let decided = plan(&members, &rules);
    let [stays, one] = [Why::Oldest, Why::OnePer].map(MemberDecision::Stays);
    assert_eq!(decided.decisions, [stays, goes(0), one, goes(0)]);
    assert_eq!((decided.decided, decided.kept_one), ([0].into(), [1].into()));
}

#[test]
fn chosen_files_stay_and_all_others_go() {
    let mut members = [member("a", 1, 0), member("b", 2, 0), member("c", 2, 0), member("d", 3, 0)];
    (members[1].nlink, members[2].nlink) = (2, 2);
    let rules = KeepRules { chosen: [b"c".to_vec()].into(), ..KeepRules::default() };
    let [chosen, same] = [Why::Chosen, Why::SameFile].map(MemberDecision::Stays);
    assert_eq!(decisions(&members, &rules), [goes(1), chosen, same, goes(1)]);
    let rules = KeepRules { min_copies: 2, ..rules };
    assert_eq!(decisions(&members, &rules)[0], MemberDecision::Stays(Why::ByteOrder));
    // In a group without a chosen file, the rules decide.
    let others = [member("x", 7, 0), member("y", 8, 0)];
    assert_eq!(decisions(&others, &KeepRules { min_copies: 0, ..rules })[1], goes(0));
}

#[test]
fn references_stay_and_count_as_copies() {
    let mut members = [member("a", 1, 0), member("ref/b", 2, 0), member("ref/c", 3, 0), member("d", 4, 0)];
    members[1..3].iter_mut().for_each(|member| member.standing.protection = Protection::Reference);
    let mut rules = KeepRules::default();
    let reference = MemberDecision::Stays(Why::Reference);
    assert_eq!(decisions(&members, &rules), [goes(1), reference, reference, goes(1)]);
    rules.min_copies = 3;
    assert_eq!(
        decisions(&members, &rules),
        [MemberDecision::Stays(Why::ByteOrder), reference, reference, goes(1)]
    );
    // Another name of a reference's file is not a copy that may be removed.
    (members[0].version.ino, members[0].nlink, members[1].nlink) = (2, 2, 2);
    let same = MemberDecision::Stays(Why::SameFile);
    rules.min_copies = 0;
    assert_eq!(decisions(&members, &rules), [same, reference, reference, goes(1)]);
}

#[test]
fn isolate_removes_only_copies_below_other_starting_points() {
    let mut members = [member("a/1", 1, 5), member("a/2", 2, 9), member("b/1", 3, 1), member("b/2", 4, 7)];
    (members[2].root, members[3].root) = (1, 1);
    let isolate = |keep| KeepRules { keep, isolate: true, ..KeepRules::default() };
    let isolated = MemberDecision::Skipped(SkipReason::Isolated);
    let first = decisions(&members, &isolate(vec![KeepRule::First]));
    assert_eq!(first, [MemberDecision::Stays(Why::First), isolated, goes(0), goes(0)]);
    let oldest = decisions(&members, &isolate(vec![KeepRule::Oldest]));
    assert_eq!(oldest, [goes(2), goes(2), MemberDecision::Stays(Why::Oldest), isolated]);
    // Copies are removed only if the reference has the content.
    let rules = isolate(vec![]);
    let one = decisions(&members[..2], &rules);
    assert_eq!(one, [MemberDecision::Stays(Why::Enough), isolated]);
    members[3].standing.protection = Protection::Reference;
    let reference = decisions(&members, &rules);
    assert_eq!(reference, [goes(3), goes(3), goes(3), MemberDecision::Stays(Why::Reference)]);
}

#[test]
fn hard_links_are_removed_together_and_the_last_one_frees_space() {
    let mut members = [member("x", 1, 0), member("b", 2, 1), member("a", 2, 1), member("c", 3, 2)];
    (members[1].nlink, members[2].nlink, members[3].nlink) = (2, 2, 3);
    let rules = keep(vec![KeepRule::Oldest]);
    let step = |outside, frees| MemberDecision::Goes { keeper: 0, outside, frees };
    let expected = [MemberDecision::Stays(Why::Oldest), step(0, 4096), step(0, 0), step(2, 0)];
    assert_eq!(decisions(&members, &rules), expected);
    // In the reverse order, the file with two names counts as one copy.
    let rules = KeepRules { min_copies: 2, ..keep(vec![KeepRule::Newest]) };
    let (newest, same) = (MemberDecision::Stays(Why::Newest), MemberDecision::Stays(Why::SameFile));
    assert_eq!(decisions(&members, &rules), [goes(3), same, newest, newest]);
}

#[test]
fn a_followed_symbolic_link_is_neither_kept_nor_removed() {
    let skipped = MemberDecision::Skipped(SkipReason::ViaLink);
    let link = |path, ino| Member { via_link: true, ..member(path, ino, 0) };
    let members = [link("a", 1), member("b", 2, 0), member("c", 3, 0)];
    assert_eq!(decisions(&members, &keep(vec![])), [skipped, MemberDecision::Stays(Why::ByteOrder), goes(1)]);
    // A link to the file that stays.
    let members = [link("a", 2), member("b", 2, 0), member("c", 3, 0)];
    assert_eq!(decisions(&members, &keep(vec![])), [skipped, MemberDecision::Stays(Why::ByteOrder), goes(1)]);
    let members = [link("a", 3), member("b", 2, 0), member("c", 3, 0)];
    assert_eq!(decisions(&members, &keep(vec![])), [skipped, MemberDecision::Stays(Why::Enough), skipped]);
    let members = [link("a", 2), link("b", 3)];
    assert_eq!(decisions(&members, &keep(vec![])), [skipped, skipped]);
}

#[test]
fn files_with_unreliable_inode_numbers_are_not_removed() {
    let members = [member("a", 1, 0), member("b", 2, 0), member("c", 2, 0)];
    let skipped = MemberDecision::Skipped(SkipReason::Unidentified);
    assert_eq!(decisions(&members, &keep(vec![])), [MemberDecision::Stays(Why::Enough), skipped, skipped]);
    assert_eq!(
        decisions(&members[1..], &keep(vec![])),
        [MemberDecision::Stays(Why::Enough), MemberDecision::Stays(Why::SameFile)]
    );
}

#[test]
fn the_keeper_is_on_the_same_device_if_possible() {
    let mut members = [member("a", 1, 0), member("b", 2, 0), member("c", 3, 0), member("d", 4, 0)];
    (members[1].version.dev, members[3].version.dev) = (2, 2);
    let rules = KeepRules { min_copies: 2, ..KeepRules::default() };
    let first = MemberDecision::Stays(Why::ByteOrder);
    assert_eq!(decisions(&members, &rules), [first, first, goes(0), goes(1)]);
    members[2].version.dev = 3;
    assert_eq!(decisions(&members, &rules)[2], goes(0));
}

#[test]
fn a_survey_returns_the_current_metadata() {
    let tree = Tree::new();
    tree.write("a", [1; 5000]);
    tree.write("b/c", [1; 5000]);
    tree.link("a", "b/link");
    let inventory = tree.inventory();
    let groups = run(&inventory, Settings::default(), 1, &SMALL, |_| ()).into_groups();
    let options = SurveyOptions {
        team: Team::new(2),
        shared: Some(&|_, open| open().map(|_| BLOCKS).into_iter().collect()),
    };
    let survey = || {
        let pieces: Vec<_> = Survey::new(&inventory, &groups, options).collect();
        let [piece] = <[Piece<'_>; 1]>::try_from(pieces).expect("one small group");
        assert!(piece.is_first && piece.is_last);
        (piece.names, piece.failed)
    };
    let (names, failed) = survey();
    assert!(failed.is_empty() && names.iter().all(|name| name.member.shared == [BLOCKS]));
    assert_eq!(names.iter().map(|name| name.cluster).collect::<Vec<_>>(), [0, 1, 0], "in path order");
    let members: Vec<_> = names.into_iter().map(|name| name.member).collect();
    for (member, name) in members.iter().zip(["a", "b/c", "b/link"]) {
        let stat = std::fs::metadata(tree.path(name)).unwrap();
        assert_eq!(member.path, tree.path(name).as_os_str().as_encoded_bytes());
        let version = member.version;
        assert_eq!((member.root, version.identity(), version.size), (0, (stat.dev(), stat.ino()), 5000));
        assert_eq!((member.blocks, member.nlink, member.via_link), (stat.blocks(), stat.nlink(), false));
        let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        assert_eq!(version.mtime_ns, nanos(stat.mtime(), stat.mtime_nsec()));
        assert_eq!(version.ctime_ns, nanos(stat.ctime(), stat.ctime_nsec()));
    }
    let has_changed = |failed: &[Failed]| {
        failed.len() == 1 && matches!(failed[0].failure, ftk_file::Failure::Changed { .. })
    };
    tree.write("b/c", [1; 5001]);
    assert!(has_changed(&survey().1));
    tree.write("b/d", [1; 5000]);
    std::fs::rename(tree.path("b/d"), tree.path("b/c")).unwrap();
    assert!(has_changed(&survey().1), "another file of the same size");
}

#[test]
fn a_large_group_is_examined_in_pieces_by_several_workers() {
    let tree = Tree::new();
    let n = 2_500;
    for nth in 0..n {
        tree.write(&format!("{}/{nth}", nth % 7), []);
    }
    let inventory = tree.inventory();
    let groups = run(&inventory, Settings::default(), 0, &SMALL, |_| ()).into_groups();
    let options = |workers| SurveyOptions { team: Team::new(workers), shared: None };
    let pieces: Vec<_> = Survey::new(&inventory, &groups, options(4)).collect();
    assert_eq!(pieces.len(), 3);
    let ends: Vec<_> = pieces.iter().map(|piece| (piece.is_first, piece.is_last)).collect();
    assert_eq!(ends, [(true, false), (false, false), (false, true)]);
    let names: Vec<_> = pieces.into_iter().flat_map(|piece| piece.names).collect();
    assert!(names.is_sorted_by(|a, b| a.member.path < b.member.path));
    assert!(names.iter().map(|name| name.cluster).eq(0..n));
    let alone: Vec<_> = Survey::new(&inventory, &groups, options(1)).flat_map(|piece| piece.names).collect();
    assert!(names == alone, "the number of workers makes no difference");
}
