//! Entries that the user chose in a list: moved away and back, deleted, and refused if anything has changed since.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use ftk_apply::{ActError, Action, ActionOptions, Engine, Refusal, Side, Undone};
use ftk_file::{Identity, Sealer};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, openat};

use crate::harness::{Mounted, Tree, holds, ino, is_root, old_time, set_mode};

/// A directory `v` with entries of every type, two hard links of one file, and a neighbour `other`.
fn scene() -> Tree {
    let tree = Tree::new();
    for name in ["v/f", "v/d/g", "v/d/e/h", "other/f"] {
        tree.file(name, format!("the content of {name}"));
    }
    fs::hard_link(tree.path("v/f"), tree.path("v/d/linked")).unwrap();
    symlink("../other/f", tree.path("v/link")).unwrap();
    fs::create_dir(tree.path("v/empty")).unwrap();
    mknodat(CWD, tree.path("v/fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    drop(UnixListener::bind(tree.path("v/d/s")).unwrap());
    set_mode(&tree.path("v/d"), 0o750);
    fs::File::open(tree.path("v")).unwrap().set_modified(old_time()).unwrap();
    tree
}

/// Every entry below a path with its inode, mode and mtime.
fn all(tree: &Tree, below: &str) -> Vec<(String, u64, u32, std::time::SystemTime)> {
    let (mut entries, mut waiting) = (Vec::new(), vec![tree.path(below)]);
    while let Some(path) = waiting.pop() {
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
        }
        let name = path.strip_prefix(tree.path("")).unwrap().to_string_lossy().into_owned();
        entries.push((name, ino(&path), metadata.permissions().mode(), metadata.modified().unwrap()));
    }
    entries.sort();
    entries
}

fn to(tree: &Tree) -> Action {
    Action::Move(tree.path("to"))
}

/// Returns the path that an entry is moved to.
fn moved(tree: &Tree, below: &str) -> std::path::PathBuf {
    let old = tree.path(below);
    tree.path("to").join(old.strip_prefix("/").unwrap())
}

#[test]
fn every_type_of_entry_moves_away_and_back() {
    for name in ["v", "v/f", "v/link", "v/empty", "v/fifo", "v/d/s", "v/d"] {
        let (tree, sealer) = (scene(), Sealer::default());
        let before = all(&tree, "v");
        let chosen = tree.chosen(name, &sealer);
        tree.run_chosen(to(&tree), &[chosen], &sealer).remove(0).unwrap();
        assert!(tree.path(name).symlink_metadata().is_err(), "{name}");
        assert!(moved(&tree, name).symlink_metadata().is_ok(), "{name}");
        assert_eq!(tree.undo().remove(0).unwrap(), Undone::Restored, "{name}");
        // The times of the directory around it have changed.
        let compared =
            |entries: Vec<_>| entries.into_iter().filter(|it: &(String, _, _, _)| it.0.starts_with(name));
        assert!(compared(before).eq(compared(all(&tree, "v"))), "{name}");
        assert_eq!(tree.undo().remove(0).unwrap(), Undone::AsItWas, "{name}");
    }
}

#[test]
fn every_type_of_entry_is_deleted_and_nothing_else() {
    for name in ["v", "v/f", "v/link", "v/empty", "v/fifo", "v/d/s", "v/d"] {
        for mode in [0o755, 0o777] {
            let (tree, sealer) = (scene(), Sealer::default());
            // Where others can change names, a private directory is used.
            set_mode(&tree.path(""), mode);
            let others = |tree: &Tree| {
                let mut others = all(tree, "v");
                others.retain(|it| it.0 != name && !it.0.starts_with(&format!("{name}/")));
                others.into_iter().map(|it| (it.0, it.1)).collect::<Vec<_>>()
            };
            let expected = if name == "v" { Vec::new() } else { others(&tree) };
            let chosen = tree.chosen(name, &sealer);
            tree.run_chosen(Action::Delete, &[chosen], &sealer).remove(0).unwrap();
            assert!(tree.path(name).symlink_metadata().is_err(), "{name}");
            if name != "v" {
                assert_eq!(others(&tree), expected, "{name}");
            }
            assert!(holds(&tree.path("other/f"), "the content of other/f"), "{name}");
            assert!(tree.names().iter().all(|name| !name.contains(".ftk-")), "{name}");
            set_mode(&tree.path(""), 0o755);
            let undone = tree.undo().remove(0).unwrap_err();
            assert!(matches!(undone, ActError::Refused(Refusal::Gone)), "{undone}");
        }
    }
}

#[test]
fn the_space_of_a_file_is_freed_with_its_last_name() {
    let (tree, sealer) = (Tree::new(), Sealer::default());
    tree.file("v/f", vec![1; 100_000]);
    fs::hard_link(tree.path("v/f"), tree.path("v/g")).unwrap();
    fs::hard_link(tree.path("v/f"), tree.path("h")).unwrap();
    let freed = |tree: &Tree, name| {
        let chosen = tree.chosen(name, &sealer);
        tree.run_chosen(Action::Delete, &[chosen], &sealer).remove(0).unwrap().0
    };
    assert_eq!(freed(&tree, "v"), 0);
    assert!(freed(&tree, "h") >= 100_000);
}

type Change = fn(&Tree);

/// What can happen between the list and the action.
const CHANGES: [(&str, Change); 11] = [
    ("a new file", |tree| _ = tree.file("v/d/new", "")),
    ("a new directory", |tree| fs::create_dir(tree.path("v/d/e/new")).unwrap()),
    ("a removed file", |tree| fs::remove_file(tree.path("v/d/e/h")).unwrap()),
    ("a replaced file", |tree| {
        fs::rename(tree.path("v/d/g"), tree.path("aside")).unwrap();
        tree.file("v/d/g", "the content of v/d/g");
    }),
    ("new content of the same size and mtime", |tree| _ = tree.file("v/f", "the c0ntent of v/f")),
    ("a longer file", |tree| _ = tree.file("v/d/g", "the content of v/d/g, and more")),
    ("another mode", |tree| set_mode(&tree.path("v/d/g"), 0o600)),
    ("a renamed file", |tree| fs::rename(tree.path("v/d/g"), tree.path("v/d/i")).unwrap()),
    ("two exchanged names", |tree| {
        fs::rename(tree.path("v/d/g"), tree.path("v/d/tmp")).unwrap();
        fs::rename(tree.path("v/d/e/h"), tree.path("v/d/g")).unwrap();
        fs::rename(tree.path("v/d/tmp"), tree.path("v/d/e/h")).unwrap();
    }),
    ("another directory", |tree| {
        fs::rename(tree.path("v"), tree.path("aside")).unwrap();
        fs::create_dir(tree.path("v")).unwrap();
    }),
    ("a link to it", |tree| {
        fs::rename(tree.path("v"), tree.path("aside")).unwrap();
        symlink("aside", tree.path("v")).unwrap();
    }),
];

#[test]
fn what_has_changed_since_it_was_shown_is_refused() {
    for (what, change) in CHANGES {
        for action in [to, |_: &Tree| Action::Delete] {
            let (tree, sealer) = (scene(), Sealer::default());
            let chosen = tree.chosen("v", &sealer);
            change(&tree);
            let before = all(&tree, "");
            let error = tree.run_chosen(action(&tree), &[chosen], &sealer).remove(0).unwrap_err();
            let is_expected =
                matches!(error, ActError::Refused(Refusal::Changed { .. } | Refusal::Replaced(Side::Victim)));
            assert!(is_expected, "{what}: {error}");
            let now = all(&tree, "").into_iter().filter(|it| !it.0.is_empty() && !it.0.starts_with("to"));
            assert!(now.eq(before.into_iter().filter(|it| !it.0.is_empty())), "{what}");
        }
    }
}

#[test]
fn links_that_stay_are_not_seen_as_changed_within_one_directory() {
    // Removing one name of a file changes the ctime of the other, which is removed later.
    let (tree, sealer) = (Tree::new(), Sealer::default());
    for (nth, name) in ["v/a", "v/d/b", "v/d/e/c", "v/z"].into_iter().enumerate() {
        match nth {
            0 => _ = tree.file(name, "one"),
            _ => {
                fs::create_dir_all(tree.path(name).parent().unwrap()).unwrap();
                fs::hard_link(tree.path("v/a"), tree.path(name)).unwrap();
            }
        }
    }
    let chosen = tree.chosen("v", &sealer);
    tree.run_chosen(Action::Delete, &[chosen], &sealer).remove(0).unwrap();
    assert_eq!(tree.names(), [""; 0]);
}

#[test]
fn a_directory_does_not_move_into_itself() {
    let (tree, sealer) = (scene(), Sealer::default());
    for destination in ["v", "v/d/e"] {
        let chosen = tree.chosen("v", &sealer);
        let action = Action::Move(tree.path(destination));
        let error = tree.run_chosen(action, &[chosen], &sealer).remove(0).unwrap_err();
        assert!(matches!(error, ActError::Refused(Refusal::IsDestination)), "{destination}: {error}");
    }
    assert!(holds(&tree.path("v/d/e/h"), "the content of v/d/e/h"));
}

#[test]
fn an_existing_name_in_the_quarantine_is_never_replaced() {
    let (tree, sealer) = (scene(), Sealer::default());
    let there = moved(&tree, "v/f");
    fs::create_dir_all(there.parent().unwrap()).unwrap();
    fs::write(&there, "theirs").unwrap();
    let chosen = tree.chosen("v/f", &sealer);
    let error = tree.run_chosen(to(&tree), &[chosen], &sealer).remove(0).unwrap_err();
    assert!(matches!(error, ActError::Refused(Refusal::NameExists)), "{error}");
    assert!(holds(&there, "theirs") && holds(&tree.path("v/f"), "the content of v/f"));
}

#[test]
fn what_came_meanwhile_is_not_replaced_by_undo() {
    let (tree, sealer) = (scene(), Sealer::default());
    fs::remove_file(tree.path("v/d/linked")).unwrap();
    let chosen = ["v/f", "v/d"].map(|name| tree.chosen(name, &sealer));
    tree.run_chosen(to(&tree), &chosen, &sealer).into_iter().for_each(|it| _ = it.unwrap());
    tree.file("v/f", "theirs");
    // What is in a directory comes back as it is now; another file in its place does not.
    fs::write(moved(&tree, "v/d").join("added"), "").unwrap();
    let outcomes = tree.undo();
    assert_eq!(*outcomes[0].as_ref().unwrap(), Undone::Restored);
    assert!(matches!(outcomes[1], Err(ActError::Refused(Refusal::NameExists))), "{outcomes:?}");
    assert!(holds(&tree.path("v/f"), "theirs") && tree.path("v/d/added").exists());
    fs::remove_file(tree.path("v/f")).unwrap();
    fs::remove_file(moved(&tree, "v/f")).unwrap();
    fs::write(moved(&tree, "v/f"), "the content of v/f").unwrap();
    assert!(tree.undo().into_iter().any(|outcome| outcome.is_err()));
    assert!(!tree.path("v/f").exists());
}

/// A mount on a directory, of another file system and of a part of this one.
#[test]
fn nothing_moves_or_goes_with_a_mount() {
    if !is_root() {
        return;
    }
    for args in
        [["-t", "tmpfs", "tmpfs"].map(str::to_owned), ["--bind".into(), "SOURCE".into(), String::new()]]
    {
        for is_before in [true, false] {
            let (tree, sealer) = (scene(), Sealer::default());
            tree.file("precious/p", "precious");
            let source = tree.path("precious").to_str().unwrap().to_owned();
            let args: Vec<_> =
                args.iter().filter(|it| !it.is_empty()).map(|it| it.replace("SOURCE", &source)).collect();
            let point = tree.path("v/empty");
            let early = tree.chosen("v", &sealer);
            let Some(mounted) = Mounted::at(&point, &args) else { return };
            let chosen = if is_before { tree.chosen("v", &sealer) } else { early };
            for action in [to(&tree), Action::Delete] {
                let error =
                    tree.run_chosen(action, std::slice::from_ref(&chosen), &sealer).remove(0).unwrap_err();
                assert!(matches!(error, ActError::Refused(Refusal::Mounted)), "{args:?}: {error}");
            }
            let itself = tree.chosen("v/empty", &sealer);
            for action in [to(&tree), Action::Delete] {
                let error =
                    tree.run_chosen(action, std::slice::from_ref(&itself), &sealer).remove(0).unwrap_err();
                assert!(matches!(error, ActError::Refused(Refusal::Mounted)), "{args:?}: {error}");
            }
            drop(mounted);
            assert!(holds(&tree.path("precious/p"), "precious"));
            assert!(holds(&tree.path("v/d/e/h"), "the content of v/d/e/h"));
        }
    }
}

#[test]
fn deep_directories_are_deleted() {
    let (tree, sealer) = (Tree::new(), Sealer::default());
    let below = "d/".repeat(600);
    fs::create_dir_all(tree.path("v").join(&below)).unwrap();
    fs::write(tree.path("v").join(Path::new(&below)).join("x"), "x").unwrap();
    let chosen = tree.chosen("v", &sealer);
    tree.run_chosen(Action::Delete, &[chosen], &sealer).remove(0).unwrap();
    assert!(!tree.path("v").exists());
}

/// Another program has a directory open, and makes a file in it at any moment of a deletion or a move.
#[test]
fn what_appears_during_the_action_is_not_deleted() {
    let mut made = 0;
    for round in 0_u64..300 {
        let (tree, sealer) = (Tree::new(), Sealer::default());
        for nth in 0..20 {
            tree.file(&format!("v/d/{nth}"), "content");
        }
        let dir = fs::File::open(tree.path("v/d")).unwrap();
        let chosen = tree.chosen("v", &sealer);
        let writer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_micros(round * 7));
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
            openat(&dir, "new", flags, Mode::RUSR).is_ok()
        });
        let action = if round % 3 == 0 { to(&tree) } else { Action::Delete };
        let outcome = tree.run_chosen(action, &[chosen], &sealer).remove(0);
        if writer.join().unwrap() {
            made += 1;
            let is_there = tree.path("v/d/new").exists() || moved(&tree, "v/d/new").exists();
            assert!(is_there, "round {round}: {outcome:?}");
        }
        assert!(tree.names().iter().all(|name| !name.contains(".ftk-")), "round {round}: {outcome:?}");
    }
    assert!(made > 0);
}

#[test]
fn entries_below_another_starting_point_are_refused() {
    let (tree, sealer) = (scene(), Sealer::default());
    let chosen = tree.chosen("v/f", &sealer);
    let other = Identity::of(fs::File::open(tree.path("other")).unwrap()).unwrap();
    for action in [to(&tree), Action::Delete] {
        let start = tree.path("");
        let engine = Engine::new(action, ActionOptions::default()).unwrap();
        let mut engine = engine.expecting(start.as_os_str().as_bytes(), other);
        let error = engine.check_chosen(&chosen, &sealer).unwrap_err();
        assert!(matches!(error, ActError::Refused(Refusal::OtherStart { .. })), "{error}");
    }
}
