//! `--metadata`: owner, permissions, times and attributes are put back.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, Mode, XattrFlags, getxattr, mkfifoat, removexattr, setxattr};

use super::super::records::{create, json, verify};
use super::{copy, journal, keep, repair_from, said};
use crate::harness::{Dir, Run, has, is_root};

fn repair(dir: &Dir, args: &[&str]) -> Run {
    repair_from(dir, &[], &[&["--metadata"], args].concat())
}

fn set_mode(dir: &Dir, name: &str, mode: u32) {
    fs::set_permissions(dir.path(name), Permissions::from_mode(mode)).unwrap();
}

fn mode(dir: &Dir, name: &str) -> u32 {
    fs::symlink_metadata(dir.path(name)).unwrap().mode() & 0o7777
}

fn set_time(dir: &Dir, name: &str, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::open(dir.path(name)).unwrap().set_modified(time).unwrap();
}

fn note(path: &Path) -> Vec<u8> {
    let mut value = [0; 9];
    let len = getxattr(path, "user.note", &mut value[..]).unwrap_or(0);
    value[..len].to_vec()
}

/// Everything that is put back of an entry: permissions, owner, group, mtime and an attribute, with its name.
type State = (String, u32, u32, u32, i64, i64, Vec<u8>);

fn state(dir: &Dir, names: &[&str]) -> Vec<State> {
    let of = |name: &&str| {
        let it = fs::symlink_metadata(dir.path(name)).unwrap();
        let note = if it.is_symlink() { Vec::new() } else { note(&dir.path(name)) };
        (name.to_string(), it.mode(), it.uid(), it.gid(), it.mtime(), it.mtime_nsec(), note)
    };
    names.iter().map(of).collect()
}

const NAMES: &[&str] = &["", "f", "g", "d", "d/e", "d/e/x", "l", "fifo"];

#[test]
fn entries_of_every_type_get_their_recorded_metadata() {
    let dir = Dir::on_disk();
    dir.file("f", b"content").file("g", b"g").file("d/e/x", b"x").symlink("f", "l");
    mkfifoat(CWD, dir.path("fifo"), Mode::from_raw_mode(0o640)).unwrap();
    _ = setxattr(dir.path("f"), "user.note", b"mine", XattrFlags::empty());
    for (nth, name) in ["f", "g", "d/e/x", "d/e", "d", ""].into_iter().enumerate() {
        set_time(&dir, name, 1000 + nth as u64);
    }
    create(&dir, &["--xattrs"]);
    let before = state(&dir, NAMES);
    repair(&dir, &["--yes"]).status(0).stdout("").stderr_has("  nothing to do\n");

    // The contents of `g` are changed, too: it keeps what it has.
    fs::write(dir.path("g"), "edited").unwrap();
    set_mode(&dir, "g", 0o600);
    for (name, mode) in [("f", 0o600), ("d/e/x", 0o777), ("d/e", 0o700), ("d", 0o777), ("fifo", 0o666)] {
        set_mode(&dir, name, mode);
    }
    _ = setxattr(dir.path("f"), "user.note", b"else", XattrFlags::empty());
    _ = setxattr(dir.path("d"), "user.note", b"new", XattrFlags::empty());
    for name in ["f", "d/e/x", "d/e", "d", ""] {
        set_time(&dir, name, 5);
    }
    if is_root() {
        for name in NAMES.iter().filter(|name| **name != "g") {
            lchown(dir.path(name), Some(12), Some(34)).unwrap();
        }
    }
    let changed = state(&dir, NAMES);
    // The other user could have exchanged the entries.
    if is_root() {
        repair(&dir, &["--yes"]).status(2).stderr_has("  nothing was repaired; 7 refused");
    }
    let plan = repair(&dir, &["--other-root"]).status(1);
    assert_eq!(state(&dir, NAMES), changed, "a plan changes nothing");
    let plan =
        plan.stderr_has("; 1 modified (--modified restores it). Nothing was changed: add --yes to do it.\n");
    let lines = said(&plan);
    let order: Vec<_> = lines.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    let links: &[&str] = if is_root() { &["l"] } else { &[] };
    let expected = [&["d/e/x", "f", "fifo"], links, &["d/e", "d", "."]].concat();
    assert_eq!(order, expected, "directories come after everything in them");
    assert!(lines[1].starts_with("metadata f mode 0600 \u{2192} 0644, "), "{}", lines[1]);

    let run = repair(&dir, &["--other-root", "--yes"]).status(1);
    assert_eq!(said(&run), lines);
    let (mut after, mut expected) = (state(&dir, NAMES), before);
    after.remove(2);
    expected.remove(2);
    assert_eq!(after, expected);
    assert_eq!(fs::read(dir.path("g")).unwrap(), b"edited");
    assert_eq!(mode(&dir, "g"), 0o600);
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().lines().count() == 1, "only the edited file differs");

    // Undo brings back what was there, and has nothing to do when it is repeated.
    dir.ftk(["undo"]).arg(journal(&dir)).run().status(0);
    assert_eq!(state(&dir, NAMES), changed);
    let run = dir.ftk(["undo"]).arg(journal(&dir)).run().status(0);
    run.check(!run.text().contains("restore"), "nothing is left");
}

#[test]
fn the_plan_as_json() {
    let dir = Dir::new();
    dir.file("f", b"content");
    create(&dir, &[]);
    set_mode(&dir, "f", 0o600);
    let records = json(&repair(&dir, &["--json"]).status(0));
    let changes = serde_json::json!([{"field": "mode", "old": "0600", "new": "0644"}]);
    assert_eq!(records[0], serde_json::json!({"action": "metadata", "path": "f", "changes": changes}));
    assert_eq!(records[1]["summary"]["metadata"], 1);
}

/// The times of directories come last: files that are restored in them change these.
#[test]
fn restored_files_do_not_change_the_times_of_directories() {
    let dir = Dir::new();
    dir.file("d/damaged", b"good").file("d/gone", b"gone").file("e/cut", b"content").file("k/gone", b"kept");
    for (nth, name) in ["d", "e", "k", ""].into_iter().enumerate() {
        set_time(&dir, name, 1000 + nth as u64);
    }
    keep(&dir);
    super::damage(&dir.path("d/damaged"));
    fs::remove_file(dir.path("d/gone")).unwrap();
    fs::remove_dir_all(dir.path("k")).unwrap();
    fs::write(dir.path("e/cut"), "").unwrap();
    set_time(&dir, "", 1003);
    set_mode(&dir, "e/cut", 0o600);
    let args = ["--metadata", "--missing", "--modified", "--yes"];
    super::repair(&dir, &args).status(0);
    for (nth, name) in ["d", "e", "k", ""].into_iter().enumerate() {
        let mtime = fs::metadata(dir.path(name)).unwrap().mtime();
        assert_eq!(mtime, 1000 + nth as i64, "{name}");
    }
    assert_eq!(mode(&dir, "e/cut"), 0o644, "a file that is replaced gets its recorded metadata, too");
    verify(&dir, &[]).status(0);
    super::repair(&dir, &args).status(0).stderr_has("  nothing to do\n");
}

#[test]
fn set_id_bits_are_never_given() {
    let dir = Dir::new();
    // Names, and the permissions that are recorded, found and put back.
    let cases = [
        ("lacks", 0o4755, 0o755, 0o755, false),
        ("lacks-both", 0o6755, 0o700, 0o755, true),
        ("widened", 0o4755, 0o4777, 0o755, true),
        ("too-many", 0o755, 0o6755, 0o755, true),
        ("one-too-many", 0o4755, 0o6755, 0o755, true),
        ("same", 0o4755, 0o4755, 0o4755, false),
    ];
    for (name, recorded, ..) in cases {
        dir.file(name, b"program");
        set_mode(&dir, name, recorded);
    }
    dir.dir("kept").dir("bare");
    set_mode(&dir, "kept", 0o2755);
    set_mode(&dir, "bare", 0o2755);
    create(&dir, &[]);
    for (name, _, found, ..) in cases {
        set_mode(&dir, name, found);
    }
    // A numeric mode does not remove the bit of a directory in all tools, but the system call does.
    set_mode(&dir, "kept", 0o2777);
    set_mode(&dir, "bare", 0o777);
    let plan = repair(&dir, &[]).status(1);
    let run = repair(&dir, &["--yes"]).status(2);
    assert_eq!(said(&plan), said(&run));
    for (name, _, _, after, is_changed) in cases {
        assert_eq!(mode(&dir, name), after, "{name}");
        let is_listed = said(&run).iter().any(|line| line.starts_with(&format!("metadata {name} ")));
        assert_eq!(is_listed, is_changed, "{name}");
    }
    assert_eq!((mode(&dir, "kept"), mode(&dir, "bare")), (0o2755, 0o755));
    let left = "leave lacks lacks recorded set-ID bits or capabilities: set them yourself".to_owned();
    assert!(said(&run).contains(&left));
    run.stderr_has(
        "ftk: 'widened' has its recorded metadata without set-ID bits and capabilities: set them yourself\n",
    );
    // Nothing else is left.
    let run = repair(&dir, &[]).status(1);
    run.check(said(&run).iter().all(|line| line.starts_with("leave ")), "only the bits");
    // Undo does not give them either.
    dir.ftk(["undo"]).arg(journal(&dir)).run().status(2).stderr_has("without set-ID bits or capabilities");
    assert_eq!((mode(&dir, "widened"), mode(&dir, "too-many")), (0o777, 0o755));
}

#[test]
fn capabilities_are_never_given() {
    if !is_root() {
        return;
    }
    const CAPABILITY: &str = "security.capability";
    // cap_net_raw+ep and cap_net_admin+ep, in revision 2.
    let [raw, admin] = [0x20_u8, 0x10].map(|bits| {
        let mut value = [0; 20];
        (value[0], value[3], value[5]) = (1, 2, bits);
        value
    });
    let dir = Dir::on_disk();
    dir.file("lacks", b"a").file("other", b"b").file("new", b"c").file("same", b"d").file("owner", b"e");
    let set =
        |name: &str, value: &[u8]| setxattr(dir.path(name), CAPABILITY, value, XattrFlags::empty()).unwrap();
    let get = |name: &str| {
        let mut value = [0; 24];
        getxattr(dir.path(name), CAPABILITY, &mut value[..]).ok().map(|len| value[..len].to_vec())
    };
    for name in ["lacks", "other", "same", "owner"] {
        set(name, &raw);
    }
    create(&dir, &["--xattrs"]);
    removexattr(dir.path("lacks"), CAPABILITY).unwrap();
    set("other", &admin);
    set("new", &raw);
    chown(dir.path("owner"), Some(12), None).unwrap();
    set("owner", &raw);
    set_mode(&dir, "same", 0o700);
    repair(&dir, &["--yes"]).status(2);
    assert_eq!((get("lacks"), get("other"), get("new")), (None, Some(admin.to_vec()), None));
    assert_eq!((get("same"), get("owner")), (Some(raw.to_vec()), None));
    assert_eq!(fs::metadata(dir.path("owner")).unwrap().uid(), 0);
}

#[test]
fn an_ordinary_user_is_told_what_only_root_can_do() {
    if !is_root() {
        return;
    }
    let dir = Dir::new();
    dir.file("root's", b"a").file("owner", b"b").file("group", b"c").file("mode", b"d").dir("../state");
    let paths = ["", "owner", "group", "mode"].map(|name| dir.path(name));
    paths.iter().for_each(|path| chown(path, Some(65534), Some(65534)).unwrap());
    chown(dir.path("owner"), Some(12), None).unwrap();
    chown(dir.path("group"), None, Some(34)).unwrap();
    create(&dir, &[]);
    for (name, uid, gid) in [("owner", 65534, 65534), ("group", 65534, 65534)] {
        chown(dir.path(name), Some(uid), Some(gid)).unwrap();
    }
    for name in ["root's", "owner", "group", "mode"] {
        set_mode(&dir, name, 0o604);
    }
    fs::create_dir(dir.aside("own")).unwrap();
    fs::rename(dir.aside("manifest"), dir.aside("own").join("manifest")).unwrap();
    for path in [dir.aside("state"), dir.aside("own"), dir.aside("own").join("manifest")] {
        chown(path, Some(65534), Some(65534)).unwrap();
    }
    let ftk =
        dir.ftk(["manifest", "repair", ".", "--metadata", "--yes"]).arg(dir.aside("own").join("manifest"));
    let run = ftk.unprivileged(&dir).run().status(2);
    let expected = [
        "metadata mode mode 0604 \u{2192} 0644",
        "refuse group only root can give it its recorded group 34",
        "refuse owner only root can give it its recorded owner 12",
        "refuse root\\'s only root and its owner, user 0, can change its metadata",
    ];
    assert_eq!(said(&run), expected);
    let modes = ["group", "mode", "owner", "root's"].map(|name| mode(&dir, name));
    assert_eq!(modes, [0o604, 0o644, 0o604, 0o604], "what is refused is not changed in part");
}

/// `cp -r` sets no times: then nothing tells damage from edits, but the times can be put back.
#[test]
fn the_times_of_a_copy_without_times_are_put_back() {
    let dir = Dir::new();
    for nth in 0..30 {
        let name = format!("f{nth:02}");
        dir.file(&name, format!("content {nth}").as_bytes());
        set_time(&dir, &name, 1_000_000_000 + 1000 * nth);
    }
    create(&dir, &[]);
    let copied = dir.aside("without");
    assert!(Command::new("cp").arg("-r").arg(dir.path(".")).arg(&copied).status().unwrap().success());
    fs::write(copied.join("f07"), "CONTENT 7").unwrap();
    // Its time is one of those that the copy made.
    let time = fs::metadata(copied.join("f08")).unwrap().modified().unwrap();
    File::options().write(true).open(copied.join("f07")).unwrap().set_modified(time).unwrap();
    let run = |args: &[&str]| {
        let ftk = dir.ftk(["manifest", "repair", "--other-root"]).arg(&copied).arg(dir.aside("manifest"));
        ftk.args(args).run()
    };
    copy(&dir, "copy");
    let from = dir.aside("copy");
    run(&["--from", from.to_str().unwrap()]).status(2).stderr_has("all times have shifted");
    let done = run(&["--metadata", "--yes"]).status(1).stderr_has("only metadata is restored");
    done.check(said(&done)[0].starts_with("leave f07 "), "the file with other content is left");
    let mtime = |nth: usize| fs::metadata(copied.join(format!("f{nth:02}"))).unwrap().mtime();
    for nth in (0..30).filter(|nth| *nth != 7) {
        assert_eq!(mtime(nth), 1_000_000_000 + 1000 * nth as i64, "f{nth:02}");
    }
    assert_ne!(mtime(7), 1_000_007_000);
    // The rest is an ordinary tree with one file that was edited.
    run(&["--from", from.to_str().unwrap(), "--modified", "--metadata", "--yes"]).status(0);
    assert_eq!(fs::read(copied.join("f07")).unwrap(), b"content 7");
}

#[test]
fn names_of_one_file_are_set_once() {
    let dir = Dir::new();
    dir.file("a", b"a").hard_link("a", "b").file("c", b"a").file("d", b"d");
    set_time(&dir, "a", 1000);
    set_time(&dir, "c", 1000);
    set_mode(&dir, "c", 0o640);
    create(&dir, &[]);
    fs::remove_file(dir.path("c")).unwrap();
    dir.hard_link("a", "c");
    set_mode(&dir, "a", 0o600);
    let run = repair(&dir, &["--yes"]).status(1);
    let lines = said(&run);
    assert_eq!(lines[0], "leave c is a hard link of a, with other recorded metadata");
    assert_eq!(lines[1], "metadata a mode 0600 \u{2192} 0644");
    assert_eq!(mode(&dir, "c"), 0o644);
    // It stays so.
    let run = repair(&dir, &["--yes"]).status(1);
    run.check(said(&run)[..] == lines[..1], "nothing changes again");
}

#[test]
fn what_changed_since_the_run_is_not_undone() {
    let dir = Dir::new();
    dir.file("mode", b"a").file("edited", b"b").file("as-it-was", b"c").dir("d");
    create(&dir, &[]);
    for name in ["mode", "edited", "as-it-was", "d"] {
        set_mode(&dir, name, 0o700);
    }
    repair(&dir, &["--yes"]).status(0);
    set_mode(&dir, "mode", 0o400);
    fs::write(dir.path("edited"), "edited").unwrap();
    dir.file("d/new", b"new");
    let time = fs::metadata(dir.path("d")).unwrap().modified().unwrap();
    let run = dir.ftk(["undo"]).arg(journal(&dir)).run().status(2);
    for name in ["mode", "edited"] {
        let line = format!("fail ./{name} the file changed (since the run)");
        run.check(said(&run).contains(&line), "it is refused");
    }
    assert_eq!((mode(&dir, "mode"), mode(&dir, "edited")), (0o400, 0o644));
    // A new entry of a directory changes its time, which stays.
    assert_eq!((mode(&dir, "as-it-was"), mode(&dir, "d")), (0o700, 0o700));
    assert_eq!(fs::metadata(dir.path("d")).unwrap().modified().unwrap(), time);
}

/// Root sees and sets these attributes, and other users do neither.
#[test]
fn attributes_that_only_root_sees_are_not_lost() {
    const USER: u32 = 65534;
    if !is_root() {
        return;
    }
    let has = |path: &Path, name: &str| getxattr(path, name, &mut [0; 9][..]).is_ok();
    let stage = || {
        let dir = Dir::on_disk();
        dir.file("kept", b"kept").file("hurt", b"content").file("cut", b"content").file("gone", b"content");
        for name in ["kept", "hurt", "cut", "gone"] {
            setxattr(dir.path(name), "trusted.k", b"v", XattrFlags::empty()).unwrap();
            setxattr(dir.path(name), "user.k", b"v", XattrFlags::empty()).unwrap();
        }
        for name in ["", "kept", "hurt", "cut", "gone"] {
            chown(dir.path(name), Some(USER), Some(USER)).unwrap();
        }
        for name in ["own", "state"] {
            fs::create_dir(dir.aside(name)).unwrap();
            chown(dir.aside(name), Some(USER), Some(USER)).unwrap();
        }
        dir
    };
    let spoil = |dir: &Dir| {
        copy(dir, "copy");
        super::damage(&dir.path("hurt"));
        fs::write(dir.path("cut"), "").unwrap();
        fs::remove_file(dir.path("gone")).unwrap();
    };
    let repair = |dir: &Dir, args: &[&str]| {
        let ftk = dir.ftk(["manifest", "repair", ".", "--missing", "--modified", "--yes", "--other-root"]);
        ftk.arg(dir.aside("own/manifest")).arg("--from").arg(dir.aside("copy")).args(args)
    };
    let create = |dir: &Dir| dir.ftk(["manifest", "create", ".", "-o"]).arg(dir.aside("own/manifest"));
    for metadata in [&[][..], &["--metadata"]] {
        // Root's manifest records them, and the user does not see them.
        let dir = stage();
        create(&dir).run().status(0);
        chown(dir.aside("own/manifest"), Some(USER), Some(USER)).unwrap();
        spoil(&dir);
        let run = repair(&dir, metadata).unprivileged(&dir).run().status(2);
        let lines = said(&run);
        for name in ["hurt", "cut"] {
            let refused = format!(
                "refuse {name} has recorded attributes named trusted.*, which would be lost: repair it as root"
            );
            run.check(lines.contains(&refused), "it is refused");
            assert!(has(&dir.path(name), "trusted.k"));
        }
        let left = "leave gone lacks recorded attributes named trusted.*, which only root can set".to_owned();
        run.check(lines.contains(&left), "it is listed");
        assert_eq!(fs::read(dir.path("gone")).unwrap(), b"content");
        assert!(has(&dir.path("gone"), "user.k") && !has(&dir.path("gone"), "trusted.k"));
        // Root repairs all.
        fs::remove_file(dir.path("gone")).unwrap();
        let journal = dir.aside("second.jsonl");
        let code = repair(&dir, metadata).arg("--journal").arg(journal).run().code();
        assert_eq!((code, has(&dir.path("gone"), "trusted.k")), (0, !metadata.is_empty()));
        for name in ["hurt", "cut", "kept"] {
            assert!(has(&dir.path(name), "trusted.k") && has(&dir.path(name), "user.k"), "{name}");
        }

        // The user's manifest does not tell whether there are any.
        let dir = stage();
        create(&dir).unprivileged(&dir).run().status(0);
        spoil(&dir);
        setxattr(dir.path("kept"), "user.k", b"else", XattrFlags::empty()).unwrap();
        repair(&dir, metadata).run();
        for name in ["hurt", "cut", "kept"] {
            assert!(has(&dir.path(name), "trusted.k") && has(&dir.path(name), "user.k"), "{name}");
        }
        assert_eq!(fs::read(dir.path("cut")).unwrap(), b"content");
    }
}

/// A program that was written to lacks the bits and capabilities that it had. Its recorded content does not bring them back.
#[test]
fn rights_that_a_replaced_file_lacks_are_listed() {
    if !is_root() {
        return;
    }
    const CAPABILITY: &str = "security.capability";
    let mut raw = [0; 20];
    (raw[0], raw[3], raw[5]) = (1, 2, 0x20);
    let dir = Dir::on_disk();
    dir.file("bits", b"program").file("capable", b"program").file("kept", b"program").file("k", b"k");
    set_mode(&dir, "bits", 0o4755);
    set_mode(&dir, "kept", 0o4755);
    setxattr(dir.path("capable"), CAPABILITY, &raw, XattrFlags::empty()).unwrap();
    keep(&dir);
    for (name, mode) in [("bits", 0o755), ("capable", 0o644), ("kept", 0o4755)] {
        fs::write(dir.path(name), "edited").unwrap();
        set_mode(&dir, name, mode);
    }
    let left =
        |name: &str| format!("leave {name} lacks recorded set-ID bits or capabilities: set them yourself");
    for args in [&["--modified"][..], &["--modified", "--metadata"]] {
        let run = repair_from(&dir, &["copy"], args).status(1);
        let lines = said(&run);
        run.check(["bits", "capable"].iter().all(|name| lines.contains(&left(name))), "both are listed");
        let loses = "leave kept loses its set-ID bits and capabilities".to_owned();
        run.check(lines.contains(&loses) && !lines.contains(&left("kept")), "it has the bits");
    }
    let run = repair_from(&dir, &["copy"], &["--modified", "--yes"]).status(2);
    run.stderr_has("'kept' is repaired without its set-ID bits and capabilities: set them yourself");
    assert_eq!(["bits", "capable", "kept"].map(|name| mode(&dir, name)), [0o755, 0o644, 0o755]);
}

/// A directory keeps its time, whatever else of it is put back.
#[test]
fn a_directory_that_gets_its_permissions_keeps_its_time() {
    let dir = Dir::new();
    dir.file("d/x", b"content").file("k", b"k").file("l", b"l");
    let touch = || {
        let status = Command::new("touch").args(["-d", "@1000000000"]).arg(dir.path("d")).status();
        assert!(status.unwrap().success());
    };
    let state = || {
        let it = fs::metadata(dir.path("d")).unwrap();
        (it.mode() & 0o7777, it.mtime(), it.mtime_nsec())
    };
    touch();
    keep(&dir);
    super::damage(&dir.path("d/x"));
    set_mode(&dir, "d", 0o700);
    touch();
    repair_from(&dir, &["copy"], &["--metadata", "--yes"]).status(0);
    assert_eq!(state(), (0o755, 1_000_000_000, 0));
    verify(&dir, &[]).status(0);
    dir.ftk(["undo"]).arg(journal(&dir)).run().status(0);
    assert_eq!(state(), (0o700, 1_000_000_000, 0));
}

#[test]
fn directories_that_are_made_again_get_their_attributes() {
    if !is_root() || !has("setfacl") {
        return;
    }
    let dir = Dir::on_disk();
    dir.file("d/e/f", b"content").file("k", b"k").file("l", b"l").file("m", b"m");
    let changes = ["-m", "u:77:rwx", "-d", "-m", "u:77:rwx", "d"];
    assert!(Command::new("setfacl").args(changes).current_dir(dir.path("")).status().unwrap().success());
    setxattr(dir.path("d"), "user.k", b"v", XattrFlags::empty()).unwrap();
    setxattr(dir.path("d/e"), "trusted.k", b"v", XattrFlags::empty()).unwrap();
    keep(&dir);
    for args in [&["--missing", "--yes"][..], &["--missing", "--metadata", "--yes"]] {
        fs::remove_dir_all(dir.path("d")).unwrap();
        let journal = dir.aside(&format!("{}.jsonl", args.len()));
        let journal = ["--max-missing", "100%", "--journal", journal.to_str().unwrap()];
        repair_from(&dir, &["copy"], &[args, &journal].concat());
        verify(&dir, &["--ignore", "mtime"]).status(i32::from(args.len() == 2));
    }
}

/// One file cannot have two kinds of metadata. A new name of a damaged file is recorded with its own.
#[test]
fn two_records_of_one_repaired_file_are_listed() {
    let dir = Dir::on_disk();
    dir.file("x", b"content").file("k", b"k").file("l", b"l");
    keep(&dir);
    dir.hard_link("x", "y");
    set_mode(&dir, "x", 0o600);
    super::damage(&dir.path("x"));
    super::mark(&dir);
    let run = repair_from(&dir, &["copy"], &["--metadata", "--yes"]).status(1);
    let left = "leave y is a hard link of x, with other recorded metadata".to_owned();
    run.check(said(&run).contains(&left), "it is listed");
    assert_eq!(mode(&dir, "y"), 0o644);
}
