//! `ftk undo` of a repair.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::getxattr;

use super::super::records::{json, verdicts, verify};
use super::{damage, journal, keep, names, repair, said};
use crate::harness::{Dir, Ftk, has, is_root};

#[test]
fn undo_brings_the_damaged_content_back() {
    for command in [&["undo"][..], &["dup", "undo"]] {
        let dir = Dir::new();
        dir.file("a", b"good").hard_link("a", "b").file("d/gone", b"gone").file("e", b"e");
        fs::set_permissions(dir.path("a"), Permissions::from_mode(0o640)).unwrap();
        keep(&dir);
        damage(&dir.path("a"));
        fs::remove_dir_all(dir.path("d")).unwrap();
        let (content, before) = (fs::read(dir.path("a")).unwrap(), verdicts(&dir, &[]));
        let run = repair(&dir, &["--yes", "--missing"]).status(0);
        let journal = journal(&dir);
        let run = run.stderr_has(&format!("  to undo this: ftk undo '{}'\n", journal.display()));
        let saved = journal.with_extension("damaged");
        run.stderr_has(&format!("  the damaged content is kept in '{}'\n", saved.display()));
        assert_eq!(fs::metadata(&saved).unwrap().mode() & 0o777, 0o700);

        let undo = || dir.ftk(command).arg(&journal).run();
        let run = undo().status(0).stderr_has("  restored 2 files; removed 1 file\n");
        run.check(said(&run)[0] == "remove ./d/gone it was created by the run", "the last step comes first");
        assert_eq!(fs::read(dir.path("a")).unwrap(), content);
        let [a, b] = ["a", "b"].map(|name| fs::metadata(dir.path(name)).unwrap());
        assert_eq!((a.ino(), a.nlink(), a.mode() & 0o7777), (b.ino(), 2, 0o640));
        // The directory that was created stays.
        fs::remove_dir(dir.path("d")).unwrap();
        assert_eq!(verdicts(&dir, &[]), before);
        undo().status(0).stderr_has("  nothing is left to undo: ");
        assert_eq!(names(&dir.path("")), ["a", "b", "e"]);
    }
}

#[test]
fn files_that_changed_since_the_repair_are_not_undone() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"good").file("c", b"gone").file("d", b"d").file("e", b"e");
    keep(&dir);
    damage(&dir.path("a"));
    damage(&dir.path("b"));
    fs::remove_file(dir.path("c")).unwrap();
    repair(&dir, &["--yes", "--missing"]).status(0);
    dir.file("a", b"edited");
    dir.file("c", b"edited");
    fs::remove_file(dir.path("b")).unwrap();
    dir.file("b", b"good");
    let run = dir.ftk(["undo", "--json"]).arg(journal(&dir)).run().status(2);
    let records = json(&run);
    let (summary, failed) = records.split_last().unwrap();
    assert_eq!(summary["summary"]["failed"], failed.len(), "{summary}");
    for record in failed {
        assert_eq!(record["action"], "fail", "{record}");
    }
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"edited");
    assert_eq!(fs::read(dir.path("b")).unwrap(), b"good");
    assert_eq!(fs::read(dir.path("c")).unwrap(), b"edited");
}

#[test]
fn discarded_content_cannot_be_restored() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    damage(&dir.path("a"));
    repair(&dir, &["--yes", "--discard"]).status(0).stderr_lacks("is kept in");
    let journal = journal(&dir);
    assert!(!journal.with_extension("damaged").exists());
    let run = dir.ftk(["undo"]).arg(&journal).run().status(2);
    run.check(run.says("the damaged content was not saved"), "it is said");
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"good");
}

#[test]
fn the_journal_and_the_damaged_content_go_where_the_user_says() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    damage(&dir.path("a"));
    let journal = dir.aside("my.journal");
    let option = journal.to_str().unwrap();
    repair(&dir, &["--yes", "--journal", option]).status(0);
    assert!(dir.aside("my.damaged").join("0").exists() && !dir.aside("state").exists());
    damage(&dir.path("a"));
    repair(&dir, &["--yes", "--journal", option]).status(2).stderr_has("cannot create the journal");
    fs::remove_file(&journal).unwrap();
    let run = repair(&dir, &["--yes", "--journal", option]).status(2);
    run.check(run.says("cannot make the directory for damaged files"), "the directory exists");
    assert_ne!(fs::read(dir.path("a")).unwrap(), b"good");
}

/// A file system may use the inode number of the damaged file again at once: the copy that an undo makes can have it. A kill
/// after that, before the journal says that the steps are undone, changes nothing.
#[test]
fn a_copy_with_the_inode_number_of_the_damaged_file_is_recognised() {
    let dir = Dir::new();
    dir.file("a", b"good").hard_link("a", "b").file("c", b"fine").file("d", b"d").file("e", b"e");
    keep(&dir);
    damage(&dir.path("a"));
    damage(&dir.path("c"));
    let inode = |name| fs::metadata(dir.path(name)).unwrap().ino();
    let content = |name| fs::read(dir.path(name)).unwrap();
    let (damaged, contents) = (["a", "c"].map(inode), ["a", "b", "c"].map(content));
    repair(&dir, &["--yes"]).status(0);
    let journal = journal(&dir);
    let undo = || dir.ftk(["undo"]).arg(&journal).run();
    undo().status(0).stderr_has("  restored 3 files\n");
    let text = fs::read_to_string(&journal).unwrap();
    let mut text: String = text.split_inclusive('\n').filter(|line| !line.contains("\"undone\"")).collect();
    for (name, damaged) in ["a", "c"].into_iter().zip(damaged) {
        let member = |inode| format!("\"ino\":{inode},\"size_bytes\"");
        text = text.replace(&member(damaged), &member(inode(name)));
    }
    fs::write(&journal, text).unwrap();
    undo().status(0).stderr_has("  nothing is left to undo: 3 entries are as they were before the run\n");
    assert_eq!(["a", "b", "c"].map(content), contents);
    assert_eq!(inode("a"), inode("b"));
}

/// The new file has got the recorded owner, permissions and list from the run itself: nothing was revoked.
#[test]
fn undo_brings_owner_permissions_and_list_of_a_replaced_file_back() {
    if !is_root() || !has("setfacl") {
        return;
    }
    let dir = Dir::on_disk();
    let names = ["owner", "group", "list", "revoked"];
    names.iter().for_each(|name| _ = dir.file(name, b"recorded"));
    chown(dir.path("owner"), Some(12), Some(34)).unwrap();
    keep(&dir);
    let list = |args: &[&str]| {
        let status = Command::new("setfacl").args(args).current_dir(dir.path("")).status();
        assert!(status.unwrap().success());
    };
    names.iter().for_each(|name| fs::write(dir.path(name), "newer content").unwrap());
    chown(dir.path("owner"), Some(56), Some(78)).unwrap();
    chown(dir.path("group"), None, Some(1)).unwrap();
    list(&["-m", "u:77:rw", "list"]);
    for (name, mode) in [("owner", 0o640), ("group", 0o664), ("revoked", 0o666)] {
        fs::set_permissions(dir.path(name), Permissions::from_mode(mode)).unwrap();
    }
    let state = |name: &&str| {
        let it = fs::metadata(dir.path(name)).unwrap();
        let mut list = [0; 99];
        let len = getxattr(dir.path(name), "system.posix_acl_access", &mut list[..]).unwrap_or(0);
        (it.mode() & 0o7777, it.uid(), it.gid(), it.mtime_nsec(), list[..len].to_vec())
    };
    let before: Vec<_> = names.iter().map(state).collect();
    repair(&dir, &["--modified", "--metadata", "--yes"]).status(0);
    verify(&dir, &[]).status(0);
    fs::set_permissions(dir.path("revoked"), Permissions::from_mode(0o600)).unwrap();
    let run = dir.ftk(["undo"]).arg(journal(&dir)).run().status(0);
    let lines = said(&run);
    let reduced: Vec<_> = lines.iter().filter(|line| line.contains("access was changed")).collect();
    let is_expected =
        reduced.len() == 1 && reduced[0].starts_with("restore ./revoked with permissions 0600; ");
    run.check(is_expected, "it is said");
    let after: Vec<_> = names.iter().map(state).collect();
    assert_eq!(after[..3], before[..3]);
    assert_eq!(after[3].0, 0o600);
    names.iter().for_each(|name| assert_eq!(fs::read(dir.path(name)).unwrap(), b"newer content"));
}

/// The run and the undo change names in directories, and both set the times of these last. A caller who is not root gets the
/// permissions back before that.
#[test]
fn undo_brings_the_times_of_directories_back() {
    for is_user in [false, true] {
        if is_user && !is_root() {
            continue;
        }
        let dir = Dir::new();
        dir.file("d/e/gone", b"gone").file("d/cut", b"content").file("k", b"k").file("d/e/k", b"k");
        fs::set_permissions(dir.path("d/e"), Permissions::from_mode(0o555)).unwrap();
        let give = |paths: &[PathBuf]| {
            if is_user {
                let status = Command::new("chown").args(["-Rh", "65534:65534"]).args(paths).status();
                assert!(status.unwrap().success());
            }
        };
        give(&[dir.path("")]);
        keep(&dir);
        fs::set_permissions(dir.path("d/e"), Permissions::from_mode(0o755)).unwrap();
        fs::remove_file(dir.path("d/e/gone")).unwrap();
        fs::write(dir.path("d/cut"), "").unwrap();
        for (nth, name) in ["d/e", "d", ""].into_iter().enumerate() {
            let time = UNIX_EPOCH + Duration::from_secs(1000 + nth as u64);
            fs::File::open(dir.path(name)).unwrap().set_modified(time).unwrap();
        }
        let state = || {
            ["d/e", "d", ""].map(|name| {
                let it = fs::metadata(dir.path(name)).unwrap();
                (it.mode(), it.mtime())
            })
        };
        let before = state();
        let ftk = |ftk: Ftk| if is_user { ftk.unprivileged(&dir) } else { ftk };
        if is_user {
            fs::create_dir(dir.aside("state")).unwrap();
            fs::create_dir(dir.aside("own")).unwrap();
            fs::rename(dir.aside("manifest"), dir.aside("own/manifest")).unwrap();
            give(&["state", "own"].map(|name| dir.aside(name)));
        }
        let manifest = dir.aside(if is_user { "own/manifest" } else { "manifest" });
        let args =
            ["manifest", "repair", ".", "--missing", "--modified", "--metadata", "--yes", "--other-root"];
        let run = ftk(dir.ftk(args).arg(manifest).arg("--from").arg(dir.aside("copy"))).run();
        assert_eq!(fs::read(dir.path("d/e/gone")).unwrap(), b"gone", "{}{}", run.text(), run.err);
        assert_eq!(fs::metadata(dir.path("d/e")).unwrap().mode() & 0o7777, 0o555);
        let undo = || ftk(dir.ftk(["undo"]).arg(journal(&dir))).run().status(0);
        undo();
        assert!(!dir.path("d/e/gone").exists());
        assert_eq!(state(), before, "{is_user}");
        undo();
        assert_eq!(state(), before, "it is repeated");
    }
}
