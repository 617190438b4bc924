//! Hard links are repaired together.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use super::super::records::{Manifest, verify};
use super::{damage, keep, mark, names, repair, said};
use crate::harness::{Dir, sha256};

fn inode(dir: &Dir, path: &str) -> (u64, u64) {
    let metadata = fs::metadata(dir.path(path)).unwrap();
    (metadata.ino(), metadata.nlink())
}

#[test]
fn all_names_of_a_damaged_file_are_repaired() {
    for has_marks in [false, true] {
        let dir = Dir::new();
        dir.file("b/2", b"good").dir("a").dir("c").hard_link("b/2", "a/1").hard_link("b/2", "c/3");
        keep(&dir);
        damage(&dir.path("a/1"));
        if has_marks {
            mark(&dir);
        }
        dir.hard_link("b/2", "b/new");
        let old = inode(&dir, "a/1").0;
        let run = repair(&dir, &["--yes"]).status(0).stderr_has("  repaired 4 files, 4 B\n");
        let lines = said(&run);
        run.check(lines[0].starts_with("repair a/1 4 B from "), "the first name");
        let others: Vec<_> =
            ["b/2", "b/new", "c/3"].map(|it| format!("repair {it} as a hard link of a/1")).into();
        assert_eq!(lines[1..], others);
        let new = inode(&dir, "a/1");
        assert!(new.0 != old && new.1 == 4, "{new:?}");
        let manifest = Manifest::read(&dir.aside("manifest"));
        for name in ["a/1", "b/2", "c/3"] {
            assert_eq!(inode(&dir, name), new);
            assert_eq!(manifest.entry(name)["ino"], new.0);
            assert!(manifest.entry(name)["damaged_ns"].is_null());
        }
        assert_eq!(inode(&dir, "b/new"), new);
        assert_eq!(fs::read(dir.path("c/3")).unwrap(), b"good");
        assert_eq!(names(&dir.path("b")), ["2", "new"]);
    }
}

#[test]
fn links_that_the_walk_does_not_find_are_reported() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    fs::hard_link(dir.path("a"), dir.aside("outside")).unwrap();
    damage(&dir.path("a"));
    let said = "ftk: 'a' has 1 hard link that the walk of ROOT did not find: they keep the present content\n";
    repair(&dir, &[]).status(1).stderr_has(said);
    repair(&dir, &["--yes"]).status(1).stderr_has(said);
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"good");
    assert_ne!(fs::read(dir.aside("outside")).unwrap(), b"good");
}

/// One file cannot have two contents: the name with another record keeps what it has.
#[test]
fn a_link_with_another_recorded_content_is_left() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"fine");
    let time = fs::metadata(dir.path("a")).unwrap().modified().unwrap();
    let set = |name: &str| {
        let file = fs::File::options().write(true).open(dir.path(name)).unwrap();
        file.set_modified(time).unwrap();
    };
    set("b");
    keep(&dir);
    fs::remove_file(dir.path("b")).unwrap();
    damage(&dir.path("a"));
    dir.hard_link("a", "b");
    let run = repair(&dir, &["--yes"]).status(1);
    run.check(said(&run)[0] == "leave b is a hard link of a, with another recorded content", "it is listed");
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"good");
    assert!(!["good", "fine"].contains(&&*String::from_utf8_lossy(&fs::read(dir.path("b")).unwrap())));
    // Now it is a separate file.
    repair(&dir, &["--yes"]).status(0);
    verify(&dir, &[]).status(0);
}

#[test]
fn missing_hard_links_are_linked_again() {
    let dir = Dir::new();
    dir.file("a", b"good").hard_link("a", "b").hard_link("a", "c").file("x", b"gone").hard_link("x", "y");
    keep(&dir);
    damage(&dir.path("b"));
    for name in ["a", "x", "y"] {
        fs::remove_file(dir.path(name)).unwrap();
    }
    repair(&dir, &["--yes", "--missing", "--max-missing", "100%"]).status(0);
    let (first, second) = (inode(&dir, "a"), inode(&dir, "x"));
    assert_eq!((first.1, inode(&dir, "b"), inode(&dir, "c")), (3, first, first));
    assert_eq!((second.1, inode(&dir, "y")), (2, second));
    verify(&dir, &[]).status(0);
}

/// A snapshot of hard links, made between the damage and the update, is no copy.
#[test]
fn new_links_of_a_damaged_file_are_not_recorded_as_good() {
    for is_marked in [false, true] {
        let dir = Dir::new();
        dir.file("d/f", b"good").file("d/g", b"fine").file("other", b"edit").dir("a").dir("z");
        // Files written in the same tick of the clock have the same mtime, and then the link would be a damaged "edit".
        fs::File::open(dir.path("other")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        keep(&dir);
        damage(&dir.path("d/f"));
        if is_marked {
            mark(&dir);
        }
        dir.hard_link("d/f", "a/f").hard_link("d/f", "z/f").hard_link("d/g", "z/g");
        fs::remove_file(dir.path("other")).unwrap();
        dir.hard_link("d/f", "other");
        let path = dir.aside("manifest");
        let update = || {
            let ftk = dir.ftk(["manifest", "update", ".", "--check", "100%"]).arg(&path).arg("-o").arg(&path);
            ftk.run().status(1).stderr_has("'d/f' is corrupted");
            Manifest::read(&path)
        };
        for _ in 0..2 {
            let now = update();
            for name in ["a/f", "d/f", "other", "z/f"] {
                assert_eq!(now.entry(name)["digests"]["sha256"], sha256(b"good"), "{name}");
                assert_eq!(now.entry(name)["damaged_ns"], now.entry("d/f")["damaged_ns"], "{name}");
                assert!(now.entry(name)["damaged_ns"].is_i64());
            }
            assert!(now.entry("z/g")["damaged_ns"].is_null());
        }
        repair(&dir, &["--yes"]).status(0).stderr_has("  repaired 4 files, ");
        for name in ["a/f", "d/f", "other", "z/f"] {
            assert_eq!(fs::read(dir.path(name)).unwrap(), b"good");
            assert_eq!(inode(&dir, name), inode(&dir, "d/f"));
        }
        // The manifest was rewritten, and its tree digests match.
        verify(&dir, &["--ignore", "mtime"]).status(0);
    }
}
