//! `ftk find --json`, each member compared with GNU find.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::process::Command;

use data_encoding::BASE64;
use serde_json::{Map, Value, json};

use crate::harness::{Dir, Run, needs, records};

/// Creates an entry of every type, with unusual modes, links and names.
fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("a", b"abc").file("d/suid", b"").file("d/none", b"1").file("sticky/x", b"");
    for (path, mode) in [("d/suid", 0o6755), ("d/none", 0), ("sticky", 0o1777)] {
        fs::set_permissions(dir.path(path), Permissions::from_mode(mode)).unwrap();
    }
    // Only root can make a file of a user without a name.
    let _ = chown(dir.path("d/none"), Some(54_321), None);
    dir.symlink("a", "link").symlink("nowhere/at all", "broken").symlink("d", "to_dir").hard_link("a", "b");
    dir.fifo("fifo").socket("socket").hole("huge", 5 << 30);
    dir.raw_file(b"\xff\n", b"").raw_file("r\u{e9}sum\u{e9} \"\\\t\u{202e}".as_bytes(), b"");
    symlink(OsStr::from_bytes(b"\xfe\xff"), dir.path("odd")).unwrap();
    dir
}

/// Returns the objects, sorted by path.
fn objects(run: &Run) -> Vec<Map<String, Value>> {
    let object = |line: &str| serde_json::from_str(line).expect("a line is an object");
    run.text().lines().map(object).collect()
}

fn text_or_base64(object: &mut Map<String, Value>, name: &str, bytes: &[u8]) {
    match str::from_utf8(bytes) {
        Ok(text) => object.insert(name.into(), text.into()),
        Err(_) => object.insert(format!("{name}_b64"), BASE64.encode(bytes).into()),
    };
}

/// Returns the output of GNU find as objects, sorted by path.
fn expected(dir: &Dir, follow: &str) -> Vec<Map<String, Value>> {
    let mut find = Command::new("find");
    let format = r"%p\0%y\0%s\0%T@\0%m\0%U\0%G\0%D\0%i\0%n\0%l\0%u\0%TY-%Tm-%TdT%TT\0";
    // The entries of this directory are listed once.
    find.args([follow, ".", "!", "-path", "./to_dir/*", "-printf", format]);
    let out = find.current_dir(dir.path("")).env("TZ", "UTC").output().unwrap().stdout;
    let fields = records(&out, 0);
    let mut entries: Vec<_> = fields.chunks(13).collect();
    entries.sort();
    let object = |entry: &[Vec<u8>]| {
        let text = |nth: usize| str::from_utf8(&entry[nth]).unwrap();
        let number = |nth: usize| json!(text(nth).parse::<u64>().unwrap());
        let mut object = Map::new();
        text_or_base64(&mut object, "path", &entry[0]);
        let name = entry[0].rsplit(|byte| *byte == b'/').next().unwrap();
        text_or_base64(&mut object, "name", name);
        object.insert("extension".into(), Value::Null);
        let types = [("f", "file"), ("d", "directory"), ("l", "symlink"), ("p", "fifo"), ("s", "socket")];
        let (_, name) = types.iter().find(|(letter, _)| *letter == text(1)).unwrap();
        object.insert("type".into(), (*name).into());
        object.insert("size_bytes".into(), number(2));
        // GNU find writes ten digits of the fraction, of which nine are significant.
        let (seconds, fraction) = text(3).split_once('.').unwrap();
        let nanoseconds = format!("{seconds}{}", &fraction[..9]);
        object.insert("mtime_ns".into(), json!(nanoseconds.parse::<u64>().unwrap()));
        let tenth_digit = text(12).len() - 1;
        object.insert("mtime".into(), format!("{}Z", &text(12)[..tenth_digit]).into());
        object.insert("mode".into(), format!("{:0>4}", text(4)).into());
        for (nth, name) in [(5, "uid"), (6, "gid"), (7, "dev"), (8, "ino"), (9, "nlink")] {
            object.insert(name.into(), number(nth));
        }
        object.insert("owner".into(), text(11).into());
        if text(1) == "l" {
            text_or_base64(&mut object, "target", &entry[10]);
        }
        object
    };
    entries.into_iter().map(object).collect()
}

/// Names and extensions are those of `--format`, in `find` and `hash`.
#[test]
fn names_and_extensions() {
    let dir = Dir::new();
    let names = [
        "a.txt",
        "A.TXT",
        "archive.tar.gz",
        ".hidden",
        ".hidden.conf",
        "none",
        "dot.",
        "d.d/e.c",
        "\u{e9}.\u{e9}",
    ];
    for name in names {
        dir.file(format!("t/{name}"), b"");
    }
    dir.raw_file(b"t/b.\xff", b"").raw_file(b"t/\xff.c", b"");
    let shown = dir.ftk(["find", "t", "-t", "f", "--sort", "--format", "{name}\n{ext}\n", "-0"]).run().out;
    for command in [&["find", "t", "-t", "f", "--sort", "--json"][..], &["hash", "t", "--json"]] {
        let found = objects(&dir.ftk(command).run().status(0));
        let mut expected = Vec::new();
        for of_file in shown.split(|byte| *byte == 0).filter(|it| !it.is_empty()) {
            let mut fields = of_file.split(|byte| *byte == b'\n');
            let mut object = Map::new();
            text_or_base64(&mut object, "name", fields.next().unwrap());
            match fields.next().unwrap() {
                b"" => _ = object.insert("extension".into(), Value::Null),
                extension => text_or_base64(&mut object, "extension", extension),
            }
            expected.push(object);
        }
        let is_of_name = |key: &str| key.starts_with("name") || key.starts_with("extension");
        let found: Vec<Map<_, _>> =
            found.into_iter().map(|it| it.into_iter().filter(|(key, _)| is_of_name(key)).collect()).collect();
        assert_eq!((found.len(), &found), (11, &expected), "{command:?}");
    }
}

#[test]
fn members() {
    needs!("find");
    let dir = tree();
    for threads in ["mono", "8"] {
        let run = dir.ftk(["find", "--json", "--sort", "-j", threads]).run().status(0).stderr("");
        run.check(objects(&run) == expected(&dir, "-P"), "as GNU find prints");
        let run = dir.ftk(["find", "--json", "--sort", "-L", "-j", threads]).run().status(0);
        let run = run.stderr("  skipped: 1 repeated directory path\n");
        run.check(objects(&run) == expected(&dir, "-L"), "as GNU find prints for targets");
    }
    let sorted = dir.ftk(["find", "--json", "--sort"]).run().status(0);
    let run = dir.ftk(["--json", "find", "-j", "8"]).run().status(0);
    let (mut lines, mut expected) = (records(&run.out, b'\n'), records(&sorted.out, b'\n'));
    lines.sort();
    expected.sort();
    run.check(lines == expected, "the same without --sort");
    run.check(!run.text().contains('\u{202e}'), "nothing in it acts on a terminal");
}

#[test]
fn the_order_of_members_is_fixed() {
    let dir = Dir::new();
    dir.symlink("x", "l");
    let run = dir.ftk(["find", "--json", "l"]).run().status(0);
    let names = [
        "path",
        "type",
        "size_bytes",
        "mtime_ns",
        "mode",
        "uid",
        "gid",
        "owner",
        "dev",
        "ino",
        "nlink",
        "target",
    ];
    let places: Vec<_> = names.iter().map(|name| run.text().find(&format!("\"{name}\":"))).collect();
    run.check(places.is_sorted() && places.iter().all(Option::is_some), "each member, in this order");
}

/// In this directory names can be listed, but no metadata can be read.
#[test]
fn entries_with_unreadable_metadata_are_errors() {
    let dir = Dir::new();
    dir.file("listed/x", b"abc").file("open/y", b"");
    fs::set_permissions(dir.path("listed"), Permissions::from_mode(0o744)).unwrap();
    for sorting in [&[][..], &["--sort"]] {
        let ftk = dir.ftk(["find", "--json", "-t", "f"]).args(sorting);
        let run = ftk.unprivileged(&dir).run().status(2);
        let run = run.stderr("ftk: cannot stat './listed/x': permission denied\n");
        let paths: Vec<_> = objects(&run).iter().map(|object| object["path"].clone()).collect();
        run.check(paths == ["./open/y"], "the other one only");
    }
    let run = dir.ftk(["find", "-t", "f", "--format", "{size}"]).unprivileged(&dir).run().status(2);
    run.stdout("0\n").stderr("ftk: cannot stat './listed/x': permission denied\n");
}

#[test]
fn counts() {
    let dir = tree();
    dir.ftk(["find", "--json", "-c", "-t", "p"]).run().status(0).stdout("{\"count\":1}\n");
    dir.ftk(["find", "--json", "-c", "-n", "absent"]).run().status(0).stdout("{\"count\":0}\n");
}

/// A time may need more than the 64 bits of a signed integer.
#[test]
fn late_times_are_exact() {
    needs!("find");
    let dir = Dir::new();
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::new(13_569_465_600, 7);
    dir.file("late", b"");
    fs::File::open(dir.path("late")).unwrap().set_modified(time).unwrap();
    let run = dir.ftk(["find", "--json", "late"]).run().status(0);
    run.check(run.text().contains("\"mtime_ns\":13569465600000000007,"), "every digit");
}

/// A directory that cannot be listed has the object of an empty one. The error and the status tell.
#[test]
fn unreadable_directories_have_objects() {
    let dir = Dir::new();
    dir.file("t/locked/x", b"x").dir("t/empty").lock("t/locked");
    let run = dir.ftk(["find", "--json", "--sort", "t"]).unprivileged(&dir).run().status(2);
    let paths: Vec<_> = objects(&run).iter().map(|object| object["path"].clone()).collect();
    run.check(paths == ["t", "t/empty", "t/locked"], "an object for each directory");
    run.stderr_has("ftk: cannot open 't/locked': permission denied\n");
    let run = dir.ftk(["du", "--json", "-d9", "t"]).unprivileged(&dir).run().status(2);
    let counts = |object: &Map<String, Value>| (object["files"].clone(), object["directories"].clone());
    let found: Vec<_> = objects(&run).iter().map(counts).collect();
    run.check(found == [(0.into(), 3.into()), (0.into(), 1.into()), (0.into(), 1.into())], "no files");
    run.stderr_has("ftk: cannot open 't/locked': permission denied\n");
}
