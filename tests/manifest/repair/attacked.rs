//! Trees in which another user exchanges directories while root repairs them, or before. The other user is real: the
//! commands of the attack run with another user id.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{copy, damage, names, said};
use crate::harness::{Dir, Ftk, Run, has, is_root};

const USER: u32 = 65534;

fn give(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
}

/// Runs a shell command as the other user, in the tree.
fn as_user(dir: &Dir, script: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).current_dir(dir.path("")).uid(USER).gid(USER);
    shell.output().unwrap().status.success()
}

/// `tree` belongs to the other user, and so does everything in it. It has the entries of `h` in it.
fn stage(dir: &Dir) {
    dir.file("h/t/d/f", b"recorded").file("h/t/g", b"g").file("h/t/e", b"e").file("h/t/k", b"k");
    for path in ["h", "h/t", "h/t/d", "h/t/d/f", "h/t/g", "h/t/e", "h/t/k"] {
        give(&dir.path(path));
    }
    dir.ftk(["manifest", "create", "h/t", "-o", "../manifest"]).run().status(0);
    let status = Command::new("cp").arg("-a").arg(dir.path("h/t")).arg(dir.aside("copy")).status();
    assert!(status.unwrap().success());
}

fn repair(dir: &Dir, args: &[&str]) -> Ftk {
    let ftk = dir.ftk([
        "manifest",
        "repair",
        "h/t",
        "../manifest",
        "--from",
        "../copy",
        "--yes",
        "--max-missing",
        "100%",
    ]);
    ftk.args(args)
}

/// Both kinds of file systems: with an identity that lasts, and without.
fn dirs() -> [Dir; 2] {
    [Dir::on_disk(), Dir::new()]
}

/// Owner, permissions and names of a directory of root.
fn state(path: &Path) -> (u32, u32, Vec<String>) {
    let metadata = fs::metadata(path).unwrap();
    (metadata.uid(), metadata.mode() & 0o7777, names(path))
}

#[test]
fn a_root_that_became_a_link_is_refused() {
    if !is_root() {
        return;
    }
    for dir in dirs() {
        stage(&dir);
        dir.dir("etc/d").file("etc/g", b"g");
        assert!(as_user(&dir, "mv h/t h/old && ln -s ../etc h/t"));
        let is_other = "ftk: 'h/t' is not the recorded directory: ";
        for args in [&["--missing"][..], &[]] {
            repair(&dir, args).run().status(2).stdout("").stderr_has(is_other);
        }
        for command in
            [&["update", "h/t", "../manifest", "-o", "../new"][..], &["scrub", "h/t", "../manifest"]]
        {
            let ftk = dir.ftk(["manifest"]).args(command).args(["--max-missing", "100%"]);
            ftk.run().status(2).stdout("").stderr_has(is_other);
        }
        assert!(!dir.aside("new").exists());
        assert_eq!(
            (names(&dir.path("etc")), names(&dir.path("etc/d"))),
            (vec!["d".into(), "g".into()], Vec::new())
        );
        // The path now leads to the recorded directory, although through a link.
        assert!(as_user(&dir, "rm h/t && mv h/old h/real && ln -s real h/t && rm h/real/d/f"));
        let is_known_by_inode = repair(&dir, &["--missing"]).run().code() == 0;
        let has_identity = fs::read_to_string(dir.aside("manifest")).unwrap().contains("\"fs\":\"");
        assert_eq!(is_known_by_inode, has_identity);
    }
}

#[test]
fn a_new_directory_in_place_of_the_root_is_refused() {
    let dir = Dir::on_disk();
    stage_unless_user(&dir);
    fs::rename(dir.path("h/t"), dir.path("h/old")).unwrap();
    copy_tree(&dir.aside("copy"), &dir.path("h/t"));
    fs::remove_file(dir.path("h/t/d/f")).unwrap();
    let run = |args: &[&str]| repair(&dir, args).run();
    run(&["--missing"])
        .status(2)
        .stdout("")
        .stderr_has("ftk: 'h/t' is not the recorded directory: its inode differs");
    let update = |args: &[&str]| {
        dir.ftk(["manifest", "update", "h/t", "../manifest", "-o", "../new", "--force"]).args(args).run()
    };
    update(&[]).status(2).stderr_has("is not the recorded directory: its inode differs");
    run(&["--missing", "--other-root"]).status(0);
    assert_eq!(fs::read(dir.path("h/t/d/f")).unwrap(), b"recorded");
    update(&["--other-root"]).status(0);
    // The new manifest records the directory as it is now.
    dir.ftk(["manifest", "update", "h/t", "../new", "-o", "../new"]).run().status(0);
}

/// Without privileges the tree belongs to the caller.
fn stage_unless_user(dir: &Dir) {
    if is_root() {
        return stage(dir);
    }
    dir.file("h/t/d/f", b"recorded").file("h/t/g", b"g").file("h/t/e", b"e").file("h/t/k", b"k");
    dir.ftk(["manifest", "create", "h/t", "-o", "../manifest"]).run().status(0);
    copy_tree(&dir.path("h/t"), &dir.aside("copy"));
}

fn copy_tree(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

/// Selections that do not record the root do not hide that it is another one.
#[test]
fn the_root_is_compared_whatever_is_selected() {
    let dir = Dir::on_disk();
    dir.file("t/a", b"a").file("t/b", b"b");
    dir.ftk(["manifest", "create", "--type", "f", "t", "-o", "m"]).run().status(0);
    dir.ftk(["manifest", "update", "t", "m", "-o", "m"]).run().status(0);
    fs::rename(dir.path("t"), dir.path("old")).unwrap();
    copy_tree(&dir.path("old"), &dir.path("t"));
    let run = dir.ftk(["manifest", "update", "t", "m", "-o", "m"]).run();
    run.status(2).stderr_has("ftk: 't' is not the recorded directory: its inode differs");
    fs::remove_dir_all(dir.path("t")).unwrap();
    // A new name does not matter.
    dir.ftk(["manifest", "update", "old", "m", "-o", "m"]).run().status(0);
}

/// The directory of root that the user puts in place of one of his own gets no file.
#[test]
fn a_directory_of_root_in_place_of_a_recorded_one_gets_no_file() {
    if !is_root() {
        return;
    }
    for dir in dirs() {
        stage(&dir);
        assert!(as_user(&dir, "rm -r h/t/d"));
        for mode in [0o700, 0o755] {
            dir.file("h/t/secret/s", b"secret");
            fs::set_permissions(dir.path("h/t/secret"), Permissions::from_mode(mode)).unwrap();
            assert!(as_user(&dir, "mv h/t/secret h/t/d"));
            let run = repair(&dir, &["--missing"]).run().status(2);
            let refused = "refuse d/f d is not the recorded directory (--other-root accepts it)";
            run.check(said(&run).contains(&refused.to_owned()), "it is refused");
            assert_eq!(state(&dir.path("h/t/d")), (0, mode, vec!["s".into()]));
            fs::remove_dir_all(dir.path("h/t/d")).unwrap();
        }
    }
}

/// In a tree where only the caller can change names, a directory that was made again is as good as the recorded one.
#[test]
fn own_directories_may_be_new() {
    let dir = Dir::on_disk();
    dir.file("h/t/d/f", b"recorded").file("h/t/g", b"g").file("h/t/e", b"e").file("h/t/k", b"k");
    dir.ftk(["manifest", "create", "h/t", "-o", "../manifest"]).run().status(0);
    copy_tree(&dir.path("h/t"), &dir.aside("copy"));
    fs::remove_dir_all(dir.path("h/t/d")).unwrap();
    dir.dir("h/t/d");
    repair(&dir, &["--missing"]).run().status(0);
    assert_eq!(fs::read(dir.path("h/t/d/f")).unwrap(), b"recorded");
}

/// After a repair, an update records the directories that were made. Files in them can be restored again.
#[test]
fn restored_directories_can_be_recorded() {
    if !is_root() {
        return;
    }
    let dir = Dir::on_disk();
    stage(&dir);
    for journal in ["../first", "../second"] {
        assert!(as_user(&dir, "rm -r h/t/d"));
        repair(&dir, &["--missing", "--journal", journal]).run().status(0);
        dir.ftk(["manifest", "update", "h/t", "../manifest", "-o", "../manifest"]).run().status(0);
        assert!(as_user(&dir, "rm h/t/d/f"));
        repair(&dir, &["--missing", "--journal", &format!("{journal}-file")]).run().status(0);
        assert_eq!(fs::read(dir.path("h/t/d/f")).unwrap(), b"recorded");
    }
    dir.ftk(["manifest", "verify", "h/t", "../manifest"]).run().status(0).stdout("");
}

/// Waits until a directory appears that `is_new` accepts, and runs `attack` on its name.
fn when_made(dir: &Path, is_new: impl Fn(&str) -> bool, attack: impl FnOnce(&str) -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        if let Some(name) = names(dir).iter().find(|name| is_new(name)) {
            return attack(name);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Runs a command in which every `mkdirat` returns half a second late, and the attack meanwhile.
fn while_making(dir: &Dir, ftk: Ftk, attack: impl FnOnce() -> bool) -> Run {
    let log = dir.aside("log");
    let strace = ["strace", "-f", "-o", log.to_str().unwrap(), "-e", "trace=mkdirat"];
    let ftk = ftk.under(dir, strace.into_iter().chain(["-e", "inject=mkdirat:delay_exit=500000"]));
    std::thread::scope(|scope| {
        let run = scope.spawn(|| ftk.run());
        assert!(attack(), "the directory appeared and could be exchanged");
        run.join().unwrap()
    })
}

fn can_delay() -> bool {
    is_root() && has("strace")
}

/// The issue: between `mkdirat` and `open`, the user moves a private directory of root to the new name. It got the
/// recorded owner and permissions.
#[test]
fn no_other_directory_gets_the_metadata_of_a_missing_one() {
    if !can_delay() {
        return;
    }
    for dir in dirs() {
        stage(&dir);
        assert!(as_user(&dir, "rm -r h/t/d"));
        dir.file("h/t/secret/s", b"secret");
        fs::set_permissions(dir.path("h/t/secret"), Permissions::from_mode(0o700)).unwrap();
        let attack = || {
            let is_new = |name: &str| name == "d" || name.starts_with(".ftk-");
            when_made(&dir.path("h/t"), is_new, |name| {
                as_user(&dir, &format!("mv h/t/{name} h/t/taken && mv h/t/secret h/t/{name}"))
            })
        };
        let run = while_making(&dir, repair(&dir, &["--missing"]), attack);
        let secret = find(&dir.path("h/t"), "s");
        assert_eq!(state(&secret), (0, 0o700, vec!["s".into()]), "{}{}", run.text(), run.err);
        assert!(run.code() == 2 || fs::read(dir.path("h/t/d/f")).unwrap() == b"recorded");
    }
}

/// Returns the directory in `dir` that contains a file of this name.
fn find(dir: &Path, name: &str) -> PathBuf {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.join(name).exists()).expect("it still exists")
}

/// The issue: the directory for damaged content is exchanged for a link, and the content was written elsewhere.
#[test]
fn damaged_content_is_saved_only_in_a_directory_of_the_run() {
    if !can_delay() {
        return;
    }
    for other in ["ln -s ../cron.d", "mv w/secret"] {
        let dir = Dir::new();
        stage(&dir);
        damage(&dir.path("h/t/g"));
        dir.dir("w").dir("cron.d").file("w/secret/s", b"secret");
        give(&dir.path("w"));
        fs::set_permissions(dir.path("w/secret"), Permissions::from_mode(0o700)).unwrap();
        let attack = || {
            let is_new = |name: &str| name.ends_with(".damaged") || name.starts_with(".ftk-");
            when_made(&dir.path("w"), is_new, |name| {
                as_user(&dir, &format!("mv w/{name} w/taken && {other} w/{name}"))
            })
        };
        let run = while_making(&dir, repair(&dir, &["--journal", "w/j"]), attack);
        assert_eq!(names(&dir.path("cron.d")), [""; 0], "{}{}", run.text(), run.err);
        assert_eq!(state(&find(&dir.path("w"), "s")), (0, 0o700, vec!["s".into()]));
        assert!(run.code() == 2 || fs::read(dir.path("h/t/g")).unwrap() == b"g");
    }
}

/// A link with the name of the directory for damaged content is not followed, whichever user made it.
#[test]
fn a_link_in_place_of_the_directory_for_damaged_content_is_refused() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"b");
    super::keep(&dir);
    damage(&dir.path("a"));
    copy(&dir, "before");
    fs::create_dir(dir.aside("elsewhere")).unwrap();
    symlink("elsewhere", dir.aside("j.damaged")).unwrap();
    let ftk = dir.ftk([
        "manifest",
        "repair",
        ".",
        "../manifest",
        "--from",
        "../copy",
        "--yes",
        "--journal",
        "../j",
    ]);
    let run = ftk.run().status(2);
    run.check(run.says("cannot make the directory for damaged files"), "the name is taken");
    assert_eq!(names(&dir.aside("elsewhere")), [""; 0]);
    assert_eq!(fs::read(dir.path("a")).unwrap(), fs::read(dir.aside("before").join("a")).unwrap());
}

/// A directory inherits the default access control list of the one above it, and its recorded mode would make that list
/// effective.
#[test]
fn a_directory_of_root_gets_no_access_list_of_another_user() {
    if !is_root() || !has("setfacl") {
        return;
    }
    for dir in dirs() {
        dir.file("h/u/root/secret", b"secret").dir("gone");
        fs::set_permissions(dir.path("h/u/root"), Permissions::from_mode(0o770)).unwrap();
        for path in ["h", "h/u", "gone"] {
            give(&dir.path(path));
        }
        dir.ftk(["manifest", "create", "h", "-o", "../manifest"]).run().status(0);
        let status = Command::new("cp").arg("-a").arg(dir.path("h")).arg(dir.aside("copy")).status();
        assert!(status.unwrap().success());
        assert!(as_user(&dir, "mv h/u gone && setfacl -d -m u:65534:rwx h"));
        let repair = dir.ftk(["manifest", "repair", "h", "../manifest", "--from", "../copy", "--yes"]);
        // The list of the directory is not recorded.
        repair
            .args(["--missing", "--max-missing", "100%"])
            .run()
            .status(1)
            .stderr_has("1 with other metadata");
        assert_eq!(fs::read(dir.path("h/u/root/secret")).unwrap(), b"secret");
        for attempt in ["cat h/u/root/secret", "ls h/u/root", "touch h/u/root/x"] {
            assert!(!as_user(&dir, attempt), "{attempt}");
        }
    }
}

/// Another user links a recorded name to a file of root that has the recorded size and mtime: all its names keep the content.
#[test]
fn a_file_of_root_that_is_linked_to_a_recorded_name_keeps_its_content() {
    if !is_root() {
        return;
    }
    for dir in dirs() {
        dir.file("t/u/f", b"recorded").dir("t/r");
        for path in ["t/u", "t/u/f"] {
            give(&dir.path(path));
        }
        dir.ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
        let status = Command::new("cp").arg("-a").arg(dir.path("t")).arg(dir.aside("copy")).status();
        assert!(status.unwrap().success());
        let time = fs::metadata(dir.path("t/u/f")).unwrap().modified().unwrap();
        dir.file("t/r/tool", b"of root!");
        fs::File::options().write(true).open(dir.path("t/r/tool")).unwrap().set_modified(time).unwrap();
        fs::remove_file(dir.path("t/u/f")).unwrap();
        fs::hard_link(dir.path("t/r/tool"), dir.path("t/u/f")).unwrap();
        for args in [&[][..], &["--modified", "--metadata"]] {
            let repair = dir.ftk(["manifest", "repair", "t", "../manifest", "--from", "../copy", "--yes"]);
            repair.args(args).run().status(2);
            assert_eq!(fs::read(dir.path("t/r/tool")).unwrap(), b"of root!");
            assert_eq!(fs::metadata(dir.path("t/r/tool")).unwrap().uid(), 0);
        }
    }
}

/// Another user puts entries of root under recorded names: a link to a file with the recorded content, and a directory. They
/// would get the recorded owner.
#[test]
fn entries_of_root_in_place_of_recorded_ones_get_no_metadata() {
    if !is_root() {
        return;
    }
    for dir in dirs() {
        stage(&dir);
        dir.file("public", b"recorded").file("h/t/secret/s", b"secret");
        fs::set_permissions(dir.path("h/t/secret"), Permissions::from_mode(0o700)).unwrap();
        fs::remove_file(dir.path("h/t/d/f")).unwrap();
        fs::hard_link(dir.path("public"), dir.path("h/t/d/f")).unwrap();
        let metadata = |args: &[&str]| {
            let ftk = dir.ftk(["manifest", "repair", "h/t", "../manifest", "--metadata", "--yes"]);
            ftk.args(args).run()
        };
        let refused = |name| {
            format!(
                "refuse {name} is perhaps not the recorded entry: another user can change its path, or could when it was \
                 recorded (--other-root accepts it)"
            )
        };
        let run = metadata(&[]).status(2);
        run.check(said(&run).contains(&refused("d/f")), "the link is refused");
        assert_eq!(fs::metadata(dir.path("public")).unwrap().uid(), 0);
        assert!(as_user(&dir, "mv h/t/d h/t/old && mv h/t/secret h/t/d"));
        let before = state(&dir.path("h/t/d"));
        let run = metadata(&["--max-missing", "100%"]).status(2);
        run.check(said(&run).contains(&refused("d")), "the directory is refused");
        assert_eq!(state(&dir.path("h/t/d")), before);
        metadata(&["--max-missing", "100%", "--other-root"]);
        assert_eq!(state(&dir.path("h/t/d")).0, USER);
    }
}

/// The file of another user has the recorded content. It does not become a file under a name that this user cannot reach.
#[test]
fn names_that_another_user_could_have_put_there_are_not_joined() {
    if !is_root() {
        return;
    }
    for owner in [0, USER] {
        let dir = Dir::on_disk();
        dir.file("t/u/f", b"recorded")
            .dir("t/r")
            .hard_link("t/u/f", "t/r/f")
            .file("t/k", b"k")
            .file("t/l", b"l");
        give(&dir.path("t/u"));
        chown(dir.path("t/u/f"), Some(owner), Some(owner)).unwrap();
        dir.ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
        copy_tree(&dir.path("t"), &dir.aside("copy"));
        let repair = |args: &[&str]| {
            let ftk = dir.ftk(["manifest", "repair", "t", "../manifest", "--from", "../copy", "--yes"]);
            ftk.args(args).run()
        };
        let of = |name: &str| fs::metadata(dir.path(name)).unwrap();
        // A missing name becomes a link of the recorded inode, also where another user can change names.
        let recorded = of("t/u/f").ino();
        fs::remove_file(dir.path("t/r/f")).unwrap();
        repair(&["--missing"]).status(0);
        assert_eq!(of("t/r/f").ino(), recorded);
        for name in ["t/r/f", "t/u/f"] {
            fs::remove_file(dir.path(name)).unwrap();
        }
        assert!(as_user(&dir, "printf recorded > t/u/f && chmod 644 t/u/f"));
        let time = fs::metadata(dir.aside("copy/u/f")).unwrap().modified().unwrap();
        fs::File::options().write(true).open(dir.path("t/u/f")).unwrap().set_modified(time).unwrap();
        let is_apart = || {
            let (of_user, of_root) = (of("t/u/f"), of("t/r/f"));
            assert_eq!((of_user.uid(), of_user.nlink()), (USER, 1));
            assert_eq!((of_root.uid(), of_root.nlink()), (owner, 1));
            assert_eq!(fs::read(dir.path("t/r/f")).unwrap(), b"recorded");
        };
        repair(&["--missing"]).status(1).stderr_has("1 whose hard links are separate files");
        is_apart();
        let run = repair(&["--metadata"]);
        let apart = |name, first| {
            format!(
                "leave {name} is recorded as a hard link of {first}, and is a separate file: another user can change a path, or \
                 could (--other-root joins them)"
            )
        };
        let lines = said(&run);
        run.check(
            [apart("u/f", "r/f"), apart("r/f", "u/f")].iter().any(|it| lines.contains(it)),
            "it is listed",
        );
        is_apart();
        repair(&["--metadata", "--other-root"]).status(0);
        assert_eq!((of("t/u/f").ino(), of("t/u/f").uid()), (of("t/r/f").ino(), owner));
    }
}
