//! Recorded metadata is put back only for the entry that the caller saw.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use ftk_apply::{ActError, Journal, PutBack, RecordedMetadata, Refusal, Restorer, Seen};
use ftk_file::{Stat, Symlinks};
use ftk_sched::Stop;
use rustix::fs::CWD;

use crate::harness::{Tree, old_time, set_mode};

fn put_back(tree: &Tree, below: &str, mode: u32) -> PutBack {
    let path = tree.path(below);
    let stat = Stat::at(CWD, &path, Symlinks::NoFollow).unwrap();
    let root_len = tree.path("").as_os_str().len();
    let path = [path.as_os_str().as_bytes(), if below.is_empty() { b"/." } else { b"" }].concat();
    let recorded = RecordedMetadata { mode: Some(mode), ..RecordedMetadata::default() };
    PutBack { entry: Seen { path, root_len, version: stat.version() }, file_type: stat.file_type, recorded }
}

fn run(tree: &Tree, entries: &[PutBack], stop: &Stop) -> Vec<Result<(), ActError>> {
    let mut journal = Journal::create(&tree.journal()).unwrap();
    let mut outcomes = Vec::new();
    let mut restorer = Restorer::new(None, Default::default());
    restorer
        .set_metadata(entries, &mut journal, stop, |_, outcome| outcomes.push(outcome.map(drop)))
        .unwrap();
    journal.finish().unwrap();
    outcomes
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn only_the_entry_that_was_seen_is_changed() {
    type Change = fn(&Tree);
    let changes: [(&str, &str, Change); 6] = [
        ("file", "the file changed (since it was read)", |tree| {
            fs::write(tree.path("file"), "other").unwrap();
        }),
        ("file", "another file now has the name of the file", |tree| {
            fs::rename(tree.file("new", "content"), tree.path("file")).unwrap();
        }),
        ("file", "another file now has the name of the file", |tree| {
            fs::remove_file(tree.path("file")).unwrap();
            symlink("target", tree.path("file")).unwrap();
        }),
        ("dir", "another file now has the name of the file", |tree| {
            fs::rename(tree.path("dir"), tree.path("old")).unwrap();
            fs::create_dir(tree.path("dir")).unwrap();
        }),
        ("dir/x", "a directory on the path of the file is a symbolic link, which is not followed", |tree| {
            fs::rename(tree.path("dir"), tree.path("old")).unwrap();
            symlink("old", tree.path("dir")).unwrap();
        }),
        ("dir/x", "cannot open the file", |tree| fs::remove_file(tree.path("dir/x")).unwrap()),
    ];
    for (name, refused, change) in changes {
        let tree = Tree::new();
        tree.file("file", "content");
        tree.file("target", "target");
        tree.file("dir/x", "x");
        let entries = [put_back(&tree, name, 0o600)];
        change(&tree);
        let outcomes = run(&tree, &entries, &Stop::new());
        let [Err(error @ ActError::Refused(_))] = &outcomes[..] else { panic!("{name}: {outcomes:?}") };
        assert_eq!(error.to_string(), refused, "{name}");
        let changed = tree.names().into_iter().filter(|name| mode(&tree.path(name)) == 0o600);
        assert_eq!(changed.collect::<Vec<_>>(), [""; 0], "{name}");
        assert!(!tree.journal().exists(), "nothing was done");
    }
}

#[test]
fn entries_of_a_directory_do_not_keep_it_from_being_changed() {
    let tree = Tree::new();
    tree.file("dir/x", "x");
    let entries =
        [put_back(&tree, "dir/x", 0o604), put_back(&tree, "dir", 0o705), put_back(&tree, "", 0o701)];
    tree.file("dir/y", "y");
    let outcomes = run(&tree, &entries, &Stop::new());
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(["dir/x", "dir", ""].map(|name| mode(&tree.path(name))), [0o604, 0o705, 0o701]);
}

#[test]
fn a_stopped_run_sets_nothing_and_private_names_are_refused() {
    let tree = Tree::new();
    tree.file("a", "a");
    tree.file(".ftk-0123456789abcdef", "b");
    let entries = ["a", ".ftk-0123456789abcdef"].map(|name| put_back(&tree, name, 0o600));
    let stop = Stop::new();
    stop.raise();
    let outcomes = run(&tree, &entries[..1], &stop);
    assert!(matches!(outcomes[..], [Err(ActError::Stopped)]), "{outcomes:?}");
    let outcomes = run(&tree, &entries[1..], &Stop::new());
    assert!(matches!(outcomes[..], [Err(ActError::Refused(Refusal::TemporaryName(_)))]), "{outcomes:?}");
    assert!(tree.names().iter().all(|name| mode(&tree.path(name)) != 0o600));
}

/// What is as recorded needs no step, and no sync.
#[test]
fn what_is_as_recorded_is_not_in_the_journal() {
    let tree = Tree::new();
    set_mode(&tree.file("a", "a"), 0o600);
    let outcomes = run(&tree, &[put_back(&tree, "a", 0o600)], &Stop::new());
    assert!(matches!(outcomes[..], [Ok(())]), "{outcomes:?}");
    assert!(!tree.journal().exists());
    assert_eq!(fs::metadata(tree.path("a")).unwrap().modified().unwrap(), old_time());
}

/// The journal is undone by the identity of the entry, not by its name.
#[test]
fn undo_changes_only_the_entry_of_the_run() {
    let tree = Tree::new();
    set_mode(&tree.file("a", "a"), 0o604);
    set_mode(&tree.file("b", "b"), 0o604);
    let entries = ["a", "b"].map(|name| put_back(&tree, name, 0o640));
    assert!(run(&tree, &entries, &Stop::new()).iter().all(Result::is_ok));
    fs::rename(tree.path("a"), tree.path("moved")).unwrap();
    set_mode(&tree.file("a", "a"), 0o640);
    let outcomes = tree.undo();
    let errors = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    assert_eq!((outcomes.len(), errors), (2, 1), "{outcomes:?}");
    assert_eq!(["a", "moved", "b"].map(|name| mode(&tree.path(name))), [0o640, 0o640, 0o604]);
}
