//! Undo as root in a tree of another user, who has replaced what the journal names.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;

use rustix::process::geteuid;

use crate::harness::{Dir, Image, Run, needs, skip};

/// The user id of unprivileged runs.
const USER: u32 = 65534;

/// Gives a file or directory to the user.
fn give(dir: &Dir, path: impl AsRef<Path>) {
    chown(dir.path(path), Some(USER), Some(USER)).unwrap();
}

fn set_mode(dir: &Dir, path: &str, mode: u32) {
    fs::set_permissions(dir.path(path), Permissions::from_mode(mode)).unwrap();
}

fn read(dir: &Dir, path: &str) -> Option<Vec<u8>> {
    fs::read(dir.path(path)).ok()
}

/// Owner and permissions.
fn rights(dir: &Dir, path: &str) -> (u32, u32) {
    let found = fs::symlink_metadata(dir.path(path)).unwrap();
    (found.uid(), found.mode() & 0o7777)
}

/// Renames as the user.
fn rename(dir: &Dir, from: &str, to: &str) {
    dir.ftk([""; 0]).instead(dir, ["mv", "-T", from, to]).unprivileged(dir).run().status(0);
}

/// The home of the user, `h`, with these files.
fn home(files: &[(&str, &[u8])]) -> Option<Dir> {
    if !geteuid().is_root() {
        skip("only root changes owners");
        return None;
    }
    let dir = Dir::new();
    dir.dir("h");
    for (path, content) in files {
        dir.file(path, content);
        for path in Path::new(path).ancestors().filter(|path| !path.as_os_str().is_empty()) {
            give(&dir, path);
        }
    }
    Some(dir)
}

/// Prunes as root, with the journal next to the tree.
fn prune(dir: &Dir, args: &[&str]) {
    let run = dir.ftk(["dup", "prune", "--yes", "--journal", "../j", "--keep", "first"]).args(args).run();
    run.status(0);
}

fn undo(dir: &Dir) -> Run {
    dir.ftk(["undo", "../j"]).run()
}

/// Creates a private directory of root in the home of the user.
fn secret(dir: &Dir) {
    dir.file("h/secret/x", b"secret");
    set_mode(dir, "h/secret", 0o700);
}

#[test]
fn h90_a_private_directory_of_root_is_not_taken_for_a_restored_one() {
    let Some(dir) = home(&[("h/A/x", b"same"), ("h/gone/x", b"same")]) else { return };
    prune(&dir, &["--dirs", "--action", "delete", "--quarantine", "q", "h/A", "h/gone"]);
    assert!(!dir.path("h/gone").exists());
    secret(&dir);
    rename(&dir, "h/secret", "h/gone");
    let run = undo(&dir).status(2);
    run.check(run.says("another file now has the name of the victim"), "the reason is given");
    assert_eq!(rights(&dir, "h/gone"), (0, 0o700));
    assert_eq!(read(&dir, "h/gone/x").unwrap(), b"secret");
}

/// Inode numbers are used again. The time of birth tells the directories apart.
#[test]
fn a_directory_with_the_inode_number_of_a_restored_one_is_not_it() {
    let Some(dir) = home(&[("h/A/x", b"same"), ("h/gone/x", b"same")]) else { return };
    prune(&dir, &["--dirs", "--action", "delete", "--quarantine", "q", "h/A", "h/gone"]);
    undo(&dir).status(0);
    assert_eq!(rights(&dir, "h/gone"), (USER, 0o755));
    let journal = fs::read_to_string(dir.path("../j")).unwrap();
    let (known, made) = (fs::metadata(dir.path("h/gone")).unwrap().ino(), journal.contains("\"remade\""));
    assert!(made, "{journal}");
    fs::remove_dir_all(dir.path("h/gone")).unwrap();
    secret(&dir);
    fs::rename(dir.path("h/secret"), dir.path("h/gone")).unwrap();
    let reused = fs::metadata(dir.path("h/gone")).unwrap();
    if reused.created().is_err() {
        return skip("the file system does not record the time of birth");
    }
    // As if the undo had been killed before it was done.
    let forged: String = journal
        .split_inclusive('\n')
        .filter(|line| !line.contains("\"undone\""))
        .map(|line| match line.contains("\"remade\"") {
            true => line.replace(&format!("\"ino\":{known},"), &format!("\"ino\":{},", reused.ino())),
            false => line.to_owned(),
        })
        .collect();
    fs::write(dir.path("../j"), forged).unwrap();
    undo(&dir).status(2);
    assert_eq!(rights(&dir, "h/gone"), (0, 0o700));
}

#[test]
fn a_new_private_directory_stays_private() {
    let dir = Dir::new();
    dir.file("A/x", b"same").file("gone/x", b"same");
    prune(&dir, &["--dirs", "--action", "delete", "--quarantine", "q", "A", "gone"]);
    dir.dir("gone");
    set_mode(&dir, "gone", 0o700);
    undo(&dir).status(2);
    assert_eq!(rights(&dir, "gone").1, 0o700);
}

#[test]
fn content_that_only_root_may_read_is_not_copied_back() {
    for action in ["symlink", "delete"] {
        let Some(dir) = home(&[("h/k", b"same"), ("h/v", b"same")]) else { return };
        prune(&dir, &["--action", action, "h"]);
        dir.file("h/secret", b"root");
        set_mode(&dir, "h/secret", 0o600);
        let modified = fs::metadata(dir.path("h/k")).unwrap().modified().unwrap();
        let secret = fs::File::options().write(true).open(dir.path("h/secret")).unwrap();
        secret.set_modified(modified).unwrap();
        rename(&dir, "h/secret", "h/k");
        let run = undo(&dir).status(2);
        run.check(run.says("the keeper changed (its content)"), "the reason is given");
        let found = fs::symlink_metadata(dir.path("h/v"));
        assert!(found.map_or(true, |found| found.is_symlink()), "{action}");
        assert_eq!(
            fs::read_dir(dir.path("h")).unwrap().flatten().count(),
            1 + usize::from(action == "symlink")
        );
    }
}

/// The keeper has its size and its time of modification, and other content.
#[test]
fn h91_an_edited_keeper_is_not_copied_back() {
    for action in ["symlink", "hardlink", "delete"] {
        let dir = Dir::new();
        dir.file("k", b"same").file("v", b"same");
        prune(&dir, &["--action", action, "."]);
        let modified = fs::metadata(dir.path("k")).unwrap().modified().unwrap();
        fs::write(dir.path("k"), "edit").unwrap();
        fs::File::options().write(true).open(dir.path("k")).unwrap().set_modified(modified).unwrap();
        let run = undo(&dir).status(2);
        run.check(run.says("changed (its content)"), "the reason is given");
        if action == "delete" {
            assert!(!dir.path("v").exists());
        } else {
            assert_eq!(read(&dir, "v").unwrap(), b"edit");
        }
    }
}

/// The user exchanges names between two system calls of root.
#[test]
fn no_owner_or_time_is_set_by_name() {
    needs!("strace");
    let Some(dir) = home(&[("h/A/x", b"same"), ("h/gone/x", b"same")]) else { return };
    for path in ["h/A/link", "h/gone/link"] {
        symlink("x", dir.path(path)).unwrap();
        std::os::unix::fs::lchown(dir.path(path), Some(USER), Some(USER)).unwrap();
    }
    prune(&dir, &["--dirs", "--action", "delete", "h/A", "h/gone"]);
    let trace = "trace=chmod,fchmodat,chown,lchown,fchownat,utimensat,setxattr,lsetxattr";
    let log = dir.aside("trace");
    let strace = ["strace", "-f", "-e", trace, "-o", log.to_str().unwrap()];
    dir.ftk(["undo", "../j"]).under(&dir, strace).run().status(0);
    let calls = fs::read_to_string(log).unwrap();
    let by_name = |line: &&str| {
        let is_of_descriptor =
            line.contains("AT_EMPTY_PATH") || line.contains("utimensat(") && line.contains(", NULL, [");
        line.contains('(') && !is_of_descriptor
    };
    assert_eq!(calls.lines().filter(by_name).collect::<Vec<_>>(), [""; 0]);
    assert!(calls.contains("fchownat("), "{calls}");
    let link = fs::symlink_metadata(dir.path("h/gone/link")).unwrap();
    assert_eq!((link.uid(), link.is_symlink()), (USER, true));
    assert_eq!(rights(&dir, "h/gone"), (USER, 0o755));
}

/// A link or a directory now has the path of a starting point, or of a directory above it or below it.
#[test]
fn a_replaced_directory_is_not_written_to() {
    type Replace = fn(&Dir);
    let cases: [(&str, Replace); 6] = [
        ("a link to another directory", |dir| {
            rename(dir, "h/tree", "h/old");
            symlink("../etc", dir.path("h/tree")).unwrap();
        }),
        ("a parent that is a link", |dir| {
            fs::rename(dir.path("h"), dir.path("h2")).unwrap();
            dir.dir("etc/tree/d");
            symlink("etc", dir.path("h")).unwrap();
        }),
        ("a new directory", |dir| {
            rename(dir, "h/tree", "h/old");
            dir.dir("h/tree/d");
            give(dir, "h/tree");
            give(dir, "h/tree/d");
        }),
        ("a directory of root", |dir| {
            rename(dir, "h/tree", "h/old");
            dir.dir("h/of-root/d");
            rename(dir, "h/of-root", "h/tree");
        }),
        ("a directory of root in place of the directory of the file", |dir| {
            rename(dir, "h/tree/d", "h/tree/old");
            dir.dir("h/tree/of-root");
            rename(dir, "h/tree/of-root", "h/tree/d");
        }),
        ("a new directory in place of the directory of the file", |dir| {
            rename(dir, "h/tree/d", "h/tree/old");
            dir.dir("h/tree/d");
            give(dir, "h/tree/d");
        }),
    ];
    for (what, replace) in cases {
        for action in ["delete", "move=q", "symlink"] {
            let Some(dir) = home(&[("h/tree/d/a", b"same"), ("h/tree/d/v", b"same")]) else { return };
            dir.dir("etc/d");
            prune(&dir, &["--action", action, "h/tree"]);
            replace(&dir);
            let run = undo(&dir).status(2);
            run.check(run.says("that was recorded: it is another one"), what);
            for path in ["etc/d", "etc/tree/d", "h/tree/d"] {
                let names = fs::read_dir(dir.path(path)).map(Iterator::count).unwrap_or(0);
                let before = if action == "delete" || action == "move=q" { 1 } else { 2 };
                let is_old = fs::metadata(dir.path(path).join("a")).is_ok();
                assert_eq!(names, if is_old { before } else { 0 }, "{what} {action} {path}");
            }
        }
    }
}

#[test]
fn a_replaced_working_directory_is_not_used() {
    let dir = Dir::new();
    dir.file("w/a", b"same").file("w/v", b"same");
    let args =
        ["dup", "prune", ".", "--yes", "--action", "delete", "--keep", "first", "--journal", "../../j"];
    let ftk = env!("CARGO_BIN_EXE_ftk");
    let command = ["env", "-C", "w", ftk].into_iter().chain(args);
    dir.ftk([""; 0]).instead(&dir, command).run().status(0);
    fs::rename(dir.path("w"), dir.path("old")).unwrap();
    undo(&dir).status(2).stderr_has("the working directory of the run");
    dir.dir("w");
    undo(&dir).status(2).stderr_has("is not the working directory of the run: it is another one");
    assert_eq!(fs::read_dir(dir.path("w")).unwrap().count(), 0);
}

/// A moved file does not come back out of a directory that was put in place of the one for moved files.
#[test]
fn a_replaced_quarantine_is_not_used() {
    let Some(dir) = home(&[("h/t/a", b"same"), ("h/t/v", b"same")]) else { return };
    prune(&dir, &["--action", "delete", "--quarantine", "h/q", "h/t"]);
    rename(&dir, "h/q", "h/old");
    // Each run has a directory of its own there.
    let mut entries = fs::read_dir(dir.path("h/old")).unwrap().map(|entry| entry.unwrap());
    let of_run = entries.find(|entry| entry.path().is_dir()).unwrap().file_name();
    let planted = format!("other/{}/h/t/v", of_run.to_str().unwrap());
    dir.file(&planted, b"same");
    symlink("../other", dir.path("h/q")).unwrap();
    let run = undo(&dir).status(2);
    run.check(run.says("is not the directory that was recorded"), "the reason is given");
    assert_eq!(read(&dir, &planted).unwrap(), b"same");
    assert!(!dir.path("h/t/v").exists());
}

#[test]
fn undo_works_under_another_device_number() {
    for kind in ["ext4", "btrfs", "xfs"] {
        for action in ["hardlink", "symlink", "delete", "move=q"] {
            let dir = Dir::on_disk();
            let len = if kind == "ext4" { 16 << 20 } else { 320 << 20 };
            let Some(image) = Image::new(&dir, kind, len) else { continue };
            let Some(first) = image.mount(&dir, "m") else { continue };
            for path in ["m/t/a", "m/t/v", "m/t/w", "m/A/x", "m/B/x"] {
                dir.file(path, if path.ends_with('x') { b"other" } else { b"same" });
            }
            dir.hard_link("m/t/v", "m/t/v2");
            let modified = |path: &str| fs::metadata(dir.path(path)).unwrap().modified().unwrap();
            let before = modified("m/B");
            let dirs: &[&str] = if action == "symlink" { &[] } else { &["--dirs"] };
            let prune_in = |args: &[&str]| {
                let start = ["dup", "prune", "--yes", "--journal", "../j", "--keep", "first", "--action"];
                dir.ftk(start).arg(action.replace("=q", "=m/q")).args(args).arg("m").run().status(0);
            };
            prune_in(dirs);
            let dev = fs::metadata(dir.path("m")).unwrap().dev();
            drop(first);
            let dev_now = || fs::metadata(dir.path("m")).unwrap().dev();
            // Other file systems take the device number meanwhile.
            let others: Vec<_> = (0..8).map(|_| Dir::on_disk()).collect();
            let mut others = others.iter();
            let (mut taken, mut again) = (Vec::new(), image.mount(&dir, "m"));
            while again.is_some() && dev_now() == dev {
                again = None;
                let Some(other) = others.next() else { break };
                taken.push(Image::new(other, kind, len).and_then(|it| it.mount(other, "m")));
                again = image.mount(&dir, "m");
            }
            assert!(again.is_some() && dev_now() != dev, "{kind}: no other device number");
            undo(&dir).status(0);
            let ino = |path: &str| fs::symlink_metadata(dir.path(path)).unwrap().ino();
            assert_ne!(ino("m/t/v"), ino("m/t/a"), "{kind} {action}");
            assert_eq!(ino("m/t/v"), ino("m/t/v2"), "{kind} {action}");
            for path in ["m/t/v", "m/t/w", "m/t/v2"] {
                assert!(!dir.path(path).is_symlink());
                assert_eq!(read(&dir, path).unwrap(), b"same", "{kind} {action}");
            }
            assert_eq!(read(&dir, "m/B/x").unwrap(), b"other", "{kind} {action}");
            if action.starts_with("delete") || action.starts_with("move") {
                assert_eq!(modified("m/B"), before, "{kind} {action}");
            }
            undo(&dir).status(0).stderr_has("  nothing is left to undo");
        }
    }
}

/// The mode at the path was changed after the run: the restored file does not permit more than both did.
#[test]
fn a_restored_file_gets_the_narrower_permissions() {
    for (action, changed, expected) in [
        ("hardlink", 0o600, 0o600),
        ("hardlink", 0o604, 0o604),
        ("symlink", 0o640, 0o640),
        ("delete", 0o600, 0o600),
        ("hardlink", 0o666, 0o644),
    ] {
        let dir = Dir::new();
        dir.file("k", b"same").file("v", b"same");
        for path in ["k", "v"] {
            set_mode(&dir, path, 0o644);
        }
        prune(&dir, &["--action", action, "."]);
        set_mode(&dir, "k", changed);
        let run = undo(&dir).status(0);
        assert_eq!(rights(&dir, "v").1, expected, "{action}");
        let is_said = run.says(&format!("with permissions {expected:04o}"));
        run.check(is_said == (expected != 0o644), "narrower permissions are reported");
    }
}

/// The owner, the group or the access control list of the kept file was changed after the run: the restored file does not give
/// back what that took away.
#[test]
fn what_was_revoked_after_the_run_is_not_given_back() {
    if !geteuid().is_root() {
        return skip("only root changes owners");
    }
    let has_list = |dir: &Dir, path: &str| {
        rustix::fs::lgetxattr(dir.path(path), "system.posix_acl_access", &mut [0; 200][..]).is_ok()
    };
    for action in ["hardlink", "symlink", "delete"] {
        for (revoke, uid, said) in [
            (
                "chown 0:0 k",
                0,
                "with owner 0; without its access control list; access was changed after the run",
            ),
            ("chgrp 0 k", USER, "with permissions 0600; without its access control list"),
            ("setfacl -b k", USER, "without its access control list"),
            ("setfacl -x u:12 k", USER, "without its access control list"),
            ("true", USER, ""),
        ] {
            let dir = Dir::new();
            dir.file("k", b"same").file("v", b"same");
            let shell = |script: &str| {
                dir.ftk([""; 0]).instead(&dir, ["sh", "-c", script]).run();
            };
            for path in ["k", "v"] {
                give(&dir, path);
                set_mode(&dir, path, 0o640);
            }
            shell("setfacl -m u:12:r,u:13:r k v");
            if revoke.starts_with("setfacl") && !has_list(&dir, "v") {
                skip("no access control lists here");
                continue;
            }
            let before = rights(&dir, "v");
            prune(&dir, &["--action", action, "."]);
            shell(revoke);
            let run = undo(&dir).status(if uid == USER { 0 } else { 2 });
            let (owner, mode) = rights(&dir, "v");
            assert_eq!(owner, uid, "{action} {revoke}");
            match said {
                "" => assert!((owner, mode) == before && !run.says("changed after"), "{action}"),
                said => {
                    assert!(!has_list(&dir, "v") && mode & 0o177 == 0, "{action} {revoke}: {mode:o}");
                    run.check(run.says(said), said);
                }
            }
        }
    }
}

/// The content comes back even if only root could give the file its owner, group or capabilities.
#[test]
fn an_unprivileged_undo_restores_what_the_caller_may_set() {
    for change in [
        "chown 7:7 h/t/v",
        "chown 65534:4 h/t/v",
        "setcap cap_net_raw+ep h/t/k && setcap cap_net_raw+ep h/t/v",
        "chmod 0600 h/t/v",
    ] {
        let Some(dir) = home(&[("h/t/k", b"same"), ("h/t/v", b"same")]) else { return };
        for path in ["h/t/k", "h/t/v"] {
            set_mode(&dir, path, 0o644);
        }
        dir.ftk([""; 0]).instead(&dir, ["sh", "-c", change]).run();
        let capability = rustix::fs::lgetxattr(dir.path("h/t/v"), "security.capability", &mut [0; 100][..]);
        if change.starts_with("setcap") && capability.is_err() {
            skip("capabilities cannot be set here");
            continue;
        }
        let as_user = |args: &[&str]| dir.ftk(args).unprivileged(&dir).run();
        as_user(&[
            "dup",
            "prune",
            "--yes",
            "--journal",
            "h/j",
            "--keep",
            "first",
            "--action",
            "delete",
            "h/t",
        ])
        .status(0);
        assert!(!dir.path("h/t/v").exists());
        let is_complete = change.starts_with("chmod");
        let run = as_user(&["undo", "h/j"]).status(if is_complete { 0 } else { 2 });
        run.check(run.err.contains("which the caller may not set") != is_complete, change);
        assert_eq!(read(&dir, "h/t/v").unwrap(), b"same", "{change}");
        let expected = if change.starts_with("setcap") { 0o644 } else { 0o600 };
        assert_eq!(rights(&dir, "h/t/v"), (USER, expected), "{change}");
    }
}

#[test]
fn hard_links_outside_the_scan_are_reported() {
    for action in ["hardlink", "symlink", "delete"] {
        let dir = Dir::new();
        dir.file("t/k", b"same").file("t/v", b"same").hard_link("t/v", "outside").hard_link("t/v", "t/v2");
        // A run would leave the file if the report said that it has another name.
        let report = dir.ftk(["dup", "--json", "t"]).run().status(0);
        let report = report.text().replace("\"nlink\":3", "\"nlink\":2");
        let args = ["dup", "apply", "-", "--edited", "--keep", "first", "--action", action, "--yes"];
        let run = dir.ftk(args).args(["--journal", "../j"]).stdin(report.as_bytes()).run();
        run.status(0);
        let ino = |path: &str| fs::symlink_metadata(dir.path(path)).unwrap().ino();
        assert!(action == "delete" || ino("t/v") != ino("outside"), "{action}");
        let run = undo(&dir).status(0);
        let lines =
            run.text().lines().filter(|line| line.contains("no longer joined with 1 hard link outside"));
        assert_eq!(lines.count(), 2, "{action}: {}", run.text());
        assert!(ino("t/v") == ino("t/v2") && ino("t/v") != ino("outside"), "{action}");
    }
}

/// Turns a journal into one of version 1, which has neither identities nor digests.
fn make_old(dir: &Dir) {
    let journal = fs::read_to_string(dir.path("../j")).unwrap();
    let mut old = String::new();
    for line in journal.lines() {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        let members = record.as_object_mut().unwrap();
        if members.contains_key("start") {
            continue;
        }
        if members.contains_key("ftk") {
            members.insert("version".into(), 1.into());
        }
        for name in ["cwd_identity", "directory", "identity", "nlink", "keeper_mode", "blake3"] {
            members.remove(name);
        }
        old += &format!("{record}\n");
    }
    fs::write(dir.path("../j"), old).unwrap();
}

#[test]
fn an_older_journal_is_undone_only_where_no_other_user_can_write() {
    let Some(dir) = home(&[("h/t/a", b"same"), ("h/t/v", b"same")]) else { return };
    prune(&dir, &["--action", "move=q", "h/t"]);
    make_old(&dir);
    let run = undo(&dir).status(2);
    run.check(
        run.says("the journal is of an older version and does not identify directories")
            && run.says("has owner 65534"),
        "the reason is given",
    );
    assert!(!dir.path("h/t/v").exists());
    // If all directories belong to root, no other user can have exchanged them.
    for path in ["h", "h/t"] {
        chown(dir.path(path), Some(0), Some(0)).unwrap();
    }
    for path in ["h", "h/t"] {
        set_mode(&dir, path, 0o777);
        undo(&dir).status(2);
        set_mode(&dir, path, 0o755);
    }
    undo(&dir).status(0);
    assert_eq!(read(&dir, "h/t/v").unwrap(), b"same");
}

#[test]
fn an_older_journal_copies_nothing_back() {
    for action in ["hardlink", "symlink", "delete"] {
        let dir = Dir::new();
        dir.file("a", b"same").file("v", b"same");
        prune(&dir, &["--action", action, "."]);
        make_old(&dir);
        let run = undo(&dir).status(2);
        run.check(run.says("the journal has no digest of the content"), "the reason is given");
    }
}

/// An older journal of a removed directory: it is made again.
#[test]
fn an_older_journal_makes_directories_again() {
    let dir = Dir::new();
    dir.file("A/x", b"same").file("B/x", b"same").dir("A/in").dir("B/in");
    set_mode(&dir, "B/in", 0o750);
    prune(&dir, &["--dirs", "--action", "move=q", "A", "B"]);
    assert!(!dir.path("B").exists());
    make_old(&dir);
    undo(&dir).status(0);
    assert_eq!(read(&dir, "B/x").unwrap(), b"same");
    assert_eq!(rights(&dir, "B/in").1, 0o750);
    undo(&dir).status(0).stderr_has("  nothing is left to undo");
}
