//! Two trees: the report of each kind of difference.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, chown};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::{Value, json};

use crate::harness::{Dir, Run, bytes, has, is_root, skip};

/// What is compared without options.
const CONTENT: [&str; 6] = ["name", "type", "size", "target", "device", "content"];
/// What only `--metadata` compares.
const METADATA: [&str; 6] = ["mode", "uid", "gid", "mtime", "xattrs", "links"];

/// The objects of differences, without the last one.
fn differences(run: &Run) -> Vec<Value> {
    let mut objects: Vec<Value> =
        run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = objects.pop().unwrap();
    assert!(last["compared"].is_array() && last["differences"].is_u64(), "{last}");
    objects
}

/// A difference of each kind, and things that are the same.
fn two_trees() -> Dir {
    let dir = Dir::new();
    for tree in ["a", "b"] {
        dir.file(format!("{tree}/same/x"), b"the same")
            .file(format!("{tree}/size"), &vec![0; if tree == "a" { 1000 } else { 2000 }])
            .symlink("same", &format!("{tree}/link"))
            .symlink(tree, &format!("{tree}/target"))
            .dir(format!("{tree}/empty"))
            .fifo(&format!("{tree}/pipe"))
            .socket(&format!("{tree}/socket"));
    }
    let content = bytes(1, 10_000);
    let mut other = content.clone();
    other[4096] ^= 1;
    dir.file("a/bin/tool", &content).file("b/bin/tool", &other);
    dir.file("a/lib/old.so", b"").file("a/lib/deep/er/x", b"").file("b/new/y", b"").file("b/new.txt", b"");
    dir.file("a/type", b"abc").dir("b/type").file("b/type/below", b"");
    dir
}

#[test]
fn one_line_for_each_difference() {
    let dir = two_trees();
    let run = dir.ftk(["cmp", "a", "b"]).run().status(1);
    let run = run.stdout(
        "content differs\tbin/tool\tfirst at byte 4097\n\
         only in a\tlib\n\
         only in b\tnew\n\
         only in b\tnew.txt\n\
         size differs\tsize\t1000 and 2000 bytes\n\
         target differs\ttarget\t'a', 'b'\n\
         type differs\ttype\tfile, directory\n",
    );
    run.stderr_has(
        "  1 only in 'a', 2 only in 'b', 1 type, 1 size, 1 content, 1 target; 2 pairs of files compared, ",
    );
    let run = dir.ftk(["cmp", "--json", "./a/", "b"]).run().status(1);
    let objects: Vec<Value> = run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = [
        json!({"difference": "content", "path": "bin/tool", "first_byte": 4097}),
        json!({"difference": "only_a", "path": "lib", "type": "directory", "entries": 4, "size_bytes": 0}),
        json!({"difference": "only_b", "path": "new", "type": "directory", "entries": 1, "size_bytes": 0}),
        json!({"difference": "only_b", "path": "new.txt", "type": "file", "size_bytes": 0}),
        json!({"difference": "size", "path": "size", "size_bytes_a": 1000, "size_bytes_b": 2000}),
        json!({"difference": "target", "path": "target", "target_a": "a", "target_b": "b"}),
        json!({"difference": "type", "path": "type", "type_a": "file", "type_b": "directory", "entries": 1, "size_bytes": 0}),
        json!({"equal": false, "differences": 7, "pairs": 2, "failed": 0, "compared": CONTENT, "not_compared": METADATA,
            "pairs_by_type": 2, "skipped": 0}),
    ];
    assert_eq!(objects, expected);
    dir.ftk(["cmp", "-s", "a", "b"]).run().status(1).stdout("").stderr("");
    dir.ftk(["cmp", "-s", "a", "b"]).run().status(1).stdout("").stderr("");
}

/// The summary and the last object name what was not compared, whatever hides it.
#[test]
fn what_was_not_compared_is_said() {
    let dir = two_trees();
    let base = "  compared: name, type, size, target, device, content; \
        not compared: mode, uid, gid, mtime, xattrs, links (see --metadata); 2 pairs of FIFOs or sockets by type only";
    for (args, ends) in [
        (&[][..], ""),
        (&["-E", "bin"], "; 2 entries skipped by options"),
        (&["--max-depth", "1"], "; nothing below depth 1"),
        (&["-E", "bin", "--max-depth", "1"], "; 2 entries skipped by options; nothing below depth 1"),
    ] {
        dir.ftk(["cmp", "a", "b"]).args(args).run().status(1).stderr_has(&format!("{base}{ends}\n"));
    }
    let scope = |args: &[&str]| -> Value {
        let run = dir.ftk(["cmp", "--json"]).args(args).run();
        serde_json::from_str(run.text().lines().last().unwrap()).unwrap()
    };
    let all = scope(&["--metadata", "a", "b", "--no-hidden", "--max-depth", "2"]);
    assert_eq!(all["compared"], json!([&CONTENT[..], &METADATA].concat()));
    assert_eq!((&all["not_compared"], &all["max_depth"]), (&json!(["mtime of directories"]), &json!(2)));
    let some = scope(&["--ignore", "mtime,owner", "a", "b"]);
    assert_eq!(some["not_compared"], json!(["uid", "gid", "mtime"]));
    let quick = scope(&["--quick", "-E", "b*", "a", "b"]);
    assert_eq!(quick["not_compared"][0], "content");
    // `bin` of both, and `type/below`.
    assert_eq!((&quick["skipped"], &quick["equal"]), (&json!(3), &json!(false)));
    assert_eq!(scope(&["a", "a"]), json!({"equal": true, "differences": 0, "same_directory": true}));
    // Without a difference, an error leaves open whether the trees are equal.
    let dir = Dir::new();
    dir.file("a/x", b"1").file("b/x", b"1").lock("b/x");
    let run = dir.ftk(["cmp", "--json", "a", "b"]).unprivileged(&dir).run().status(2);
    let last: Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!((&last["equal"], &last["failed"]), (&Value::Null, &json!(1)));
    dir.ftk(["cmp", "-s", "--json", "a", "b"]).run().status(0).stdout("").stderr("");
}

/// Whether a pair cannot be read does not depend on the form of the output.
#[test]
fn the_form_does_not_change_the_status() {
    let dir = Dir::new();
    dir.file("a/x", b"1").file("b/x", b"2").file("a/y", b"1").file("b/y", b"12").lock("b/x").lock("b/y");
    for args in [&["cmp", "a", "b"][..], &["cmp", "--json", "a", "b"]] {
        dir.ftk(args).unprivileged(&dir).run().status(2).stderr_has("cannot open 'b/x'");
    }
}

#[test]
fn devices_of_different_numbers() {
    let dir = Dir::new();
    dir.dir("a").dir("b");
    for (path, minor) in [("a/same", 3), ("b/same", 3), ("a/zero", 3), ("b/zero", 5)] {
        let mode = Mode::from_raw_mode(0o666);
        if mknodat(CWD, dir.path(path), FileType::CharacterDevice, mode, makedev(1, minor)).is_err() {
            return skip("devices, which only root can make");
        }
    }
    let run = dir.ftk(["cmp", "a", "b"]).run().status(1).stdout("device differs\tzero\t1:3, 1:5\n");
    run.stderr_has("  1 device; 0 pairs of files compared, ");
    let run = dir.ftk(["cmp", "--json", "--quick", "a", "b"]).run().status(1);
    let object = json!({"difference": "device", "path": "zero", "rdev_a": 259, "rdev_b": 261});
    assert_eq!(differences(&run), [object]);
}

#[test]
fn equal_trees() {
    let dir = Dir::new();
    for tree in ["a", "b"] {
        dir.file(format!("{tree}/x/y"), b"abc")
            .file(format!("{tree}/empty"), b"")
            .symlink("x", &format!("{tree}/l"));
    }
    let run = dir.ftk(["cmp", "a", "b"]).run().status(0).stdout("");
    run.stderr_has("  no differences; 2 pairs of files compared, 6 B in ");
    dir.ftk(["cmp", "a/x", "b/x"]).run().status(0);
    dir.symlink("b", "to_b");
    dir.ftk(["cmp", "a", "to_b"]).run().status(0);
}

#[test]
fn one_tree_given_twice_is_not_walked() {
    let dir = two_trees();
    dir.symlink("a", "to_a").lock("a/same");
    for other in ["a", "a/", "./a", "to_a", "b/../a"] {
        let run = dir.ftk(["cmp", "a", other]).unprivileged(&dir).run().status(0).stdout("");
        run.stderr("  equal: both are the same directory\n");
    }
    dir.ftk(["cmp", "--no-shortcuts", "a", "to_a"]).run().status(0).stderr_has("6 pairs of files compared");
}

#[test]
fn filters_of_one_tree_given_twice_count() {
    let dir = two_trees();
    dir.symlink("a", "to_a");
    for other in ["a", "to_a"] {
        let none = dir.ftk(["cmp", "-n", "nothing", "a", other]).run().status(2);
        none.stderr_has("nothing was compared: the filters match none of");
        let unused = dir.ftk(["cmp", "-E", "nothing", "a", other]).run().status(0).stdout("");
        unused
            .stderr_has("--exclude 'nothing' matched nothing")
            .stderr_has("0 pairs of files compared, 0 B in ");
    }
}

/// Hard links are equal without being read, unless everything must be read.
#[test]
fn hard_links_are_not_read() {
    let dir = Dir::new();
    dir.dir("b").hole("a/huge", 4 << 40).hard_link("a/huge", "b/huge");
    dir.ftk(["cmp", "a", "b"]).run().status(0).stderr_has("0 pairs of files compared, 0 B in ");
    dir.file("a/small", b"abc").hard_link("a/small", "b/small");
    fs::remove_file(dir.path("a/huge")).unwrap();
    fs::remove_file(dir.path("b/huge")).unwrap();
    dir.ftk(["cmp", "--no-shortcuts", "a", "b"])
        .run()
        .status(0)
        .stderr_has("1 pair of files compared, 6 B in ");
}

fn set_time(dir: &Dir, path: &str, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, 500_000_000);
    File::open(dir.path(path)).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
}

/// Each field alone may differ, and all others are still compared.
#[test]
fn fields_that_may_differ() {
    let dir = Dir::new();
    for tree in ["a", "b"] {
        for name in ["mode", "mtime", "links", "links2", "uid", "gid"] {
            dir.file(format!("{tree}/{name}"), b"x");
            set_time(&dir, &format!("{tree}/{name}"), 7);
        }
    }
    fs::set_permissions(dir.path("b/mode"), Permissions::from_mode(0o600)).unwrap();
    set_time(&dir, "b/mtime", 8);
    fs::remove_file(dir.path("b/links2")).unwrap();
    dir.hard_link("b/links", "b/links2");
    let mut fields = vec!["links", "mode", "mtime"];
    if is_root() {
        chown(dir.path("b/uid"), Some(7), None).unwrap();
        chown(dir.path("b/gid"), None, Some(7)).unwrap();
        fields.splice(0..0, ["gid"]);
        fields.push("uid");
    }
    let found = |ignored: &str| {
        let run = dir.ftk(["cmp", "--ignore", ignored, "a", "b"]).run();
        // That one tree has no hard links is said of the tree.
        let name = |line: &str| line.split('\t').nth(1).unwrap().replace('.', "links");
        let mut names: Vec<_> = run.text().lines().map(name).collect();
        names.sort();
        names
    };
    for ignored in &fields {
        let others: Vec<_> = fields.iter().filter(|field| *field != ignored).copied().collect();
        assert_eq!(found(ignored), others, "without {ignored}");
    }
    assert_eq!(found("xattrs"), fields);
    assert_eq!(found("owner"), ["links", "mode", "mtime"]);
    dir.ftk(["cmp", "--ignore", "mode,owner", "--ignore=mtime,links", "a", "b"]).run().status(0).stdout("");
    for (args, why) in [
        (&["--ignore", "mtime", "--quick", "a", "b"][..], "--ignore mtime cannot be used with --quick"),
        (
            &["--ignore", "mtime", "--modify-window=2", "a", "b"],
            "cannot be used with --quick or --modify-window",
        ),
        (&["--ignore", "mode", "a/mode", "b/mode"], "--ignore is for two trees"),
        (&["--ignore", "size", "a", "b"], "possible values: mtime, mode, owner, uid, gid, xattrs, links"),
    ] {
        dir.ftk(["cmp"]).args(args).run().status(2).stdout("").stderr_has(why);
    }
}

#[test]
fn metadata_where_asked_for() {
    let dir = Dir::new();
    for (tree, time, mode) in [("a", 1_000_000_000, 0o644), ("b", 1_000_000_001, 0o755)] {
        dir.file(format!("{tree}/mode"), b"x")
            .file(format!("{tree}/time"), b"x")
            .file(format!("{tree}/d/same"), b"");
        fs::set_permissions(dir.path(tree).join("mode"), Permissions::from_mode(mode)).unwrap();
        set_time(&dir, &format!("{tree}/mode"), 7);
        set_time(&dir, &format!("{tree}/time"), time);
        set_time(&dir, &format!("{tree}/d/same"), 7);
        // Copying changes the times of the directories.
        set_time(&dir, &format!("{tree}/d"), time);
    }
    fs::set_permissions(dir.path("b/d"), Permissions::from_mode(0o700)).unwrap();
    dir.ftk(["cmp", "a", "b"]).run().status(0).stdout("");
    let run = dir.ftk(["cmp", "--metadata", "a", "b"]).run().status(1);
    run.stdout(
        "metadata differs\td\tmode 0755, 0700\n\
         metadata differs\tmode\tmode 0644, 0755\n\
         metadata differs\ttime\tmtime 2001-09-09T01:46:40.5+00:00, 2001-09-09T01:46:41.5+00:00\n",
    );
    let run = dir.ftk(["cmp", "--metadata", "--json", "a", "b"]).run().status(1);
    let objects = differences(&run);
    let last = objects.last().unwrap();
    let times = [1_000_000_000_500_000_000_u64, 1_000_000_001_500_000_000];
    assert_eq!(
        *last,
        json!({"difference": "metadata", "path": "time", "mtime_ns_a": times[0], "mtime_ns_b": times[1]})
    );
    let first: Value = serde_json::from_str(run.text().lines().next().unwrap()).unwrap();
    assert_eq!(first, json!({"difference": "metadata", "path": "d", "mode_a": "0755", "mode_b": "0700"}));
}

#[test]
fn owners_where_asked_for() {
    let dir = Dir::new();
    dir.file("a/x", b"1").file("b/x", b"2").symlink("x", "a/l").symlink("x", "b/l");
    for path in ["a/x", "b/x"] {
        set_time(&dir, path, 7);
    }
    if chown(dir.path("b/x"), Some(7), Some(9)).is_err() {
        return skip("other owners, which only root can make");
    }
    for tree in ["a", "b"] {
        let link = File::open(dir.path(tree)).unwrap();
        let times = rustix::fs::Timestamps {
            last_access: rustix::fs::Timespec { tv_sec: 7, tv_nsec: 0 },
            last_modification: rustix::fs::Timespec { tv_sec: 7, tv_nsec: 0 },
        };
        rustix::fs::utimensat(&link, "l", &times, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let run = dir.ftk(["cmp", "--metadata", "a", "b"]).run().status(1);
    run.stdout(format!(
        "content differs\tx\tfirst at byte 1\nmetadata differs\tx\tuid {uid}, 7; gid {gid}, 9\n"
    ))
    .stderr_has("  1 content, 1 metadata; ");
}

/// `cp -a` keeps attributes, and `cp -p` only access control lists.
#[test]
fn attributes_where_asked_for() {
    if !is_root() || !has("setfacl") || !has("setcap") {
        return skip("capabilities, which only root can set");
    }
    for dir in [Dir::new(), Dir::on_disk()] {
        dir.file("a/list", b"1").file("a/note", b"2").file("a/tool", b"3").dir("a/sub");
        dir.symlink("note", "a/link").file("a/secret", b"4").symlink("a", "l");
        let shell = |script: &str| dir.ftk([""; 0]).instead(&dir, ["sh", "-ec", script]).run().status(0);
        shell(
            "cd a; setcap cap_net_raw+ep tool; setfacl -m u:1234:r list; setfacl -d -m u:1234:r sub; \
             setfattr -n user.note -v 1 note; setfattr -h -n trusted.link -v 1 link; \
             setfattr -n user.note -v 1 secret; chmod 0600 secret; cd ..; cp -a a b; cp -rp a c; cp -a a d; \
             setfattr -n user.note -v 2 d/note; setcap -r d/tool; setfattr -n user.more -v 1 d/sub",
        );
        for pair in [["a", "b"], ["l", "b"], ["b", "l"]] {
            dir.ftk(["cmp", "--metadata"]).args(pair).run().status(0).stdout("");
        }
        let lines = "metadata differs\tlink\ttrusted.link only in A\n\
             metadata differs\tnote\tuser.note only in A\n\
             metadata differs\tsecret\tuser.note only in A\n\
             metadata differs\ttool\tcapabilities only in A\n";
        dir.ftk(["cmp", "--metadata", "a", "c"]).run().status(1).stdout(lines);
        dir.ftk(["cmp", "a", "c"]).run().status(0).stdout("");
        let lines = "metadata differs\tnote\tuser.note different\n\
             metadata differs\tsub\tuser.more only in B\n\
             metadata differs\ttool\tcapabilities only in A\n";
        let run = dir.ftk(["cmp", "--metadata", "a", "d"]).run().status(1).stdout(lines);
        run.stderr_has("  3 metadata; ");
        let objects =
            [("note", "both", "user.note"), ("sub", "b", "user.more"), ("tool", "a", "security.capability")];
        let objects = objects.map(|(path, side, name)| {
            json!({"difference": "metadata", "path": path, "xattrs": [{"in": side, "name": name}]})
        });
        let run = dir.ftk(["cmp", "--metadata", "--json", "a", "d"]).run().status(1);
        assert_eq!(differences(&run), objects);
        // A user sees no attributes of root, and may not read those of a file that he may not read.
        shell("setfattr -h -x trusted.link d/link");
        let run = dir.ftk(["cmp", "--quick", "--metadata", "a", "b"]).unprivileged(&dir).run().status(2);
        run.stdout("").stderr_has("cannot read the attributes of 'a/secret': permission denied");
        shell("chmod a+r a/secret d/secret");
        let run = dir.ftk(["cmp", "--metadata", "a", "d"]).unprivileged(&dir).run().status(1);
        run.stdout(lines);
    }
}

/// The times of a copy by `Files.copy` of Java, which keeps whole microseconds, and one file with another time.
#[test]
fn rounded_times_are_accepted_on_request() {
    let dir = Dir::new();
    for nth in 0..12_u32 {
        let time = Duration::new(1_700_000_000 + 86_400 * u64::from(nth), 123_456_789 + 7_654_321 * nth);
        for (tree, ns) in [("a", time.as_nanos()), ("b", time.as_nanos() / 1000 * 1000)] {
            let ns = if (tree, nth) == ("b", 3) { ns + 5000 } else { ns };
            dir.file(format!("{tree}/{nth:02}"), &bytes(nth.into(), 100));
            let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(ns as u64);
            File::open(dir.path(format!("{tree}/{nth:02}"))).unwrap().set_modified(time).unwrap();
        }
    }
    let count = |args: &[&str]| dir.ftk(["cmp"]).args(args).args(["a", "b"]).run();
    for kind in ["--quick", "--metadata"] {
        assert_eq!(count(&[kind]).status(1).text().lines().count(), 12);
        for (a, b, name) in [("a", "b", "B"), ("b", "a", "A")] {
            let run = dir.ftk(["cmp", kind, "--modify-window", a, b]).run().status(1);
            run.check(run.text().lines().count() == 1, "one file");
            run.check(run.text().starts_with("metadata differs\t03\tmtime "), "the other time");
            run.stderr_has(&format!("  mtimes of 11 files: times of {name} are rounded to 1 \u{b5}s\n"));
        }
        let run = count(&[kind, "--modify-window", "--json"]).status(1);
        let objects = differences(&run);
        let last = objects.last().unwrap();
        let agreement =
            json!({"times_agree": true, "files": 11, "shift_ns": 0, "rounded": "b", "step_ns": 1000});
        assert_eq!(*last, agreement);
        for (window, n) in [("999ns", 1), ("1us", 1), ("4us", 1), ("10us", 0), ("2", 0), ("0", 12)] {
            let run = count(&[kind, &format!("--modify-window={window}")]).status(i32::from(n > 0));
            run.check(run.text().lines().count() == n, window);
        }
    }
    count(&["--modify-window"]).status(2).stderr_has("--modify-window needs --quick or --metadata");
    let files = dir.ftk(["cmp", "--modify-window", "a/00", "b/00"]).run();
    files.status(2).stderr_has("--modify-window is for two trees");
}

/// One inode with many names is one file, and each of these names is one if a copy has made it a separate file.
#[test]
fn the_times_of_each_pair_of_files_count_once() {
    for is_linked in [true, false] {
        let dir = Dir::new();
        for (tree, hours) in [("a", 0), ("b", 1)] {
            for nth in 0..12_u32 {
                let (path, group) = (format!("{tree}/{nth:02}"), nth % 3);
                if nth > 2 && (tree == "a" || is_linked) {
                    dir.hard_link(&format!("{tree}/{group:02}"), &path);
                    continue;
                }
                dir.file(&path, &bytes(group.into(), 100));
                // One of three files was touched; or all names but the first ones are shifted.
                let is_shifted = if is_linked { group == 2 } else { nth > 2 };
                let seconds =
                    1_700_000_000 + 86_400 * u64::from(group) + u64::from(is_shifted) * 3600 * hours;
                let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, 5 + group);
                File::open(dir.path(&path)).unwrap().set_modified(time).unwrap();
            }
        }
        let run = dir.ftk(["cmp", "--quick", "--modify-window", "a", "b"]).run();
        let shift = "mtimes of 9 files: +1 h 0 min";
        let run = if is_linked { run.stderr_lacks("mtimes of") } else { run.stderr_has(shift) };
        run.check(run.text().contains("\t05\tmtime ") == is_linked, "another time");
    }
}

#[test]
fn quick_reads_nothing() {
    let dir = Dir::new();
    for (tree, content) in [("a", b"abc"), ("b", b"xyz")] {
        dir.file(format!("{tree}/same_time"), content).file(format!("{tree}/other_time"), b"abc");
        set_time(&dir, &format!("{tree}/same_time"), 7);
        set_time(&dir, &format!("{tree}/other_time"), u64::from(content[0]));
        dir.lock(&format!("{tree}/same_time"));
    }
    let run = dir.ftk(["cmp", "--quick", "a", "b"]).unprivileged(&dir).run().status(1);
    run.stdout(
        "metadata differs\tother_time\tmtime 1970-01-01T00:01:37.5+00:00, 1970-01-01T00:02:00.5+00:00\n",
    )
    .stderr_has("0 pairs of files compared, 0 B in ");
    dir.file("a/size", b"1").file("b/size", b"12");
    dir.ftk(["cmp", "--quick", "-n", "size", "a", "b"])
        .run()
        .status(1)
        .stdout("size differs\tsize\t1 and 2 bytes\n");
}

/// The selection applies to both trees.
#[test]
fn the_selection_is_that_of_both() {
    let dir = two_trees();
    let run = dir.ftk(["cmp", "a", "b", "-E", "bin", "-E", "lib", "-E", "new*", "-t", "f,l"]).run().status(1);
    run.stdout(
        "size differs\tsize\t1000 and 2000 bytes\ntarget differs\ttarget\t'a', 'b'\nonly in a\ttype\n\
         only in b\ttype/below\n",
    );
    dir.ftk(["cmp", "a", "b", "-e", "so"]).run().status(1).stdout("only in a\tlib/old.so\n");
    dir.ftk(["cmp", "a", "b", "--path", "same*"]).run().status(0);
    // A followed link is treated as its target.
    dir.symlink("../a/same", "b/followed").file("a/followed/x", b"the same");
    let followed = ["--path", "followed*"];
    let run = dir.ftk(["cmp", "a", "b"]).args(followed).run().status(1);
    run.stdout("type differs\tfollowed\tdirectory, symlink\n");
    dir.ftk(["cmp", "-L", "a", "b"]).args(followed).run().status(0).stdout("");
}

/// Nothing below an unreadable directory is reported as missing. The rest is compared.
#[test]
fn what_may_not_be_read() {
    let dir = Dir::new();
    for tree in ["a", "b"] {
        dir.file(format!("{tree}/locked/x"), b"abc")
            .file(format!("{tree}/f"), b"abc")
            .file(format!("{tree}/size"), tree.repeat(3 + usize::from(tree == "b")).as_bytes())
            .file(format!("{tree}/z"), b"1");
    }
    dir.file("b/z", b"2").lock("a/locked").lock("b/f").lock("b/size");
    for threads in ["mono", "2", "8"] {
        let run = dir.ftk(["cmp", "-j", threads, "a", "b"]).unprivileged(&dir).run().status(2);
        // The size is known without permission to read.
        run.stdout("size differs\tsize\t3 and 4 bytes\ncontent differs\tz\tfirst at byte 1\n")
            .stderr_has("ftk: cannot open 'a/locked': permission denied\n")
            .stderr_has("ftk: cannot open 'b/f': permission denied\n")
            .stderr_has("  1 pair of files not compared (listed above; status 2)\n");
        let run = dir.ftk(["cmp", "-s", "-j", threads, "a", "b"]).unprivileged(&dir).run().status(2);
        run.stdout("").stderr_has("'b/f'");
    }
    let run = dir.ftk(["cmp", "a", "b", "-n", "f"]).unprivileged(&dir).run().status(2).stdout("");
    run.stderr_has("  no differences in what could be read; ");
    dir.lock("b");
    let run = dir.ftk(["cmp", "a", "b"]).unprivileged(&dir).run().status(2).stdout("");
    run.stderr_has("ftk: cannot open 'b': permission denied\n");
}

/// On a terminal the output has columns, colours and escaped names.
#[test]
fn names_of_any_bytes() {
    let dir = Dir::new();
    dir.dir("a")
        .raw_file(b"b/\x1b[31m", b"")
        .raw_file(b"b/a\tb", b"")
        .raw_file(b"b/\xff", b"")
        .file("b/it's", b"");
    let run = dir.ftk(["cmp", "a", "b"]).run().status(1);
    run.stdout("only in b\t'\\x1b[31m'\nonly in b\t'a\\tb'\nonly in b\t'it\\'s'\nonly in b\t'\\xff'\n");
    let run = dir.ftk(["cmp", "--json", "a", "b"]).run().status(1);
    let objects = differences(&run);
    let last = json!({"difference": "only_b", "path_b64": "/w==", "type": "file", "size_bytes": 0});
    assert_eq!(objects.last(), Some(&last));
    dir.raw_file(b"\n/x", b"");
    let run = dir.ftk(["cmp", "\n", "a"]).run().status(1);
    run.stdout("only in '\\n'\tx\n");
}

/// Pairs of every size, from empty files to files that all workers compare together.
#[test]
fn small_and_large() {
    const MIB: usize = 1 << 20;
    let dir = Dir::new();
    let mut expected = Vec::new();
    for (nth, size) in
        [0, 1, 100, 131_071, 131_072, 131_073, MIB, 3 * MIB + 1, 33 * MIB, 40 * MIB].into_iter().enumerate()
    {
        for (kind, at) in [("same", None), ("first", Some(0)), ("last", size.checked_sub(1))] {
            let name = format!("{nth}-{kind}");
            for tree in ["a", "b"] {
                dir.hole(&format!("{tree}/{name}"), size as u64);
                let file = File::options().write(true).open(dir.path(tree).join(&name)).unwrap();
                if size > 0 {
                    file.write_all_at(b"x", size as u64 / 2).unwrap();
                }
            }
            if let Some(at) = at.filter(|at| *at < size) {
                let file = File::options().write(true).open(dir.path("b").join(&name)).unwrap();
                file.write_all_at(b"y", at as u64).unwrap();
                expected.push((name.clone(), format!("content differs\t{name}\tfirst at byte {}\n", at + 1)));
            }
        }
    }
    expected.sort();
    let expected: String = expected.into_iter().map(|(_, line)| line).collect();
    for threads in ["auto", "mono", "2", "3", "8"] {
        for shortcuts in [&[][..], &["--no-shortcuts"]] {
            let run = dir.ftk(["cmp", "-j", threads, "a", "b"]).args(shortcuts).run().status(1);
            run.stdout(&expected);
        }
    }
    dir.ftk(["cmp", "-v", "a", "b"]).run().status(1).stderr_has("ftk: large   6 pairs compared last");
}

/// A memory limit ends the run with an error before any output.
#[test]
fn little_memory() {
    let dir = Dir::new();
    for nth in 0..3000 {
        for tree in ["a", "b"] {
            File::create(dir.dir(tree).path(tree).join(format!("{}{nth}", "long".repeat(30)))).unwrap();
        }
    }
    let run = dir.ftk(["cmp", "--memory", "100K", "a", "b"]).run().status(2).stdout("");
    run.stderr("ftk: the tree is too large (raise --memory to at least 128K): its tables need more memory than allowed\n");
    dir.ftk(["cmp", "--memory", "16M", "a", "b"]).run().status(0);
}
