//! The results of probes, which write nothing.

use std::fs;
use std::os::unix::fs::MetadataExt;

use ftk_apply::{Action, Obstacle, Reach, Step, probe};

use crate::harness::{Tree, seen, skip};

#[test]
fn possible_actions_pass_the_probe_and_nothing_is_written() {
    let tree = Tree::new();
    tree.file("k", "same");
    tree.file("dir/v", "anything");
    let times = || {
        ["", "dir", "k", "dir/v"].map(|name| {
            let metadata = fs::metadata(tree.path(name)).unwrap();
            (metadata.ctime(), metadata.ctime_nsec(), metadata.mtime(), metadata.mtime_nsec())
        })
    };
    let before = times();
    let step = tree.step("dir/v", "k");
    let mut reach = Reach::new();
    for action in
        [Action::Hardlink, Action::Symlink, Action::Delete, Action::Move(tree.path("not/there/yet"))]
    {
        probe(&mut reach, &action, &step).unwrap();
    }
    assert_eq!(times(), before);
    assert_eq!(tree.names(), ["dir/v", "k"]);
}

#[test]
fn other_file_systems_and_missing_reflinks_are_obstacles() {
    let (tree, elsewhere) = (Tree::new(), tempfile::tempdir().unwrap());
    tree.file("k", "same");
    let step = tree.step("k", "k");
    let mut reach = Reach::new();
    let magic = rustix::fs::statfs(tree.path("k")).unwrap().f_type;
    if magic == 0x0102_1994 {
        assert!(matches!(probe(&mut reach, &Action::Reflink, &step), Err(Obstacle::NoReflinks)), "tmpfs");
    }
    let victim = elsewhere.path().join("v");
    fs::write(&victim, "").unwrap();
    if fs::metadata(&victim).unwrap().dev() == step.keeper.version.dev {
        return skip("there is no second file system");
    }
    let other = Step::new(seen(&victim, elsewhere.path().as_os_str().len()), step.keeper);
    for action in [Action::Hardlink, Action::Move(tree.path("to/be/made"))] {
        assert!(matches!(probe(&mut reach, &action, &other), Err(Obstacle::OtherFileSystem)), "{action:?}");
    }
    probe(&mut reach, &Action::Symlink, &other).unwrap();
}

#[test]
fn missing_files_are_obstacles() {
    let tree = Tree::new();
    tree.file("k", "same");
    let mut step = tree.step("k", "k");
    step.victim.path.push(b'x');
    assert!(matches!(probe(&mut Reach::new(), &Action::Delete, &step), Err(Obstacle::Unreachable(_))));
}
