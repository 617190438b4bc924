//! Steps that are refused, and leave their files unchanged.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::Command;

use ftk_apply::{ActError, Action, ActionOptions, Difference, Refusal, Side, Step};
use rustix::fs::{CWD, Mode, XattrFlags, mkfifoat, setxattr};

use crate::harness::{Tree, has, ino, is_root, old_time, set_mode, skip};

const ALL: fn(&Tree) -> [Action; 5] = |tree| {
    [Action::Hardlink, Action::Symlink, Action::Delete, Action::Move(tree.path("to")), Action::Reflink]
};

/// Runs one step with every action. All must refuse it for the same reason, and change nothing.
fn refused_by_all(tree: &Tree, step: &Step, why: impl Fn(&Refusal) -> bool) {
    let before = tree.names();
    for action in ALL(tree) {
        let outcome = tree.run(action.clone(), vec![step.clone()]).remove(0);
        assert!(
            matches!(&outcome, Err(ActError::Refused(refusal)) if why(refusal)),
            "{action:?}: {outcome:?}"
        );
        assert_eq!(tree.names(), before, "{action:?}");
    }
}

#[test]
fn different_content_of_the_same_size_is_refused() {
    for at in [0, 5_000, 199_999] {
        let tree = Tree::new();
        tree.file("k", vec![7; 200_000]);
        let mut content = vec![7; 200_000];
        content[at] = 8;
        let victim = tree.file("v", &content);
        let step = tree.step("v", "k");
        for action in ALL(&tree).into_iter().take(4) {
            let outcome = tree.run(action, vec![step.clone()]).remove(0);
            assert!(matches!(outcome, Err(ActError::Refused(Refusal::ContentDiffers))), "{outcome:?}");
        }
        assert_eq!(fs::read(victim).unwrap(), content);
    }
}

/// Another run may remove such a file at any moment, when it regards it as a replaced victim.
#[test]
fn files_with_temporary_names_are_refused() {
    for (name, is_temporary) in [(".ftk-0123456789abcdef", true), (".ftk-0123456789abcdeg", false)] {
        for side in [Side::Victim, Side::Keeper] {
            let tree = Tree::new();
            tree.file("other", "same");
            tree.file(name, "same");
            let step = if side == Side::Victim { tree.step(name, "other") } else { tree.step("other", name) };
            if is_temporary {
                refused_by_all(&tree, &step, |why| matches!(why, Refusal::TemporaryName(of) if *of == side));
            } else {
                tree.run(Action::Hardlink, vec![step]).remove(0).unwrap();
                assert_eq!(ino(&tree.path(name)), ino(&tree.path("other")));
            }
        }
    }
}

#[test]
fn h08_a_file_changed_since_the_scan_is_refused() {
    for side in [Side::Victim, Side::Keeper] {
        let tree = Tree::new();
        tree.file("k", "same");
        tree.file("v", "same");
        let step = tree.step("v", "k");
        let name = if side == Side::Victim { "v" } else { "k" };
        // The same size and, as after `touch -r`, the same mtime: only the ctime differs.
        tree.file(name, "best");
        refused_by_all(&tree, &step, |why| matches!(why, Refusal::Changed { side: of, .. } if *of == side));
        assert_eq!(fs::metadata(tree.path(name)).unwrap().modified().unwrap(), old_time());
        tree.file(name, "longer");
        refused_by_all(&tree, &step, |why| matches!(why, Refusal::Changed { side: of, .. } if *of == side));
        fs::rename(tree.file("new", "same"), tree.path(name)).unwrap();
        refused_by_all(&tree, &step, |why| matches!(why, Refusal::Replaced(of) if *of == side));
        fs::remove_file(tree.path(name)).unwrap();
        refused_by_all(
            &tree,
            &step,
            |why| matches!(why, Refusal::Unreadable { side: of, .. } if *of == side),
        );
    }
}

#[test]
fn h02_two_names_of_one_file_are_refused() {
    let tree = Tree::new();
    let keeper = tree.file("dir/k", "same");
    fs::hard_link(&keeper, tree.path("hard")).unwrap();
    symlink("dir", tree.path("link")).unwrap();
    let mut through_link = tree.seen("link/k");
    through_link.root_len = tree.path("link").as_os_str().len();
    let is_same = |why: &Refusal| matches!(why, Refusal::SameFile);
    for victim in [tree.seen("dir/k"), tree.seen("hard"), through_link] {
        refused_by_all(&tree, &Step::new(victim, tree.seen("dir/k")), is_same);
    }
    assert_eq!(fs::metadata(keeper).unwrap().nlink(), 2);
}

#[test]
fn h01_only_regular_files_are_accepted() {
    let tree = Tree::new();
    tree.file("k", "same");
    symlink("k", tree.path("link")).unwrap();
    symlink("nowhere", tree.path("dangling")).unwrap();
    mkfifoat(CWD, tree.path("fifo"), Mode::RUSR | Mode::WUSR).unwrap();
    fs::create_dir(tree.path("dir")).unwrap();
    for name in ["link", "dangling", "fifo", "dir"] {
        refused_by_all(&tree, &tree.step(name, "k"), |why| matches!(why, Refusal::NotRegular(Side::Victim)));
        refused_by_all(&tree, &tree.step("k", name), |why| matches!(why, Refusal::NotRegular(Side::Keeper)));
    }
}

#[test]
fn paths_through_links_or_parents_are_refused() {
    let tree = Tree::new();
    tree.file("k", "same");
    tree.file("real/v", "same");
    symlink("real", tree.path("link")).unwrap();
    let link = Step::new(tree.seen("link/v"), tree.seen("k"));
    refused_by_all(&tree, &link, |why| matches!(why, Refusal::Link(Side::Victim)));
    let mut up = tree.step("real/v", "k");
    up.keeper.path = tree.path("real/../k").into_os_string().into_encoded_bytes();
    refused_by_all(&tree, &up, |why| matches!(why, Refusal::Path(Side::Keeper)));
}

#[test]
fn a_plan_that_removes_both_files_keeps_one() {
    for action in [Action::Hardlink, Action::Symlink, Action::Delete] {
        let tree = Tree::new();
        tree.file("a", "same");
        tree.file("b", "same");
        let steps = vec![tree.step("a", "b"), tree.step("b", "a")];
        let outcomes = tree.run(action.clone(), steps);
        assert!(outcomes[0].is_ok(), "{action:?}: {outcomes:?}");
        assert!(outcomes[1].is_err(), "{action:?}");
        assert_eq!(fs::read(tree.path("b")).unwrap(), b"same");
        assert!(!tree.path("b").is_symlink());
    }
}

/// Checks that `hardlink` and `symlink` refuse the step. The other actions keep the metadata or remove the
/// file on request.
fn differs(tree: &Tree, expected: impl Fn(&Difference) -> bool) {
    for action in [Action::Hardlink, Action::Symlink] {
        let refused = tree.refused(action, "v", "k");
        let ActError::Refused(Refusal::MetadataDiffers(found)) = &refused else { panic!("{refused:?}") };
        assert!(expected(found), "{found:?}");
    }
}

#[test]
fn h11_different_metadata_is_refused() {
    let tree = Tree::new();
    let (keeper, victim) = (tree.file("k", "same"), tree.file("v", "same"));
    set_mode(&keeper, 0o644);
    set_mode(&victim, 0o600);
    differs(&tree, |found| *found == Difference::Mode { victim: 0o600, keeper: 0o644 });
    set_mode(&victim, 0o644);
    if is_root() {
        std::os::unix::fs::chown(&victim, Some(12), None).unwrap();
        differs(&tree, |found| *found == Difference::Owner { victim: 12, keeper: 0 });
        std::os::unix::fs::chown(&victim, Some(0), Some(34)).unwrap();
        differs(&tree, |found| matches!(found, Difference::Group { victim: 34, .. }));
        std::os::unix::fs::chown(&victim, Some(0), Some(fs::metadata(&keeper).unwrap().gid())).unwrap();
    } else {
        skip("only root changes owners");
    }
    match setxattr(&victim, "user.note", b"mine", XattrFlags::empty()) {
        Ok(()) => {
            differs(&tree, |found| *found == Difference::Attribute(b"user.note".to_vec()));
            setxattr(&keeper, "user.note", b"other", XattrFlags::empty()).unwrap();
            differs(&tree, |found| *found == Difference::Attribute(b"user.note".to_vec()));
            setxattr(&keeper, "user.note", b"mine", XattrFlags::empty()).unwrap();
            // More names than fit into the initial buffer.
            for nth in 0..100 {
                setxattr(&keeper, format!("user.more{nth}"), b"", XattrFlags::empty()).unwrap();
            }
            differs(&tree, |found| *found == Difference::Attribute(b"user.more0".to_vec()));
            for nth in 0..100 {
                rustix::fs::removexattr(&keeper, format!("user.more{nth}")).unwrap();
            }
        }
        Err(errno) => skip(&format!("no extended attributes here: {errno}")),
    }
    if has("setfacl") {
        let status = Command::new("setfacl").args(["-m", "u:12:r"]).arg(&keeper).status().unwrap();
        assert!(status.success());
        set_mode(&victim, fs::metadata(&keeper).unwrap().mode() & 0o7777);
        differs(&tree, |found| found.to_string() == "access control list differs");
        assert!(Command::new("setfacl").arg("-b").arg(&keeper).status().unwrap().success());
        set_mode(&keeper, 0o644);
        set_mode(&victim, 0o644);
    }
    assert_eq!(tree.names(), ["k", "v"]);
    tree.done(Action::Hardlink, "v", "k");
}

#[test]
fn h11_different_metadata_is_accepted_on_request() {
    let tree = Tree::new();
    let (keeper, victim) = (tree.file("k", "same"), tree.file("v", "same"));
    set_mode(&victim, 0o600);
    let options = ActionOptions { metadata_may_differ: true, ..ActionOptions::default() };
    // But no name becomes set-user-ID.
    set_mode(&keeper, 0o4755);
    for action in [Action::Hardlink, Action::Symlink] {
        let refused = tree.run_by(action, options, vec![tree.step("v", "k")]).remove(0);
        assert!(matches!(refused, Err(ActError::Refused(Refusal::MetadataDiffers(Difference::Mode { .. })))));
    }
    set_mode(&keeper, 0o755);
    tree.run_by(Action::Hardlink, options, vec![tree.step("v", "k")]).remove(0).unwrap();
    assert_eq!(ino(&victim), ino(&keeper));
}

#[test]
fn delete_ignores_different_metadata() {
    let tree = Tree::new();
    tree.file("k", "same");
    set_mode(&tree.file("v", "same"), 0o600);
    tree.done(Action::Delete, "v", "k");
    assert_eq!(tree.names(), ["k"]);
}

/// A batch is proven before its first step is performed. Later changes to its other files are detected.
#[test]
fn changes_between_proof_and_action_are_detected() {
    use ftk_apply::{Engine, Journal};
    use ftk_sched::Stop;

    type Change = (&'static str, fn(&Tree));
    let changes: [Change; 6] = [
        ("the victim is rewritten", |tree| _ = tree.file("v2", "best")),
        ("the keeper is rewritten", |tree| _ = tree.file("k2", "best")),
        ("the keeper is removed", |tree| fs::remove_file(tree.path("k2")).unwrap()),
        ("the keeper becomes another file", |tree| {
            fs::rename(tree.file("new", "best"), tree.path("k2")).unwrap();
        }),
        ("the victim becomes another file", |tree| {
            fs::rename(tree.file("new", "best"), tree.path("v2")).unwrap();
        }),
        ("the keeper becomes a link to the victim", |tree| {
            fs::remove_file(tree.path("k2")).unwrap();
            symlink("v2", tree.path("k2")).unwrap();
        }),
    ];
    for (what, change) in changes {
        for action in ["hardlink", "symlink", "delete", "move"] {
            let tree = Tree::new();
            let action = match action {
                "hardlink" => Action::Hardlink,
                "symlink" => Action::Symlink,
                "delete" => Action::Delete,
                _ => Action::Move(tree.path("to")),
            };
            for name in ["k1", "v1", "k2", "v2"] {
                tree.file(name, "same");
            }
            let steps = [tree.step("v1", "k1"), tree.step("v2", "k2")];
            let mut journal = Journal::create(&tree.journal()).unwrap();
            let mut engine = Engine::new(action.clone(), ActionOptions::default()).unwrap();
            let (mut outcomes, mut inode, mut content) = (Vec::new(), 0, Vec::new());
            engine
                .run(steps, &mut journal, &Stop::new(), |_, outcome| {
                    if outcomes.is_empty() {
                        change(&tree);
                        (inode, content) = (ino(&tree.path("v2")), fs::read(tree.path("v2")).unwrap());
                    }
                    outcomes.push(outcome);
                })
                .unwrap();
            assert!(outcomes[0].is_ok() && outcomes[1].is_err(), "{what}, {action:?}: {outcomes:?}");
            assert_eq!(
                (ino(&tree.path("v2")), fs::read(tree.path("v2")).unwrap()),
                (inode, content),
                "{what}"
            );
            assert!(tree.names().iter().all(|name| !name.contains(".ftk-")), "{what}, {action:?}");
        }
    }
}

#[test]
fn stop_skips_the_remaining_steps() {
    use ftk_apply::{Engine, Journal};
    use ftk_sched::Stop;

    let tree = Tree::new();
    tree.file("k", "same");
    let steps: Vec<_> = (0..5)
        .map(|nth| {
            tree.file(&format!("v{nth}"), "same");
            tree.step(&format!("v{nth}"), "k")
        })
        .collect();
    let mut journal = Journal::create(&tree.journal()).unwrap();
    let stop = Stop::new();
    let mut performed = Vec::new();
    let mut engine = Engine::new(Action::Delete, ActionOptions::default()).unwrap();
    engine
        .run(steps, &mut journal, &stop, |_, outcome| {
            performed.push(outcome.is_ok());
            assert!(matches!(outcome, Ok(_) | Err(ActError::Stopped)));
            if performed.len() == 2 {
                stop.raise();
            }
        })
        .unwrap();
    journal.finish().unwrap();
    assert_eq!(performed, [true, true, false, false, false]);
    assert_eq!(tree.names(), ["k", "v2", "v3", "v4"]);
    assert_eq!(tree.undo().len(), 2, "stopped steps are not undone");
}
