//! Further copies that a step counts on.

use std::fs;
use std::sync::Arc;

use ftk_apply::{ActError, Action, ActionOptions, Copies, Engine, Journal, Need, Refusal, Step};
use ftk_sched::Stop;

use crate::harness::Tree;

/// Creates a step that needs `count` of the copies.
fn step(tree: &Tree, victim: &str, count: usize, copies: &[&str]) -> Step {
    let files = copies.iter().map(|path| tree.seen(path)).collect();
    let needs = vec![Need { count, among: (0..copies.len()).collect() }];
    Step { copies: Some(Arc::new(Copies { files, needs })), ..tree.step(victim, copies[0]) }
}

fn too_few(outcome: &Result<ftk_apply::Freed, ActError>) -> (usize, usize) {
    match outcome {
        Err(ActError::Refused(Refusal::TooFewCopies { needed, found, .. })) => (*needed, *found),
        other => panic!("{other:?}"),
    }
}

fn actions(tree: &Tree) -> [Action; 4] {
    [Action::Delete, Action::Hardlink, Action::Symlink, Action::Move(tree.path("to"))]
}

#[test]
fn enough_intact_copies_permit_the_step() {
    for nth in 0..4 {
        let tree = Tree::new();
        ["k", "c", "v"].iter().for_each(|name| _ = tree.file(name, "same"));
        let step = step(&tree, "v", 2, &["k", "c"]);
        tree.run(actions(&tree)[nth].clone(), vec![step]).remove(0).unwrap();
    }
}

#[test]
fn copies_that_are_not_as_they_were_seen_do_not_count() {
    let changes: [fn(&Tree); 5] = [
        |tree| fs::remove_file(tree.path("c")).unwrap(),
        |tree| fs::write(tree.path("c"), "SAME").unwrap(),
        |tree| fs::rename(tree.path("c"), tree.path("x")).unwrap(),
        |tree| {
            fs::remove_file(tree.path("c")).unwrap();
            std::os::unix::fs::symlink("k", tree.path("c")).unwrap();
        },
        |tree| {
            fs::remove_file(tree.path("c")).unwrap();
            fs::hard_link(tree.path("v"), tree.path("c")).unwrap();
        },
    ];
    for change in changes {
        for nth in 0..4 {
            let tree = Tree::new();
            ["k", "c", "v"].iter().for_each(|name| _ = tree.file(name, "same"));
            let mut step = step(&tree, "v", 2, &["k", "c"]);
            change(&tree);
            // The link changed the ctime of the victim.
            step.victim = tree.seen("v");
            assert_eq!(too_few(&tree.run(actions(&tree)[nth].clone(), vec![step])[0]), (2, 1));
            assert_eq!(fs::read(tree.path("v")).unwrap(), b"same");
        }
    }
}

#[test]
fn names_of_one_file_count_once() {
    let tree = Tree::new();
    ["k", "c", "v"].iter().for_each(|name| _ = tree.file(name, "same"));
    fs::hard_link(tree.path("k"), tree.path("l")).unwrap();
    fs::hard_link(tree.path("c"), tree.path("d")).unwrap();
    let [few, many] = [(3, &["k", "l", "c", "d"][..]), (2, &["k", "l", "d"])]
        .map(|(count, copies)| step(&tree, "v", count, copies));
    assert_eq!(too_few(&tree.run(Action::Delete, vec![few])[0]), (3, 2));
    tree.run(Action::Delete, vec![many]).remove(0).unwrap();
}

#[test]
fn the_victim_and_files_with_other_bytes_are_no_copies() {
    let tree = Tree::new();
    ["k", "v"].iter().for_each(|name| _ = tree.file(name, "same"));
    fs::hard_link(tree.path("v"), tree.path("w")).unwrap();
    tree.file("other", "SAME");
    let step = step(&tree, "v", 2, &["k", "v", "w", "other"]);
    assert_eq!(too_few(&tree.run(Action::Delete, vec![step])[0]), (2, 1));
}

#[test]
fn every_requirement_must_be_met() {
    let tree = Tree::new();
    ["k", "a", "b", "v"].iter().for_each(|name| _ = tree.file(name, "same"));
    let mut both = step(&tree, "v", 1, &["k", "a", "b"]);
    let copies = Copies {
        needs: vec![Need { count: 1, among: vec![1] }, Need { count: 1, among: vec![2, 0] }],
        ..(**both.copies.as_ref().unwrap()).clone()
    };
    both.copies = Some(Arc::new(copies));
    fs::remove_file(tree.path("a")).unwrap();
    assert_eq!(too_few(&tree.run(Action::Delete, vec![both.clone()])[0]), (1, 0));
    tree.file("a", "same");
    let mut files = both.copies.as_ref().unwrap().files.clone();
    files[1] = tree.seen("a");
    fs::remove_file(tree.path("b")).unwrap();
    let needs = both.copies.as_ref().unwrap().needs.clone();
    both.copies = Some(Arc::new(Copies { files, needs }));
    tree.run(Action::Delete, vec![both]).remove(0).unwrap();
}

/// All steps of a batch are proven before the first one is performed.
#[test]
fn a_copy_that_changes_before_the_action_stops_the_step() {
    let changes: [fn(&Tree); 3] = [
        |tree| fs::remove_file(tree.path("c")).unwrap(),
        |tree| fs::write(tree.path("c"), "SAME").unwrap(),
        |tree| {
            fs::rename(tree.path("c"), tree.path("x")).unwrap();
            tree.file("c", "same");
        },
    ];
    for change in changes {
        let tree = Tree::new();
        ["k", "c", "u", "v"].iter().for_each(|name| _ = tree.file(name, "same"));
        let steps = ["u", "v"].map(|victim| step(&tree, victim, 2, &["k", "c"]));
        let mut journal = Journal::create(&tree.journal()).unwrap();
        let mut engine = Engine::new(Action::Delete, ActionOptions::default()).unwrap();
        let mut outcomes = Vec::new();
        engine
            .run(steps, &mut journal, &Stop::new(), |_, outcome| {
                if outcomes.is_empty() {
                    change(&tree);
                }
                outcomes.push(outcome);
            })
            .unwrap();
        outcomes[0].as_ref().unwrap();
        assert!(matches!(outcomes[1], Err(ActError::Refused(_))), "{outcomes:?}");
        assert!(!tree.path("u").exists() && tree.path("v").exists());
    }
}

/// Bytes that this thread has read.
fn bytes_read() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/io").unwrap();
    text.lines().next().unwrap().strip_prefix("rchar: ").unwrap().parse().unwrap()
}

#[test]
fn a_proven_copy_is_read_again_only_if_it_may_have_changed() {
    const LEN: u64 = 1 << 20;
    let content = vec![7; LEN as usize];
    for (is_old, expected) in [(true, 5 * 2 + 2), (false, 5 * 4)] {
        let tree = Tree::new();
        let victims: Vec<_> = (0..5).map(|nth| format!("v{nth}")).collect();
        ["k", "c"].iter().for_each(|name| _ = tree.file(name, &content));
        victims.iter().for_each(|name| _ = tree.file(name, &content));
        if !is_old {
            // A write within the same tick of a coarse clock would not change the times of this file.
            fs::write(tree.path("c"), &content).unwrap();
        }
        let steps = victims.iter().map(|victim| step(&tree, victim, 2, &["k", "c"])).collect();
        let before = bytes_read();
        assert!(tree.run(Action::Hardlink, steps).iter().all(Result::is_ok));
        let read = bytes_read() - before;
        assert!((expected * LEN..(expected + 1) * LEN).contains(&read), "{read} bytes, {is_old}");
    }
}

#[test]
fn copies_in_further_directories_are_found_for_each_entry() {
    for is_hurt in [false, true] {
        let tree = Tree::new();
        for dir in ["k", "c", "v"] {
            tree.file(&format!("{dir}/x"), "one");
            tree.file(&format!("{dir}/sub/y"), "two");
            std::os::unix::fs::symlink("x", tree.path(dir).join("link")).unwrap();
        }
        let mut step = step(&tree, "v", 2, &["k", "c"]);
        for seen in [&mut step.victim, &mut step.keeper] {
            seen.version.size = 0;
        }
        if is_hurt {
            fs::remove_file(tree.path("c/link")).unwrap();
        }
        let mut journal = Journal::create(&tree.journal()).unwrap();
        let mut engine = Engine::new(Action::Delete, ActionOptions::default()).unwrap();
        let (_, ended) = engine.run_tree(&step, &mut journal, &Stop::new(), |_, _| ()).unwrap();
        assert_eq!(ended.is_err(), is_hurt);
        assert_eq!(tree.path("v").exists(), is_hurt);
        if let Err(error) = ended {
            assert_eq!(too_few(&Err(error.error)), (2, 1));
        }
    }
}

#[test]
fn plans_refuse_what_the_engine_would_refuse() {
    let tree = Tree::new();
    ["k", "c", "v"].iter().for_each(|name| _ = tree.file(name, "same"));
    let step = step(&tree, "v", 2, &["k", "c"]);
    let check = || {
        let mut reach = ftk_apply::Reach::new();
        ftk_apply::check(&mut reach, &ftk_apply::Action::Delete, ActionOptions::default(), &step)
    };
    check().unwrap();
    fs::remove_file(tree.path("c")).unwrap();
    assert!(matches!(check(), Err(Refusal::TooFewCopies { needed: 2, found: 1, .. })));
    assert_eq!(too_few(&tree.run(Action::Delete, vec![step])[0]), (2, 1));
}
