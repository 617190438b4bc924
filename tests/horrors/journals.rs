//! Journals that another user wrote or may have written.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;

use rustix::fs::{XattrFlags, lgetxattr, lsetxattr};
use rustix::process::geteuid;

use crate::harness::{Dir, skip};

/// The user id of unprivileged runs.
const UNPRIVILEGED: u32 = 65534;

/// Creates a tree that every user may write to, and a directory for journals next to it. All users can make journals there,
/// but not replace those of others.
fn open_tree() -> Dir {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same").dir("../journals");
    for (path, mode) in [("", 0o777), ("../journals", 0o1777)] {
        set_mode(&dir, path, mode);
    }
    dir
}

fn set_mode(dir: &Dir, path: &str, mode: u32) {
    fs::set_permissions(dir.path(path), Permissions::from_mode(mode)).unwrap();
}

fn is_linked(dir: &Dir) -> bool {
    let [a, b] = ["a", "b"].map(|path| fs::metadata(dir.path(path)).unwrap().ino());
    a == b
}

/// Prunes the tree. Meanwhile no other user may write to it: symbolic links into such a tree are refused.
fn prune(dir: &Dir, action: &str) {
    let args = ["dup", "prune", ".", "--yes", "--action", action, "--journal", "../journals/j"];
    set_mode(dir, "", 0o755);
    dir.ftk(args).run().status(0);
    set_mode(dir, "", 0o777);
}

/// Prunes the tree and replaces `from` by `to` in the journal.
fn forged(dir: &Dir, action: &str, from: &str, to: &str) {
    prune(dir, action);
    let journal = fs::read_to_string(dir.path("../journals/j")).unwrap();
    assert!(journal.contains(from), "{journal}");
    fs::write(dir.path("../journals/j"), journal.replacen(from, to, 1)).unwrap();
}

/// A file of root that ftk makes for a moment could get the name of the journal there.
#[test]
fn h81_no_journal_is_obeyed_where_another_user_can_replace_it() {
    let dir = open_tree();
    prune(&dir, "hardlink");
    set_mode(&dir, "../journals", 0o777);
    let run = dir.ftk(["dup", "undo", "../journals/j"]).run().status(2);
    run.stderr_has("another user could have put it there");
    assert!(is_linked(&dir));
    set_mode(&dir, "../journals", 0o755);
    dir.ftk(["dup", "undo", "../journals/j"]).run().status(0);
    assert!(!is_linked(&dir));
}

#[test]
fn h81_root_does_not_obey_the_journal_of_a_user() {
    if !geteuid().is_root() {
        return skip("only root changes owners");
    }
    let dir = open_tree();
    for path in ["a", "b"] {
        chown(dir.path(path), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    }
    let args = ["dup", "prune", ".", "--yes", "--action", "hardlink", "--journal", "../journals/j"];
    dir.ftk(args).unprivileged(&dir).run().status(0);
    let run = dir.ftk(["dup", "undo", "../journals/j"]).run().status(2);
    run.stdout("")
        .stderr_has("'../journals/j'")
        .stderr_has("belongs to user 65534")
        .stderr_has("run undo as");
    assert!(is_linked(&dir));
    dir.ftk(["dup", "undo", "../journals/j"]).unprivileged(&dir).run().status(0);
    assert!(!is_linked(&dir));
}

#[test]
fn h81_users_obey_their_own_journals_and_those_of_root() {
    if !geteuid().is_root() {
        return skip("only root changes owners");
    }
    for (owner, is_obeyed) in [(0, true), (UNPRIVILEGED, true), (12, false)] {
        let dir = open_tree();
        for path in ["a", "b"] {
            chown(dir.path(path), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        }
        prune(&dir, "hardlink");
        set_mode(&dir, "../journals/j", 0o644);
        chown(dir.path("../journals/j"), Some(owner), None).unwrap();
        let run = dir.ftk(["dup", "undo", "../journals/j"]).unprivileged(&dir).run();
        if is_obeyed {
            run.status(0);
        } else {
            run.status(2).stdout("").stderr_has("belongs to user 12");
        }
        assert_eq!(is_linked(&dir), !is_obeyed, "{owner}");
    }
}

#[test]
fn h81_a_journal_that_other_users_may_write_to_is_refused() {
    for mode in [0o660, 0o606, 0o666] {
        let dir = open_tree();
        prune(&dir, "hardlink");
        set_mode(&dir, "../journals/j", mode);
        let run = dir.ftk(["dup", "undo", "../journals/j"]).run().status(2).stdout("");
        run.stderr_has(&format!("other users may write to it (mode {mode:04o})")).stderr_has("chmod go-w");
        assert!(is_linked(&dir));
        set_mode(&dir, "../journals/j", 0o644);
        dir.ftk(["dup", "undo", "../journals/j"]).run().status(0);
    }
}

/// A link could lead to a foreign journal, and a pipe hides who writes to it.
#[test]
fn h81_only_a_regular_file_is_a_journal() {
    let dir = open_tree();
    prune(&dir, "hardlink");
    symlink("j", dir.path("../journals/link")).unwrap();
    dir.fifo("../journals/fifo");
    for (path, why) in [
        ("link", "it is a symbolic link: name the journal itself"),
        ("fifo", "it is not a regular file"),
        ("", "it is not a regular file"),
    ] {
        let journal = Path::new("../journals").join(path);
        dir.ftk(["dup", "undo"]).arg(journal).run().status(2).stdout("").stderr_has(why);
        assert!(is_linked(&dir), "{path}");
    }
}

/// Changes the path of the victim to `b` in another directory, and the identities to match.
fn name_elsewhere(dir: &Dir, directory: &Path) {
    let identity = |path: &Path| {
        let it = fs::metadata(path).unwrap();
        serde_json::json!({"dev": it.dev(), "ino": it.ino(), "type": "directory", "uid": it.uid()})
    };
    let mut lines = Vec::new();
    for line in fs::read_to_string(dir.path("../journals/j")).unwrap().lines() {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        if record.get("action").is_some() {
            let start = serde_json::json!({"path": "/", "identity": identity(Path::new("/"))});
            lines.push(serde_json::json!({"start": start}).to_string());
            record["victim"]["path"] = directory.join("b").to_str().unwrap().into();
            record["victim"]["root_len"] = 0.into();
            record["directory"] = identity(directory);
        }
        lines.push(record.to_string());
    }
    fs::write(dir.path("../journals/j"), lines.join("\n") + "\n").unwrap();
}

/// Neither the file in the tree nor one elsewhere that the journal names gets set-ID bits.
#[test]
fn h81_undo_adds_no_set_id_bits() {
    for action in ["hardlink", "symlink"] {
        for mode in ["4755", "2755", "6755"] {
            for is_elsewhere in [false, true] {
                let dir = open_tree();
                dir.dir("../outside");
                for path in ["a", "b"] {
                    set_mode(&dir, path, 0o755);
                }
                forged(&dir, action, "\"mode\":\"0755\"", &format!("\"mode\":\"{mode}\""));
                let mut restored = "b";
                if is_elsewhere {
                    restored = "../outside/b";
                    fs::rename(dir.path("b"), dir.path(restored)).unwrap();
                    name_elsewhere(&dir, &dir.aside("outside"));
                }
                let run = dir.ftk(["dup", "undo", "../journals/j"]).run().status(2);
                run.check(run.says("without set-ID bits"), "the message is printed");
                run.stderr_has("  restored 1 file; 1 without set-ID bits or capabilities\n");
                let now = fs::symlink_metadata(dir.path(restored)).unwrap();
                assert!(now.is_file());
                assert_eq!(now.mode() & 0o7777, 0o755, "{action} {mode} {restored}");
                // A second undo changes nothing, and lists the file again.
                let again = dir.ftk(["dup", "undo", "../journals/j"]).run();
                again.stderr_has("  restored 0 files");
            }
        }
    }
}

/// A set-ID program of one user must not become one of another user.
#[test]
fn h81_undo_gives_no_set_id_bits_to_another_owner() {
    if !geteuid().is_root() {
        return skip("only root changes owners");
    }
    for (uid, gid, mode) in [("0", "65534", 0o2755), ("65534", "0", 0o4755), ("0", "0", 0o755)] {
        let dir = open_tree();
        for path in ["a", "b"] {
            chown(dir.path(path), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
            set_mode(&dir, path, 0o6755);
        }
        let owners = format!("\"uid\":{uid},\"gid\":{gid}");
        forged(&dir, "hardlink", "\"uid\":65534,\"gid\":65534", &owners);
        // The owner of the kept file is written only if it differs.
        let journal = fs::read_to_string(dir.path("../journals/j")).unwrap();
        let with_keeper = "\"keeper_uid\":65534,\"keeper_gid\":65534,\"keeper_mode\"";
        fs::write(dir.path("../journals/j"), journal.replace("\"keeper_mode\"", with_keeper)).unwrap();
        dir.ftk(["dup", "undo", "../journals/j"]).run().status(2);
        assert!(!is_linked(&dir));
        assert_eq!(fs::metadata(dir.path("b")).unwrap().mode() & 0o7777, mode, "{owners}");
    }
}

#[test]
fn h81_undo_adds_no_capabilities() {
    // The capability to bind low ports, in the format of the kernel.
    let capability = [[1, 0, 0, 2], [0, 4, 0, 0], [0; 4], [0; 4], [0; 4]].concat();
    let dir = open_tree();
    let set = |path| lsetxattr(dir.path(path), "security.capability", &capability, XattrFlags::empty());
    if set("a").and_then(|()| set("b")).is_err() {
        return skip("capabilities cannot be set here");
    }
    prune(&dir, "symlink");
    dir.ftk(["dup", "undo", "../journals/j"]).run().status(0);
    let has_capability = |path| lgetxattr(dir.path(path), "security.capability", &mut [0; 100][..]).is_ok();
    assert!(has_capability("b"), "it was there, and comes back");
    fs::remove_file(dir.path("../journals/j")).unwrap();

    prune(&dir, "symlink");
    rustix::fs::lremovexattr(dir.path("a"), "security.capability").unwrap();
    dir.ftk(["dup", "undo", "../journals/j"])
        .run()
        .status(2)
        .stderr_has("without set-ID bits or capabilities");
    assert!(!has_capability("b"));
}

#[test]
fn h81_undo_restores_existing_set_id_bits() {
    for action in ["hardlink", "symlink"] {
        let dir = open_tree();
        for path in ["a", "b"] {
            set_mode(&dir, path, 0o6755);
        }
        prune(&dir, action);
        dir.ftk(["dup", "undo", "../journals/j"]).run().status(0);
        let now = fs::symlink_metadata(dir.path("b")).unwrap();
        assert!(now.is_file());
        assert_eq!(now.mode() & 0o7777, 0o6755);
    }
}
