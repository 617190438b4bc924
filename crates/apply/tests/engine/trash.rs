//! Moves to the trash of the desktop.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;

use ftk_apply::{ActError, Action, Refusal, Undone, trash_directories};

use crate::harness::{Tree, ino, is_root, set_mode};

fn trash(tree: &Tree) -> Action {
    Action::Trash(tree.path("home/Trash"))
}

/// Returns the value of `Path` in a record, and checks the rest of it.
fn recorded(record: &Path) -> String {
    let text = fs::read_to_string(record).unwrap();
    let lines: Vec<_> = text.split('\n').collect();
    let ["[Trash Info]", path, date, ""] = *lines else { panic!("{text}") };
    let date: Vec<_> =
        date.strip_prefix("DeletionDate=").unwrap().split(['-', 'T', ':']).map(str::len).collect();
    assert_eq!(date, [4, 2, 2, 2, 2, 2], "{text}");
    path.strip_prefix("Path=").unwrap().to_owned()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_file_moves_to_the_trash_and_back() {
    let tree = Tree::new();
    tree.file("k", "same");
    let victim = tree.file("dir/v", "same");
    let inode = ino(&victim);
    assert_eq!(tree.done(trash(&tree), "dir/v", "k"), 0, "nothing is freed");
    assert!(!victim.exists());
    assert_eq!(ino(&tree.path("home/Trash/files/v")), inode);
    let real = fs::canonicalize(tree.path("dir")).unwrap().join("v");
    assert_eq!(recorded(&tree.path("home/Trash/info/v.trashinfo")), real.to_str().unwrap());
    for dir in ["home/Trash", "home/Trash/files", "home/Trash/info"] {
        assert_eq!(fs::metadata(tree.path(dir)).unwrap().permissions().mode() & 0o7777, 0o700, "{dir}");
    }
    assert!(matches!(tree.undo()[..], [Ok(Undone::Restored)]));
    assert_eq!(ino(&victim), inode);
    assert_eq!(tree.names(), ["dir/v", "k"], "its record is gone");
    assert!(matches!(tree.undo()[..], [Ok(Undone::AsItWas)]));
}

/// A desktop has restored the file, or emptied the trash.
#[test]
fn undo_after_the_desktop() {
    let tree = Tree::new();
    tree.file("k", "same");
    let victim = tree.file("v", "same");
    tree.done(trash(&tree), "v", "k");
    let (file, record) = (tree.path("home/Trash/files/v"), tree.path("home/Trash/info/v.trashinfo"));
    fs::rename(&file, &victim).unwrap();
    fs::remove_file(&record).unwrap();
    assert!(matches!(tree.undo()[..], [Ok(Undone::AsItWas)]));
    tree.done(trash(&tree), "v", "k");
    fs::remove_file(&file).unwrap();
    fs::remove_file(&record).unwrap();
    assert!(tree.undo()[0].as_ref().unwrap_err().to_string().contains("cannot find"));
    // Another file has the name in the trash by now.
    tree.file("home/Trash/files/v", "other");
    tree.file("home/Trash/info/v.trashinfo", "of the other");
    tree.undo()[0].as_ref().unwrap_err();
    assert!(file.exists() && record.exists());
}

/// Names that are taken, as a file or as a record, in this run or before, and names that are too long for a record.
#[test]
fn names_in_the_trash_are_unique() {
    let tree = Tree::new();
    tree.file("k", "same");
    let long = "\u{e9}".repeat(127);
    let victims =
        ["a/x", "b/x", "c/x", "a/y", "a/z"].map(str::to_owned).into_iter().chain([format!("d/{long}")]);
    let victims: Vec<_> = victims.collect();
    for victim in &victims {
        tree.file(victim, "same");
    }
    tree.file("home/Trash/files/y", "earlier");
    tree.file("home/Trash/info/z.trashinfo", "earlier");
    for dir in ["home/Trash", "home/Trash/files", "home/Trash/info"] {
        set_mode(&tree.path(dir), 0o700);
    }
    let steps = victims.iter().map(|victim| tree.step(victim, "k")).collect();
    assert!(tree.run(trash(&tree), steps).iter().all(Result::is_ok));
    let files = names(&tree.path("home/Trash/files"));
    let records = names(&tree.path("home/Trash/info"));
    assert_eq!((files.len(), records.len()), (7, 7));
    for name in &files {
        let is_earlier = name == "y";
        assert_eq!(records.contains(&format!("{name}.trashinfo")), !is_earlier, "{name}");
    }
    assert!(files.iter().any(|name| *name == "\u{e9}".repeat(100)), "{files:?}");
    let paths: Vec<_> = records
        .iter()
        .filter(|name| *name != "z.trashinfo")
        .map(|name| recorded(&tree.path("home/Trash/info").join(name)))
        .collect();
    for victim in &victims {
        let victim = victim.replace('\u{e9}', "%C3%A9");
        assert_eq!(paths.iter().filter(|path| path.ends_with(&format!("/{victim}"))).count(), 1, "{victim}");
    }
    assert_eq!(fs::read(tree.path("home/Trash/files/y")).unwrap(), b"earlier");
    assert!(tree.undo().iter().all(Result::is_ok));
    assert!(victims.iter().all(|victim| tree.path(victim).exists()));
    assert_eq!(names(&tree.path("home/Trash/info")), ["z.trashinfo"]);
}

#[test]
fn paths_are_percent_encoded() {
    let tree = Tree::new();
    tree.file("k", "same");
    for (name, encoded) in [
        (&b"plain-name_1.~x"[..], "plain-name_1.~x"),
        (b"a b%c\nd\r", "a%20b%25c%0Ad%0D"),
        (b"\xff[x]=\"'", "%FF%5Bx%5D%3D%22%27"),
        ("\u{fc}+&#?;:@".as_bytes(), "%C3%BC%2B%26%23%3F%3B%3A%40"),
    ] {
        let path = tree.path("dir").join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "same").unwrap();
        let seen = crate::harness::seen(&path, tree.path("").as_os_str().len());
        let step = ftk_apply::Step::new(seen, tree.seen("k"));
        tree.run(trash(&tree), vec![step]).remove(0).unwrap();
        let record = [name, b".trashinfo"].concat();
        let found = recorded(&tree.path("home/Trash/info").join(OsStr::from_bytes(&record)));
        assert!(found.ends_with(&format!("/dir/{encoded}")), "{found}");
        tree.undo().remove(0).unwrap();
    }
}

#[test]
fn what_is_in_the_trash_is_not_trashed_again() {
    let tree = Tree::new();
    tree.file("k", "same");
    tree.file("v", "same");
    tree.done(trash(&tree), "v", "k");
    let refused = tree.refused(trash(&tree), "home/Trash/files/v", "k");
    assert!(matches!(refused, ActError::Refused(Refusal::InTrash)), "{refused}");
    let found = trash_directories(&tree.path("home/Trash"), [tree.path("")]);
    assert!(found.iter().any(|(_, inode)| *inode == ino(&tree.path("home/Trash"))));
}

/// A trash that others own or may write to is not used, and nothing is left of the attempt.
#[test]
fn a_trash_of_others_is_refused() {
    let tree = Tree::new();
    tree.file("k", "same");
    tree.file("v", "same");
    fs::create_dir_all(tree.path("home/Trash")).unwrap();
    for mode in [0o770, 0o1777] {
        set_mode(&tree.path("home/Trash"), mode);
        let refused = tree.refused(trash(&tree), "v", "k");
        assert!(matches!(refused, ActError::Refused(Refusal::ForeignTrash(_))), "{refused}");
    }
    set_mode(&tree.path("home/Trash"), 0o700);
    symlink("..", tree.path("home/Trash/files")).unwrap();
    tree.refused(trash(&tree), "v", "k");
    fs::remove_file(tree.path("home/Trash/files")).unwrap();
    if is_root() {
        chown(tree.path("home/Trash"), Some(77), None).unwrap();
        tree.refused(trash(&tree), "v", "k");
    }
    assert!(tree.path("v").exists());
}

/// Each file system has its own trash at its top. Which one is used depends on what is there.
#[test]
fn other_file_systems_have_their_own_trash() {
    let home = Tree::new();
    let home = Action::Trash(home.path("home/Trash"));
    let uid = rustix::process::geteuid().as_raw();
    let (own, shared) = (format!(".Trash-{uid}"), format!(".Trash/{uid}"));
    type Prepare = fn(&Tree);
    let ways: [(Prepare, &str); 5] = [
        (|_| (), &own),
        (
            |tree| {
                fs::create_dir(tree.path(".Trash")).unwrap();
                set_mode(&tree.path(".Trash"), 0o1777);
            },
            &shared,
        ),
        // Without the sticky bit, and as a link, it does not count.
        (
            |tree| {
                fs::create_dir(tree.path(".Trash")).unwrap();
                set_mode(&tree.path(".Trash"), 0o777);
            },
            &own,
        ),
        (
            |tree| {
                fs::create_dir(tree.path("else")).unwrap();
                set_mode(&tree.path("else"), 0o1777);
                symlink("else", tree.path(".Trash")).unwrap();
            },
            &own,
        ),
        // Another user has made it.
        (
            |tree| {
                fs::create_dir_all(tree.path(".Trash").join(rustix::process::geteuid().as_raw().to_string()))
                    .unwrap();
                set_mode(&tree.path(".Trash"), 0o1777);
                let inside = tree.path(".Trash").join(rustix::process::geteuid().as_raw().to_string());
                chown(inside, Some(77), None).unwrap();
            },
            &own,
        ),
    ];
    for (nth, (prepare, place)) in ways.into_iter().enumerate() {
        let Some(tree) = Tree::on("tmpfs") else { return };
        prepare(&tree);
        tree.file("k", "same");
        tree.file("deep/er/v w", "same");
        tree.done(home.clone(), "deep/er/v w", "k");
        let at = |below: &str| tree.path(&format!("{place}/{below}"));
        assert!(at("files/v w").exists(), "{nth}: {:?}", tree.names());
        // The path is relative to the top.
        assert_eq!(recorded(&at("info/v w.trashinfo")), "deep/er/v%20w", "{nth}");
        let found = trash_directories(Path::new("/none"), [tree.path("deep")]);
        assert!(found.iter().any(|(_, inode)| *inode == ino(&at("."))), "{nth}");
        assert!(matches!(tree.undo()[..], [Ok(Undone::Restored)]), "{nth}");
        assert!(tree.path("deep/er/v w").exists() && names(&at("info")).is_empty(), "{nth}");
    }
}

/// A user who may not write to the top of the file system has no trash there.
#[test]
fn without_a_trash_nothing_is_changed() {
    if !is_root() {
        return;
    }
    let Some(tree) = Tree::on("tmpfs") else { return };
    tree.file("k", "same");
    tree.file("v", "same");
    // A file of this name is in the way.
    tree.file(".Trash-0", "");
    let home = Action::Trash("/proc/none/Trash".into());
    let error = tree.refused(home, "v", "k");
    assert!(error.to_string().contains("trash"), "{error}");
    assert_eq!(tree.names(), [".Trash-0", "k", "v"]);
}
