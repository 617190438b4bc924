//! Commands that update records must not lose or corrupt them.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::SystemTime;

use crate::harness::{Dir, Mounted, Run, sha256};
use crate::manifest::damage::flip;
use crate::manifest::records::{Manifest, create, lines, seal, verdicts, verify};

/// Updates a manifest that lies next to the tree, in place.
fn update(dir: &Dir, args: &[&str]) -> Run {
    let path = dir.aside("manifest");
    dir.ftk(["manifest", "update", "."]).arg(&path).arg("-o").arg(&path).args(args).run()
}

#[test]
fn h60_an_empty_mount_point_erases_no_record() {
    for files in [1, 2, 40] {
        let dir = Dir::new();
        (0..files).for_each(|nth| _ = dir.file(format!("m/{nth}"), b"abc"));
        dir.ftk(["manifest", "create", "m", "-o", "m.jsonl"]).run().status(0);
        let before = fs::read(dir.path("m.jsonl")).unwrap();
        fs::rename(dir.path("m"), dir.path("m.off")).unwrap();
        dir.dir("m");
        let update =
            |args: &[&str]| dir.ftk(["manifest", "update", "m", "m.jsonl", "-o", "m.jsonl"]).args(args).run();
        let run = update(&[]).status(2).stdout("");
        run.stderr_has(&format!(
            "ftk: 'm': {files} of {files} recorded entries are missing: is the file system mounted?"
        ));
        update(&["--max-missing", "99%"]).status(2);
        update(&["--max-missing", "0"]).status(2);
        assert_eq!(fs::read(dir.path("m.jsonl")).unwrap(), before);
        // verify still reports the differences.
        dir.ftk(["manifest", "verify", "m", "m.jsonl"]).run().status(1);
        update(&["--max-missing", "100%"]).status(0);
        assert_eq!(Manifest::read(&dir.path("m.jsonl")).paths, [b"."]);
    }
}

#[test]
fn h60_the_limit_is_a_share_or_a_number() {
    let dir = Dir::new();
    (0..10).for_each(|nth| _ = dir.file(nth.to_string(), b"abc"));
    create(&dir, &[]);
    (0..5).for_each(|nth| fs::remove_file(dir.path(nth.to_string())).unwrap());
    for (limit, status) in [("49%", 2), ("4", 2), ("0%", 2), ("50%", 0)] {
        let before = fs::read(dir.aside("manifest")).unwrap();
        update(&dir, &["--max-missing", limit]).status(status);
        assert_eq!(fs::read(dir.aside("manifest")).unwrap() == before, status == 2, "{limit}");
    }
    update(&dir, &["--max-missing", "0"]).status(0);
    update(&dir, &["--max-missing", "x"])
        .status(2)
        .stderr_has("a share from 0% to 100%, or a number of entries");
}

/// Another file system with the same names is mounted at the same place.
#[test]
fn h60_another_root_is_refused() {
    let dir = Dir::on_disk();
    dir.file("m/a", b"abc").file("copy/a", b"abc");
    dir.ftk(["manifest", "create", "m", "-o", "m.jsonl"]).run().status(0);
    let recorded = lines(&dir.path("m.jsonl"));
    // As on a file system without an identity, where the path counts.
    let id = regex::Regex::new(",\"fs\":\"[0-9a-f]{32}\"").unwrap();
    let unidentified: Vec<_> = recorded.iter().map(|line| id.replace(line, "").into_owned()).collect();
    let identity = regex::Regex::new(",\"root_identity\":[{][^}]*[}]").unwrap();
    // As recorded by an older version, where the entry of the root counts.
    let older: Vec<_> = unidentified.iter().map(|line| identity.replace(line, "").into_owned()).collect();
    let has_id = recorded != unidentified;
    let update = |lines: &[String], nth: usize, changes: &[(&str, &str)], args: &[&str]| {
        let mut lines = lines.to_vec();
        for (from, to) in changes {
            let at = if nth == 0 { lines[0].find("root_identity").unwrap() } else { 0 };
            assert!(lines[nth][at..].contains(from), "{from}: {}", lines[nth]);
            lines[nth] = format!("{}{}", &lines[nth][..at], lines[nth][at..].replacen(from, to, 1));
        }
        fs::write(dir.path("other.jsonl"), seal(&lines)).unwrap();
        dir.ftk(["manifest", "update", "m", "other.jsonl", "-o", "new"]).args(args).run()
    };
    let accepted = |lines: &[String], nth: usize, changes: &[(&str, &str)]| {
        update(lines, nth, changes, &[]).status(0);
        fs::remove_file(dir.path("new")).unwrap();
    };
    let refused = |lines: &[String], nth: usize, changes: &[(&str, &str)], why: &str| {
        let message = format!(
            "ftk: 'm' is not the recorded directory: {why} (mount the right one, or add --other-root)\n"
        );
        update(lines, nth, changes, &[]).status(2).stdout("").stderr_has(&message);
        assert!(!dir.path("new").exists());
        update(lines, nth, changes, &["--other-root"]).status(0);
        fs::remove_file(dir.path("new")).unwrap();
    };
    if has_id {
        accepted(&recorded, 0, &[("\"dev\":", "\"dev\":9"), ("\"path\":\"", "\"path\":\"/elsewhere")]);
        refused(&recorded, 0, &[("\"ino\":", "\"ino\":9")], "its inode differs");
        refused(&recorded, 0, &[("\"fs\":\"0", "\"fs\":\"f")], "its file system differs");
        refused(&unidentified, 0, &[], "its file system differs");
        accepted(&older, 1, &[]);
    }
    accepted(&older, 1, &[("\"dev\":", "\"dev\":9")]);
    accepted(&older, 1, &[("\"ino\":", "\"ino\":9")]);
    refused(&older, 1, &[("\"dev\":", "\"dev\":9"), ("\"ino\":", "\"ino\":9")], "its file system differs");
    // A copy elsewhere can be verified.
    dir.ftk(["manifest", "verify", "--ignore", "mtime", "copy", "m.jsonl"]).run().status(0).stdout("");
}

/// In memory, device and inode numbers are new after each mount.
#[test]
fn h60_without_a_lasting_identity_the_path_counts() {
    let Some(mounted) = Mounted::new("tmpfs") else { return };
    let dir = Dir::new();
    for below in ["m", "copy"] {
        fs::create_dir(mounted.path(below)).unwrap();
        fs::write(mounted.path(below).join("a"), "abc").unwrap();
    }
    let manifest = |args: &[&str], root: &str| {
        let ftk = dir.ftk(["manifest"]).args(args).arg(mounted.path(root));
        ftk.args(if args == ["create"] {
            &["-o", "m.jsonl"][..]
        } else {
            &["m.jsonl", "-o", "new", "--force"]
        })
        .run()
    };
    manifest(&["create"], "m").status(0);
    let why = "its path differs, and its file system has no lasting identity";
    manifest(&["update"], "copy").status(2).stderr_has(why);
    manifest(&["update", "--other-root"], "copy").status(0);
    fs::rename(mounted.path("m"), mounted.path("old")).unwrap();
    fs::rename(mounted.path("copy"), mounted.path("m")).unwrap();
    manifest(&["update"], "m").status(0);
}

#[test]
fn h61_records_of_unreadable_entries_are_kept() {
    let dir = Dir::new();
    dir.file("src/d/x", b"abc").file("src/d/deep/y", b"def").file("src/e", b"ghi").file("src/gone", b"jkl");
    fs::set_permissions(dir.path(""), Permissions::from_mode(0o777)).unwrap();
    dir.ftk(["manifest", "create", "src", "-o", "old"]).run().status(0);
    let old = Manifest::read(&dir.path("old"));
    fs::remove_file(dir.path("src/gone")).unwrap();
    dir.file("src/e", b"changed").lock("src/e").lock("src/d");
    for threads in ["mono", "4"] {
        let update = dir.ftk(["manifest", "update", "src", "old", "-o", "new", "--force", "-j", threads]);
        let run = update.unprivileged(&dir).run().status(2);
        let run = run.stderr_has("ftk: cannot open 'src/d': permission denied\n");
        run.stderr_has("ftk: cannot open 'src/e': permission denied\n")
            .stderr_has("  4 old records kept for entries that could not be read (status 2)\n");
        let new = Manifest::read(&dir.path("new")).untimed();
        assert_eq!(new.paths, [&b"."[..], b"d", b"d/deep", b"d/deep/y", b"d/x", b"e"]);
        for path in ["d/deep", "d/deep/y", "d/x", "e"] {
            assert_eq!(new.entry(path), old.entry(path), "{path}");
        }
        // What could not be read may have the content of `gone`, and kept records do not show that theirs is still there.
        let unique = dir.ftk(["manifest", "unique", "old", "new"]).run().status(2);
        unique.stdout("d/deep/y\nd/x\ne\ngone\n");
    }
    // Once readable again, the files are updated as usual.
    for path in ["src/d", "src/e"] {
        fs::set_permissions(dir.path(path), Permissions::from_mode(0o755)).unwrap();
    }
    dir.ftk(["manifest", "update", "src", "new", "-o", "new"]).run().status(0);
    dir.ftk(["manifest", "verify", "src", "new"]).run().status(0);
}

/// A record counts as unchanged only for files written before the run that made it, so a kept record needs
/// the old start time.
#[test]
fn h61_kept_records_keep_the_old_start_time() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def");
    let path = create(&dir, &[]);
    // As if the run had begun long before the files were written.
    let mut lines = lines(&path);
    let at = lines[0].rfind(':').unwrap() + 1;
    lines[0] = format!("{}7}}", &lines[0][..at]);
    fs::write(&path, seal(&lines)).unwrap();
    let run = dir.ftk(["manifest", "update", "."]).arg(&path).run().status(0);
    assert_ne!(Manifest::parse(&run.out).header["start_ns"], 7);
    dir.lock("a");
    let run = dir.ftk(["manifest", "update", "."]).arg(&path).unprivileged(&dir).run().status(2);
    assert_eq!(Manifest::parse(&run.out).header["start_ns"], 7);
}

#[test]
fn h62_rot_is_reported_until_it_is_accepted() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("film/reel", b"good").file("z", b"def");
    create(&dir, &[]);
    let good = Manifest::read(&dir.aside("manifest"));
    flip(&dir.path("film/reel"));
    for _ in 0..3 {
        let run = update(&dir, &[]).status(1).stdout("");
        run.stderr_has("ftk: 'film/reel' is corrupted: content changed, size and mtime did not, sha256 ")
            .stderr_has(
                "  1 corrupted file kept as recorded; --accept PATH records one as it is now   (status 1)\n",
            );
        let now = Manifest::read(&dir.aside("manifest"));
        let digest = |manifest: &Manifest| manifest.entry("film/reel")["digests"].clone();
        assert_eq!(digest(&now), digest(&good));
        assert!(now.entry("film/reel")["damaged_ns"].is_i64());
        assert_eq!(verdicts(&dir, &[]), ["corrupted film/reel: digests"]);
        // Files marked as damaged are read even by the smallest sample.
        assert_eq!(verdicts(&dir, &["--sample", "0.000001%"]), ["corrupted film/reel: digests"]);
    }
    // Renaming does not remove the mark.
    fs::rename(dir.path("film/reel"), dir.path("film/other")).unwrap();
    for _ in 0..2 {
        update(&dir, &[]).status(1).stderr_has("ftk: 'film/reel' was corrupted and is missing now");
        assert!(Manifest::read(&dir.aside("manifest")).entry("film/reel")["damaged_ns"].is_i64());
    }
    fs::rename(dir.path("film/other"), dir.path("film/reel")).unwrap();
    for path in ["reel", "film", "nowhere", "/film/reel"] {
        let before = fs::read(dir.aside("manifest")).unwrap();
        update(&dir, &["--accept", path]).status(2).stderr_has(&format!("ftk: cannot accept '{path}': "));
        assert_eq!(fs::read(dir.aside("manifest")).unwrap(), before);
    }
    update(&dir, &["--accept", "a", "--accept", "./film/reel"]).status(0).stderr_lacks("corrupted");
    assert!(Manifest::read(&dir.aside("manifest")).entry("film/reel")["damaged_ns"].is_null());
    update(&dir, &["--check", "100%"]).status(0);
    verify(&dir, &[]).status(0);
}

/// Rot on the disk changes no time stamp. The test edits the manifest instead.
#[test]
fn h62_rot_that_was_found_once_is_not_forgotten() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def");
    let path = create(&dir, &[]);
    let mut lines = lines(&path);
    let later =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() + 3_600_000_000_000;
    let at = lines[0].rfind(':').unwrap() + 1;
    lines[0] = format!("{}{later}}}", &lines[0][..at]);
    lines[2] = lines[2].replace(&sha256(b"abc"), &sha256(b"what it was"));
    fs::write(&path, seal(&lines)).unwrap();
    update(&dir, &["--check", "100%"]).status(1);
    let found = Manifest::read(&path).entry("a")["damaged_ns"].clone();
    for _ in 0..2 {
        update(&dir, &[]).status(1).stderr_has("'a' is corrupted");
        assert_eq!(Manifest::read(&path).entry("a")["damaged_ns"], found);
    }
    // A repaired file loses its mark.
    let time = fs::metadata(dir.path("a")).unwrap().modified().unwrap();
    dir.file("a", b"what it was");
    File::options().write(true).open(dir.path("a")).unwrap().set_modified(time).unwrap();
    update(&dir, &[]).status(0);
    assert!(Manifest::read(&path).entry("a")["damaged_ns"].is_null());
}

#[test]
fn h80_a_sample_counts_only_files_that_were_read() {
    let dir = Dir::new();
    (0..100).for_each(|nth| _ = dir.file(nth.to_string(), b"good"));
    create(&dir, &[]);
    (0..100).for_each(|nth| flip(&dir.path(nth.to_string())));
    for _ in 0..5 {
        let run = verify(&dir, &["--sample", "10%"]);
        let corrupted = run.text().lines().count();
        let rest = format!("1 of 101 as recorded, {} files not read", 100 - corrupted);
        let rest = rest.replace(" 1 files", " 1 file");
        match corrupted {
            0 => run.status(0).stderr_has(&rest),
            n => run.status(1).stderr_has(&format!("{rest}; {n} corrupted   (status 1)\n")),
        };
    }
    verify(&dir, &["--mode", "metadata"])
        .status(0)
        .stderr_has("  1 of 101 as recorded, 100 files not read\n");
    // Without recorded digests nothing remains to be read.
    create(&dir, &["--no-content"]);
    verify(&dir, &["--sample", "10%"]).status(0).stderr_has("  101 of 101 as recorded\n");
}

#[test]
fn h82_a_baseline_is_not_replaced_by_accident() {
    let dir = Dir::new();
    dir.file("t/a", b"abc");
    dir.ftk(["manifest", "create", "t", "-o", "old"]).run().status(0);
    let old = fs::read(dir.path("old")).unwrap();
    flip(&dir.path("t/a"));
    let mut kept = vec![("old", "is a manifest".to_owned())];
    for (name, content) in [
        ("cut", &old[..old.len() / 2]),
        ("short", &old[..10]),
        ("gz", &b"\x1f\x8b\x08\0\0\0\0"[..]),
        ("zst", b"\x28\xb5\x2f\xfd\x04\0"),
    ] {
        dir.file(name, content);
        let what = match name {
            "gz" => "is compressed with gzip and may be a manifest",
            "zst" => "is compressed with zstd and may be a manifest",
            _ => "is a manifest",
        };
        kept.push((name, what.into()));
    }
    dir.symlink("old", "link");
    kept.push(("link", "is a manifest".into()));
    for (name, what) in kept {
        let before = fs::read(dir.path(name)).unwrap();
        let run = dir.ftk(["manifest", "create", "t", "-o", name]).run().status(2).stdout("");
        run.stderr(&format!(
            "ftk: '{name}' {what}: use `ftk manifest update` to keep its records, or --force to replace it\n"
        ));
        if name != "old" && name != "link" {
            dir.ftk(["manifest", "update", "t", "old", "-o", name]).run().status(2).stdout("");
        }
        assert_eq!(fs::read(dir.path(name)).unwrap(), before, "{name}");
    }
    // Files that are not manifests are replaced, as by any command; manifests only with --force.
    for (name, content) in [("empty", &b""[..]), ("text", b"hello\n"), ("list", b"{\"a\":1}\n")] {
        dir.file(name, content).ftk(["manifest", "create", "t", "-o", name]).run().status(0);
        Manifest::read(&dir.path(name));
    }
    dir.ftk(["manifest", "create", "t", "-o", "cut", "--force"]).run().status(0);
    dir.ftk(["manifest", "update", "t", "cut", "-o", "short", "--force"]).run().status(0);
    dir.ftk(["manifest", "update", "t", "short", "-o", "short"]).run().status(0);
    // The old baseline still detects the rot.
    let run = dir.ftk(["manifest", "verify", "t", "old"]).run().status(1);
    run.check(run.text().starts_with("corrupted\ta\t"), "the rot is reported");
}

/// An unreadable file may be a manifest.
#[test]
fn h82_a_file_that_cannot_be_read_is_not_replaced() {
    let dir = Dir::new();
    dir.file("t/a", b"abc").file("old", b"?").lock("old");
    fs::set_permissions(dir.path(""), Permissions::from_mode(0o777)).unwrap();
    let run = dir.ftk(["manifest", "create", "t", "-o", "old"]).unprivileged(&dir).run().status(2);
    run.stderr_has(
        "ftk: cannot tell whether 'old' is a manifest (--force replaces it anyway): permission denied\n",
    );
}

/// Names that are special to terminals, shells and formats, with every filter.
#[test]
fn h76_hostile_names_at_every_filter() {
    let long = vec![b'x'; 255];
    let names: [&[u8]; 14] = [
        b"new\nline",
        b"\xff",
        b"\x1b[31m",
        b"\xe2\x80\xae",
        &long,
        b"-rf",
        b"--help",
        b"*",
        b"[",
        b"\\",
        b" ",
        b"a'b\"c",
        b"\t",
        b"\xed\xa0\x80",
    ];
    let dir = Dir::new();
    for name in names {
        dir.raw_file(&[b"t/", name].concat(), b"abc").raw_file(&[b"t/sub/", name].concat(), b"def");
    }
    let filters: [&[&str]; 16] = [
        &[],
        &["-n", "*"],
        &["-n", "[!a]*"],
        &["--iname", "X*"],
        &["--path", "sub/*"],
        &["--regex", "^[^a]"],
        &["--regex", r"\x1b|\n"],
        &["-e", "line"],
        &["-t", "f"],
        &["-t", "f,d,l"],
        &["-E", "*\n*"],
        &["-E", "sub/"],
        &["--no-hidden"],
        &["--min-depth", "1"],
        &["--max-depth", "1"],
        &["--ignore-files", "-x"],
    ];
    for filter in filters {
        let make = dir.ftk(["manifest", "create", "t", "-o", "../m", "--force"]).args(filter).run().status(0);
        make.check(
            Manifest::read(&dir.aside("m")).paths.len() <= 2 * names.len() + 2,
            "no name was recorded twice",
        );
        let empty = Manifest::read(&dir.aside("m")).paths.is_empty();
        for args in [&[][..], &["--json", "--all"], &["--sample", "50%"], &["--exit-on-first"], &["-j", "4"]]
        {
            let run = dir.ftk(["manifest", "verify", "t", "../m"]).args(args).run();
            run.status(if empty { 2 } else { 0 });
        }
        dir.ftk(["manifest", "update", "t", "../m", "-o", "../m", "--check", "100%"]).run().status(0);
        // Each of them changed.
        for name in names {
            flip(&dir.path(OsStr::from_bytes(&[b"t/", name].concat())));
        }
        for args in [&[][..], &["--json"]] {
            let run = dir.ftk(["manifest", "verify", "t", "../m"]).args(args).run();
            let acts = |byte: &u8| {
                *byte < b' ' && *byte != b'\n' && *byte != b'\t' || *byte == 0x7f || *byte == 0xff
            };
            run.check(!run.out.iter().any(acts) && !run.text().contains('\u{202e}'), "no control characters");
            run.check([0, 1, 2].contains(&run.code()), "a documented status");
            run.check(
                args.is_empty()
                    || run.text().lines().all(|l| serde_json::from_str::<serde_json::Value>(l).is_ok()),
                "JSON",
            );
        }
        for name in names {
            flip(&dir.path(OsStr::from_bytes(&[b"t/", name].concat())));
        }
    }
}
