//! Each action without obstacles.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ftk_apply::{ActError, Action, Freed, Refusal};
use ftk_file::Stat;

use crate::harness::{Tree, ino, seen, set_mode};

#[test]
fn hardlink_links_the_victim_to_the_keeper() {
    let tree = Tree::new();
    let (keeper, victim) = (tree.file("k", [7; 10_000]), tree.file("dir/v", [7; 10_000]));
    let blocks = fs::metadata(&victim).unwrap().blocks();
    assert_eq!(tree.done(Action::Hardlink, "dir/v", "k"), 512 * blocks);
    assert_eq!(ino(&victim), ino(&keeper));
    assert_eq!(tree.names(), ["dir/v", "k"]);
    // A second run has nothing to do.
    assert!(matches!(tree.refused(Action::Hardlink, "dir/v", "k"), ActError::Refused(Refusal::SameFile)));
}

#[test]
fn bytes_are_freed_with_the_last_hard_link() {
    let tree = Tree::new();
    tree.file("k", [7; 10_000]);
    let victim = tree.file("v1", [7; 10_000]);
    fs::hard_link(&victim, tree.path("v2")).unwrap();
    fs::hard_link(&victim, tree.path("outside the plan")).unwrap();
    let blocks = fs::metadata(&victim).unwrap().blocks();
    let steps = vec![tree.step("v1", "k"), tree.step("v2", "k")];
    let freed: Vec<_> = tree.run(Action::Hardlink, steps).into_iter().map(Result::unwrap).collect();
    assert_eq!(freed, [Freed(0), Freed(0)]);
    assert_eq!(tree.done(Action::Hardlink, "outside the plan", "k"), 512 * blocks);
}

#[test]
fn a_keeper_may_have_more_victims_than_a_batch() {
    let tree = Tree::new();
    let keeper = tree.file("k", "same");
    let names: Vec<_> = (0..450).map(|nth| format!("v{nth}")).collect();
    for name in &names {
        tree.file(name, "same");
    }
    let steps = names.iter().map(|name| tree.step(name, "k")).collect();
    for outcome in tree.run(Action::Hardlink, steps) {
        outcome.unwrap();
    }
    assert_eq!(fs::metadata(keeper).unwrap().nlink(), 451);
}

#[test]
fn symbolic_links_are_absolute() {
    let tree = Tree::new();
    let keeper = tree.file("a\n/k \u{fffd}", "same");
    let victim = tree.file("deep/er/v", "same");
    assert_ne!(tree.done(Action::Symlink, "deep/er/v", "a\n/k \u{fffd}"), 0);
    assert_eq!(fs::read_link(&victim).unwrap(), keeper.canonicalize().unwrap());
    assert_eq!(fs::read(&victim).unwrap(), b"same");
    // A symbolic link can be neither keeper nor victim.
    tree.file("other", "same");
    for (victim, keeper) in [("other", "deep/er/v"), ("deep/er/v", "other")] {
        let refused = tree.refused(Action::Delete, victim, keeper);
        assert!(matches!(refused, ActError::Refused(Refusal::NotRegular(_))), "{refused:?}");
    }
}

#[test]
fn delete_removes_only_the_victim() {
    let tree = Tree::new();
    tree.file("k", "same");
    let victim = tree.file("v", "same");
    let blocks = fs::metadata(victim).unwrap().blocks();
    assert_eq!(tree.done(Action::Delete, "v", "k"), 512 * blocks);
    assert_eq!(tree.names(), ["k"]);
}

#[test]
fn moved_files_keep_their_path_below_the_directory() {
    let tree = Tree::new();
    tree.file("k", "same");
    let victim = tree.file("a/b/v", "same");
    let inode = ino(&victim);
    let to = Action::Move(tree.path("to/here"));
    assert_eq!(tree.done(to.clone(), "a/b/v", "k"), 0);
    let moved = tree.path("to/here").join(victim.strip_prefix("/").unwrap());
    assert_eq!(ino(&moved), inode);
    assert!(!victim.exists());
    // An existing file there is not overwritten.
    tree.file("a/b/v", "same");
    assert!(matches!(tree.refused(to, "a/b/v", "k"), ActError::Refused(Refusal::NameExists)));
    assert!(victim.exists());
    assert_eq!(ino(&moved), inode);
}

#[test]
fn h07_names_of_the_maximal_length_work() {
    let name = "n".repeat(255);
    for action in [Action::Hardlink, Action::Symlink, Action::Delete] {
        let tree = Tree::new();
        let keeper = tree.file("k", "same");
        let victim = tree.file(&name, "same");
        tree.done(action.clone(), &name, "k");
        match action {
            Action::Hardlink => assert_eq!(ino(&victim), ino(&keeper)),
            Action::Symlink => assert!(victim.is_symlink()),
            _ => assert!(!victim.exists()),
        }
    }
}

#[test]
fn h39_paths_longer_than_path_max_work() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

    let tree = Tree::new();
    tree.file("k", "same");
    let mut dir = openat(CWD, tree.path(""), OFlags::DIRECTORY, Mode::empty()).unwrap();
    let mut deep = tree.path("");
    let name = "d".repeat(200);
    for _ in 0..30 {
        mkdirat(&dir, &name, Mode::RWXU).unwrap();
        dir = openat(&dir, &name, OFlags::DIRECTORY, Mode::empty()).unwrap();
        deep.push(&name);
    }
    let file = openat(&dir, "v", OFlags::WRONLY | OFlags::CREATE, Mode::RUSR | Mode::WUSR).unwrap();
    rustix::io::write(&file, b"same").unwrap();
    set_mode(&tree.path("k"), 0o600);
    let mut victim = seen(&tree.path("k"), tree.path("").as_os_str().len());
    victim.path = deep.join("v").into_os_string().into_encoded_bytes();
    victim.version = Stat::of(&file).unwrap().version();
    let step = ftk_apply::Step::new(victim, tree.seen("k"));
    tree.run(Action::Hardlink, vec![step]).remove(0).unwrap();
    assert_eq!(rustix::fs::fstat(&file).unwrap().st_nlink, 0);
    assert_eq!(fs::metadata(tree.path("k")).unwrap().nlink(), 2);
    tree.undo().remove(0).unwrap();
    assert_eq!(fs::metadata(tree.path("k")).unwrap().nlink(), 1);
}

#[test]
fn h05_an_impossible_action_is_an_error() {
    let (tree, elsewhere) = (Tree::new(), tempfile::tempdir().unwrap());
    let (keeper, victim) = (tree.file("k", "same"), elsewhere.path().join("v"));
    fs::write(&victim, "same").unwrap();
    let other_device =
        |path: &Path| fs::metadata(path).unwrap().dev() != fs::metadata(&keeper).unwrap().dev();
    if !other_device(&victim) {
        return crate::harness::skip("there is no second file system");
    }
    let (before, root_len) = (ino(&victim), elsewhere.path().as_os_str().len());
    for action in [Action::Hardlink, Action::Reflink, Action::Move(tree.path("to"))] {
        let step = ftk_apply::Step::new(seen(&victim, root_len), tree.seen("k"));
        let refused = tree
            .run_by(
                action,
                ftk_apply::ActionOptions { metadata_may_differ: true, ..Default::default() },
                vec![step],
            )
            .remove(0);
        assert!(
            matches!(refused, Err(ActError::Refused(Refusal::OtherFileSystem | Refusal::Unsupported))),
            "{refused:?}"
        );
        assert_eq!(ino(&victim), before);
    }
    assert_eq!(tree.names(), ["k"]);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}

#[test]
fn h13_a_keeper_has_no_more_links_than_the_file_system_allows() {
    let (tree, dir) = (Tree::new(), tempfile::tempdir().unwrap());
    let (keeper, victim) = (dir.path().join("k"), dir.path().join("v"));
    fs::write(&keeper, "same").unwrap();
    fs::write(&victim, "same").unwrap();
    let full = (0..70_000).any(|nth| fs::hard_link(&keeper, dir.path().join(nth.to_string())).is_err());
    if !full {
        return crate::harness::skip("the file system of temporary files knows no bound");
    }
    let (before, root_len) = (ino(&victim), dir.path().as_os_str().len());
    let step = ftk_apply::Step::new(seen(&victim, root_len), seen(&keeper, root_len));
    let refused = tree.run(Action::Hardlink, vec![step]).remove(0);
    assert!(matches!(refused, Err(ActError::Refused(Refusal::TooManyLinks))), "{refused:?}");
    assert_eq!(ino(&victim), before);
}
