//! A quarantine in a directory of another user, who exchanges it while root uses it, or before. The commands of the attack
//! run with another user id.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::harness::{Dir, Ftk, Run, gnu_find, has, is_root};

const USER: u32 = 65534;

/// Runs a shell command as the other user, in the tree.
fn as_user(dir: &Dir, script: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).current_dir(dir.path("")).uid(USER).gid(USER);
    shell.output().unwrap().status.success()
}

/// Two equal files in `t` and the directory `w`, all of which belong to the other user. `etc` belongs to root.
fn stage() -> Dir {
    let dir = Dir::new();
    dir.file("t/a", &[7; 10_000]).file("t/b", &[7; 10_000]).dir("w").dir("etc");
    for path in ["t", "t/a", "t/b", "w"] {
        chown(dir.path(path), Some(USER), Some(USER)).unwrap();
    }
    dir
}

fn prune(dir: &Dir, action: &[&str]) -> Ftk {
    dir.ftk(["dup", "prune", "--yes", "--keep", "first", "--metadata-may-differ", "t"]).args(action)
}

const DELETE: [&str; 4] = ["--action", "delete", "--quarantine", "w/q"];
const MOVE: [&str; 2] = ["--action", "move=w/q"];

fn entries(path: &Path) -> Vec<String> {
    let names = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// The issue: between `mkdirat` and `open`, the user puts a link or another directory of root there.
#[test]
fn files_are_moved_only_into_a_directory_of_the_run() {
    if !is_root() || !has("strace") {
        return;
    }
    for action in [&DELETE[..], &MOVE] {
        for other in ["ln -s ../etc", "mv w/conf"] {
            let dir = stage();
            dir.file("w/conf/c", b"c");
            let log = dir.aside("log");
            let strace = ["strace", "-f", "-o", log.to_str().unwrap(), "-e", "trace=mkdirat"];
            let ftk = prune(&dir, action)
                .under(&dir, strace.into_iter().chain(["-e", "inject=mkdirat:delay_exit=500000"]));
            let run = std::thread::scope(|scope| {
                let run = scope.spawn(|| ftk.run());
                let end = Instant::now() + Duration::from_secs(30);
                let attacked = loop {
                    assert!(Instant::now() < end, "the directory appears");
                    let made = entries(&dir.path("w")).into_iter().find(|name| name != "conf");
                    if let Some(name) = made {
                        break as_user(&dir, &format!("mv w/{name} w/taken && {other} w/{name}"));
                    }
                    std::thread::sleep(Duration::from_millis(5));
                };
                assert!(attacked, "the directory can be exchanged");
                run.join().unwrap()
            });
            assert_eq!(entries(&dir.path("etc")), [""; 0], "{}{}", run.text(), run.err);
            let conf = gnu_find(&dir, &["w", "-name", "c"]);
            let conf = dir.path(String::from_utf8(conf[0].clone()).unwrap());
            assert_eq!(entries(conf.parent().unwrap()), ["c"], "{}{}", run.text(), run.err);
            // The file is where it was, or moved to the quarantine.
            let copies = gnu_find(&dir, &["t", "w", "-size", "10000c"]);
            assert_eq!(copies.len(), 2, "{}{}", run.text(), run.err);
        }
    }
}

/// The next run finds a link, or another directory of root, in place of the quarantine of the first.
#[test]
fn an_exchanged_quarantine_is_refused() {
    if !is_root() {
        return;
    }
    for action in [&DELETE[..], &MOVE] {
        let dir = stage();
        prune(&dir, action).run().status(0).stderr_has("  moved 1 file\n");
        dir.file("t/c", &[7; 10_000]);
        assert!(as_user(&dir, "mv w/q w/old && ln -s ../etc w/q"));
        let by_link = prune(&dir, action).run().status(2);
        by_link.stderr_has("is a symbolic link, which is not followed");
        dir.file("w/conf/c", b"c");
        for mode in [0o700, 0o755] {
            fs::set_permissions(dir.path("w/conf"), Permissions::from_mode(mode)).unwrap();
            assert!(as_user(&dir, "rm -f w/q && mv w/conf w/q"));
            prune(&dir, action).run().status(2).stderr_has("another user can put another directory");
            assert_eq!(entries(&dir.path("w/q")), ["c"]);
            assert!(as_user(&dir, "mv w/q w/conf"));
        }
        assert_eq!(entries(&dir.path("etc")), [""; 0]);
        assert!(dir.path("t/c").exists());
        // The quarantine itself is used again.
        assert!(as_user(&dir, "mv w/old w/q"));
        prune(&dir, action).run().status(0).stderr_has("  moved 1 file\n");
    }
}

/// Only the caller may enter a quarantine in a directory of another user.
#[test]
fn a_quarantine_among_files_of_another_user_is_private() {
    if !is_root() {
        return;
    }
    let dir = stage();
    prune(&dir, &DELETE).run().status(0);
    let quarantine = fs::metadata(dir.path("w/q")).unwrap();
    assert_eq!((quarantine.uid(), quarantine.mode() & 0o777), (0, 0o700));
    // Elsewhere, the umask decides.
    dir.file("t/b", &[7; 10_000]);
    prune(&dir, &["--action", "delete", "--quarantine", "q"]).run().status(0);
    let mode = |path: &str| fs::metadata(dir.path(path)).unwrap().mode() & 0o755;
    assert_eq!(mode("q"), mode("etc"));
}

/// Links that only the caller can have made are followed.
#[test]
fn own_links_to_a_quarantine_are_followed() {
    let dir = Dir::new();
    dir.file("t/a", &[7; 10_000]).file("t/b", &[7; 10_000]).dir("real").symlink("real", "link");
    prune(&dir, &["--action", "delete", "--quarantine", "link/q"]).run().status(0);
    assert_eq!(entries(&dir.path("real")), ["q"]);
}

/// Two equal directories and the directory `q`. `theirs` belongs to the other user.
fn equal_directories(theirs: &[&str]) -> Dir {
    let dir = Dir::new();
    for top in ["t/x", "t/y"] {
        dir.file(format!("{top}/f"), &[7; 10_000]).symlink("f", &format!("{top}/l"));
    }
    dir.dir("u/q/t/y");
    for path in theirs {
        lchown(dir.path(path), Some(USER), Some(USER)).unwrap();
    }
    dir
}

/// What the other user could exchange has no name in a directory of root before it is checked. A kill in between leaves it
/// in a private directory.
#[test]
fn a_move_that_is_killed_between_its_two_renames_is_undone() {
    if !is_root() || !has("strace") {
        return;
    }
    let move_to = |dir: &Dir, to: &str| {
        let prune = ["dup", "prune", "--dirs", "--yes", "--keep", "first", "--journal", "../j", "t"];
        dir.ftk(prune).args(["--action", &format!("move={to}")])
    };
    let tree = ["t", "t/x", "t/x/f", "t/x/l", "t/y", "t/y/f", "t/y/l"];
    let quarantine = ["u", "u/q", "u/q/t", "u/q/t/y"];
    for (call, nth) in (1..=4).map(|nth| ("renameat2", nth)).chain((1..=3).map(|nth| ("unlinkat", nth))) {
        for kills_undo in [false, true] {
            let dir = equal_directories(if kills_undo { &quarantine } else { &tree });
            let inode = |path: &str| fs::symlink_metadata(dir.path(path)).unwrap().ino();
            let before = (inode("t/y/f"), inode("t/y/l"));
            let kill = format!("inject={call}:signal=KILL:when={nth}");
            let strace = ["strace", "-f", "-o", "/dev/null", "-e", "trace=renameat2,unlinkat", "-e", &kill];
            let ftk = match kills_undo {
                false => move_to(&dir, "q"),
                true => {
                    move_to(&dir, "u/q").run().status(0);
                    dir.ftk(["undo", "../j"])
                }
            };
            let killed = ftk.under(&dir, strace).run();
            killed.check(killed.code() == 137, "it was killed");
            dir.ftk(["undo", "../j"]).run().status(0);
            assert_eq!((inode("t/y/f"), inode("t/y/l")), before, "{call} {nth} {kills_undo}");
            assert_eq!(entries(&dir.path("t/y")), ["f", "l"]);
            let left = gnu_find(&dir, &[".", "-name", ".ftk-*"]);
            assert!(left.is_empty(), "{call} {nth} {kills_undo}: {left:?}");
        }
    }
}

/// While undo runs, the user exchanges the moved file, and takes its name so that what is no longer the file cannot be
/// renamed back.
#[test]
fn a_file_that_is_exchanged_while_it_moves_back_gets_no_name_of_root() {
    if !is_root() || !has("strace") {
        return;
    }
    let dir = Dir::new();
    dir.file("r/a", &[7; 10_000]).file("r/t/b", &[7; 10_000]).dir("u/q/r/t").file("u/evil", b"evil");
    for path in ["u", "u/q", "u/q/r", "u/q/r/t", "u/evil"] {
        chown(dir.path(path), Some(USER), Some(USER)).unwrap();
    }
    let prune = ["dup", "prune", "--yes", "--keep", "first", "--action", "move=u/q", "--journal", "../j"];
    dir.ftk(prune).args(["r/a", "r/t"]).run().status(0);
    let moved = dir.path("u/q/r/t/b");
    assert!(moved.exists());
    let delay = ["strace", "-f", "-o", "/dev/null", "-e", "trace=renameat2", "-e"];
    let delay = delay.into_iter().chain(["inject=renameat2:delay_enter=1000000"]);
    let ftk = dir.ftk(["undo", "../j"]).under(&dir, delay);
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| ftk.run());
        let script = "n=0; until ls -d r/t/.ftk-* >/dev/null 2>&1; do n=$((n+1)); [ $n = 3000 ] && exit 1; sleep .005; done; \
                      mv u/q/r/t/b u/b && mv u/evil u/q/r/t/b && while [ -e u/q/r/t/b ]; do sleep .01; done; \
                      echo third >u/q/r/t/b";
        assert!(as_user(&dir, script), "the file was exchanged");
        run.join().unwrap()
    });
    let check = |run: Run| {
        run.check(run.says("/b is left: `ftk undo` moves it back if"), "the place is named");
        assert!(!dir.path("r/t/b").exists());
    };
    check(run.status(2));
    check(dir.ftk(["undo", "../j"]).run().status(2));
    // Root moves the other file away, and the user returns the moved one.
    fs::remove_dir_all(dir.path("r/t").join(&entries(&dir.path("r/t"))[0])).unwrap();
    assert!(as_user(&dir, "mv -f u/b u/q/r/t/b"));
    dir.ftk(["undo", "../j"]).run().status(0);
    let restored = fs::metadata(dir.path("r/t/b")).unwrap();
    assert_eq!((restored.uid(), restored.len()), (0, 10_000));
}

/// A note of the user in the file that marks a quarantine is not removed with it.
#[test]
fn undo_keeps_a_mark_that_was_edited() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same");
    for edited in [true, false] {
        let args = ["dup", "prune", "--action", "delete", "--quarantine", "q", "--yes", "a", "b"];
        dir.ftk(args).run().status(0);
        let run = fs::read_dir(dir.path("q")).unwrap().next().unwrap().unwrap().path();
        if edited {
            fs::write(run.join("FTK-QUARANTINE.TAG"), "important\n").unwrap();
        }
        dir.ftk(["undo", "--last"]).run();
        assert_eq!(fs::read(run.join("FTK-QUARANTINE.TAG")).is_ok(), edited);
        assert!(dir.path("a").exists() && dir.path("b").exists());
        if edited {
            fs::remove_dir_all(dir.path("q")).unwrap();
        }
    }
}

/// A quarantine from which a file is gone stays, and undo names where the file should be.
#[test]
fn undo_keeps_a_quarantine_that_lacks_a_file() {
    let dir = Dir::new();
    for nth in 1..=2 {
        dir.file(format!("a/{nth}"), &[nth; 10]).file(format!("b/{nth}"), &[nth; 10]);
    }
    let args = ["dup", "prune", "--action", "delete", "--quarantine", "q", "--yes", "a", "b"];
    dir.ftk(args).args(["--journal", "../j"]).run().status(0);
    let moved = fs::read_dir(dir.path("q")).unwrap().next().unwrap().unwrap().path();
    fs::rename(moved.join("b/1"), dir.path("elsewhere")).unwrap();
    let run = dir.ftk(["undo", "../j"]).run().status(2);
    run.check(run.says("; it was moved to q/"), "the place");
    assert!(moved.join("b").is_dir() && moved.join("FTK-QUARANTINE.TAG").exists());
    // What is put back there is restored by a second undo, which then removes the directory.
    fs::rename(dir.path("elsewhere"), moved.join("b/1")).unwrap();
    dir.ftk(["undo", "../j"]).run().status(0);
    assert!(dir.path("b/1").exists() && dir.path("b/2").exists() && !dir.path("q").join(&moved).exists());
}
