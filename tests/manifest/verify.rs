//! Every verdict, by a change that causes exactly that one.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::records::{create, json as objects, verdicts, verify};
use super::trees::{everything, random};
use crate::harness::Dir;

const NONE: &[&str] = &[];

/// Creates a tree and its manifest.
fn recorded() -> Dir {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"twelve bytes").file("sub/c", b"see").symlink("a", "link").fifo("fifo");
    create(&dir, &[]);
    dir
}

/// Changes a file and restores its size and mtime.
fn rot(dir: &Dir, path: &str) {
    let file = File::options().write(true).open(dir.path(path)).unwrap();
    let before = file.metadata().unwrap();
    file.write_all_at(b"#", before.len() / 2).unwrap();
    file.set_times(FileTimes::new().set_modified(before.modified().unwrap())).unwrap();
}

fn touch(dir: &Dir, path: &str, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::open(dir.path(path)).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
}

#[test]
fn ok() {
    for dir in [recorded(), everything(), random(11)] {
        create(&dir, &[]);
        assert_eq!(verdicts(&dir, &[]), NONE);
        let run = verify(&dir, &[]).status(0).stdout("");
        run.stderr_has(" as recorded\n");
    }
    let dir = recorded();
    assert_eq!(
        verdicts(&dir, &["--all"]),
        ["ok .", "ok a", "ok b", "ok fifo", "ok link", "ok sub", "ok sub/c"]
    );
    let run = verify(&dir, &[]).status(0);
    run.stderr_has("  7 of 7 as recorded\n").stderr_has("3 files read, 18 B in ");
    verify(&dir, &["-q"]).status(0).stdout("").stderr("");
}

#[test]
fn corrupted() {
    let dir = recorded();
    rot(&dir, "b");
    assert_eq!(verdicts(&dir, &[]), ["corrupted b: digests"]);
    let run = verify(&dir, &[]).status(1).stderr_has("  6 of 7 as recorded; 1 corrupted   (status 1)\n");
    let text = run.text();
    let line = "corrupted\tb\tcontent changed, size and mtime did not, sha256 ";
    run.check(text.starts_with(line) && text.contains("\u{2026} \u{2192} "), "old and new digest");
    let record = &objects(&verify(&dir, &["--json"]))[0];
    let (old, new) = (&record["changes"][0]["old"]["sha256"], &record["changes"][0]["new"]["sha256"]);
    assert_eq!(*old, crate::harness::sha256(b"twelve bytes"));
    assert_eq!(*new, crate::harness::sha256(b"twelve#bytes".as_slice()));
}

#[test]
fn modified() {
    let dir = recorded();
    dir.file("b", b"twelve BYTES");
    touch(&dir, "b", 1_000_000_000);
    assert_eq!(verdicts(&dir, &[]), ["modified b: mtime_ns, digests"]);
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().starts_with("modified\tb\tmtime "), "what changed");
    run.check(run.text().contains(" \u{2192} 2001-09-09T01:46:40+00:00"), "when");
    // Another size with a restored mtime is an edit, too.
    let dir = recorded();
    let before = fs::metadata(dir.path("b")).unwrap().modified().unwrap();
    dir.file("b", b"more than twelve bytes");
    File::open(dir.path("b")).unwrap().set_times(FileTimes::new().set_modified(before)).unwrap();
    assert_eq!(verdicts(&dir, &[]), ["modified b: size_bytes, digests"]);
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().starts_with("modified\tb\tsize 12 \u{2192} 22, sha256 "), "what changed");
}

#[test]
fn modified_by_another_type() {
    let dir = recorded();
    fs::remove_file(dir.path("b")).unwrap();
    dir.dir("b");
    fs::remove_file(dir.path("fifo")).unwrap();
    dir.symlink("a", "fifo");
    let found = verdicts(&dir, &["--ignore", "mtime,mode"]);
    assert!(found.len() == 2 && found[0].starts_with("modified b: type"), "{found:?}");
    assert!(found[1].starts_with("modified fifo: type"), "{found:?}");
}

#[test]
fn metadata() {
    let dir = recorded();
    fs::set_permissions(dir.path("a"), Permissions::from_mode(0o4711)).unwrap();
    fs::set_permissions(dir.path("sub"), Permissions::from_mode(0o700)).unwrap();
    touch(&dir, "b", 7);
    assert_eq!(verdicts(&dir, &[]), ["metadata a: mode", "metadata b: mtime_ns", "metadata sub: mode"]);
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().contains("metadata\ta\tmode 0644 \u{2192} 4711\n"), "old and new value");
    let records = objects(&verify(&dir, &["--json"]));
    assert_eq!(records[0]["changes"], json!([{"field": "mode", "old": "0644", "new": "4711"}]));
    assert_eq!(records[1]["changes"][0]["new"], 7_000_000_000_u64);
}

#[test]
fn missing_and_new() {
    let dir = recorded();
    fs::remove_file(dir.path("sub/c")).unwrap();
    fs::remove_dir(dir.path("sub")).unwrap();
    dir.file("fresh", b"fresh").dir("other");
    assert_eq!(verdicts(&dir, &[]), ["new fresh", "new other", "missing sub", "missing sub/c"]);
    verify(&dir, &[]).status(1).stdout("new\tfresh\nnew\tother\nmissing\tsub\nmissing\tsub/c\n");
}

#[test]
fn moved() {
    let dir = recorded();
    fs::rename(dir.path("sub/c"), dir.path("d")).unwrap();
    assert_eq!(verdicts(&dir, &[]), ["moved sub/c -> d"]);
    let run = verify(&dir, &[]).status(1).stdout("moved\tsub/c\t\u{2192} d\n");
    run.stderr_has("  6 of 7 as recorded; 1 moved   (status 1)\n");
    let record = &objects(&verify(&dir, &["--json"]))[0];
    assert_eq!((&record["path"], &record["new_path"]), (&"sub/c".into(), &"d".into()));
}

/// If a missing file has the content of two new ones, it has moved to the first; the other one is new.
#[test]
fn moved_once_and_copied() {
    let dir = recorded();
    fs::rename(dir.path("b"), dir.path("y")).unwrap();
    fs::copy(dir.path("y"), dir.path("z")).unwrap();
    assert_eq!(verdicts(&dir, &[]), ["moved b -> y", "new z"]);
}

/// Two files that were swapped are two files with other content.
#[test]
fn swapped() {
    let dir = recorded();
    fs::rename(dir.path("a"), dir.path("t")).unwrap();
    fs::rename(dir.path("b"), dir.path("a")).unwrap();
    fs::rename(dir.path("t"), dir.path("b")).unwrap();
    let found = verdicts(&dir, &[]);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|said| said.starts_with("modified ")), "{found:?}");
}

#[test]
fn unreadable() {
    let dir = recorded();
    dir.lock("b");
    let run = dir.ftk(["manifest", "verify", ".", "--ignore", "mode"]).arg(dir.aside("manifest"));
    let run = run.unprivileged(&dir).run().status(2).stdout("unreadable\tb\tpermission denied\n");
    run.stderr_has("ftk: cannot open './b': permission denied\n").stderr_has("1 unreadable   (status 2)");
    let run = dir.ftk(["manifest", "verify", ".", "--ignore", "mode", "--json"]).arg(dir.aside("manifest"));
    let run = run.unprivileged(&dir).run().status(2);
    assert_eq!(objects(&run), [json!({"verdict": "unreadable", "path": "b", "error": "permission denied"})]);
    // Everything in a directory that cannot be listed is unreadable, not missing.
    let dir = recorded();
    dir.lock("sub");
    let run = dir.ftk(["manifest", "verify", ".", "--ignore", "mode"]).arg(dir.aside("manifest"));
    let run = run.unprivileged(&dir).run().status(2);
    run.stderr_has("ftk: cannot open './sub': permission denied\n").stdout("unreadable\tsub/c\n");
}

/// If the root cannot be listed, everything is unreadable, not missing.
#[test]
fn an_unreadable_root() {
    let dir = Dir::new();
    dir.file("root/a", b"abc").file("root/sub/b", b"def");
    let made = dir.ftk(["manifest", "create", "root", "-o"]).arg(dir.aside("manifest")).run();
    made.status(0);
    dir.lock("root");
    let run = dir.ftk(["manifest", "verify", "root", "--ignore", "mode"]).arg(dir.aside("manifest"));
    let run = run.unprivileged(&dir).run().status(2);
    run.stderr_has("ftk: cannot open 'root': permission denied\n").stderr_has("3 unreadable   (status 2)");
}

#[test]
fn ignore_excludes_fields() {
    let dir = recorded();
    touch(&dir, "a", 7);
    fs::set_permissions(dir.path("b"), Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(dir.path("link")).unwrap();
    symlink("b", dir.path("link")).unwrap();
    let with = |fields: &str| verdicts(&dir, &["--ignore", fields]);
    assert_eq!(with("mtime"), ["metadata b: mode", "modified link: target"]);
    assert_eq!(with("mtime,mode"), ["modified link: target"]);
    assert_eq!(with("mode,target,mtime_ns"), NONE);
    assert_eq!(verdicts(&dir, &["--ignore", "mode", "--ignore", "mtime", "--ignore", "target"]), NONE);
    let run = verify(&dir, &["--ignore", "mtime,nonsense"]).status(2).stdout("");
    run.stderr_has("invalid value 'nonsense' for '--ignore <FIELD>': expected mtime, mode, owner");
    // The field that decided the verdict is ignored.
    let dir = recorded();
    rot(&dir, "b");
    assert_eq!(verdicts(&dir, &["--ignore", "digest"]), NONE);
}

#[test]
fn ignore_excludes_owners() {
    let dir = recorded();
    if std::os::unix::fs::chown(dir.path("a"), Some(12), Some(34)).is_err() {
        return crate::harness::skip("only root can give files away");
    }
    let before = fs::metadata(dir.path("b")).unwrap();
    assert_eq!(verdicts(&dir, &[]), ["metadata a: uid, gid"]);
    assert_eq!(verdicts(&dir, &["--ignore", "uid"]), ["metadata a: gid"]);
    assert_eq!(verdicts(&dir, &["--ignore", "gid"]), ["metadata a: uid"]);
    assert_eq!(verdicts(&dir, &["--ignore", "owner"]), NONE);
    let expected =
        format!("metadata\ta\tuid {} \u{2192} 12, gid {} \u{2192} 34\n", before.uid(), before.gid());
    verify(&dir, &[]).status(1).stdout(expected);
}

#[test]
fn mode_content_and_mode_metadata() {
    let dir = recorded();
    touch(&dir, "a", 7);
    rot(&dir, "b");
    dir.file("sub/c", b"longer than before");
    assert_eq!(
        verdicts(&dir, &["--mode", "content"]),
        ["corrupted b: digests", "modified sub/c: size_bytes, digests"]
    );
    let found = verdicts(&dir, &["--mode", "metadata"]);
    assert_eq!(found[0], "metadata a: mtime_ns");
    assert!(found[1].contains(" sub/c: size_bytes, mtime_ns") && found.len() == 2, "{found:?}");
    // No file is read, so none is unreadable.
    dir.lock("b");
    let run = dir.ftk(["manifest", "verify", "--mode", "metadata", "--ignore", "mode,mtime,size", "."]);
    run.arg(dir.aside("manifest")).unprivileged(&dir).run().status(0).stdout("");
}

#[test]
fn a_manifest_without_content() {
    let dir = recorded();
    create(&dir, &["--no-content"]);
    assert_eq!(verdicts(&dir, &[]), NONE);
    rot(&dir, "b");
    dir.file("sub/c", b"other content");
    let found = verdicts(&dir, &[]);
    assert!(found.len() == 1 && found[0].contains(" sub/c: size_bytes, mtime_ns"), "{found:?}");
}

/// A part of the files is read, but the metadata of all is compared.
#[test]
fn samples() {
    let dir = Dir::new();
    for nth in 0..1000 {
        dir.file(format!("{nth:03}"), nth.to_string().as_bytes());
    }
    create(&dir, &[]);
    for nth in 0..1000 {
        rot(&dir, &format!("{nth:03}"));
    }
    let all = verdicts(&dir, &["--sample", "100%"]);
    assert_eq!(all.len(), 1000);
    let some = verdicts(&dir, &["--sample", "20%"]);
    assert!((50..500).contains(&some.len()), "{}", some.len());
    assert!(some.iter().all(|said| all.contains(said)));
    assert_ne!(some, verdicts(&dir, &["--sample", "20%"]), "other files in every run");
    fs::remove_file(dir.path("007")).unwrap();
    assert!(verdicts(&dir, &["--sample", "0.001%"]).contains(&"missing 007".to_owned()));
    for bad in ["0", "101%", "x"] {
        verify(&dir, &["--sample", bad]).status(2).stdout("").stderr_has("more than 0% and at most 100%");
    }
}

/// With `--status` only the exit status tells, as with `hash --check --status`.
#[test]
fn status_prints_nothing() {
    let dir = Dir::new();
    dir.file("t/a", b"a").file("t/b", b"b");
    let create = |name: &str| {
        dir.ftk(["manifest", "create", "-q", "t", "-o", name]).run().status(0);
        let sums = dir.ftk(["hash", "t"]).run().status(0).out;
        dir.file(format!("{name}.sums"), &sums);
    };
    create("old");
    dir.ftk(["manifest", "verify", "--status", "t", "old"]).run().status(0).stdout("").stderr("");
    dir.file("t/a", b"other").file("t/c", b"");
    create("new");
    for args in [
        &["manifest", "verify", "--status", "t", "old"][..],
        &["manifest", "verify", "--status", "--exit-on-first", "t", "old"],
        &["manifest", "diff", "--status", "old", "new"],
        &["manifest", "diff", "--status", "old.sums", "new.sums"],
        &["hash", "--diff", "--status", "old.sums", "new.sums"],
    ] {
        dir.ftk(args).run().status(1).stdout("").stderr("");
    }
    let run = dir.ftk(["manifest", "verify", "--status", "--status-corrupted", "9", "t", "old"]).run();
    run.status(1).stdout("").stderr("");
    for args in [
        &["manifest", "verify", "--status", "--all", "t", "old"][..],
        &["manifest", "verify", "--status", "--json", "t", "old"],
        &["manifest", "diff", "--status", "--by-directory", "old", "new"],
    ] {
        dir.ftk(args).run().status(2).stdout("").stderr_has("cannot be used with");
    }
    dir.ftk(["manifest", "verify", "--status", "absent", "old"]).run().status(2).stderr_has("absent");
}

#[test]
fn exit_on_first_prints_one_verdict() {
    let dir = Dir::new();
    for nth in 0..3000 {
        dir.file(format!("{}/{nth}", nth % 7), nth.to_string().as_bytes());
    }
    create(&dir, &[]);
    verify(&dir, &["--exit-on-first"]).status(0).stdout("");
    for nth in 0..3000 {
        rot(&dir, &format!("{}/{nth}", nth % 7));
    }
    let run = verify(&dir, &["--exit-on-first"]).status(1);
    run.check(run.text().lines().count() == 1 && run.text().starts_with("corrupted\t"), "one line");
    verify(&dir, &["--exit-on-first", "-q"]).status(1).stderr("");
}

/// A copy by another program verifies, although inodes, devices and times of directories differ.
#[test]
fn a_faithful_copy_verifies() {
    let dir = everything();
    let manifest = create(&dir, &[]);
    let copy = dir.aside("copy");
    let cp = dir.ftk([] as [&str; 0]).instead(&dir, ["cp", "-a", "."]).arg(&copy).run();
    cp.status(0);
    let run = dir.ftk(["manifest", "verify"]).args([&copy, &manifest]).run();
    run.status(0).stdout("");
}

/// Changes of anything but content and compared metadata are not reported.
#[test]
fn changes_that_are_not_reported() {
    let dir = recorded();
    dir.hard_link("a", "../more");
    fs::set_permissions(dir.path("b"), Permissions::from_mode(0o644)).unwrap();
    let file = File::open(dir.path("b")).unwrap();
    file.set_times(FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH)).unwrap();
    touch(&dir, "sub", 7);
    touch(&dir, ".", 7);
    // Another inode with equal content and metadata.
    let before = fs::metadata(dir.path("sub/c")).unwrap().modified().unwrap();
    fs::remove_file(dir.path("sub/c")).unwrap();
    dir.file("sub/c", b"see");
    File::open(dir.path("sub/c")).unwrap().set_times(FileTimes::new().set_modified(before)).unwrap();
    assert_eq!(verdicts(&dir, &[]), NONE);
}

/// Times before 1970, and later than 64 bits of nanoseconds can hold.
#[test]
fn times_of_all_ages() {
    let dir = Dir::new();
    for (name, seconds) in [("old", -2_145_916_800_i64), ("late", 13_569_465_600)] {
        let since = Duration::from_secs(seconds.unsigned_abs());
        let epoch = SystemTime::UNIX_EPOCH;
        let time = if seconds < 0 { epoch - since } else { epoch + since };
        dir.file(name, b"abc");
        File::open(dir.path(name)).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
    }
    create(&dir, &[]);
    assert_eq!(verdicts(&dir, &[]), NONE);
    touch(&dir, "old", 1);
    touch(&dir, "late", 1);
    let line =
        |name: &str, was: &str| format!("metadata\t{name}\tmtime {was} \u{2192} 1970-01-01T00:00:01+00:00\n");
    let expected = line("late", "2400-01-01T00:00:00+00:00") + &line("old", "1902-01-01T00:00:00+00:00");
    verify(&dir, &[]).status(1).stdout(expected);
}

/// A trial: who checks could not skip anything, and what the record skips was not said.
#[test]
fn a_part_is_verified() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("usr/share/x", b"1").file("usr/lib/y", b"2").file("usr/lib/z.o", b"3");
    create(&dir, &[]);
    rot(&dir, "usr/lib/y");
    fs::remove_dir_all(dir.path("usr/share")).unwrap();
    dir.file("usr/new", b"4").file("usr/lib/new.o", b"5");
    for (args, expected) in [
        (
            &[][..],
            &[
                "corrupted usr/lib/y: digests",
                "missing usr/share",
                "missing usr/share/x",
                "new usr/lib/new.o",
                "new usr/new",
            ][..],
        ),
        (&["-E", "usr/share"], &["corrupted usr/lib/y: digests", "new usr/lib/new.o", "new usr/new"]),
        (&["-E", "./usr/share/", "-E", "*.o", "-E", "new"], &["corrupted usr/lib/y: digests"]),
        (&["-E", "usr"], &[]),
        (&["--path", "usr/share/*"], &["missing usr/share/x"]),
        (&["--path", "*.o"], &["new usr/lib/new.o"]),
        (&["--path", "*.o", "-E", "usr"], &[]),
    ] {
        if args == ["--path", "*.o", "-E", "usr"] {
            let said = "ftk: the options select no entry below '.': nothing was verified\n";
            verify(&dir, args).status(2).stderr_has(said);
            continue;
        }
        let mut found = verdicts(&dir, args);
        found.sort();
        assert_eq!(found, expected, "{args:?}");
    }
    // Six recorded entries are at or below usr.
    let run = verify(&dir, &["-E", "usr"]).status(0).stderr_has("  2 of 2 as recorded\n");
    run.stderr_has("  6 entries were not selected\n").stderr_has("1 file read");
    // It is used if only the record has it.
    verify(&dir, &["-E", "usr/share"]).status(1).stderr_lacks("matched nothing");
    verify(&dir, &["-E", "usr/nonsense"])
        .status(1)
        .stderr_has("  --exclude 'usr/nonsense' matched nothing\n");
    let manifest = create(&dir, &["-E", "usr/lib"]);
    let run = dir.ftk(["manifest", "verify", "."]).arg(&manifest).args(["-E", "usr/new"]).run().status(0);
    run.stderr_has("  1 entry was not selected\n")
        .stderr_has("  2 entries of the tree were skipped by selection options\n")
        .stderr_has("  the manifest was recorded with --exclude=usr/lib\n");
}
