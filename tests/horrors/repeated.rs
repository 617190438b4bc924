//! Undo that is repeated: after a kill, after a failure, and when something could not be restored.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;

use rustix::process::geteuid;

use crate::harness::{Dir, Ftk, Mounted, has, is_too_slow, needs, skip};

const USER: u32 = 65534;

fn prune(dir: &Dir, args: &[&str]) {
    let prune = ["dup", "prune", "--yes", "--journal", "../j", "--keep", "first", "--action", "delete"];
    dir.ftk(prune).args(args).run().status(0);
}

fn undo(dir: &Dir) -> Ftk {
    dir.ftk(["undo", "../j"])
}

/// Undoes with a fault that is injected into a system call.
fn undo_with(dir: &Dir, fault: &str) -> Ftk {
    let (call, _) = fault.split_once(':').unwrap();
    let (trace, inject) = (format!("trace={call}"), format!("inject={fault}"));
    undo(dir).under(dir, ["strace", "-f", "-o", "/dev/null", "-e", &trace, "-e", &inject])
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A file with the names `t/m/b` and `t/x/a`, which are removed.
fn two_names(dir: &Dir) {
    dir.file("t/k", b"same").file("t/m/b", b"same").dir("t/x");
    fs::hard_link(dir.path("t/m/b"), dir.path("t/x/a")).unwrap();
    prune(dir, &["t"]);
    assert!(!dir.path("t/m/b").exists() && !dir.path("t/x/a").exists());
}

#[test]
fn names_that_cannot_be_joined_become_separate_files_and_are_listed() {
    if !geteuid().is_root() {
        return skip("only root mounts");
    }
    let dir = Dir::new();
    two_names(&dir);
    let point = dir.path("t/m");
    let Some(mounted) = Mounted::at(&point, ["--bind".as_ref(), point.as_os_str()]) else { return };
    let run = undo(&dir).run().status(2).stderr_has("1 file not joined with the other hard links");
    run.check(run.says("it could not be joined with its other hard links"), "the file is listed");
    for path in ["t/m/b", "t/x/a"] {
        let restored = fs::metadata(dir.path(path)).unwrap();
        assert_eq!((fs::read(dir.path(path)).unwrap(), restored.nlink()), (b"same".to_vec(), 1), "{path}");
    }
    drop(mounted);
    undo(&dir).run().status(0).stderr_has("nothing is left to undo");
}

#[test]
fn a_name_is_joined_with_the_others_when_a_failure_is_over() {
    needs!("strace");
    if is_too_slow("injected faults") {
        return;
    }
    for errno in ["EIO", "ENOSPC", "EDQUOT"] {
        let dir = Dir::new();
        two_names(&dir);
        undo_with(&dir, &format!("linkat:error={errno}:when=2")).run().status(2);
        undo(&dir).run().status(0);
        let [b, a] = ["t/m/b", "t/x/a"].map(|path| fs::metadata(dir.path(path)).unwrap());
        assert_eq!((a.ino(), a.nlink()), (b.ino(), 2), "{errno}");
    }
}

#[test]
fn every_undo_says_what_a_file_lacks() {
    needs!("strace");
    if is_too_slow("injected faults") {
        return;
    }
    for fault in ["", "fsync:signal=KILL:when=1", "fdatasync:signal=KILL:when=1"] {
        let dir = Dir::new();
        dir.file("t/a", b"same").file("t/s", b"same");
        set_mode(&dir.path("t/a"), 0o755);
        set_mode(&dir.path("t/s"), 0o2755);
        prune(&dir, &["t"]);
        match fault {
            "" => _ = undo(&dir).run().status(2),
            fault => assert_eq!(undo_with(&dir, fault).run().code(), 128 + 9, "{fault}"),
        }
        for _ in 0..2 {
            let run = undo(&dir).run().status(2).stderr_has("1 without set-ID bits or capabilities");
            run.check(run.says("without set-ID bits"), "the file is listed");
        }
        assert_eq!(fs::metadata(dir.path("t/s")).unwrap().mode() & 0o7777, 0o755);
        set_mode(&dir.path("t/s"), 0o2755);
        undo(&dir).run().status(0);
    }
}

/// An overlay does not tell when a directory was born, and the directories belong to another user again.
#[test]
fn directories_that_were_given_back_are_no_obstacle() {
    if !geteuid().is_root() || !has("strace") || is_too_slow("injected faults") {
        return skip("only root changes owners");
    }
    let whole = |call: &'static str| (1..=5).map(move |nth| format!("{call}:signal=KILL:when={nth}"));
    let faults = ["", "away"].map(str::to_owned).into_iter();
    for fault in faults.chain(whole("fchmod")).chain(whole("fchown")).chain(whole("fdatasync")) {
        let dir = Dir::on_disk();
        let Some(_mounted) = Mounted::overlay(&dir.path("")) else { return };
        dir.file("merged/t/a1", b"1").file("merged/t/a2", b"2").file("merged/t/a3", b"3");
        let restored = ["only/z1", "only/x/z2", "only/x/y/z3"].map(|path| format!("merged/t/{path}"));
        for (path, content) in restored.iter().zip([b"1", b"2", b"3"]) {
            dir.file(path, content);
        }
        let directories = ["only", "only/x", "only/x/y"].map(|path| dir.path(format!("merged/t/{path}")));
        for directory in &directories {
            chown(directory, Some(USER), Some(USER)).unwrap();
        }
        prune(&dir, &["--remove-empty-dirs", "merged/t"]);
        assert!(!directories[0].exists());
        let [kept, away] = ["merged/t/a2", "away"].map(|path| dir.path(path));
        match &*fault {
            "" => {}
            "away" => {
                fs::copy(&kept, &away).unwrap();
                fs::remove_file(&kept).unwrap();
                undo(&dir).run().status(2);
                fs::copy(&away, &kept).unwrap();
            }
            fault => _ = undo_with(&dir, fault).run(),
        }
        undo(&dir).run().status(0);
        for (path, content) in restored.iter().zip([b"1", b"2", b"3"]) {
            assert_eq!(fs::read(dir.path(path)).unwrap(), content, "{fault}");
        }
        for directory in &directories {
            let now = fs::metadata(directory).unwrap();
            assert_eq!((now.uid(), now.mode() & 0o7777), (USER, 0o755), "{fault}");
        }
    }
}
