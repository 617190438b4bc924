//! Restoring damaged and missing files: changes during the run, wrong contents, directories.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};

use ftk_apply::{
    ActError, Journal, NearestDirectory, RecordedMetadata, Refusal, Restore, RestoreName, Restored, Restorer,
    Side, Undone,
};
use ftk_file::{Failure, File, Identity};
use ftk_sched::Stop;

use crate::harness::{Tree, ino, is_root, old_time, set_mode};

const GOOD: &str = "good content";
const DAMAGED: &str = "g0od content";

type Outcomes = Vec<Result<Restored, ActError>>;

/// Creates a source and a damaged file.
fn damaged() -> Tree {
    let tree = Tree::new();
    tree.file("s", GOOD);
    tree.file("dir/v", DAMAGED);
    tree
}

fn name(tree: &Tree, below: &str, exists: bool) -> RestoreName {
    let path = tree.path(below).as_os_str().as_bytes().to_vec();
    let damaged = exists.then(|| tree.seen(below).version);
    let root_len = tree.path("").as_os_str().len();
    let mut above = path.iter().enumerate().rev().filter(|(at, byte)| **byte == b'/' && *at >= root_len);
    let directory = above.find_map(|(len, _)| {
        let found = fs::File::open(std::ffi::OsStr::from_bytes(&path[..len])).ok()?;
        Some(NearestDirectory { len, identity: Identity::of(found).ok()? })
    });
    let directory = directory.filter(|_| damaged.is_none());
    RestoreName { path, root_len, damaged, directory }
}

fn restore(tree: &Tree, names: Vec<RestoreName>) -> Restore {
    Restore {
        source: tree.seen("s"),
        links: false,
        names,
        recorded: RecordedMetadata::default(),
        changes: RecordedMetadata::default(),
    }
}

/// Runs the restores with a new journal, and saves damaged contents; `check` is called for each new file.
fn run(
    tree: &Tree,
    restores: Vec<Restore>,
    directories: BTreeMap<Vec<u8>, RecordedMetadata>,
    check: &mut dyn FnMut(&File) -> Result<bool, Failure>,
) -> Outcomes {
    run_by(Restorer::new(Some(&tree.path("saved")), directories), tree, restores, check)
}

fn run_by(
    mut restorer: Restorer,
    tree: &Tree,
    restores: Vec<Restore>,
    check: &mut dyn FnMut(&File) -> Result<bool, Failure>,
) -> Outcomes {
    let mut outcomes = Vec::new();
    let mut journal = Journal::create(&tree.journal()).unwrap();
    let report = |_: &Restore, _, outcome| outcomes.push(outcome);
    restorer.run(restores, &mut journal, &Stop::new(), &mut |_, file| check(file), report).unwrap();
    restorer.finish_directories().unwrap();
    journal.finish().unwrap();
    outcomes
}

/// Restores `dir/v`, and calls `meanwhile` when the new file is complete.
fn run_while(tree: &Tree, saves: bool, meanwhile: impl Fn(&Tree)) -> Outcomes {
    let restores = vec![restore(tree, vec![name(tree, "dir/v", true)])];
    let saved = tree.path("saved");
    let restorer = Restorer::new(saves.then_some(&*saved), BTreeMap::new());
    run_by(restorer, tree, restores, &mut |file| {
        meanwhile(tree);
        has_good(file)
    })
}

fn has_good(file: &File) -> Result<bool, Failure> {
    let mut bytes = vec![0; GOOD.len()];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes == GOOD.as_bytes())
}

fn content(tree: &Tree, below: &str) -> String {
    fs::read_to_string(tree.path(below)).unwrap()
}

#[test]
fn h08_a_damaged_file_that_changes_meanwhile_is_kept() {
    type Change = fn(&Tree);
    let changes: [(&str, Change); 3] = [
        ("NEW content!", |tree| {
            let file = fs::File::options().write(true).open(tree.path("dir/v")).unwrap();
            file.write_all_at(b"NEW content!", 0).unwrap();
        }),
        ("replaced", |tree| fs::rename(tree.file("new", "replaced"), tree.path("dir/v")).unwrap()),
        (DAMAGED, |tree| set_mode(&tree.path("dir/v"), 0o600)),
    ];
    for ((left, change), saves) in changes.into_iter().flat_map(|it| [(it, true), (it, false)]) {
        let tree = damaged();
        let outcomes = run_while(&tree, saves, change);
        let [Err(ActError::Refused(refusal))] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert!(
            matches!(refusal, Refusal::Changed { side: Side::Target, .. } | Refusal::Replaced(_)),
            "{refusal}"
        );
        assert_eq!(content(&tree, "dir/v"), left);
        assert!(tree.names().iter().all(|name| !name.contains(".ftk-")), "{:?}", tree.names());
        assert!(tree.undo().is_empty(), "a refused step is not undone");
    }
}

#[test]
fn h08_a_file_that_changed_before_the_run_is_refused() {
    let tree = damaged();
    let restores = vec![restore(&tree, vec![name(&tree, "dir/v", true)])];
    tree.file("dir/v", "edited file!");
    let outcomes = run(&tree, restores, BTreeMap::new(), &mut has_good);
    assert!(matches!(outcomes[..], [Err(ActError::Refused(Refusal::Changed { side: Side::Target, .. }))]));
    assert_eq!(content(&tree, "dir/v"), "edited file!");
    assert!(!tree.journal().exists(), "no step, no journal");
}

#[test]
fn a_source_that_changes_meanwhile_is_not_used() {
    for is_before in [true, false] {
        let tree = damaged();
        let restores = vec![restore(&tree, vec![name(&tree, "dir/v", true)])];
        let change = || _ = tree.file("s", "evil content");
        if is_before {
            change();
        }
        let outcomes = run(&tree, restores, BTreeMap::new(), &mut |file| {
            change();
            has_good(file)
        });
        // A change after the copy was made does not matter: the new file has the right bytes.
        assert_eq!(outcomes[0].is_ok(), !is_before, "{outcomes:?}");
        assert_eq!(content(&tree, "dir/v"), if is_before { DAMAGED } else { GOOD });
    }
}

#[test]
fn only_bytes_that_the_caller_accepts_get_the_name() {
    let tree = damaged();
    let restores = vec![restore(&tree, vec![name(&tree, "dir/v", true)])];
    let outcomes = run(&tree, restores, BTreeMap::new(), &mut |_| Ok(false));
    assert!(matches!(outcomes[..], [Err(ActError::Refused(Refusal::WrongContent))]), "{outcomes:?}");
    assert_eq!((content(&tree, "dir/v"), tree.names()), (DAMAGED.into(), vec!["dir/v".into(), "s".into()]));
}

#[test]
fn a_name_that_exists_is_not_overwritten() {
    for is_late in [false, true] {
        let tree = damaged();
        let restores = vec![restore(&tree, vec![name(&tree, "new", false)])];
        let create = || _ = tree.file("new", "mine");
        if !is_late {
            create();
        }
        let outcomes = run(&tree, restores, BTreeMap::new(), &mut |file| {
            create();
            has_good(file)
        });
        let [Err(ActError::Refused(refusal))] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!(matches!(refusal, Refusal::NameExists), is_late, "{refusal}");
        assert_eq!(content(&tree, "new"), "mine");
    }
}

#[test]
fn h09_a_directory_that_becomes_a_link_is_not_followed() {
    let tree = damaged();
    fs::create_dir(tree.path("outside")).unwrap();
    let names = vec![name(&tree, "dir/v", true), name(&tree, "dir/deep/new", false)];
    let restores = vec![restore(&tree, names)];
    fs::rename(tree.path("dir"), tree.path("moved")).unwrap();
    symlink("outside", tree.path("dir")).unwrap();
    let outcomes = run(&tree, restores, BTreeMap::new(), &mut has_good);
    assert!(
        outcomes.iter().all(|it| matches!(it, Err(ActError::Refused(Refusal::Link(Side::Target))))),
        "{outcomes:?}"
    );
    assert_eq!(fs::read_dir(tree.path("outside")).unwrap().count(), 0);
    assert_eq!(content(&tree, "moved/v"), DAMAGED);
}

#[test]
fn missing_directories_get_their_recorded_metadata() {
    let tree = damaged();
    let key = |below: &str| tree.path(below).as_os_str().as_bytes().to_vec();
    let recorded = |mode| RecordedMetadata {
        mode: Some(mode),
        uid: Some(12),
        gid: Some(34),
        mtime_ns: Some(1_234_567_890_123_456_789),
        ..RecordedMetadata::default()
    };
    let directories = BTreeMap::from([(key("a"), recorded(0o7555)), (key("a/b"), recorded(0o750))]);
    let file = RecordedMetadata {
        attributes: Some(vec![(b"security.capability".to_vec(), vec![1])]),
        ..recorded(0o6711)
    };
    let names = vec![name(&tree, "a/b/new", false)];
    let restores = vec![Restore { recorded: file, ..restore(&tree, names) }];
    let outcomes = run(&tree, restores, directories, &mut has_good);
    assert!(outcomes[0].is_ok(), "{outcomes:?}");
    for (below, mode) in [("a", 0o1555), ("a/b", 0o750), ("a/b/new", 0o711)] {
        let metadata = fs::metadata(tree.path(below)).unwrap();
        assert_eq!(metadata.mode() & 0o7777, mode, "{below}");
        assert_eq!(metadata.modified().unwrap(), old_time(), "{below}");
        if is_root() {
            assert_eq!((metadata.uid(), metadata.gid()), (12, 34), "{below}");
        }
    }
    set_mode(&tree.path("a"), 0o755);
    assert!(matches!(tree.undo()[..], [Ok(Undone::Removed)]));
    assert!(tree.path("a/b").is_dir() && !tree.path("a/b/new").exists());
    assert!(matches!(tree.undo()[..], [Ok(Undone::AsItWas)]));
}

/// Only the directories that the caller saw, and those that the run makes below them, get files.
#[test]
fn directories_that_appear_meanwhile_are_refused() {
    let tree = damaged();
    tree.file("old/inner/x", "");
    let names = ["a/b/new", "old/inner/new", "old/other/new"].map(|below| name(&tree, below, false));
    // A directory with a new name, and another directory in place of one that was seen.
    tree.file("a/x", "");
    fs::rename(tree.path("old/inner"), tree.path("old/moved")).unwrap();
    tree.file("old/inner/y", "");
    let before = tree.names();
    let restores = names.map(|name| restore(&tree, vec![name])).into();
    let outcomes = run(&tree, restores, BTreeMap::new(), &mut has_good);
    for outcome in &outcomes[..2] {
        let is_refused = matches!(outcome, Err(ActError::Refused(Refusal::Replaced(Side::Target))));
        assert!(is_refused, "{outcome:?}");
    }
    assert!(outcomes[2].is_ok(), "{outcomes:?}");
    fs::remove_dir_all(tree.path("old/other")).unwrap();
    assert_eq!(tree.names(), before);
}

#[test]
fn a_replaced_starting_point_gets_no_file() {
    let tree = damaged();
    fs::create_dir(tree.path("root")).unwrap();
    let open = |below: &str| fs::File::open(tree.path(below)).unwrap();
    let identity = Identity::of(open("root")).unwrap();
    let path = tree.path("root/new").as_os_str().as_bytes().to_vec();
    let root = tree.path("root").as_os_str().as_bytes().to_vec();
    let directory = NearestDirectory { len: root.len(), identity };
    let name = RestoreName { path, root_len: root.len(), damaged: None, directory: Some(directory) };
    fs::rename(tree.path("root"), tree.path("moved")).unwrap();
    for is_link in [true, false] {
        match is_link {
            true => symlink("dir", tree.path("root")).unwrap(),
            false => fs::create_dir(tree.path("root")).unwrap(),
        }
        let restorer = Restorer::new(None, BTreeMap::new()).expecting(&root, identity);
        let outcomes = run_by(restorer, &tree, vec![restore(&tree, vec![name.clone()])], &mut has_good);
        assert!(matches!(outcomes[..], [Err(ActError::Refused(Refusal::OtherStart { .. }))]), "{outcomes:?}");
        let _ = fs::remove_file(tree.path("root"));
        assert_eq!(tree.names(), ["dir/v", "s"]);
    }
}

#[test]
fn all_names_lead_to_one_new_file() {
    let tree = damaged();
    fs::hard_link(tree.path("dir/v"), tree.path("w")).unwrap();
    let names = vec![name(&tree, "dir/v", true), name(&tree, "w", true), name(&tree, "x", false)];
    let outcomes = run(&tree, vec![restore(&tree, names)], BTreeMap::new(), &mut has_good);
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let stat = outcomes[0].as_ref().unwrap().stat.unwrap();
    assert_eq!((stat.nlink, stat.ino), (3, ino(&tree.path("x"))));
    assert_eq!([ino(&tree.path("dir/v")), ino(&tree.path("w"))], [stat.ino; 2]);
    let undone = tree.undo();
    assert!(
        matches!(undone[..], [Ok(Undone::Removed), Ok(Undone::Restored), Ok(Undone::Restored)]),
        "{undone:?}"
    );
    assert_eq!(ino(&tree.path("dir/v")), ino(&tree.path("w")));
    assert_eq!(content(&tree, "w"), DAMAGED);
    assert_eq!(tree.names(), ["dir/v", "s", "saved/0", "w"]);
}

/// The other names are restored.
#[test]
fn a_name_that_is_refused_does_not_stop_the_others() {
    let tree = damaged();
    fs::hard_link(tree.path("dir/v"), tree.path("w")).unwrap();
    let names = vec![name(&tree, "dir/v", true), name(&tree, "w", true)];
    let restores = vec![restore(&tree, names)];
    fs::remove_file(tree.path("dir/v")).unwrap();
    tree.file("dir/v", "mine");
    // The removal of a name has changed the ctime of the damaged file.
    let seen = tree.seen("w").version;
    let mut restores = restores;
    restores[0].names[1].damaged = Some(seen);
    let outcomes = run(&tree, restores, BTreeMap::new(), &mut has_good);
    assert!(matches!(outcomes[..], [Err(ActError::Refused(Refusal::Replaced(_))), Ok(_)]), "{outcomes:?}");
    assert_eq!((content(&tree, "dir/v"), content(&tree, "w")), ("mine".into(), GOOD.into()));
}

#[test]
fn a_stopped_run_restores_nothing() {
    let tree = damaged();
    let stop = Stop::new();
    let mut journal = Journal::create(&tree.journal()).unwrap();
    let mut restorer = Restorer::new(None, BTreeMap::new());
    let restores = vec![restore(&tree, vec![name(&tree, "dir/v", true)])];
    let mut outcomes: Outcomes = Vec::new();
    let mut check = |_: usize, file: &File| {
        stop.raise();
        has_good(file)
    };
    restorer.run(restores, &mut journal, &stop, &mut check, |_, _, outcome| outcomes.push(outcome)).unwrap();
    assert!(matches!(outcomes[..], [Err(ActError::Stopped)]), "{outcomes:?}");
    assert_eq!(tree.names(), ["dir/v", "s"]);
}

/// A journal that was edited cannot make undo remove a file of the user, or restore other content.
#[test]
fn undo_refuses_what_is_not_as_the_journal_says() {
    let tree = damaged();
    run_while(&tree, true, |_| {});
    fs::write(tree.path("saved/0"), "shorter").unwrap();
    let undone = tree.undo();
    assert!(
        matches!(undone[..], [Err(ActError::Refused(Refusal::Changed { side: Side::Saved, .. }))]),
        "{undone:?}"
    );
    fs::remove_file(tree.path("saved/0")).unwrap();
    assert!(matches!(
        tree.undo()[..],
        [Err(ActError::Refused(Refusal::Unreadable { side: Side::Saved, .. }))]
    ));
    assert_eq!(content(&tree, "dir/v"), GOOD);
}

/// The user of a directory could otherwise rename a file of root with unchecked content.
#[test]
fn a_new_file_has_no_name_before_its_content_is_checked() {
    let tree = damaged();
    let seen = std::cell::Cell::new(0);
    let outcomes = run_while(&tree, true, |tree| {
        assert_eq!(fs::read_dir(tree.path("dir")).unwrap().count(), 1);
        seen.set(seen.get() + 1);
    });
    assert!(outcomes[0].is_ok() && seen.get() == 1, "{outcomes:?}");
}

/// A later file that has got the inode number of the damaged file, with its size and mtime, does not get its other names.
#[test]
fn no_name_becomes_a_link_of_a_later_file() {
    for has_birth in [true, false] {
        let tree = damaged();
        fs::hard_link(tree.path("dir/v"), tree.path("w")).unwrap();
        let names = vec![name(&tree, "dir/v", true), name(&tree, "w", true)];
        let restorer = Restorer::new(Some(&tree.path("saved")), BTreeMap::new());
        let outcomes = run_by(restorer, &tree, vec![restore(&tree, names)], &mut has_good);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        fs::remove_file(tree.path("w")).unwrap();
        tree.file("w", "evil content");
        tree.reuse_inode("w", has_birth);
        let undone = tree.undo();
        let refused = undone.iter().filter(|outcome| matches!(outcome, Err(ActError::Refused(_)))).count();
        assert_eq!(refused, 1, "{undone:?}");
        assert_eq!(content(&tree, "dir/v"), if has_birth { DAMAGED } else { GOOD }, "{undone:?}");
        assert_eq!(content(&tree, "w"), "evil content");
        assert_eq!(fs::metadata(tree.path("w")).unwrap().nlink(), 1);
    }
}

/// A name becomes a link only of a file that has the recorded content and metadata, and gives no rights.
#[test]
fn names_are_linked_only_to_recorded_files() {
    type Change = fn(&Tree);
    let evil: Change = |tree| _ = tree.file("s", "evil content");
    let cases: [(Option<Change>, Option<Change>, &str); 5] = [
        (None, Some(evil), "the copy no longer has the recorded content"),
        (Some(evil), None, "the copy changed (its time of"),
        (Some(|tree| set_mode(&tree.path("s"), 0o666)), None, "the copy changed (its time of change)"),
        (
            None,
            Some(|tree| fs::rename(tree.file("new", GOOD), tree.path("dir/v")).unwrap()),
            "the file changed (",
        ),
        (None, Some(|tree| _ = tree.file("dir/v", "edited file!")), "the file changed ("),
    ];
    for (before, meanwhile, expected) in cases {
        let tree = damaged();
        let recorded = RecordedMetadata { mode: Some(0o644), ..RecordedMetadata::default() };
        let restores = vec![Restore {
            links: true,
            recorded: recorded.clone(),
            changes: recorded,
            ..restore(&tree, vec![name(&tree, "dir/v", true)])
        }];
        before.iter().for_each(|change| change(&tree));
        let content = [fs::read(tree.path("s")).unwrap(), fs::read(tree.path("dir/v")).unwrap()];
        let outcomes = run(&tree, restores, BTreeMap::new(), &mut |file| {
            meanwhile.iter().for_each(|change| change(&tree));
            has_good(file)
        });
        let [Err(error)] = &outcomes[..] else { panic!("{expected}: {outcomes:?}") };
        assert!(error.to_string().starts_with(expected), "{expected}: {error}");
        assert_ne!(ino(&tree.path("s")), ino(&tree.path("dir/v")));
        if meanwhile.is_none() {
            assert_eq!([fs::read(tree.path("s")).unwrap(), fs::read(tree.path("dir/v")).unwrap()], content);
        }
        assert!(tree.names().iter().all(|name| !name.contains(".ftk-")), "{:?}", tree.names());
    }
    for (mode, recorded, is_linked) in
        [(0o644, 0o644, true), (0o640, 0o644, false), (0o666, 0o644, false), (0o4755, 0o4755, false)]
    {
        for exists in [true, false] {
            let tree = damaged();
            set_mode(&tree.path("s"), mode);
            if !exists {
                fs::remove_file(tree.path("dir/v")).unwrap();
            }
            let recorded = RecordedMetadata { mode: Some(recorded), ..RecordedMetadata::default() };
            let names = vec![name(&tree, "dir/v", exists)];
            let restores = vec![Restore {
                links: true,
                recorded: recorded.clone(),
                changes: recorded,
                ..restore(&tree, names)
            }];
            let outcomes = run(&tree, restores, BTreeMap::new(), &mut has_good);
            if is_linked {
                assert!(outcomes[0].is_ok(), "{outcomes:?}");
                assert_eq!(ino(&tree.path("s")), ino(&tree.path("dir/v")));
                let undone = tree.undo();
                assert!(undone.iter().all(Result::is_ok), "{undone:?}");
            } else {
                let is_refused = matches!(outcomes[..], [Err(ActError::Refused(Refusal::OtherMetadata))]);
                assert!(is_refused, "{mode:o}: {outcomes:?}");
            }
            assert_eq!(tree.path("dir/v").exists(), exists);
            if exists {
                assert_eq!(content(&tree, "dir/v"), DAMAGED);
            }
            assert_eq!(
                (content(&tree, "s").as_str(), fs::metadata(tree.path("s")).unwrap().nlink()),
                (GOOD, 1)
            );
        }
    }
}
