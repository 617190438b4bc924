//! `ftk manifest update`: which files are read again.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::records::{Manifest, create, lines, lines_with_trees, seal, verify};
use super::trees::everything;
use crate::harness::{Dir, Run, needs, sha256};

/// Makes a manifest with a start time in the future, so that no file counts as too young.
///
/// Only the start time is changed: tests cannot wait until files are old enough, and no call sets the ctime
/// of a file.
fn create_later(dir: &Dir, args: &[&str]) -> PathBuf {
    let path = create(dir, args);
    let mut lines = lines_with_trees(&path);
    let before = lines[0].rfind(':').unwrap() + 1;
    let later = SystemTime::now() + Duration::from_secs(3600);
    let later = later.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    lines[0] = format!("{}{later}}}", &lines[0][..before]);
    fs::write(&path, seal(&lines)).unwrap();
    path
}

fn update(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["manifest", "update", "."])
        .arg(dir.aside("manifest"))
        .args(["--force".into(), "-o".into(), dir.aside("new")])
        .args(args)
        .run()
}

/// Returns the files of the tree that the command opens.
fn opened(dir: &Dir, args: &[&str]) -> Vec<String> {
    let log = dir.aside("log");
    let ftk =
        dir.ftk(["manifest", "update", "."]).arg(dir.aside("manifest")).args(["-o".into(), dir.aside("new")]);
    let ftk = ftk.arg("--force");
    let strace = ["strace", "-f", "-e", "trace=openat", "-o"];
    let wrapper = strace.iter().map(|arg| arg.as_ref()).chain([log.as_os_str()]);
    let run = ftk.args(args).args(["--io", "sync"]).under(dir, wrapper).run();
    run.check(run.code() < 2, "nothing failed");
    let calls = fs::read_to_string(log).unwrap();
    let mut names: Vec<_> = calls
        .lines()
        .filter(|call| call.contains("O_NOFOLLOW") && !call.contains("O_DIRECTORY"))
        .filter_map(|call| call.split('"').nth(1))
        .filter(|name| *name != "new")
        .map(ToOwned::to_owned)
        .collect();
    names.sort();
    names
}

#[test]
fn version_1_verifies_and_is_upgraded() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("d/b", b"xyz");
    let path = create_later(&dir, &[]);
    let now = lines(&path);
    let member =
        regex::Regex::new(r#","(allocated_bytes|birth_ns|verified_ns)":-?[0-9]+|,"fs":"[0-9a-f]{32}""#)
            .unwrap();
    let mut first: Vec<_> = now.iter().map(|line| member.replace_all(line, "").into_owned()).collect();
    first[0] = first[0].replace("\"version\":2", "\"version\":1");
    assert!(first.iter().zip(&now).all(|(first, now)| first.len() <= now.len() && first != now));
    fs::write(&path, seal(&first)).unwrap();
    verify(&dir, &[]).status(0).stdout("");
    update(&dir, &[]).status(0).stdout("");
    let new = lines(&dir.aside("new"));
    let verified = regex::Regex::new(r#","verified_ns":[0-9]+"#).unwrap();
    let untimed: Vec<_> = new[1..].iter().map(|line| verified.replace_all(line, "").into_owned()).collect();
    assert_eq!(untimed, now[1..]);
    assert!(new[0].contains("\"version\":2"));
    for (a, b) in [("manifest", "new"), ("new", "manifest")] {
        let diff = dir.ftk(["manifest", "diff"]).arg(dir.aside(a)).arg(dir.aside(b)).run();
        diff.status(0).stdout("");
        let unique = dir.ftk(["manifest", "unique"]).arg(dir.aside(a)).arg(dir.aside(b)).run();
        unique.status(0).stdout("");
    }
    dir.file("a", b"abcd");
    for manifest in ["manifest", "new"] {
        let verify = dir.ftk(["manifest", "verify", "."]).arg(dir.aside(manifest)).run();
        verify.status(1);
    }
}

#[test]
fn only_changed_files_are_read() {
    needs!("strace");
    let dir = Dir::new();
    for name in ["same", "edited", "moved", "gone", "replaced"] {
        dir.file(name, name.as_bytes());
    }
    create_later(&dir, &[]);
    assert_eq!(opened(&dir, &[]), [] as [&str; 0]);
    let [new, old] = ["new", "manifest"].map(|name| Manifest::read(&dir.aside(name)).untimed());
    assert_eq!(new.entries, old.entries);

    dir.file("edited", b"EDITED").file("fresh", b"fresh");
    fs::rename(dir.path("moved"), dir.path("elsewhere")).unwrap();
    fs::remove_file(dir.path("gone")).unwrap();
    let time = fs::metadata(dir.path("replaced")).unwrap().modified().unwrap();
    fs::rename(dir.path("replaced"), dir.aside("replaced")).unwrap();
    dir.file("replaced", b"REPLACED");
    File::open(dir.path("replaced")).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
    assert_eq!(opened(&dir, &[]), ["edited", "elsewhere", "fresh", "replaced"]);
    let new = Manifest::read(&dir.aside("new"));
    assert_eq!(new.paths, [&b"."[..], b"edited", b"elsewhere", b"fresh", b"replaced", b"same"]);
    // A file with other content but the old size and mtime keeps its record.
    for (name, content) in
        [("edited", "EDITED"), ("elsewhere", "moved"), ("replaced", "replaced"), ("same", "same")]
    {
        assert_eq!(new.entry(name)["digests"]["sha256"], sha256(content.as_bytes()), "{name}");
    }
    update(&dir, &["--accept", "replaced"]).status(0);
    dir.ftk(["manifest", "verify", "."]).arg(dir.aside("new")).run().status(0).stdout("");
}

/// With the old size and a restored mtime, the ctime makes update read the file, and its content differs.
#[test]
fn a_changed_file_with_a_restored_mtime_is_corrupted() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def");
    create_later(&dir, &[]);
    let file = File::options().write(true).open(dir.path("a")).unwrap();
    let time = file.metadata().unwrap().modified().unwrap();
    file.write_all_at(b"X", 0).unwrap();
    file.set_modified(time).unwrap();
    update(&dir, &[]).status(1).stderr_has("ftk: 'a' is corrupted: ");
    assert_eq!(Manifest::read(&dir.aside("new")).entry("a")["digests"]["sha256"], sha256(b"abc"));
}

/// A file that changed during the run that made the old manifest may have changed after that run read it.
#[test]
fn files_younger_than_the_manifest_are_read_again() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def");
    create(&dir, &[]);
    let start = Manifest::read(&dir.aside("manifest")).header["start_ns"].as_i64().unwrap();
    // With a coarse clock the files may be as old as the run, or one tick older.
    let is_young = |name: &str| {
        use std::os::unix::fs::MetadataExt as _;
        let inode = fs::metadata(dir.path(name)).unwrap();
        inode.ctime() * 1_000_000_000 + inode.ctime_nsec() >= start
    };
    let young: Vec<_> = ["a", "b"].into_iter().filter(|name| is_young(name)).collect();
    let read = opened(&dir, &[]);
    assert!(young.iter().all(|name| read.contains(&(*name).to_owned())), "{young:?} {read:?}");
}

/// Rot on the disk changes no time stamp. The test edits the old manifest instead.
#[test]
fn check_finds_rot() {
    let dir = Dir::new();
    for nth in 0..100 {
        dir.file(format!("{nth}"), format!("{nth}").as_bytes());
    }
    let path = create_later(&dir, &[]);
    let was = |line: &String| line.replace(&sha256(b"42"), &sha256(b"what it was"));
    let lines: Vec<_> = lines(&path).iter().map(was).collect();
    fs::write(&path, seal(&lines)).unwrap();

    update(&dir, &[]).status(0).stderr_lacks("corrupted");
    let run = update(&dir, &["--check", "100%"]).status(1);
    run.stderr_has("ftk: '42' is corrupted: content changed, size and mtime did not, sha256 ");
    // The old record is kept.
    assert_eq!(Manifest::read(&dir.aside("new")).entry("42")["digests"]["sha256"], sha256(b"what it was"));
    let run = dir.ftk(["manifest", "verify", "."]).arg(dir.aside("new")).run().status(1);
    run.check(run.text().starts_with("corrupted\t42\t"), "verify reports it, too");
    update(&dir, &["--check", "0"]).status(2);
}

/// The updated manifest equals a new one, whichever files were read.
#[test]
fn an_updated_manifest_equals_a_new_one() {
    for args in [&[][..], &["-a", "md5,xxh3"], &["--no-content"], &["--no-xattrs", "-E", "sub"]] {
        let dir = everything();
        create_later(&dir, args);
        dir.file("sub/b", b"no more empty").file("more/d", b"d").symlink("d", "more/link");
        fs::remove_file(dir.path("a")).unwrap();
        update(&dir, &[]).status(0);
        let new = Manifest::read(&dir.aside("new")).untimed();
        let anew = Manifest::read(&create(&dir, args));
        assert_eq!((&new.paths, &new.entries), (&anew.paths, &anew.entries), "{args:?}");
        assert_eq!(new.header["options"], anew.header["options"]);
        assert_eq!(new.header["algorithms"], anew.header["algorithms"]);
        verify(&dir, &[]).status(0);
    }
}

#[test]
fn an_unreadable_file_keeps_its_record() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def");
    let old = Manifest::read(&create_later(&dir, &[]));
    dir.file("b", b"changed").lock("b").file("new", b"new").lock("new");
    let ftk = dir.ftk(["manifest", "update", "."]).arg(dir.aside("manifest")).unprivileged(&dir);
    let run = ftk.run().status(2).stderr_has("ftk: cannot open './b': permission denied\n");
    let run = run.stderr_has("  1 old record kept for entries that could not be read (status 2)\n");
    let new = Manifest::parse(&run.stderr_has("  1 file not recorded (listed above; status 2)\n").out);
    let new = new.untimed();
    assert_eq!(new.paths, [&b"."[..], b"a", b"b"]);
    assert_eq!(new.entry("b"), old.entry("b"));
}

/// A trial: an edit on purpose and a hundred by a stranger looked the same.
#[test]
fn the_summary_says_what_is_recorded() {
    let dir = Dir::new();
    let large = |byte| [byte; 100];
    dir.file("edited", b"1")
        .file("gone", b"2")
        .file("old/moved", &large(3))
        .file("mode", b"4")
        .file("same", b"5");
    dir.ftk(["manifest", "create", ".", "-o", "../manifest"]).run().status(0);
    dir.file("edited", b"other").file("new", b"6").dir("now");
    fs::remove_file(dir.path("gone")).unwrap();
    fs::rename(dir.path("old/moved"), dir.path("now/moved")).unwrap();
    fs::set_permissions(dir.path("mode"), fs::Permissions::from_mode(0o640)).unwrap();
    // The directory `now` is new.
    let counts = "1 modified, 1 metadata, 1 moved, 2 added, 1 removed\n";
    let said = ["added now", "added new", "removed gone", "modified edited", "metadata mode"];
    let before = fs::read(dir.aside("manifest")).unwrap();
    let run = dir.ftk(["manifest", "update", ".", "../manifest", "--dry-run"]).run().status(0);
    let run = run.stderr_has(&format!("  would record {counts}"));
    for line in said {
        run.check(run.text().contains(&line.replacen(' ', "\t", 1)), line);
    }
    let printed = dir.ftk(["manifest", "update", ".", "../manifest"]).run().status(0);
    printed
        .stderr_has("  the new manifest is on standard output, and OLD is as it was: -o OLD replaces it\n");
    let json = dir.ftk(["manifest", "update", ".", "../manifest", "--dry-run", "--json"]).run().status(0);
    json.check(json.text().contains(r#"{"change":"removed","path":"gone""#), "it is an object of JSON");
    assert_eq!(fs::read(dir.aside("manifest")).unwrap(), before);
    let run = dir.ftk(["manifest", "update", ".", "../manifest", "-v", "-o", "../manifest"]).run().status(0);
    let run = run.stderr_has(&format!("  recorded {counts}"));
    said.into_iter().fold(run, |run, line| run.stderr_has(&format!("ftk: {line}")));
    let run = dir.ftk(["manifest", "update", ".", "../manifest", "-o", "../manifest"]).run().status(0);
    run.stderr_has("  no changes to record\n");
    verify(&dir, &[]).status(0);
    // `diff` of the two says the same.
    fs::write(dir.aside("before"), before).unwrap();
    let diff = dir.ftk(["manifest", "diff", "../before", "../manifest"]).run().status(1);
    diff.stderr_has("1 modified, 1 metadata, 1 moved, 2 added, 1 removed   (status 1)\n");
}

#[test]
fn corrupted_files_are_not_recorded_as_changes() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"b");
    create_later(&dir, &[]);
    super::repair::damage(&dir.path("a"));
    update(&dir, &["--check", "100%"]).status(1).stderr_has("  no changes to record\n");
    update(&dir, &["--check", "100%", "--accept", "a"]).status(0).stderr_has("  recorded 1 modified\n");
    dir.file("b", b"edited");
    let run = update(&dir, &["--append-only"]).status(1);
    run.stderr_has("  no changes to record\n");
}

/// A trial: on a terminal, the whole manifest was printed.
#[test]
fn a_terminal_gets_no_manifest_unless_asked() {
    needs!("script");
    let dir = Dir::new();
    dir.file("a", b"a");
    let manifest = create(&dir, &[]);
    let ftk = |args: &str| {
        let line =
            format!("'{}' manifest update . '{}' {args}", env!("CARGO_BIN_EXE_ftk"), manifest.display());
        dir.ftk([] as [&str; 0]).instead(&dir, ["script", "-qec", &line, "/dev/null"]).run()
    };
    let run = ftk("").status(2);
    run.check(
        run.text().contains("name the new manifest: -o NEW (it may be OLD; -o - prints it)"),
        "it says what to add",
    );
    let run = ftk("-o -").status(0);
    run.check(run.text().contains("{\"ftk\":\"manifest\""), "it is printed");
    let run = ftk("--dry-run").status(0);
    run.check(!run.text().contains("\"ftk\""), "nothing is recorded");
    // Another manifest is not replaced.
    fs::copy(&manifest, dir.path("other.jsonl")).unwrap();
    let run = dir.ftk(["manifest", "update", "."]).arg(&manifest).args(["-o", "other.jsonl"]).run().status(2);
    run.stderr("ftk: 'other.jsonl' is a manifest: name another file, or OLD itself, with -o, or --force to replace it\n");
}
