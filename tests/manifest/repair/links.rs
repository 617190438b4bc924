//! Hard links are repaired together.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::process::Command;
use std::time::UNIX_EPOCH;

use rustix::fs::{XattrFlags, getxattr, setxattr};

use super::super::records::{Manifest, create, json, verify};
use super::{copy, damage, journal, keep, mark, names, repair, said};
use crate::harness::{Dir, Mounted, Run, has, is_root, sha256};

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
            assert_eq!(manifest.entry(name)["ino"], if has_marks { new.0 } else { old });
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

/// The manifest does not tell what a link would give or take away.
#[test]
fn attributes_that_are_not_recorded_are_neither_lost_nor_gained() {
    let state = |dir: &Dir| {
        let all = ["user.note", "trusted.k", "security.capability", "system.posix_acl_access"];
        let get = |path: &str, name| getxattr(dir.path(path), name, &mut [0; 99][..]).ok();
        ["x", "y"].map(|path| all.map(|name| get(path, name)))
    };
    if !is_root() || !has("setfacl") {
        return;
    }
    // cap_net_raw+ep, in revision 2.
    let mut capability = [0; 20];
    (capability[0], capability[3], capability[5]) = (1, 2, 0x20);
    // The attribute, its file, and whether an ordinary user made the manifest.
    for (attribute, name, is_of_user) in [
        ("list", "x", false),
        ("list", "y", false),
        ("user.note", "x", false),
        ("user.note", "y", false),
        ("security.capability", "y", false),
        ("trusted.k", "x", true),
        ("trusted.k", "y", true),
    ] {
        let dir = Dir::on_disk();
        dir.file("x", b"content").hard_link("x", "y").file("k", b"k").file("l", b"l");
        match is_of_user {
            true => {
                fs::set_permissions(dir.path(""), Permissions::from_mode(0o755)).unwrap();
                let own = dir.aside("own");
                fs::create_dir(&own).unwrap();
                fs::set_permissions(&own, Permissions::from_mode(0o777)).unwrap();
                let made = dir.ftk(["manifest", "create", ".", "-o"]).arg(own.join("manifest"));
                made.unprivileged(&dir).run().status(0);
                fs::copy(own.join("manifest"), dir.aside("manifest")).unwrap();
            }
            false => _ = create(&dir, &["--no-xattrs"]),
        }
        copy(&dir, "copy");
        split(&dir, "x");
        if attribute == "list" {
            let set = Command::new("setfacl").args(["-m", "u:77:r"]).arg(dir.path(name)).status();
            assert!(set.unwrap().success());
        } else {
            let value: &[u8] = if attribute.starts_with("security") { &capability } else { b"mine" };
            setxattr(dir.path(name), attribute, value, XattrFlags::empty()).unwrap();
        }
        let before = state(&dir);
        let run = repair(&dir, &["--metadata", "--yes"]).status(1);
        let left = "leave x is recorded as a hard link of y, and is a separate file: they cannot be joined";
        run.check(said(&run).contains(&left.into()), "it is listed");
        assert_eq!((inode(&dir, "x").1, state(&dir)), (1, before), "{attribute} {name}");
        // The copy is used.
        fs::write(dir.path("x"), "newer content").unwrap();
        let journal = dir.aside("second.jsonl");
        repair(&dir, &["--modified", "--yes", "--journal", journal.to_str().unwrap()]).status(1);
        assert_eq!((content(&dir, "x"), inode(&dir, "x").1), (b"content".into(), 1), "{attribute} {name}");
        assert_eq!(state(&dir), before, "{attribute} {name}");
    }
}

/// Attributes of root that the manifest has are not known to an ordinary user.
#[test]
fn a_user_does_not_join_files_with_attributes_of_root() {
    if !is_root() {
        return;
    }
    const USER: u32 = 65534;
    let dir = Dir::on_disk();
    dir.file("x", b"content").hard_link("x", "y").file("k", b"k");
    create(&dir, &[]);
    split(&dir, "y");
    setxattr(dir.path("y"), "trusted.k", b"new", XattrFlags::empty()).unwrap();
    let own = dir.aside("own");
    fs::create_dir(&own).unwrap();
    fs::copy(dir.aside("manifest"), own.join("manifest")).unwrap();
    for path in [own.clone(), own.join("manifest"), dir.path(""), dir.path("x"), dir.path("y"), dir.path("k")]
    {
        chown(path, Some(USER), Some(USER)).unwrap();
    }
    let run = dir.ftk(["manifest", "repair", ".", "--metadata", "--other-root", "--yes", "--journal"]);
    run.arg(own.join("journal")).arg(own.join("manifest")).unprivileged(&dir).run();
    assert_eq!((inode(&dir, "x").1, inode(&dir, "y").1), (1, 1));
    assert!(getxattr(dir.path("y"), "trusted.k", &mut [0; 9][..]).is_ok());
}

/// A file cannot have two kinds of permissions, so the copy is used.
#[test]
fn names_with_other_recorded_metadata_are_not_linked() {
    let dir = Dir::new();
    dir.file("x", b"content").hard_link("x", "y").hard_link("x", "z").file("k", b"k").file("l", b"l");
    keep(&dir);
    split(&dir, "x");
    damage(&dir.path("x"));
    set_mode(&dir, "y", 0o600);
    mark(&dir);
    let run = repair(&dir, &["--metadata", "--yes"]).status(0);
    run.check(said(&run)[0].starts_with("repair x 7 B from "), "the copy is used");
    assert_eq!((content(&dir, "x"), inode(&dir, "x").1, inode(&dir, "y").1), (b"content".into(), 1, 2));
    verify(&dir, &[]).status(0);
}

/// Two groups in an old manifest that has the same name for both.
#[test]
fn names_with_other_recorded_content_are_not_linked() {
    let dir = Dir::new();
    dir.file("x", b"content").hard_link("x", "y").file("k", b"k").file("p", b"p and q").hard_link("p", "q");
    keep(&dir);
    let manifest = dir.aside("manifest");
    let text = fs::read_to_string(&manifest).unwrap().replace("\"link_group\":\"p\"", "\"link_group\":\"x\"");
    let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
    let footer = text.trim_end().rsplit_once('\n').unwrap().1;
    let old: serde_json::Value = serde_json::from_str(footer).unwrap();
    let sum = old["footer"]["sha256"].as_str().unwrap();
    let body = format!("{body}\n");
    fs::write(&manifest, format!("{body}{}\n", footer.replace(sum, &sha256(body.as_bytes())))).unwrap();
    ["x", "p"].iter().for_each(|name| fs::remove_file(dir.path(name)).unwrap());
    repair(&dir, &["--missing", "--yes"]).status(0);
    assert_eq!((inode(&dir, "x"), inode(&dir, "p")), (inode(&dir, "y"), inode(&dir, "q")));
    assert_eq!((content(&dir, "x"), content(&dir, "p")), (b"content".into(), b"p and q".into()));
}

/// Each file loses a name and gets one, in one batch.
#[test]
fn exchanged_names_of_two_files_are_restored() {
    for is_same_size in [false, true] {
        let dir = Dir::new();
        let other: &[u8] = if is_same_size { b"another" } else { b"the other" };
        dir.file("x", b"content").hard_link("x", "y").file("p", other).hard_link("p", "q").file("k", b"k");
        fs::File::open(dir.path("p")).unwrap().set_modified(UNIX_EPOCH).unwrap();
        keep(&dir);
        for (from, to) in [("y", "t"), ("p", "y"), ("t", "p")] {
            fs::rename(dir.path(from), dir.path(to)).unwrap();
        }
        let before = ["x", "y", "p", "q"].map(|name| (inode(&dir, name), content(&dir, name)));
        let plan = repair(&dir, &["--modified"]).status(0);
        let run = repair(&dir, &["--modified", "--yes"]).status(0);
        run.check(said(&run) == said(&plan), "the plan is carried out");
        assert_eq!((inode(&dir, "x"), inode(&dir, "p")), (inode(&dir, "y"), inode(&dir, "q")));
        verify(&dir, &[]).status(0);
        undo(&dir).status(0);
        let after = ["x", "y", "p", "q"].map(|name| content(&dir, name));
        assert_eq!(after, before.map(|(_, content)| content));
    }
}

/// The name of another file gets its own content again, and this one has what is recorded.
#[test]
fn a_link_that_has_its_content_is_not_left() {
    let dir = Dir::new();
    dir.file("x", b"content").hard_link("x", "y").file("p", b"another").file("k", b"k");
    fs::File::open(dir.path("p")).unwrap().set_modified(UNIX_EPOCH).unwrap();
    keep(&dir);
    for (from, to) in [("y", "t"), ("p", "y"), ("t", "p")] {
        fs::rename(dir.path(from), dir.path(to)).unwrap();
    }
    repair(&dir, &["--modified", "--yes", "--status-corrupted", "9"]).status(0);
    verify(&dir, &[]).status(0);
}

/// Linux refuses links to files of others, and links from one file system to another.
#[test]
fn the_copy_is_used_where_no_link_can_be_made() {
    if !is_root() {
        return;
    }
    const USER: u32 = 65534;
    let dir = Dir::new();
    dir.file("x", b"content").hard_link("x", "y").file("k", b"k");
    let own = dir.aside("own");
    fs::create_dir(&own).unwrap();
    keep(&dir);
    fs::copy(dir.aside("manifest"), own.join("manifest")).unwrap();
    for path in [own.clone(), own.join("manifest"), dir.path(""), dir.path("k")] {
        chown(path, Some(USER), Some(USER)).unwrap();
    }
    fs::remove_file(dir.path("y")).unwrap();
    let ftk = dir.ftk(["manifest", "repair", ".", "--missing", "--yes", "--other-root", "--journal"]);
    let ftk = ftk.arg(own.join("journal")).arg(own.join("manifest")).arg("--from").arg(dir.aside("copy"));
    ftk.unprivileged(&dir).run().stderr_has("restored 1 missing file, 7 B");
    assert_eq!((content(&dir, "y"), inode(&dir, "x").1), (b"content".to_vec(), 1));

    let dir = Dir::new();
    dir.dir("d").file("x", b"content").hard_link("x", "d/y").file("k", b"k");
    keep(&dir);
    fs::remove_file(dir.path("x")).unwrap();
    let Some(_mounted) = Mounted::at(&dir.path("d"), ["-t", "tmpfs", "none"]) else { return };
    let cp = Command::new("cp").arg("-p").arg(dir.aside("copy/d/y")).arg(dir.path("d")).status();
    assert!(cp.unwrap().success());
    let run = repair(&dir, &["--missing", "--yes", "--other-root"]).status(1);
    run.check(said(&run)[0].starts_with("restore x 7 B from "), "the copy is used");
}
