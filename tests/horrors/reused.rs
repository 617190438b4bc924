//! Undo and repair as root in directories of another user, on file systems that use inode numbers again, that do not record
//! the time of birth, or whose directories pass access control lists on.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use rustix::process::geteuid;

use crate::harness::{Dir, Ftk, Image, Mounted, has, is_too_slow, needs, skip};

const USER: u32 = 65534;

fn is_root() -> bool {
    if !geteuid().is_root() {
        skip("only root mounts and changes owners");
    }
    geteuid().is_root()
}

fn give(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Prunes as root, with the journal next to the tree.
fn prune(dir: &Dir, args: &[&str]) {
    dir.ftk(["dup", "prune", "--yes", "--journal", "../j", "--keep", "first"]).args(args).run().status(0);
}

fn undo(dir: &Dir) -> Ftk {
    dir.ftk(["undo", "../j"])
}

fn repair(dir: &Dir, root: &str) -> Ftk {
    let ftk = dir.ftk(["manifest", "repair", "--missing", "--yes", "--max-missing", "100%", root]);
    ftk.args(["../manifest", "--from", "../copy", "--journal", "../j"])
}

/// Records a tree, and copies it.
fn keep(dir: &Dir, root: &str) {
    dir.ftk(["manifest", "create", root, "-o", "../manifest"]).run().status(0);
    let status = Command::new("cp").arg("-a").arg(dir.path(root)).arg(dir.aside("copy")).status();
    assert!(status.unwrap().success());
}

/// Mounts an overlay, which does not tell when a file was born, at `m`.
fn overlay(dir: &Dir) -> Option<Mounted> {
    dir.dir("lower").dir("upper").dir("work").dir("m");
    let path = |name: &str| dir.path(name).into_os_string().into_string().unwrap();
    let options = format!("lowerdir={},upperdir={},workdir={}", path("lower"), path("upper"), path("work"));
    Mounted::at(&dir.path("m"), ["-t", "overlay", "overlay", "-o", &options])
}

/// Another user could replace a directory that undo makes by an own one with the same inode number, and read what is restored
/// in it.
#[test]
fn without_a_time_of_birth_directories_of_root_are_not_restored_where_others_write() {
    if !is_root() {
        return;
    }
    let dir = Dir::on_disk();
    let Some(_mounted) = overlay(&dir) else { return };
    dir.file("m/t/keep", b"secret").file("m/t/u/own", b"of the user");
    for directory in ["m/t/u/root", "m/t/mine"] {
        dir.file(format!("{directory}/s"), b"secret");
        set_mode(&dir.path(directory), 0o700);
    }
    give(&dir.path("m/t/u"));
    prune(&dir, &["--action", "delete", "--remove-empty-dirs", "m/t"]);
    assert!(!dir.path("m/t/u/root").exists() && !dir.path("m/t/mine").exists());
    for _ in 0..2 {
        let run = undo(&dir).run().status(2);
        run.check(run.says("another user can change its path"), "the reason is given");
        assert!(!dir.path("m/t/u/root/s").exists());
        assert_eq!(fs::read(dir.path("m/t/mine/s")).unwrap(), b"secret");
        assert_eq!(fs::metadata(dir.path("m/t/mine")).unwrap().mode() & 0o7777, 0o700);
    }
}

/// The same for the directories that a repair makes: their recorded permissions could go to a directory of root.
#[test]
fn without_a_time_of_birth_no_directories_are_made_where_others_write() {
    if !is_root() {
        return;
    }
    let dir = Dir::on_disk();
    let Some(_mounted) = overlay(&dir) else { return };
    dir.file("m/t/u/gone/f", b"f").file("m/t/mine/gone/f", b"f").file("m/t/u/own", b"");
    set_mode(&dir.path("m/t/u/gone"), 0o777);
    give(&dir.path("m/t/u"));
    keep(&dir, "m/t");
    for gone in ["m/t/u/gone", "m/t/mine/gone"] {
        fs::remove_dir_all(dir.path(gone)).unwrap();
    }
    let run = repair(&dir, "m/t").run().status(2);
    run.check(run.says("another user can change its path"), "the reason is given");
    assert_eq!(fs::read_dir(dir.path("m/t/u")).unwrap().count(), 1);
    assert_eq!(fs::read(dir.path("m/t/mine/gone/f")).unwrap(), b"f");
}

/// Directories that undo gives back to another user come last: this user could exchange what is in them.
#[test]
fn without_a_time_of_birth_metadata_is_undone() {
    if !is_root() {
        return;
    }
    let dir = Dir::on_disk();
    let Some(_mounted) = overlay(&dir) else { return };
    dir.file("m/t/u/d/f", b"f").file("m/t/k", b"k");
    keep(&dir, "m/t");
    let names = ["m/t/u/d/f", "m/t/u/d", "m/t/u"];
    names.iter().for_each(|name| give(&dir.path(name)));
    let owners = || names.map(|name| fs::metadata(dir.path(name)).unwrap().uid());
    let given = owners();
    let repair = dir.ftk(["manifest", "repair", "m/t", "../manifest", "--metadata", "--other-root", "--yes"]);
    repair.args(["--journal", "../j"]).run().status(0);
    assert_eq!(owners(), [0; 3]);
    undo(&dir).run().status(0);
    assert_eq!(owners(), given);
}

/// XFS lists an inherited access control list under two names, and both are gone with one of them.
#[test]
fn files_are_restored_where_they_inherit_an_access_control_list() {
    if !is_root() || !has("setfacl") {
        return;
    }
    for (kind, len) in [("xfs", 320 << 20), ("ext4", 16 << 20)] {
        for action in ["delete", "hardlink", "symlink"] {
            let dir = Dir::on_disk();
            let Some(_mounted) = Image::new(&dir, kind, len).and_then(|image| image.mount(&dir, "m")) else {
                continue;
            };
            dir.file("m/a/k", b"same").file("m/b/v", b"same");
            keep(&dir, "m");
            let status = Command::new("setfacl").args(["-d", "-m", "u:12:rwx"]).arg(dir.path("m/b")).status();
            assert!(status.unwrap().success());
            prune(&dir, &["--action", action, "m"]);
            undo(&dir).run().status(0);
            let list = Command::new("getfacl").arg("-cp").arg(dir.path("m/b/v")).output().unwrap().stdout;
            assert!(
                !list.is_empty() && !String::from_utf8_lossy(&list).contains("user:12"),
                "{kind} {action}"
            );
            fs::remove_file(dir.path("m/b/v")).unwrap();
            fs::remove_file(dir.path("../j")).unwrap();
            // The list of the directory is not recorded.
            repair(&dir, "m").run().status(1).stderr_has("1 with other metadata");
            assert_eq!(fs::read(dir.path("m/b/v")).unwrap(), b"same", "{kind} {action}");
        }
    }
}

/// The private directory of the killed undo has the inode number of the removed directory, and not every file system tells
/// when it was born.
#[test]
fn an_undo_that_is_killed_at_its_first_directory_can_be_repeated() {
    if !is_root() || !has("strace") || is_too_slow("injected faults") {
        return;
    }
    let delete = &["--action", "delete"][..];
    for (kind, action) in [
        ("ext4", delete),
        ("ext4", &["--action", "move=m/q"]),
        ("ext4", &["--action", "delete", "--quarantine", "m/q"]),
        ("overlay", delete),
        ("tmpfs", delete),
    ] {
        for (call, nth) in
            ["renameat2", "mkdirat"].into_iter().flat_map(|call| (1..=4).map(move |n| (call, n)))
        {
            let dir = Dir::on_disk();
            let Some(_mounted) = mount(&dir, kind) else { continue };
            dir.file("m/t/a/x", b"same").file("m/t/only/b/x", b"same").file("m/t/only/y", b"same");
            set_mode(&dir.path("m/t/only"), 0o750);
            let before = fs::metadata(dir.path("m/t/only")).unwrap();
            prune(&dir, &[action, &["--remove-empty-dirs", "m/t"]].concat());
            assert!(!dir.path("m/t/only").exists());
            let what = format!("{kind} {action:?} {call} {nth}");
            let kill = format!("inject={call}:signal=KILL:when={nth}");
            let trace = ["strace", "-f", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &kill];
            assert_eq!(undo(&dir).under(&dir, trace).run().code(), 128 + 9, "{what}");
            undo(&dir).run().status(0);
            for path in ["m/t/a/x", "m/t/only/b/x", "m/t/only/y"] {
                assert_eq!(fs::read(dir.path(path)).unwrap(), b"same", "{what}");
            }
            let now = fs::metadata(dir.path("m/t/only")).unwrap();
            assert_eq!(
                (now.mode() & 0o7777, now.modified().unwrap()),
                (0o750, before.modified().unwrap()),
                "{what}"
            );
            let found = Command::new("find").arg(dir.path("m/t")).args(["-name", ".ftk-*"]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{what}");
            undo(&dir).run().status(0).stderr_has("nothing is left to undo");
        }
    }
}

/// What another user can see of a file.
struct Known {
    ino: u64,
    len: u64,
    modified: SystemTime,
}

fn known(path: &Path) -> Known {
    let found = fs::metadata(path).unwrap();
    Known { ino: found.ino(), len: found.len(), modified: found.modified().unwrap() }
}

/// Puts a file of the user at `path` that has a free inode number and everything else that the user could see.
fn forge(path: &Path, known: &Known) {
    let directory = path.parent().unwrap();
    let mut made = Vec::new();
    loop {
        assert!(made.len() < 5000, "the inode number is not used again");
        let new = directory.join(format!("new{}", made.len()));
        let file = fs::File::create(&new).unwrap();
        made.push(new.clone());
        if file.metadata().unwrap().ino() != known.ino {
            continue;
        }
        fs::write(&new, vec![b'E'; known.len as usize]).unwrap();
        file.set_modified(known.modified).unwrap();
        give(&new);
        fs::rename(new, path).unwrap();
        break;
    }
    made.into_iter().for_each(|path| _ = fs::remove_file(path));
}

/// A file system in which the directory of root `m/r` has a file with another name in the user's `m/u`.
fn shared(dir: &Dir) -> Option<Mounted> {
    let mounted = Image::new(dir, "ext4", 16 << 20)?.mount(dir, "m")?;
    share(dir);
    Some(mounted)
}

fn share(dir: &Dir) {
    dir.file("m/r/a", &[7; 5000]).file("m/r/c", &[7; 5000]).dir("m/u");
    fs::hard_link(dir.path("m/r/c"), dir.path("m/u/b")).unwrap();
    set_mode(&dir.path("m/r"), 0o700);
    give(&dir.path("m/u"));
}

/// Mounts a file system of this kind at `m`.
fn mount(dir: &Dir, kind: &str) -> Option<Mounted> {
    match kind {
        "ext4" => Image::new(dir, kind, 16 << 20)?.mount(dir, "m"),
        "overlay" => overlay(dir),
        _ => Mounted::at(&dir.dir("m").path("m"), ["-t", kind, kind]),
    }
}

/// Returns the private name of the step that removed this file.
fn private_name(dir: &Dir, path: &str) -> String {
    let journal = fs::read_to_string(dir.path("../j")).unwrap();
    let mut records = journal.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let step = records.find(|it| it.get("action").is_some() && it["victim"]["path"] == path).unwrap();
    step["temp"].as_str().unwrap().to_owned()
}

/// The user sees the private name while files are removed, and puts an own file with the same bytes there.
#[test]
fn a_file_of_another_user_under_a_private_name_is_not_the_victim() {
    if !is_root() {
        return;
    }
    for kind in ["tmpfs", "overlay", "ext4"] {
        for directory in ["m/u", "m/tmp"] {
            let dir = Dir::on_disk();
            let Some(_mounted) = mount(&dir, kind) else { continue };
            share(&dir);
            set_mode(&dir.dir("m/tmp").path("m/tmp"), 0o1777);
            fs::hard_link(dir.path("m/r/c"), dir.path("m/tmp/b")).unwrap();
            let before = known(&dir.path("m/u/b"));
            prune(&dir, &["--action", "delete", "m"]);
            let planted = dir.path(directory).join(private_name(&dir, &format!("{directory}/b")));
            fs::write(&planted, [7; 5000]).unwrap();
            fs::File::options().write(true).open(&planted).unwrap().set_modified(before.modified).unwrap();
            give(&planted);
            undo(&dir).run().status(0);
            let restored = ["m/r/c", "m/u/b", "m/tmp/b"].map(|path| fs::metadata(dir.path(path)).unwrap());
            for it in &restored {
                assert_eq!((it.uid(), it.nlink(), it.ino()), (0, 3, restored[0].ino()), "{kind} {directory}");
            }
            assert!(!planted.exists(), "{kind} {directory}");
        }
    }
}

/// Where inode numbers may be invented, it may be the victim itself, and the only file with the content.
#[test]
fn what_may_be_the_victim_is_not_removed_without_another_copy() {
    if !is_root() {
        return;
    }
    let dir = Dir::on_disk();
    let Some(_mounted) = mount(&dir, "overlay") else { return };
    share(&dir);
    let before = known(&dir.path("m/u/b"));
    prune(&dir, &["--action", "delete", "m"]);
    let left = dir.path("m/u").join(private_name(&dir, "m/u/b"));
    dir.file("m/u/takes/the/free", b"numbers");
    fs::write(&left, [7; 5000]).unwrap();
    // Other programs use the same disk, and may have freed the number again.
    for nth in 0.. {
        if known(&left).ino != before.ino {
            break;
        }
        let taken = dir.path(format!("m/u/takes/{nth}"));
        fs::rename(&left, &taken).unwrap();
        fs::write(&taken, b"numbers").unwrap();
        fs::write(&left, [7; 5000]).unwrap();
    }
    fs::File::options().write(true).open(&left).unwrap().set_modified(before.modified).unwrap();
    fs::rename(dir.path("m/r/a"), dir.path("m/away")).unwrap();
    let run = undo(&dir).run().status(2);
    run.check(run.says("another user can change its path"), "the reason is given");
    assert_eq!(fs::read(&left).unwrap(), [7; 5000]);
    assert!(!dir.path("m/u/b").exists() && !dir.path("m/r/c").exists());
    fs::rename(dir.path("m/away"), dir.path("m/r/a")).unwrap();
    undo(&dir).run().status(0);
    assert_eq!(
        fs::metadata(dir.path("m/r/c")).unwrap().ino(),
        fs::metadata(dir.path("m/u/b")).unwrap().ino()
    );
    assert!(!left.exists());
}

/// A copy of the killed undo may have its private name, and looks like the victim.
#[test]
fn an_undo_of_several_names_that_is_killed_can_be_repeated() {
    if !is_root() || !has("strace") || is_too_slow("injected faults") {
        return;
    }
    for kind in ["tmpfs", "overlay", "ext4"] {
        for call in ["linkat", "renameat2"] {
            for nth in 1..=2 {
                let dir = Dir::on_disk();
                let Some(_mounted) = mount(&dir, kind) else { continue };
                share(&dir);
                prune(&dir, &["--action", "delete", "m"]);
                let kill = format!("inject={call}:signal=KILL:when={nth}");
                let trace = ["strace", "-f", "-o", "/dev/null", "-e", &kill];
                assert_eq!(undo(&dir).under(&dir, trace).run().code(), 128 + 9, "{kind} {call} {nth}");
                undo(&dir).run().status(0);
                let [c, b] = ["m/r/c", "m/u/b"].map(|path| fs::metadata(dir.path(path)).unwrap());
                assert_eq!((c.ino(), c.nlink()), (b.ino(), 2), "{kind} {call} {nth}");
                for directory in ["m/r", "m/u"] {
                    let mut names = fs::read_dir(dir.path(directory)).unwrap();
                    assert!(names.all(|it| !it.unwrap().file_name().to_str().unwrap().starts_with(".ftk-")));
                }
            }
        }
    }
}

/// The other name becomes a link neither of the user's file, nor does that file get a name of the victim.
#[test]
fn a_file_of_another_user_gets_no_name_in_a_directory_of_root() {
    if !is_root() {
        return;
    }
    for action in ["delete", "hardlink"] {
        let dir = Dir::on_disk();
        let Some(_mounted) = shared(&dir) else { return };
        let before = known(&dir.path("m/u/b"));
        prune(&dir, &["--action", action, "m/r", "m/u"]);
        _ = fs::remove_file(dir.path("m/u/b"));
        forge(&dir.path("m/u/b"), &before);
        undo(&dir).run().status(2);
        let restored = fs::metadata(dir.path("m/r/c")).unwrap();
        assert_eq!((restored.uid(), restored.nlink()), (0, 1), "{action}");
        assert_eq!(fs::read(dir.path("m/r/c")).unwrap(), [7; 5000], "{action}");
        assert_eq!(fs::metadata(dir.path("m/u/b")).unwrap().uid(), USER);
    }
    // The undo of a repair.
    let dir = Dir::on_disk();
    let Some(_mounted) = shared(&dir) else { return };
    for nth in 0..5 {
        dir.file(format!("m/r/{nth}"), &[nth]);
    }
    keep(&dir, "m");
    let modified = known(&dir.path("m/u/b")).modified;
    fs::write(dir.path("m/u/b"), [8; 5000]).unwrap();
    fs::File::options().write(true).open(dir.path("m/u/b")).unwrap().set_modified(modified).unwrap();
    let before = known(&dir.path("m/u/b"));
    repair(&dir, "m").run().status(0);
    fs::remove_file(dir.path("m/u/b")).unwrap();
    forge(&dir.path("m/u/b"), &before);
    undo(&dir).run().status(2);
    let restored = fs::metadata(dir.path("m/r/c")).unwrap();
    assert_eq!((restored.uid(), restored.nlink()), (0, 1));
    assert_eq!(fs::read(dir.path("m/r/c")).unwrap(), [8; 5000]);
}

/// The user owns the directory to which the file of root was moved.
#[test]
fn a_file_of_another_user_is_not_moved_back() {
    if !is_root() {
        return;
    }
    let dir = Dir::on_disk();
    let Some(_mounted) = shared(&dir) else { return };
    fs::remove_file(dir.path("m/u/b")).unwrap();
    prune(&dir, &["--action", "move=m/q", "m/r"]);
    let moved = dir.path("m/q/m/r/c");
    let back = dir.path("m/r").join(moved.file_name().unwrap());
    let before = known(&moved);
    fs::remove_file(&moved).unwrap();
    forge(&moved, &before);
    undo(&dir).run().status(2);
    assert!(!back.exists());
    assert_eq!(fs::metadata(&moved).unwrap().uid(), USER);
}

/// While the names of a file are restored, the user exchanges the first one for an own file.
#[test]
fn other_names_are_not_linked_to_a_file_that_was_exchanged_meanwhile() {
    needs!("strace");
    if !is_root() || is_too_slow("delayed calls") {
        return;
    }
    for is_repair in [false, true] {
        let dir = Dir::new();
        dir.file("r/k", b"same").file("u/b", b"same").file("u/evil", b"evil").dir("r");
        fs::hard_link(dir.path("u/b"), dir.path("r/z")).unwrap();
        set_mode(&dir.path("r"), 0o700);
        for path in ["u", "u/evil"] {
            give(&dir.path(path));
        }
        let ftk = if is_repair {
            keep(&dir, ".");
            fs::remove_file(dir.path("u/b")).unwrap();
            fs::remove_file(dir.path("r/z")).unwrap();
            repair(&dir, ".")
        } else {
            prune(&dir, &["--action", "delete", "."]);
            assert!(!dir.path("u/b").exists() && !dir.path("r/z").exists());
            undo(&dir)
        };
        // Every name is given late, and what follows waits.
        let delay = "inject=renameat2,linkat,fsync:delay_enter=200000";
        let strace = ["strace", "-f", "-o", "/dev/null", "-e", "trace=renameat2,linkat,fsync", "-e", delay];
        let ftk = ftk.under(&dir, strace);
        let run = std::thread::scope(|scope| {
            let run = scope.spawn(|| ftk.run());
            let swap =
                "for i in $(seq 3000); do [ -e u/b ] && exec mv -T u/evil u/b; sleep .01; done; exit 1";
            let mut shell = Command::new("sh");
            let shell = std::os::unix::process::CommandExt::uid(&mut shell, USER);
            let swapped = shell.args(["-c", swap]).current_dir(dir.path("")).status().unwrap();
            assert!(swapped.success(), "the file appeared and could be exchanged");
            run.join().unwrap()
        });
        if let Ok(found) = fs::metadata(dir.path("r/z")) {
            let what = format!("{is_repair}: {}{}", run.text(), run.err);
            assert_eq!((found.uid(), fs::read(dir.path("r/z")).unwrap()), (0, b"same".to_vec()), "{what}");
        }
        assert_eq!(fs::metadata(dir.path("u/b")).unwrap().nlink(), 1);
    }
}
