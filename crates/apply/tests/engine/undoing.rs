//! Undo: steps are undone, and files that have changed since are left alone.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use ftk_apply::{ActError, Action, ActionOptions, Engine, Journal, QUARANTINE, Refusal, Side, Undone};
use ftk_sched::Stop;
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;

use crate::harness::{Mounted, Tree, ino, is_root, old_time, set_mode, skip};

/// Creates a keeper and a victim with different metadata, and replaces the victim.
fn replaced(action: Action) -> Tree {
    let tree = Tree::new();
    set_mode(&tree.file("k", "same"), 0o644);
    let victim = tree.file("dir/v", "same");
    set_mode(&victim, 0o640);
    if is_root() {
        std::os::unix::fs::chown(&victim, Some(12), Some(34)).unwrap();
    }
    _ = setxattr(&victim, "user.note", b"\0mine", XattrFlags::empty());
    let options = ActionOptions { metadata_may_differ: true, ..ActionOptions::default() };
    tree.run_by(action, options, vec![tree.step("dir/v", "k")]).remove(0).unwrap();
    tree
}

/// Checks that the victim is restored.
fn assert_as_it_was(tree: &Tree) {
    let path = tree.path("dir/v");
    let now = fs::symlink_metadata(&path).unwrap();
    assert!(now.is_file());
    assert_ne!(now.ino(), ino(&tree.path("k")));
    assert_eq!((now.nlink(), now.mode() & 0o7777), (1, 0o640));
    assert_eq!(now.modified().unwrap(), old_time());
    if is_root() {
        assert_eq!((now.uid(), now.gid()), (12, 34));
    }
    let mut value = [0; 9];
    match getxattr(&path, "user.note", &mut value[..]) {
        Ok(len) => assert_eq!(&value[..len], b"\0mine"),
        Err(errno) => {
            assert_eq!(errno, Errno::OPNOTSUPP);
            skip("no extended attributes here");
        }
    }
    assert_eq!(fs::read(&path).unwrap(), b"same");
    assert_eq!(tree.names(), ["dir/v", "k"]);
}

#[test]
fn links_become_files_again() {
    for action in [Action::Hardlink, Action::Symlink] {
        let tree = replaced(action);
        assert!(matches!(tree.undo()[..], [Ok(Undone::Restored)]));
        assert_as_it_was(&tree);
        assert!(matches!(tree.undo()[..], [Ok(Undone::AsItWas)]), "once more");
        assert_as_it_was(&tree);
    }
}

#[test]
fn moved_files_move_back() {
    let tree = Tree::new();
    tree.file("k", "same");
    let victim = tree.file("dir/v", "same");
    let inode = ino(&victim);
    tree.done(Action::Move(tree.path("to")), "dir/v", "k");
    assert!(!victim.exists());
    assert!(matches!(tree.undo()[..], [Ok(Undone::Restored)]));
    assert_eq!(ino(&victim), inode);
    assert!(matches!(tree.undo()[..], [Ok(Undone::AsItWas)]));
    // If another file has the name, both files stay where they are.
    tree.done(Action::Move(tree.path("to")), "dir/v", "k");
    tree.file("dir/v", "new");
    assert!(matches!(tree.undo()[..], [Err(ActError::Refused(Refusal::NameExists))]));
    assert_eq!(fs::read(&victim).unwrap(), b"new");
    assert_eq!(tree.names().len(), 3);
}

#[test]
fn a_directory_to_which_nothing_was_moved_is_removed() {
    let tree = Tree::new();
    tree.file("k", "same");
    tree.file("dir/v", "else");
    let to = tree.path("to");
    tree.refused(Action::Move(to.join("run")), "dir/v", "k");
    assert!(to.is_dir() && !to.join("run").exists(), "only the marked one");
    // One that was there before stays.
    fs::create_dir(to.join("run")).unwrap();
    tree.refused(Action::Move(to.join("run")), "dir/v", "k");
    assert!(to.join("run").is_dir());
}

/// A run that was killed while it proved its first step has only left the directory.
#[test]
fn undo_of_a_run_without_steps_removes_its_directory() {
    for has_note in [false, true] {
        let tree = Tree::new();
        let to = tree.path("to");
        let mut journal = Journal::create(&tree.journal()).unwrap();
        let mut engine = Engine::new(Action::Move(to.clone()), ActionOptions::default()).unwrap();
        engine.run([], &mut journal, &Stop::new(), |_, _| {}).unwrap();
        // Nothing cleans up.
        let records = fs::read(tree.journal()).unwrap();
        std::mem::forget(engine);
        drop(journal);
        fs::write(tree.journal(), records).unwrap();
        assert!(to.join(QUARANTINE.to_str().unwrap()).exists());
        if has_note {
            fs::write(to.join("note"), "mine").unwrap();
        }
        assert!(tree.undo().is_empty());
        assert_eq!(to.exists(), has_note);
    }
}

#[test]
fn a_directory_stays_while_a_moved_file_is_missing() {
    let tree = Tree::new();
    for name in ["v", "w"] {
        tree.file(&format!("k{name}"), name);
        tree.file(&format!("dir/{name}"), name);
    }
    let (to, steps) = (tree.path("to"), vec![tree.step("dir/v", "kv"), tree.step("dir/w", "kw")]);
    assert!(tree.run(Action::Move(to.clone()), steps).iter().all(Result::is_ok));
    let moved =
        tree.names().into_iter().find(|name| name.starts_with("to/") && name.ends_with("/v")).unwrap();
    fs::rename(tree.path(&moved), tree.path("elsewhere")).unwrap();
    let undone = tree.undo();
    assert!(matches!(undone[..], [Ok(Undone::Restored), Err(_)]), "{undone:?}");
    assert!(tree.path(&moved).parent().unwrap().is_dir());
    fs::rename(tree.path("elsewhere"), tree.path(&moved)).unwrap();
    assert!(matches!(tree.undo()[..], [Ok(Undone::AsItWas), Ok(Undone::Restored)]));
    assert!(!to.exists() && tree.path("dir/v").exists());
}

#[test]
fn a_restored_file_that_was_rewritten_is_left_alone() {
    let tree = Tree::new();
    tree.file("k", "same");
    let victim = tree.file("dir/v", "same");
    tree.done(Action::Move(tree.path("to")), "dir/v", "k");
    assert!(matches!(tree.undo()[..], [Ok(Undone::Restored)]));
    fs::write(&victim, "edit").unwrap();
    assert!(matches!(tree.undo()[..], [Ok(Undone::AsItWas)]));
    assert_eq!(fs::read(&victim).unwrap(), b"edit");
    // The same if the journal does not say that the step is undone. The inode number is not sufficient.
    let journal = fs::read_to_string(tree.journal()).unwrap();
    let records: String = journal.split_inclusive('\n').filter(|line| !line.contains("undone")).collect();
    fs::write(tree.journal(), records).unwrap();
    assert!(matches!(tree.undo()[..], [Err(ActError::Refused(Refusal::Changed { side: Side::Victim, .. }))]));
    assert_eq!(fs::read(&victim).unwrap(), b"edit");
}

/// A killed run has left the victim under its private name, and a user has created a file under the old name.
#[test]
fn h06_a_victim_with_a_private_name_does_not_replace_a_new_file() {
    for action in [Action::Hardlink, Action::Symlink] {
        let tree = replaced(action.clone());
        let (_, intent) = tree.intent();
        let aside = format!("dir/{}", intent["temp"].as_str().unwrap());
        let left = tree.file(&aside, "same");
        tree.reuse_inode(&aside, false);
        fs::remove_file(tree.path("dir/v")).unwrap();
        tree.file("dir/v", "mine");
        if is_root() {
            // A file of another owner that has got the inode number is not the victim.
            let undone = tree.undo();
            assert!(
                matches!(undone[..], [Err(ActError::Refused(Refusal::Changed { side: Side::Victim, .. }))]),
                "{action:?}: {undone:?}"
            );
            std::os::unix::fs::chown(&left, Some(12), Some(34)).unwrap();
        }
        let undone = tree.undo();
        assert!(
            matches!(undone[..], [Err(ActError::Refused(Refusal::Replaced(_)))]),
            "{action:?}: {undone:?}"
        );
        assert_eq!(fs::read(tree.path("dir/v")).unwrap(), b"mine");
        assert_eq!(fs::read(&left).unwrap(), b"same");
    }
}

/// Creates a victim with two names, and performs the action on both.
fn with_two_names(action: Action) -> Tree {
    let tree = Tree::new();
    tree.file("k", "same");
    fs::hard_link(tree.file("v1", "same"), tree.path("v2")).unwrap();
    let steps = ["v1", "v2"].map(|name| tree.step(name, "k"));
    tree.run(action, steps.to_vec()).into_iter().for_each(|outcome| _ = outcome.unwrap());
    tree
}

/// A file of another user that has got the inode number of the victim, with its size and mtime but other bytes. No name of
/// the victim becomes a link of it.
#[test]
fn a_later_file_with_the_inode_number_of_the_victim_is_not_the_victim() {
    for action in [Action::Hardlink, Action::Symlink, Action::Delete] {
        for has_birth in [true, false] {
            let tree = with_two_names(action.clone());
            _ = fs::remove_file(tree.path("v2"));
            tree.file("v2", "evil");
            tree.reuse_inode("v2", has_birth);
            let undone = tree.undo();
            let what = format!("{action:?} {has_birth}: {undone:?}");
            if has_birth {
                let [Err(ActError::Refused(Refusal::Replaced(_))), Ok(Undone::Restored)] = undone[..] else {
                    panic!("{what}")
                };
                assert_eq!(fs::read(tree.path("v1")).unwrap(), b"same", "{what}");
            } else {
                // It may be the victim itself under this name, but its content has changed.
                let [Ok(Undone::AsItWas), Err(ActError::Refused(Refusal::Replaced(_)))] = undone[..] else {
                    panic!("{what}")
                };
            }
            assert_eq!(fs::read(tree.path("v2")).unwrap(), b"evil", "{what}");
            assert_eq!(fs::metadata(tree.path("v2")).unwrap().nlink(), 1, "{what}");
            assert!(!tree.names().iter().any(|name| name.contains(".ftk-")), "{what}: {:?}", tree.names());
        }
    }
}

/// The same for a file of another owner with the same bytes: its owner could change them later.
#[test]
fn a_file_of_another_owner_is_not_the_victim() {
    if !is_root() {
        return skip("only root changes owners");
    }
    for action in [Action::Hardlink, Action::Symlink, Action::Delete] {
        let tree = with_two_names(action.clone());
        _ = fs::remove_file(tree.path("v2"));
        std::os::unix::fs::chown(tree.file("v2", "same"), Some(12), Some(34)).unwrap();
        tree.reuse_inode("v2", false);
        let undone = tree.undo();
        let is_refused = matches!(undone[0], Err(ActError::Refused(_)));
        assert!(is_refused && matches!(undone[1], Ok(Undone::Restored)), "{action:?}: {undone:?}");
        let [v1, v2] = ["v1", "v2"].map(|name| fs::metadata(tree.path(name)).unwrap());
        assert_eq!((v1.uid(), v1.nlink(), v2.uid(), v2.nlink()), (0, 1, 12, 1), "{action:?}");
        assert_eq!(fs::read(tree.path("v1")).unwrap(), b"same");
    }
}

/// The number of a removed file may belong to the victim of a later step: these are not two names of one file.
#[test]
fn two_victims_with_one_inode_number_are_two_files() {
    for action in [Action::Hardlink, Action::Symlink, Action::Delete] {
        let tree = Tree::new();
        for (name, content) in [("k1", "same"), ("v1", "same"), ("k2", "other"), ("v2", "other")] {
            tree.file(name, content);
        }
        let number = ino(&tree.path("v2"));
        let steps = [tree.step("v1", "k1"), tree.step("v2", "k2")];
        tree.run(action.clone(), steps.to_vec()).into_iter().for_each(|outcome| _ = outcome.unwrap());
        // The first victim had the number of the second one.
        let mut journal = String::new();
        for line in fs::read_to_string(tree.journal()).unwrap().lines() {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            if record["victim"]["path"].as_str().is_some_and(|path| path.ends_with("v1")) {
                record["victim"]["ino"] = number.into();
                record["identity"]["ino"] = number.into();
            }
            journal += &format!("{record}\n");
        }
        fs::write(tree.journal(), journal).unwrap();
        let undone = tree.undo();
        assert!(matches!(undone[..], [Ok(Undone::Restored), Ok(Undone::Restored)]), "{action:?}: {undone:?}");
        for (name, content) in [("v1", "same"), ("v2", "other")] {
            assert_eq!(fs::read_to_string(tree.path(name)).unwrap(), content, "{action:?}");
        }
    }
}

/// Such a file is moved neither back from where the victim was moved to, nor from a private name.
#[test]
fn a_later_file_with_the_inode_number_of_the_victim_is_not_moved() {
    for has_birth in [true, false] {
        let tree = Tree::new();
        tree.file("k", "same");
        tree.file("dir/v", "same");
        tree.done(Action::Move(tree.path("to")), "dir/v", "k");
        let moved = tree.names().remove(1);
        fs::remove_file(tree.path(&moved)).unwrap();
        tree.file(&moved, "evil");
        tree.reuse_inode(&moved, has_birth);
        let undone = tree.undo();
        let refused = matches!(undone[..], [Err(ActError::Refused(Refusal::Changed { .. }))]);
        assert!(refused, "{has_birth}: {undone:?}");
        assert_eq!(tree.names(), ["k".to_owned(), moved]);

        for action in [Action::Hardlink, Action::Symlink, Action::Delete] {
            let tree = replaced(action.clone());
            let aside = format!("dir/{}", tree.intent().1["temp"].as_str().unwrap());
            let left = tree.file(&aside, "evil");
            if is_root() {
                std::os::unix::fs::chown(&left, Some(12), Some(34)).unwrap();
            }
            tree.reuse_inode(&aside, has_birth);
            let undone = tree.undo();
            let refused = matches!(undone[..], [Err(ActError::Refused(Refusal::Changed { .. }))]);
            assert!(refused, "{action:?} {has_birth}: {undone:?}");
            assert_eq!(fs::read(&left).unwrap(), b"evil");
            assert_ne!(fs::read(tree.path("dir/v")).ok().as_deref(), Some(&b"evil"[..]));
        }
    }
}

/// More files than stay open are restored in turns, so that some are opened again by their names.
#[test]
fn names_of_many_files_are_joined_in_any_order() {
    const FILES: usize = 6;
    for evil in [false, true] {
        let tree = Tree::new();
        let mut steps = Vec::new();
        for nth in 0..FILES {
            tree.file(&format!("k{nth}"), format!("content {nth}"));
            let first = tree.file(&format!("a{nth}"), format!("content {nth}"));
            for name in ["b", "c"] {
                fs::hard_link(&first, tree.path(&format!("{name}{nth}"))).unwrap();
            }
        }
        for name in ["a", "b", "c"] {
            steps.extend((0..FILES).map(|nth| tree.step(&format!("{name}{nth}"), &format!("k{nth}"))));
        }
        tree.run(Action::Hardlink, steps).into_iter().for_each(|outcome| _ = outcome.unwrap());
        let journal = ftk_apply::open_journal_to_undo(&tree.journal()).unwrap();
        let (mut restored, mut refused) = (0, 0);
        ftk_apply::undo(journal, &ftk_sched::Stop::new(), |undo, outcome| {
            if evil && restored == FILES && undo.path.ends_with(b"b5") {
                // This restored file is not open any more.
                fs::rename(tree.file("evil", "content!0"), tree.path("c0")).unwrap();
            }
            match outcome {
                Ok(Undone::Restored) => restored += 1,
                Err(ActError::Refused(Refusal::Replaced(Side::Victim))) => refused += 1,
                outcome => panic!("{outcome:?}"),
            }
        })
        .unwrap();
        for nth in usize::from(evil)..FILES {
            let [a, b, c] = ["a", "b", "c"].map(|name| ino(&tree.path(&format!("{name}{nth}"))));
            assert!(a == b && b == c && a != ino(&tree.path(&format!("k{nth}"))), "{nth}");
        }
        if evil {
            assert_eq!(refused, 2, "{restored}");
            assert_eq!(fs::metadata(tree.path("c0")).unwrap().nlink(), 1);
            assert_eq!(fs::read(tree.path("a0")).unwrap(), b"content 0");
        }
    }
}

/// A file of the user with the victim's size and the keeper's bytes is not a restored victim.
#[test]
fn a_copy_with_other_metadata_is_not_a_restored_victim() {
    for action in [Action::Hardlink, Action::Symlink] {
        let tree = replaced(action.clone());
        fs::remove_file(tree.path("dir/v")).unwrap();
        set_mode(&tree.file("dir/v", "same"), 0o604);
        let undone = tree.undo();
        assert!(
            matches!(undone[..], [Err(ActError::Refused(Refusal::Replaced(_)))]),
            "{action:?}: {undone:?}"
        );
    }
}

#[test]
fn a_file_with_other_bytes_is_not_a_restored_victim() {
    for action in [Action::Hardlink, Action::Symlink] {
        let tree = replaced(action.clone());
        fs::remove_file(tree.path("dir/v")).unwrap();
        let other = tree.file("dir/v", "diff");
        set_mode(&other, 0o640);
        if is_root() {
            std::os::unix::fs::chown(&other, Some(12), Some(34)).unwrap();
        }
        let undone = tree.undo();
        assert!(
            matches!(undone[..], [Err(ActError::Refused(Refusal::Replaced(_)))]),
            "{action:?}: {undone:?}"
        );
    }
}

#[test]
fn a_moved_file_that_was_rewritten_is_not_moved_back() {
    let tree = Tree::new();
    tree.file("k", "same");
    let victim = tree.file("v", "same");
    tree.done(Action::Move(tree.path("to")), "v", "k");
    let moved = tree.names().into_iter().find(|name| name.starts_with("to/")).unwrap();
    fs::write(tree.path(&moved), "edit").unwrap();
    assert!(matches!(tree.undo()[..], [Err(ActError::Refused(Refusal::Changed { side: Side::Victim, .. }))]));
    assert!(!victim.exists());
    assert_eq!(fs::read(tree.path(&moved)).unwrap(), b"edit");
}

/// A keeper may be the victim of a later step: it must be restored before the files that were linked to it.
#[test]
fn the_latest_step_is_undone_first() {
    let tree = Tree::new();
    for name in ["v", "k", "z"] {
        tree.file(name, "same");
    }
    let steps = [("v", "k"), ("k", "z")].map(|(victim, keeper)| tree.step(victim, keeper));
    tree.run(Action::Symlink, steps.to_vec()).into_iter().for_each(|outcome| _ = outcome.unwrap());
    let undone = tree.undo();
    assert!(matches!(undone[..], [Ok(Undone::Restored), Ok(Undone::Restored)]), "{undone:?}");
    assert!(["v", "k", "z"].iter().all(|name| !tree.path(name).is_symlink()));
}

/// The names of a victim are restored one after the other, as hard links to the first.
#[test]
fn a_file_that_replaced_a_restored_victim_gets_no_links() {
    let tree = Tree::new();
    tree.file("k", "same");
    fs::hard_link(tree.file("v1", "same"), tree.path("v2")).unwrap();
    let steps = ["v1", "v2"].map(|name| tree.step(name, "k"));
    tree.run(Action::Hardlink, steps.to_vec()).into_iter().for_each(|outcome| _ = outcome.unwrap());
    let journal = ftk_apply::open_journal_to_undo(&tree.journal()).unwrap();
    let mut outcomes = Vec::new();
    ftk_apply::undo(journal, &ftk_sched::Stop::new(), |undo, outcome| {
        if outcomes.is_empty() {
            assert!(undo.path.ends_with(b"v2"), "the latest step comes first");
            fs::rename(tree.file("new", "diff"), tree.path("v2")).unwrap();
        }
        outcomes.push(outcome);
    })
    .unwrap();
    assert!(matches!(outcomes[..], [Ok(Undone::Restored), Ok(Undone::Restored)]), "{outcomes:?}");
    for (name, content) in [("v1", "same"), ("v2", "diff"), ("k", "same")] {
        assert_eq!(fs::read_to_string(tree.path(name)).unwrap(), content);
        assert_eq!(fs::metadata(tree.path(name)).unwrap().nlink(), 1, "{name}");
    }
    assert_eq!(tree.names(), ["k", "v1", "v2"]);
}

#[test]
fn a_deleted_file_is_copied_back() {
    let tree = replaced(Action::Delete);
    assert!(!tree.path("dir/v").exists());
    assert!(matches!(tree.undo()[..], [Ok(Undone::Restored)]));
    assert_as_it_was(&tree);
    assert!(matches!(tree.undo()[..], [Ok(Undone::AsItWas)]), "once more");
    assert_as_it_was(&tree);
}

#[test]
fn a_deleted_file_is_not_restored_from_other_content() {
    // The content, or only the size or nothing but the time of modification is different.
    for (content, is_restored) in [("edit", false), ("longer", false), ("same", true)] {
        let tree = replaced(Action::Delete);
        tree.file("k", content);
        let undone = tree.undo();
        if is_restored {
            assert!(matches!(undone[..], [Ok(Undone::Restored)]), "{undone:?}");
            assert_as_it_was(&tree);
        } else {
            let refused =
                matches!(undone[..], [Err(ActError::Refused(Refusal::Changed { side: Side::Keeper, .. }))]);
            assert!(refused, "{content}: {undone:?}");
            assert_eq!(tree.names(), ["k"]);
        }
    }
}

#[test]
fn hard_links_of_a_victim_are_restored_as_hard_links() {
    let tree = Tree::new();
    tree.file("k", "same");
    let victim = tree.file("a/v1", "same");
    for other in ["v2", "a/v3"] {
        fs::hard_link(&victim, tree.path(other)).unwrap();
    }
    let steps = ["a/v1", "v2", "a/v3"].map(|name| tree.step(name, "k"));
    for outcome in tree.run(Action::Hardlink, steps.to_vec()) {
        outcome.unwrap();
    }
    assert_eq!(fs::metadata(tree.path("k")).unwrap().nlink(), 4);
    assert!(tree.undo().into_iter().all(|outcome| matches!(outcome, Ok(Undone::Restored))));
    let restored = fs::metadata(&victim).unwrap();
    assert_eq!(restored.nlink(), 3);
    assert_eq!([ino(&tree.path("v2")), ino(&tree.path("a/v3"))], [restored.ino(); 2]);
    assert_eq!(fs::metadata(tree.path("k")).unwrap().nlink(), 1);
    assert!(tree.undo().into_iter().all(|outcome| matches!(outcome, Ok(Undone::AsItWas))));
}

#[test]
fn files_changed_since_the_run_are_refused() {
    for action in [Action::Hardlink, Action::Symlink] {
        // The content changed, through either name.
        let tree = replaced(action.clone());
        fs::write(tree.path("dir/v"), "edit").unwrap();
        assert!(matches!(tree.undo()[..], [Err(ActError::Refused(Refusal::Changed { .. }))]), "{action:?}");
        assert_eq!(fs::read(tree.path("dir/v")).unwrap(), b"edit");
        // Another file has the name.
        let tree = replaced(action.clone());
        fs::remove_file(tree.path("dir/v")).unwrap();
        tree.file("dir/v", "new!");
        assert!(matches!(tree.undo()[..], [Err(ActError::Refused(Refusal::Replaced(_)))]), "{action:?}");
        assert_eq!(fs::read(tree.path("dir/v")).unwrap(), b"new!");
        fs::remove_file(tree.path("dir/v")).unwrap();
        symlink("elsewhere", tree.path("dir/v")).unwrap();
        assert!(matches!(tree.undo()[..], [Err(ActError::Refused(Refusal::Replaced(_)))]), "{action:?}");
        fs::remove_file(tree.path("dir/v")).unwrap();
        assert!(
            matches!(tree.undo()[..], [Err(ActError::Refused(Refusal::Unreadable { .. }))]),
            "{action:?}"
        );
        assert_eq!(tree.names(), ["k"]);
    }
}

/// File systems reuse the inode number of a removed file for the next new file, which may be the copy that an
/// undo makes.
#[test]
fn h06_a_copy_with_the_inode_number_of_the_victim_is_removed() {
    for action in [Action::Hardlink, Action::Symlink] {
        for (content, is_copy) in [("", true), ("sa", true), ("same", true), ("so", false), ("sames", false)]
        {
            let tree = replaced(action.clone());
            let journal = fs::read_to_string(tree.journal()).unwrap();
            let (_, intent) = tree.intent();
            let left = tree.path("dir").join(intent["temp"].as_str().unwrap());
            fs::write(&left, content).unwrap();
            let [victim, copy] =
                [&intent["victim"]["ino"], &ino(&left).into()].map(|ino| format!("\"ino\":{ino},"));
            fs::write(tree.journal(), journal.replacen(&victim, &copy, 1)).unwrap();
            let undone = tree.undo();
            if is_copy {
                assert!(matches!(undone[..], [Ok(Undone::Restored)]), "{action:?} {content}: {undone:?}");
                assert_as_it_was(&tree);
            } else {
                let refused = matches!(undone[..], [Err(ActError::Refused(Refusal::Changed { .. }))]);
                assert!(refused, "{action:?} {content}: {undone:?}");
                assert_eq!(fs::read_to_string(&left).unwrap(), content);
            }
        }
    }
}

#[test]
fn a_hard_link_is_restored_without_the_keepers_name() {
    let tree = replaced(Action::Hardlink);
    fs::remove_file(tree.path("k")).unwrap();
    assert!(matches!(tree.undo()[..], [Ok(Undone::Restored)]));
    tree.file("k", "");
    assert_as_it_was(&tree);

    let tree = replaced(Action::Symlink);
    fs::remove_file(tree.path("k")).unwrap();
    assert!(tree.undo()[0].is_err());
    assert!(tree.path("dir/v").is_symlink());
}

#[test]
fn undo_keeps_holes() {
    assert_holes_are_kept(&Tree::new());
}

/// An overlay does not say where the holes are.
#[test]
fn undo_keeps_holes_on_an_overlay() {
    let Some(base) = Mounted::new("tmpfs") else { return };
    let Some(overlay) = Mounted::overlay(&base.path("")) else { return };
    assert_holes_are_kept(&Tree::in_mounted(overlay));
}

fn assert_holes_are_kept(tree: &Tree) {
    const SIZE: u64 = 64 << 20;
    for name in ["k", "v"] {
        use std::os::unix::fs::FileExt;

        let file = fs::File::create(tree.path(name)).unwrap();
        file.write_all_at(b"in the middle", SIZE / 2 + 100).unwrap();
        file.set_len(SIZE).unwrap();
    }
    let blocks = fs::metadata(tree.path("v")).unwrap().blocks();
    tree.done(Action::Hardlink, "v", "k");
    assert!(matches!(tree.undo()[..], [Ok(Undone::Restored)]));
    let now = fs::metadata(tree.path("v")).unwrap();
    assert_eq!((now.len(), now.blocks()), (SIZE, blocks));
    assert_eq!(fs::read(tree.path("v")).unwrap(), fs::read(tree.path("k")).unwrap());
}
