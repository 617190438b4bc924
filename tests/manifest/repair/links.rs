//! Hard links are repaired together.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;
use std::time::UNIX_EPOCH;

use super::super::records::{Manifest, json, verify};
use super::{damage, journal, keep, mark, names, repair, said};
use crate::harness::{Dir, Run, sha256};

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

/// Makes a name a separate file with the same content and metadata, as a copy or an editor does.
fn split(dir: &Dir, name: &str) {
    let status = Command::new("cp").args(["-a", name, "split"]).current_dir(dir.path("")).status();
    assert!(status.unwrap().success());
    fs::rename(dir.path("split"), dir.path(name)).unwrap();
}

fn set_mode(dir: &Dir, name: &str, mode: u32) {
    fs::set_permissions(dir.path(name), Permissions::from_mode(mode)).unwrap();
}

fn content(dir: &Dir, name: &str) -> Vec<u8> {
    fs::read(dir.path(name)).unwrap()
}

fn undo(dir: &Dir) -> Run {
    dir.ftk(["undo"]).arg(journal(dir)).run()
}

#[test]
fn names_that_were_separated_are_counted_and_joined_with_metadata() {
    let dir = Dir::on_disk();
    dir.file("a/x", b"content").dir("b").hard_link("a/x", "a/y").hard_link("a/x", "b/z").file("k", b"k");
    keep(&dir);
    // Two names stay one file. The other user of a third one has changed its permissions and time as well.
    split(&dir, "a/x");
    set_mode(&dir, "a/x", 0o600);
    fs::File::open(dir.path("a/x")).unwrap().set_modified(UNIX_EPOCH).unwrap();
    let before = [inode(&dir, "a/x"), inode(&dir, "a/y"), inode(&dir, "b/z")];
    for args in [&[][..], &["--yes"]] {
        repair(&dir, args)
            .status(1)
            .stdout("")
            .stderr_has("1 with other metadata (--metadata restores it), 1 whose");
    }
    let summary = &json(&repair(&dir, &["--json"]).status(1))[0]["summary"];
    assert_eq!((&summary["unasked"]["links"], &summary["joined"]), (&1.into(), &0.into()));
    let plan = repair(&dir, &["--metadata"]).status(0);
    let run = repair(&dir, &["--metadata", "--yes"]).status(0);
    run.check(said(&run) == said(&plan), "the plan is carried out");
    run.check(said(&run)[0] == "join a/x as a hard link of a/y", "the recorded inode stays");
    run.stderr_has("and joined 1 hard link\n");
    assert_eq!([inode(&dir, "a/x"), inode(&dir, "b/z")], [(before[1].0, 3); 2]);
    verify(&dir, &[]).status(0);
    repair(&dir, &["--metadata"]).status(0).stderr_has("  nothing to do\n");
    for _ in 0..2 {
        undo(&dir).status(0);
        let x = fs::metadata(dir.path("a/x")).unwrap();
        assert_eq!((x.nlink(), x.mode() & 0o7777, x.mtime()), (1, 0o600, 0));
        assert_eq!((inode(&dir, "a/y"), inode(&dir, "b/z")), (before[1], before[2]));
        assert_eq!(content(&dir, "a/x"), b"content");
    }
    // A journal that was undone does not keep the next run from doing it again.
    let other = dir.aside("second.jsonl");
    repair(&dir, &["--metadata", "--yes", "--journal", other.to_str().unwrap()]).status(0);
    verify(&dir, &[]).status(0);
}

/// Programs that do not know hard links make one file of each name.
#[test]
fn a_copy_without_hard_links_gets_them_back() {
    let dir = Dir::new();
    dir.file("a", b"a").hard_link("a", "b").file("d/x", b"x").hard_link("d/x", "d/y").hard_link("d/x", "z");
    keep(&dir);
    let copied = dir.aside("without");
    let mut copy = Command::new("cp");
    copy.args(["-r", "--preserve=mode,timestamps"]).arg(dir.path("")).arg(&copied);
    assert!(copy.status().unwrap().success());
    let ftk = |command: &str, args: &[&str]| {
        dir.ftk(["manifest", command]).arg(&copied).arg(dir.aside("manifest")).args(args).run()
    };
    let from = dir.aside("copy");
    let run = ftk("repair", &["--other-root", "--from", from.to_str().unwrap()]).status(1);
    run.stderr_has("  no damage; 2 whose hard links are separate files (--metadata joins them)\n");
    ftk("verify", &[]).status(1).stderr_has("2 groups of hard links are separate files");
    ftk("repair", &["--other-root", "--metadata", "--yes"]).status(0).stderr_has("joined 3 hard links\n");
    ftk("verify", &[]).status(0).stdout("");
}

#[test]
fn a_missing_name_becomes_a_hard_link_of_the_others() {
    for is_marked in [false, true] {
        let dir = Dir::new();
        dir.file("d/x", b"content")
            .dir("d/e")
            .hard_link("d/x", "d/e/y")
            .hard_link("d/x", "z")
            .file("k", b"kept");
        keep(&dir);
        if is_marked {
            damage(&dir.path("k"));
            mark(&dir);
        }
        fs::remove_dir_all(dir.path("d/e")).unwrap();
        fs::remove_file(dir.path("d/x")).unwrap();
        // The content comes from the tree.
        fs::write(dir.aside("copy/d/x"), "changed").unwrap();
        let old = inode(&dir, "z").0;
        let run = repair(&dir, &["--missing", "--yes", "--max-missing", "100%"]).status(0);
        let lines = said(&run);
        for name in ["d/e/y", "d/x"] {
            run.check(lines.contains(&format!("restore {name} as a hard link of z")), "it is linked");
            assert_eq!(inode(&dir, name), (old, 3));
        }
        verify(&dir, &[]).status(0);
        let record = Manifest::read(&dir.aside("manifest")).entry("d/x").clone();
        assert_eq!((&record["ino"], &record["nlink"]), (&old.into(), &3.into()));
        undo(&dir).status(0);
        assert_eq!((names(&dir.path("d/e")).len(), inode(&dir, "z")), (0, (old, 1)));
        assert!(!dir.path("d/x").exists());
    }
}

/// Undo removes names only as long as the file has another one.
#[test]
fn undo_keeps_the_last_name_of_a_file() {
    let dir = Dir::new();
    dir.file("x", b"content").hard_link("x", "y").file("k", b"k").file("l", b"l").file("m", b"m");
    keep(&dir);
    fs::remove_file(dir.path("y")).unwrap();
    repair(&dir, &["--missing", "--yes"]).status(0);
    fs::remove_file(dir.path("x")).unwrap();
    let run = undo(&dir).status(2);
    run.check(said(&run)[0] == "fail ./y the file changed (it has no other name any more)", "it is refused");
    assert_eq!(content(&dir, "y"), b"content");
}

/// An editor writes a new file and renames it. The other names keep the recorded content.
#[test]
fn edited_names_are_joined_with_the_others_again() {
    for (is_second_edited, has_mode, args, is_joined) in [
        (false, false, &["--modified"][..], true),
        (true, false, &["--modified"], true),
        (false, true, &["--modified"], false),
        (true, true, &["--modified"], false),
        (false, true, &["--modified", "--metadata"], true),
        (true, true, &["--modified", "--metadata"], true),
    ] {
        let dir = Dir::new();
        dir.file("x", b"content").hard_link("x", "y").hard_link("x", "z").file("k", b"k");
        keep(&dir);
        split(&dir, "x");
        fs::write(dir.path("x"), "newer content").unwrap();
        if is_second_edited {
            fs::write(dir.path("y"), "other").unwrap();
        }
        if has_mode {
            set_mode(&dir, "x", 0o640);
        }
        let before = ["x", "y", "z"].map(|name| content(&dir, name));
        let run = repair(&dir, &[args, &["--yes"]].concat());
        ["x", "y", "z"].iter().for_each(|name| assert_eq!(content(&dir, name), b"content"));
        if is_joined {
            let lines = said(&run.status(0));
            let is_link =
                lines.iter().any(|line| line.starts_with("replace ") && line.contains(" as a hard link of "));
            assert!(is_link, "{lines:?}");
            assert_eq!([inode(&dir, "x"), inode(&dir, "y")], [(inode(&dir, "z").0, 3); 2]);
            verify(&dir, &[]).status(0);
        } else {
            let what =
                "1 with other metadata (--metadata restores it), 1 whose hard links are separate files";
            run.status(1).stderr_has(what);
            assert_eq!((inode(&dir, "x").1, inode(&dir, "y")), (1, inode(&dir, "z")));
            assert_eq!(fs::metadata(dir.path("x")).unwrap().mode() & 0o7777, 0o640);
        }
        for _ in 0..2 {
            undo(&dir).status(0);
            assert_eq!(["x", "y", "z"].map(|name| content(&dir, name)), before);
            let mode = fs::metadata(dir.path("x")).unwrap().mode() & 0o7777;
            assert_eq!((mode, inode(&dir, "x").1), (if has_mode { 0o640 } else { 0o644 }, 1));
            assert_eq!(inode(&dir, "y"), inode(&dir, "z"));
        }
    }
}

/// Damage is repaired without a change of links, which `--metadata` joins in the same run.
#[test]
fn damaged_names_that_are_separate_files_are_joined_on_request() {
    for joins in [false, true] {
        let dir = Dir::new();
        dir.file("x", b"content").hard_link("x", "y").file("k", b"k").file("l", b"l");
        keep(&dir);
        split(&dir, "x");
        damage(&dir.path("x"));
        let damaged = content(&dir, "x");
        let run = repair(&dir, if joins { &["--yes", "--metadata"] } else { &["--yes"] });
        if joins {
            run.status(0);
        } else {
            run.status(1).stderr_has("; 1 whose hard links are separate files (--metadata joins them)\n");
        }
        assert_eq!((content(&dir, "x"), inode(&dir, "x") == inode(&dir, "y")), (b"content".into(), joins));
        undo(&dir).status(0);
        assert_eq!((content(&dir, "x"), content(&dir, "y")), (damaged, b"content".into()));
    }
}

/// Nothing separates them. They are named, and no option hides them.
#[test]
fn names_that_were_joined_are_listed() {
    let dir = Dir::new();
    dir.file("x", b"content").file("z", b"content").file("k", b"k").symlink("x", "l").symlink("x", "m");
    let time = fs::metadata(dir.path("x")).unwrap().modified().unwrap();
    fs::File::options().write(true).open(dir.path("z")).unwrap().set_modified(time).unwrap();
    keep(&dir);
    fs::remove_file(dir.path("z")).unwrap();
    dir.hard_link("x", "z");
    fs::remove_file(dir.path("m")).unwrap();
    fs::hard_link(dir.path("l"), dir.path("m")).unwrap();
    for args in [&[][..], &["--metadata"], &["--modified", "--missing", "--metadata"]] {
        let run = repair(&dir, args).status(1);
        let expected = [("m", "l"), ("z", "x")].map(|(name, first)| {
            format!("leave {name} is a hard link of {first}, and recorded as a separate file")
        });
        run.check(expected.iter().all(|line| said(&run).contains(line)), "both are listed");
    }
}

/// Links of links cannot be joined.
#[test]
fn other_types_that_were_separated_are_listed() {
    let dir = Dir::new();
    dir.file("x", b"content").symlink("x", "l").file("k", b"k");
    fs::hard_link(dir.path("l"), dir.path("m")).unwrap();
    keep(&dir);
    fs::remove_file(dir.path("m")).unwrap();
    dir.symlink("x", "m");
    for args in [&[][..], &["--metadata", "--yes"]] {
        let run = repair(&dir, args).status(1);
        let expected =
            "leave m is recorded as a hard link of l, and is a separate file: they cannot be joined";
        run.check(said(&run).contains(&expected.into()), "it is listed");
    }
}

/// No name gets set-ID bits, also not by a link.
#[test]
fn names_of_files_with_set_id_bits_are_not_linked_again() {
    let dir = Dir::new();
    dir.file("x", b"program").hard_link("x", "y").hard_link("x", "z").file("k", b"k").file("l", b"l");
    set_mode(&dir, "x", 0o4755);
    keep(&dir);
    fs::remove_file(dir.path("y")).unwrap();
    split(&dir, "z");
    set_mode(&dir, "z", 0o755);
    let run = repair(&dir, &["--missing", "--metadata", "--yes"]).status(1);
    let lines = said(&run);
    for name in ["y", "z"] {
        run.check(
            lines.contains(&format!(
                "leave {name} lacks recorded set-ID bits or capabilities: set them yourself"
            )),
            "the bits are not given",
        );
        let apart = format!(
            "leave {name} is recorded as a hard link of x, and is a separate file: they cannot be joined"
        );
        run.check(lines.contains(&apart), "it is not joined");
        assert_eq!(fs::metadata(dir.path(name)).unwrap().mode() & 0o7777, 0o755);
    }
    assert_eq!((inode(&dir, "x").1, content(&dir, "y")), (1, b"program".to_vec()));
    // With the same bits they are joined.
    set_mode(&dir, "y", 0o4755);
    set_mode(&dir, "z", 0o4755);
    let journal = dir.aside("second.jsonl");
    repair(&dir, &["--metadata", "--yes", "--journal", journal.to_str().unwrap()]).status(0);
    assert_eq!(inode(&dir, "x").1, 3);
    verify(&dir, &[]).status(0);
}

/// Each step changes the ctime of the file that names are linked to.
#[test]
fn several_files_become_links_of_one() {
    let dir = Dir::new();
    dir.file("keep", b"content").file("k", b"k").file("l", b"l");
    ["x", "y", "z", "gone"].iter().for_each(|name| _ = dir.hard_link("keep", name));
    keep(&dir);
    for (name, content) in [("x", "first edit"), ("y", "second")] {
        fs::remove_file(dir.path(name)).unwrap();
        fs::write(dir.path(name), content).unwrap();
    }
    split(&dir, "z");
    fs::remove_file(dir.path("gone")).unwrap();
    let all = ["x", "y", "z", "gone", "keep"];
    let args = ["--missing", "--modified", "--metadata"];
    let plan = repair(&dir, &args).status(0);
    let run = repair(&dir, &[&args[..], &["--yes"]].concat()).status(0);
    run.check(said(&run) == said(&plan), "the plan is carried out");
    all.iter().for_each(|name| assert_eq!(inode(&dir, name), (inode(&dir, "keep").0, 5)));
    verify(&dir, &[]).status(0);
    undo(&dir).status(0);
    assert_eq!((content(&dir, "x"), content(&dir, "y")), (b"first edit".into(), b"second".into()));
    assert!(!dir.path("gone").exists());
    assert_eq!(inode(&dir, "z").1, 1);
}
