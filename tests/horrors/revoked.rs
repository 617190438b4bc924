//! Undo as root after access was revoked: no user gets a file, or rights in one, by what stands at the path of a kept file or of
//! another name, nor by what stands in place of a file that is repaired.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use rustix::process::geteuid;

use crate::harness::{Dir, Ftk, Run, has, is_too_slow, needs, skip};

const USER: u32 = 65534;

/// A directory `r` of root and a directory `u` of the user, with a kept file `k` in one of them.
fn scene(keeper: &str) -> Option<Dir> {
    if !geteuid().is_root() {
        skip("only root changes owners");
        return None;
    }
    let dir = Dir::new();
    dir.file(keeper, b"same").dir("r").dir("u");
    chown(dir.path("u"), Some(USER), Some(USER)).unwrap();
    Some(dir)
}

fn give(dir: &Dir, path: &str) {
    chown(dir.path(path), Some(USER), Some(USER)).unwrap();
}

fn set_mode(dir: &Dir, path: &str, mode: u32) {
    fs::set_permissions(dir.path(path), Permissions::from_mode(mode)).unwrap();
}

fn shell(dir: &Dir, script: &str) -> Ftk {
    dir.ftk([""; 0]).instead(dir, ["sh", "-c", script])
}

fn as_user(dir: &Dir, script: &str) -> Run {
    shell(dir, script).unprivileged(dir).run()
}

fn prune(dir: &Dir, action: &str, paths: &[&str]) -> Ftk {
    let prune = ["dup", "prune", "--yes", "--journal", "../j", "--keep", "first", "--action", action];
    dir.ftk(prune).args(paths)
}

fn undo(dir: &Dir) -> Ftk {
    dir.ftk(["undo", "../j"])
}

/// Kills the command when it makes this call for the given time.
fn killed(dir: &Dir, command: Ftk, call: &str, nth: u32) -> Run {
    let (trace, kill) = (format!("trace={call}"), format!("inject={call}:signal=KILL:when={nth}"));
    command.under(dir, ["strace", "-f", "-o", "/dev/null", "-e", &trace, "-e", &kill]).run()
}

/// Checks that a file has its content and that the user cannot write to it.
fn assert_safe(dir: &Dir, path: &str, what: &str) {
    let run = as_user(dir, &format!("echo evil >>{path}"));
    run.check(run.code() != 0, what);
    assert_eq!(fs::read(dir.path(path)).unwrap(), b"same", "{what}");
}

#[test]
fn no_user_gets_a_file_through_the_path_of_the_kept_one() {
    let replace = "cp u/k u/mine && mv -f u/mine u/k";
    let replace_alike = "cp -p u/k u/mine && mv -f u/mine u/k";
    for (what, is_owner, mode, revoke, by_user, expected) in [
        ("the kept file of root", false, 0o755, "true", replace, (0, 0o700)),
        ("a new group", false, 0o664, "chown 65534:12 u/k", "true", (0, 0o600)),
        ("another group of its owner", false, 0o664, "chgrp 12 u/k", "true", (0, 0o604)),
        ("a revoked owner", true, 0o755, "chown 0:0 u/k", replace_alike, (0, 0o700)),
        ("a kept file that is gone", true, 0o755, "chown 0:0 u/k", "rm -f u/k", (0, 0o700)),
        (
            "a kept file with other content",
            true,
            0o755,
            "chown 0:0 u/k",
            "rm -f u/k; echo 1234 >u/k",
            (0, 0o700),
        ),
        ("nothing", true, 0o755, "true", "true", (USER, 0o755)),
        ("a touched file", true, 0o755, "true", "touch u/k", (USER, 0o755)),
    ] {
        for is_linked in [false, true] {
            let Some(dir) = scene("u/k") else { return };
            dir.file("r/copy", b"same").file("r/v", b"same");
            for path in ["u/k", "r/v"] {
                if is_owner {
                    give(&dir, path);
                }
                set_mode(&dir, path, mode);
            }
            if what.starts_with("another group") {
                give(&dir, "u/k");
            }
            if is_linked {
                fs::hard_link(dir.path("r/v"), dir.path("r/w")).unwrap();
            }
            // The copy is kept as well, and undo may use it.
            prune(&dir, "delete", &["--min-copies", "2", "u", "r/copy", "r"]).run().status(0);
            assert!(!dir.path("r/v").exists() && dir.path("r/copy").exists(), "{what}");
            shell(&dir, revoke).run().status(0);
            as_user(&dir, by_user).status(0);
            let run = undo(&dir).run();
            let found = fs::metadata(dir.path("r/v")).unwrap();
            assert_eq!((found.uid(), found.mode() & 0o7777), expected, "{what}: {}", run.text());
            assert_eq!(fs::read(dir.path("r/v")).unwrap(), b"same", "{what}");
            let is_as_it_was = expected == (if is_owner { USER } else { 0 }, mode);
            run.check(run.says("access was changed after the run") != is_as_it_was, what);
            let has_owner = expected.0 == if is_owner { USER } else { 0 };
            run.check(run.code() == if has_owner { 0 } else { 2 }, what);
            assert_eq!(found.nlink(), 1 + u64::from(is_linked), "{what}");
            if expected.0 == 0 {
                assert_safe(&dir, "r/v", what);
            }
            assert!(undo(&dir).run().text().contains("nothing to undo"), "{what}");
        }
    }
}

/// The user puts own files at the path of the keeper and at the other name of the victim, which is a hard link.
#[test]
fn no_name_is_linked_to_what_another_user_put_at_the_other_one() {
    for (what, is_owner, revoke, by_user) in [
        (
            "the link and the keeper",
            false,
            "true",
            "cp u/k u/mine && rm -f u/k u/b && mv u/mine u/k && ln u/k u/b",
        ),
        ("a file that looks like the victim", true, "chown 0:0 u/k", "rm -f u/b && mv u/own u/b"),
        ("such a file, and nothing is revoked", true, "true", "rm -f u/b && mv u/own u/b"),
    ] {
        for action in ["hardlink", "delete"] {
            let Some(dir) = scene("u/k") else { return };
            dir.file("r/c", b"same").hard_link("r/c", "u/b");
            for path in ["u/k", "r/c"] {
                if is_owner {
                    give(&dir, path);
                }
            }
            as_user(&dir, "cp -p u/b u/own").status(0);
            prune(&dir, action, &["u/k", "r", "u/b"]).run().status(0);
            shell(&dir, revoke).run().status(0);
            as_user(&dir, by_user);
            let run = undo(&dir).run();
            let [c, b] = ["r/c", "u/b"].map(|path| fs::metadata(dir.path(path)).unwrap());
            run.check(c.ino() != b.ino() || (c.uid(), b.uid()) == (0, 0), what);
            assert_eq!(fs::read(dir.path("r/c")).unwrap(), b"same", "{what}");
            if revoke != "true" || !is_owner {
                assert_safe(&dir, "r/c", what);
            }
            if is_owner {
                run.status(2).stderr_has("1 file not joined with the other hard links");
            }
        }
    }
}

/// A run that was killed leaves the victim under one of its names or under a private one. Root revokes the user's access at the
/// path, and to the keeper.
#[test]
fn the_victim_itself_does_not_give_back_what_was_revoked() {
    needs!("strace");
    if is_too_slow("injected faults") {
        return;
    }
    for action in ["hardlink", "delete"] {
        for call in ["renameat2", "unlinkat"] {
            for nth in 1..=3 {
                let Some(dir) = scene("r/k") else { return };
                dir.file("r/c", b"same").hard_link("r/c", "u/b");
                for path in ["r/k", "r/c"] {
                    give(&dir, path);
                }
                let what = format!("{action} {call} {nth}");
                killed(&dir, prune(&dir, action, &["r/k", "r", "u/b"]), call, nth);
                shell(&dir, "chown 0:0 r/k; test ! -e r/c || chown 0:0 r/c").run();
                undo(&dir).run();
                assert_safe(&dir, "r/c", &what);
                undo(&dir).run();
                assert_safe(&dir, "r/c", &what);
                let names = fs::read_dir(dir.path("r")).unwrap().map(|it| it.unwrap().file_name());
                let strays: Vec<_> = names.filter(|it| it.to_str().unwrap().starts_with(".ftk-")).collect();
                assert!(strays.is_empty(), "{what}: {strays:?}");
            }
        }
    }
}

/// What undo has made with fewer rights is recognised by the next undo.
#[test]
fn an_undo_with_fewer_rights_that_is_killed_can_be_repeated() {
    needs!("strace");
    if is_too_slow("injected faults") {
        return;
    }
    for (action, revoke) in
        [("delete", "chown 0:0 d/a"), ("hardlink", "chown 0:0 d/a"), ("delete", "setfacl -b d/a")]
    {
        for call in ["fsync", "fdatasync", "linkat", "renameat2", "unlinkat"] {
            for nth in 1..=3 {
                let Some(dir) = scene("d/a") else { return };
                dir.file("d/b", b"same");
                for path in ["d/a", "d/b"] {
                    give(&dir, path);
                    set_mode(&dir, path, 0o640);
                }
                let has_list =
                    || has("setfacl") && shell(&dir, "setfacl -m u:12:r d/a d/b").run().code() == 0;
                if revoke.starts_with("setfacl") && !has_list() {
                    continue;
                }
                prune(&dir, action, &["d"]).run().status(0);
                shell(&dir, revoke).run().status(0);
                let is_killed = killed(&dir, undo(&dir), call, nth).code() == 128 + 9;
                let what = format!("{action} {revoke} {call} {nth}");
                let run = undo(&dir).run();
                run.check(!has_failed(&run), &what);
                let found = fs::metadata(dir.path("d/b")).unwrap();
                let owner = if revoke.starts_with("chown") { 0 } else { USER };
                assert_eq!((found.uid(), found.mode() & 0o7777), (owner, 0o600), "{what}");
                assert_eq!(fs::read(dir.path("d/b")).unwrap(), b"same", "{what}");
                let list = "without its access control list";
                let is_said =
                    if owner == 0 { run.err.contains("with owner 0") } else { run.text().contains(list) };
                let is_recorded = fs::read_to_string(dir.aside("j")).unwrap().contains("\"undone\":true");
                run.check(is_said || !is_killed || (call == "fdatasync" && is_recorded), &what);
                undo(&dir).run().status(0).stderr_has("nothing is left to undo");
                assert_eq!(fs::read_dir(dir.path("d")).unwrap().count(), 2, "{what}");
            }
        }
    }
}

/// Whether a step was not undone, not even in part.
fn has_failed(run: &Run) -> bool {
    run.err.lines().any(|line| line.starts_with("ftk: ") && !line.contains(", but it is "))
}

/// The same without root, who alone could give the file its owner.
#[test]
fn an_unprivileged_undo_that_is_killed_can_be_repeated() {
    needs!("strace");
    for (call, nth) in [("fsync", 1), ("fsync", 2), ("fdatasync", 1), ("linkat", 1), ("renameat2", 1)] {
        let Some(dir) = scene("u/d/a") else { return };
        dir.file("u/d/b", b"same");
        for path in ["u/d", "u/d/a"] {
            give(&dir, path);
        }
        let user = |command: Ftk| command.unprivileged(&dir);
        let prune =
            ["dup", "prune", "--yes", "--journal", "u/j", "--keep", "first", "--action", "delete", "u/d"];
        user(dir.ftk(prune)).run().status(0);
        let undo = || user(dir.ftk(["undo", "u/j"]));
        killed(&dir, undo(), call, nth);
        let run = undo().run();
        run.check(!has_failed(&run), &format!("{call} {nth}"));
        undo().run().status(0).stderr_has("nothing is left to undo");
        let found = fs::metadata(dir.path("u/d/b")).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o7777), (USER, 0o600), "{call} {nth}");
        assert_eq!(fs::read(dir.path("u/d/b")).unwrap(), b"same");
    }
}

/// The first undo restores one name with another owner, since the directory of the other one is away.
#[test]
fn names_with_fewer_rights_are_joined_by_the_next_undo() {
    for action in ["hardlink", "delete"] {
        for away in ["d/e", "d/f"] {
            let Some(dir) = scene("d/a") else { return };
            dir.file("d/e/b", b"same").dir("d/f").hard_link("d/e/b", "d/f/c");
            for path in ["d/a", "d/e/b"] {
                give(&dir, path);
            }
            prune(&dir, action, &["d"]).run().status(0);
            chown(dir.path("d/a"), Some(0), Some(0)).unwrap();
            fs::rename(dir.path(away), dir.path("away")).unwrap();
            undo(&dir).run().status(2);
            fs::rename(dir.path("away"), dir.path(away)).unwrap();
            undo(&dir).run().status(2).stderr_has("nothing is left to undo");
            let [b, c] = ["d/e/b", "d/f/c"].map(|path| fs::metadata(dir.path(path)).unwrap());
            assert_eq!((b.ino(), b.uid(), b.nlink()), (c.ino(), 0, 2), "{action} {away}");
        }
    }
}

/// The file that the first run kept is the one that undo has made for the second run, in a directory of another user.
#[test]
fn a_kept_file_that_an_undo_has_restored_counts_as_the_kept_one() {
    let Some(dir) = scene("u/1") else { return };
    dir.file("u/2", b"same").file("u/3", b"same");
    for path in ["u/1", "u/2", "u/3"] {
        give(&dir, path);
    }
    let delete = |kept: &str, paths: &[&str]| {
        let args = ["dup", "prune", "--yes", "--action", "delete", "--keep", kept];
        dir.ftk(args).args(paths).run().status(0);
    };
    delete("path=u/2", &["u/1", "u/2"]);
    delete("path=u/3", &["u/2", "u/3"]);
    for _ in 0..2 {
        let run = dir.ftk(["undo", "--last"]).run().status(0);
        run.check(!run.says("access was changed"), "nothing was revoked");
    }
    for path in ["u/1", "u/2", "u/3"] {
        let found = fs::metadata(dir.path(path)).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o7777), (USER, 0o644), "{path}");
    }
}

/// The user replaces a private file by an own one of the same size and mtime, which a repair takes for damaged.
#[test]
fn a_repair_gives_no_content_to_a_file_of_another_user() {
    for is_planted in [true, false] {
        let Some(dir) = scene("u/secret") else { return };
        dir.file("u/1", b"1").file("u/2", b"2").file("u/3", b"3");
        set_mode(&dir, "u/secret", 0o600);
        dir.ftk(["manifest", "create", "u", "-o", "../manifest"]).run().status(0);
        shell(&dir, "cp -a u ../copy").run().status(0);
        match is_planted {
            true => {
                _ = as_user(&dir, "echo -n evil >u/mine; touch -r u/secret u/mine; mv -f u/mine u/secret")
            }
            false => {
                _ = shell(&dir, "touch -r u/secret mark; echo -n evil >u/secret; touch -r mark u/secret")
                    .run()
            }
        }
        let repair =
            ["manifest", "repair", "--yes", "u", "../manifest", "--from", "../copy", "--journal", "../j"];
        let run = dir.ftk(repair).run().status(if is_planted { 2 } else { 0 });
        run.check(run.says("its owner is 65534, not the recorded 0") == is_planted, "the reason is given");
        let content: &[u8] = if is_planted { b"evil" } else { b"same" };
        assert_eq!(fs::read(dir.path("u/secret")).unwrap(), content);
        as_user(&dir, "! grep -q same u/secret").status(0);
    }
}
