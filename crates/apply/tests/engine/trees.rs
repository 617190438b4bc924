//! Whole directories: every file has a counterpart, and nothing else may be lost.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::time::SystemTime;

use ftk_apply::{
    ActError, Action, ActionOptions, Engine, Journal, Reach, Refusal, Seen, TreeDone, TreeError, Undone,
};
use ftk_sched::Stop;
use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};

use crate::harness::{Tree, old_time, set_mode};

/// Type, permissions, mtime and content or target of every entry, by path.
type Snapshot = BTreeMap<String, (u32, SystemTime, Vec<u8>)>;

pub(crate) fn snapshot(top: &Path) -> Snapshot {
    let mut entries = BTreeMap::new();
    let mut waiting = vec![top.to_path_buf()];
    while let Some(path) = waiting.pop() {
        let stat = fs::symlink_metadata(&path).unwrap();
        let content = if stat.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else if stat.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else {
            fs::read(&path).unwrap()
        };
        let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
        entries.insert(name, (stat.mode(), stat.modified().unwrap(), content));
    }
    entries
}

/// Creates two equal directories `a` and `b`, with nested and empty directories, links, and odd metadata.
pub(crate) fn twins() -> Tree {
    let tree = Tree::new();
    for top in ["a", "b"] {
        let at = |name: &str| format!("{top}/{name}");
        tree.file(&at("x"), "content of x");
        tree.file(&at("sub/y\nz"), "content of y");
        tree.file(&at("sub/deep/empty file"), "");
        fs::create_dir(tree.path(&at("nothing"))).unwrap();
        symlink("sub/y\nz", tree.path(&at("link"))).unwrap();
        symlink("/nowhere", tree.path(&at("sub/dangling"))).unwrap();
        set_mode(&tree.path(&at("sub/deep")), 0o2750);
        _ = setxattr(tree.path(&at("nothing")), "user.note", top.as_bytes(), XattrFlags::empty());
    }
    for name in ["b/nothing", "b/sub/deep", "b/sub", "b"] {
        fs::File::open(tree.path(name)).unwrap().set_modified(old_time()).unwrap();
    }
    tree
}

fn run(tree: &Tree, action: Action) -> (TreeDone, Result<(), TreeError>) {
    run_by(tree, action, &Stop::new(), |_, _| ())
}

fn run_by(
    tree: &Tree,
    action: Action,
    stop: &Stop,
    report: impl FnMut(&ftk_apply::Step, &Result<ftk_apply::Freed, ActError>),
) -> (TreeDone, Result<(), TreeError>) {
    let step = tree.step("b", "a");
    let mut journal = Journal::create(&tree.journal()).unwrap();
    let mut engine = Engine::new(action, ActionOptions::default()).unwrap();
    let outcome = engine.run_tree(&step, &mut journal, stop, report).unwrap();
    journal.finish().unwrap();
    outcome
}

fn refusal(error: TreeError) -> (String, Refusal) {
    let path = String::from_utf8(error.path).unwrap();
    match error.error {
        ActError::Refused(refusal) => (path, refusal),
        error => panic!("{path}: {error:?}"),
    }
}

#[test]
fn a_moved_directory_comes_back_as_it_was() {
    let tree = twins();
    let before = snapshot(&tree.path("b"));
    let (done, ended) = run(&tree, Action::Move(tree.path("away")));
    ended.unwrap();
    assert_eq!(done, TreeDone { files: 3, ..TreeDone::default() });
    assert!(!tree.path("b").exists());
    let undone = tree.undo();
    assert!(undone.iter().all(|outcome| matches!(outcome, Ok(Undone::Restored))), "{undone:?}");
    assert_eq!(snapshot(&tree.path("b")), before);
    let mut value = [0; 8];
    if let Ok(len) = rustix::fs::getxattr(tree.path("a/nothing"), "user.note", &mut value) {
        assert_eq!(len, 1);
        assert_eq!(rustix::fs::getxattr(tree.path("b/nothing"), "user.note", &mut value), Ok(1));
        assert_eq!(value[0], b'b');
    }
    let again = tree.undo();
    assert!(again.iter().all(|outcome| matches!(outcome, Ok(Undone::AsItWas))), "{again:?}");
    assert_eq!(snapshot(&tree.path("b")), before);
}

#[test]
fn a_deleted_directory_is_gone_and_its_twin_complete() {
    let tree = twins();
    let (before, before_b) = (snapshot(&tree.path("a")), snapshot(&tree.path("b")));
    let (done, ended) = run(&tree, Action::Delete);
    ended.unwrap();
    assert_eq!(done.files, 3);
    assert!(!tree.path("b").exists());
    assert_eq!(snapshot(&tree.path("a")), before);
    let undone = tree.undo();
    assert!(undone.iter().all(|outcome| matches!(outcome, Ok(Undone::Restored))), "{undone:?}");
    assert_eq!(snapshot(&tree.path("b")), before_b);
}

#[test]
fn linked_directories_keep_their_own_entries() {
    let tree = twins();
    let before = snapshot(&tree.path("b"));
    let (done, ended) = run(&tree, Action::Hardlink);
    ended.unwrap();
    assert_eq!(done.files, 2, "empty files stay apart");
    let ino = |name: &str| fs::metadata(tree.path(name)).unwrap().ino();
    assert_eq!(ino("a/x"), ino("b/x"));
    assert_ne!(ino("a/sub/deep/empty file"), ino("b/sub/deep/empty file"));
    assert_eq!(snapshot(&tree.path("b")).len(), before.len());
    let (done, ended) = run_again(&tree);
    ended.unwrap();
    assert_eq!(done.files, 0, "nothing is left to do");
}

fn run_again(tree: &Tree) -> (TreeDone, Result<(), TreeError>) {
    fs::remove_file(tree.journal()).unwrap();
    run(tree, Action::Hardlink)
}

#[test]
fn directories_that_differ_are_refused_before_anything_is_done() {
    type Case = (fn(&Tree), &'static str, fn(&Refusal) -> bool);
    let no_counterpart: fn(&Refusal) -> bool = |it| matches!(it, Refusal::NoCounterpart);
    let cases: [Case; 10] = [
        (|tree| _ = tree.file("b/sub/new", "new"), "b/sub/new", no_counterpart),
        (|tree| fs::remove_file(tree.path("a/x")).unwrap(), "b/x", no_counterpart),
        (|tree| fs::create_dir(tree.path("b/nothing/new")).unwrap(), "b/nothing/new", no_counterpart),
        (
            |tree| _ = tree.file("b/x", "longer than before"),
            "b/x",
            |it| matches!(it, Refusal::ContentDiffers),
        ),
        (
            |tree| {
                fs::remove_file(tree.path("b/link")).unwrap();
                symlink("elsewhere", tree.path("b/link")).unwrap();
            },
            "b/link",
            |it| matches!(it, Refusal::LinkDiffers),
        ),
        (
            |tree| {
                for top in ["a/fifo", "b/fifo"] {
                    mknodat(CWD, tree.path(top), FileType::Fifo, Mode::RUSR, 0).unwrap();
                }
            },
            "b/fifo",
            |it| matches!(it, Refusal::NotRegular(_)),
        ),
        (
            |tree| {
                fs::remove_file(tree.path("b/x")).unwrap();
                fs::hard_link(tree.path("a/x"), tree.path("b/x")).unwrap();
            },
            "b/x",
            |it| matches!(it, Refusal::SameFile),
        ),
        (
            |tree| _ = tree.file("b/.ftk-0123456789abcdef", "of another run"),
            "b/.ftk-0123456789abcdef",
            |it| matches!(it, Refusal::TemporaryName(_)),
        ),
        (
            |tree| {
                fs::remove_dir_all(tree.path("a/sub")).unwrap();
                symlink("../b/sub", tree.path("a/sub")).unwrap();
            },
            "b/sub",
            no_counterpart,
        ),
        (
            |tree| {
                fs::remove_file(tree.path("a/x")).unwrap();
                symlink("../b/x", tree.path("a/x")).unwrap();
            },
            "b/x",
            no_counterpart,
        ),
    ];
    for (change, at, is_expected) in cases {
        let tree = twins();
        change(&tree);
        let before = [snapshot_without_fifos(&tree, "a"), snapshot_without_fifos(&tree, "b")];
        for action in [Action::Delete, Action::Move(tree.path("away"))] {
            let (done, ended) = run(&tree, action);
            let (path, refusal) = refusal(ended.unwrap_err());
            assert!(is_expected(&refusal), "{at}: {refusal:?}");
            assert_eq!((path.as_str(), done.files), (tree.path(at).to_str().unwrap(), 0));
            assert_eq!(
                [snapshot_without_fifos(&tree, "a"), snapshot_without_fifos(&tree, "b")],
                before,
                "{at}"
            );
            assert!(!tree.journal().exists(), "an empty journal is removed");
        }
    }
}

fn snapshot_without_fifos(tree: &Tree, top: &str) -> Vec<String> {
    let names = tree.names();
    names.into_iter().filter(|name| name.starts_with(top)).collect()
}

#[test]
fn a_file_with_other_bytes_stops_its_directory() {
    let tree = twins();
    tree.file("b/sub/y\nz", "CONTENT of y");
    let (done, ended) = run(&tree, Action::Delete);
    let (path, refusal) = refusal(ended.unwrap_err());
    assert!(path.ends_with("b/sub/y\nz") && matches!(refusal, Refusal::ContentDiffers), "{path} {refusal:?}");
    assert_eq!(done.files, 1);
    assert_eq!(fs::read(tree.path("b/sub/y\nz")).unwrap(), b"CONTENT of y");
    assert!(tree.path("b/x").exists(), "files after it are not handled");
    assert!(tree.path("b/link").is_symlink() && tree.path("b/nothing").is_dir());
}

#[test]
fn a_file_that_appears_meanwhile_keeps_its_directories() {
    for name in ["b/sub/new", "b/new"] {
        let tree = twins();
        let new = tree.path(name);
        let (done, ended) =
            run_by(&tree, Action::Delete, &Stop::new(), |_, _| fs::write(&new, "new").unwrap());
        let (path, refusal) = refusal(ended.unwrap_err());
        assert!(matches!(refusal, Refusal::NotEmpty), "{refusal:?}");
        assert!(new.parent().unwrap().ends_with(Path::new(&path).file_name().unwrap()), "{path}");
        assert_eq!((done.files, fs::read(&new).unwrap()), (3, b"new".to_vec()));
    }
}

#[test]
fn a_stop_ends_the_run_between_two_files() {
    let tree = twins();
    let stop = Stop::new();
    let (done, ended) = run_by(&tree, Action::Delete, &stop, |_, _| stop.raise());
    assert!(matches!(ended.unwrap_err().error, ActError::Stopped));
    assert_eq!(done.files, 1);
    assert!(tree.path("b/x").exists());
    let tree = twins();
    let stop = Stop::new();
    stop.raise();
    let (done, ended) = run_by(&tree, Action::Delete, &stop, |_, _| ());
    assert!(matches!(ended.unwrap_err().error, ActError::Stopped) && done.files == 0);
}

#[test]
fn another_directory_with_the_name_is_not_touched() {
    let tree = twins();
    let seen = tree.seen("b");
    fs::rename(tree.path("b"), tree.path("old")).unwrap();
    fs::create_dir(tree.path("b")).unwrap();
    let step = ftk_apply::Step::new(seen, tree.seen("a"));
    let listed = ftk_apply::Tree::list(&mut Reach::new(), Action::Delete.kind(), &step);
    let (_, refusal) = refusal(listed.unwrap_err());
    assert!(matches!(refusal, Refusal::Replaced(_)), "{refusal:?}");
}

#[test]
fn the_starting_points_themselves_can_be_victims() {
    let tree = twins();
    let whole = |name: &str| {
        let seen = tree.seen(name);
        Seen { root_len: seen.path.len(), ..seen }
    };
    let step = ftk_apply::Step::new(whole("b"), whole("a"));
    let mut journal = Journal::create(&tree.journal()).unwrap();
    let mut engine = Engine::new(Action::Delete, ActionOptions::default()).unwrap();
    let (_, ended) = engine.run_tree(&step, &mut journal, &Stop::new(), |_, _| ()).unwrap();
    ended.unwrap();
    assert!(!tree.path("b").exists());
}

/// They look like the ones that a killed undo leaves.
#[test]
fn private_directories_of_the_caller_are_not_changed() {
    let tree = twins();
    run(&tree, Action::Move(tree.path("away"))).1.unwrap();
    fs::create_dir(tree.path("b")).unwrap();
    set_mode(&tree.path("b"), 0o700);
    let before = snapshot(&tree.path("b"));
    let undone = tree.undo();
    assert!(matches!(undone[0], Err(ActError::Refused(Refusal::Replaced(_)))), "{undone:?}");
    assert!(undone.iter().all(Result::is_err), "{undone:?}");
    assert_eq!(snapshot(&tree.path("b")), before);
}

#[test]
fn paths_longer_than_path_max_are_handled() {
    let tree = Tree::new();
    let (depth, name) = (30, "d".repeat(200));
    for top in ["a", "b"] {
        fs::create_dir(tree.path(top)).unwrap();
        let mut dir = rustix::fs::open(tree.path(top), rustix::fs::OFlags::RDONLY, Mode::empty()).unwrap();
        for _ in 0..depth {
            rustix::fs::mkdirat(&dir, &*name, Mode::RWXU).unwrap();
            dir = rustix::fs::openat(&dir, &*name, rustix::fs::OFlags::RDONLY, Mode::empty()).unwrap();
        }
        let file = rustix::fs::openat(
            &dir,
            "x",
            rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY,
            Mode::RUSR | Mode::WUSR,
        );
        rustix::io::write(file.unwrap(), b"content").unwrap();
    }
    let (done, ended) = run(&tree, Action::Move(tree.path("away")));
    ended.unwrap();
    assert_eq!((done.files, tree.path("b").exists()), (1, false));
    let undone = tree.undo();
    assert!(undone.iter().all(Result::is_ok), "{:?}", undone.iter().find(|it| it.is_err()));
    assert!(tree.path("b").exists());
}
