//! `ftk manifest scrub`: which files are read, what is recorded, and what is reported.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::Value;

use super::damage::{flip, rot};
use super::records::{Manifest, create, json as objects, lines, seal};
use crate::harness::{Dir, Mounted, Run, bytes, has_open, needs, sha256, wait_until};

/// Scrubs the tree with the manifest next to it.
fn scrub(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["manifest", "scrub", "."]).arg(dir.aside("manifest")).args(args).run()
}

fn recorded(dir: &Dir) -> Manifest {
    Manifest::read(&dir.aside("manifest"))
}

/// Returns the files with a time of verification.
fn verified(dir: &Dir) -> BTreeSet<String> {
    let entries = recorded(dir).entries.into_iter().filter(|(_, entry)| entry["verified_ns"].is_i64());
    entries.map(|(path, _)| String::from_utf8(path).unwrap()).collect()
}

/// The object with the results of the run.
fn results(run: &Run) -> Value {
    objects(run).pop().unwrap()
}

/// Creates 40 files of different sizes, and their manifest.
fn forty() -> Dir {
    let dir = Dir::on_disk();
    for nth in 0..40 {
        dir.file(format!("d{}/{nth:02}", nth % 3), &bytes(nth, nth as usize * 97));
    }
    dir.file("empty", b"").file("zz", b"").symlink("zz", "link").dir("none");
    create(&dir, &[]);
    dir
}

#[test]
fn parts_in_turn_read_every_file_once() {
    let dir = forty();
    let before = recorded(&dir);
    let mut seen = BTreeSet::new();
    for nth in 1..=4 {
        let run = scrub(&dir, &["--part", "1/4", "--json"]).status(0);
        let results = results(&run);
        let now = verified(&dir);
        // The last part is filled up with the files that were read first.
        let is_last = nth == 4;
        let new = now.len() - seen.len();
        assert!(results["verified_files"] == new || is_last && new > 0, "each file once");
        assert_eq!(results["never_read_files"], 42 - now.len());
        assert_eq!((&results["files"], &results["damaged_files"]), (&42.into(), &0.into()));
        assert!(now.is_superset(&seen) && results["oldest_verified_ns"].is_i64());
        assert!(results["round_ns"].as_u64().unwrap() > 0, "{nth}");
        seen = now;
    }
    assert_eq!(seen.len(), 42);
    let after = recorded(&dir);
    assert_eq!((&after.header, &after.paths), (&before.header, &before.paths));
    assert_eq!(after.untimed().entries, before.entries);
    // The next run begins with the files of the first one.
    let oldest = |manifest: &Manifest| {
        let times = manifest.entries.values().filter_map(|entry| entry["verified_ns"].as_i64());
        times.min().unwrap()
    };
    let first = oldest(&recorded(&dir));
    scrub(&dir, &["--part", "1/4"]).status(0);
    assert!(oldest(&recorded(&dir)) > first);
    // Without a limit everything is read.
    let run = scrub(&dir, &["--json"]).status(0);
    assert_eq!((&results(&run)["verified_files"], &results(&run)["round_ns"]), (&42.into(), &Value::Null));
    scrub(&dir, &["-q"]).status(0).stdout("").stderr("");
}

#[test]
fn every_run_advances() {
    let dir = forty();
    for (nth, args) in
        [["--bytes", "1"], ["--bytes", "0"], ["--time", "0"], ["--part", "1/1000000"]].iter().enumerate()
    {
        scrub(&dir, args).status(0);
        assert!(verified(&dir).len() > nth, "{args:?}");
    }
    scrub(&dir, &["--time", "1h", "--part", "1/1", "--bytes", "10T"]).status(0);
    assert_eq!(verified(&dir).len(), 42);
}

#[test]
fn damage_is_read_first_and_reported_until_it_is_repaired() {
    let dir = forty();
    let good = recorded(&dir);
    let path = "d0/39".to_owned();
    rot(&dir.path(""), &dir.aside("manifest"), std::slice::from_ref(&path));
    dir.ftk(["manifest", "update", "."]).arg(dir.aside("manifest")).run().status(0);
    // The last file is not in the first part.
    scrub(&dir, &["--bytes", "1"]).status(0);
    let run = scrub(&dir, &[])
        .status(1)
        .stderr_has("  1 damaged file: see `ftk manifest repair`, or update --accept PATH   (status 1)\n")
        .stderr_has("  1 damaged file: see `ftk manifest repair`");
    run.check(
        run.text().starts_with("corrupted\td0/39\tcontent changed, size and mtime did not, sha256 "),
        "the file",
    );
    let found = recorded(&dir).entry(&path)["damaged_ns"].clone();
    assert!(found.is_i64());
    for _ in 0..2 {
        let run = scrub(&dir, &["--bytes", "1", "--json"]).status(1);
        let records = objects(&run);
        assert_eq!(
            (&records[0]["verdict"], &records[0]["path"]),
            (&"corrupted".into(), &path.clone().into())
        );
        assert_eq!(records[0]["changes"][0]["old"]["sha256"], sha256(&bytes(39, 39 * 97)));
        assert_eq!((&records[1]["damaged_files"], &records[1]["files"]), (&1.into(), &41.into()));
        let now = recorded(&dir);
        assert_eq!(now.entry(&path)["damaged_ns"], found);
        assert_eq!(now.entry(&path)["digests"], good.entry(&path)["digests"]);
    }
    // A renamed file is not forgotten.
    fs::rename(dir.path(&path), dir.path("other")).unwrap();
    let run = scrub(&dir, &["--bytes", "1"]).status(1).stdout("missing\td0/39\n");
    run.stderr_has("  1 damaged file: see `ftk manifest repair`, or update --accept PATH   (status 1)\n")
        .stderr_has("  1 new, 1 missing: left for `ftk manifest update`\n");
    fs::rename(dir.path("other"), dir.path(&path)).unwrap();
    flip(&dir.path(&path));
    scrub(&dir, &["--bytes", "1"]).status(0).stdout("");
    let entry = recorded(&dir).entry(&path).clone();
    assert!(entry["damaged_ns"].is_null() && entry["verified_ns"].as_i64() > found.as_i64());
    // Accepted damage is not reported either.
    flip(&dir.path(&path));
    scrub(&dir, &[]).status(1);
    let manifest = dir.aside("manifest");
    let update =
        dir.ftk(["manifest", "update", ".", "--accept", &path]).arg(&manifest).arg("-o").arg(&manifest);
    update.run().status(0);
    scrub(&dir, &[]).status(0);
}

#[test]
fn edits_are_left_to_update() {
    let dir = forty();
    let before = recorded(&dir);
    dir.file("d0/03", b"edited").file("fresh", b"fresh").dir("new");
    fs::remove_file(dir.path("d1/04")).unwrap();
    fs::remove_file(dir.path("d1/07")).unwrap();
    dir.dir("d1/07");
    let run = scrub(&dir, &[]).status(0).stdout("");
    run.stderr_has("  2 new, 2 changed, 1 missing: left for `ftk manifest update`\n")
        .stderr_has(", except 2 changed\n");
    let now = recorded(&dir);
    for path in ["d0/03", "d1/04", "d1/07"] {
        assert_eq!(now.entry(path), before.entry(path));
    }
    assert_eq!(now.paths, before.paths);
    assert_eq!(verified(&dir).len(), 39);
}

#[test]
fn unreadable_files_are_errors_and_do_not_use_up_the_limit() {
    let dir = Dir::new();
    dir.file("a", &bytes(1, 50_000))
        .file("b", &bytes(2, 50_000))
        .file("c", &bytes(3, 50_000))
        .file("s/x", b"x");
    let manifest = create(&dir, &[]);
    fs::set_permissions(&manifest, Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(dir.aside(""), Permissions::from_mode(0o777)).unwrap();
    dir.lock("a").lock("s");
    for expected in [&["b"][..], &["b", "c"]] {
        let ftk = dir.ftk(["manifest", "scrub", ".", "--bytes", "1"]).arg(&manifest).unprivileged(&dir);
        let run = ftk.run().status(2).stdout("unreadable\ta\tpermission denied\n");
        run.stderr_has("ftk: cannot open './a': permission denied\n")
            .stderr_has("ftk: cannot open './s': ")
            .stderr_has("  2 unreadable files   (status 2)\n")
            .stderr_has(", except 2 unreadable");
        assert_eq!(verified(&dir), expected.iter().map(|path| (*path).to_owned()).collect());
    }
}

#[test]
fn an_emptied_or_other_root_is_refused() {
    let dir = Dir::new();
    dir.file("m/a", b"abc").file("m/b", b"def").file("other/a", b"abc");
    dir.ftk(["manifest", "create", "m", "-o", "m.jsonl"]).run().status(0);
    let before = fs::read(dir.path("m.jsonl")).unwrap();
    fs::rename(dir.path("m"), dir.path("m.off")).unwrap();
    dir.dir("m");
    let scrub = |args: &[&str]| dir.ftk(["manifest", "scrub", "m", "m.jsonl"]).args(args).run();
    scrub(&[]).status(2).stdout("").stderr_has("2 of 2 recorded entries are missing");
    scrub(&["--max-missing", "1"]).status(2);
    assert_eq!(fs::read(dir.path("m.jsonl")).unwrap(), before);
    scrub(&["--max-missing", "100%"]).status(1).stderr_has("nothing was verified");
    assert_eq!(fs::read(dir.path("m.jsonl")).unwrap(), before, "nothing was verified");
    fs::remove_dir(dir.path("m")).unwrap();
    let Some(mounted) = Mounted::new("tmpfs") else { return };
    fs::write(mounted.path("a"), b"abc").unwrap();
    fs::write(mounted.path("b"), b"def").unwrap();
    symlink(mounted.path(""), dir.path("m")).unwrap();
    scrub(&[]).status(2).stderr_has("ftk: 'm' is not the recorded directory");
    assert_eq!(fs::read(dir.path("m.jsonl")).unwrap(), before);
}

#[test]
fn what_cannot_be_rewritten_is_refused_before_anything_is_read() {
    let dir = Dir::new();
    dir.file("t/a", b"abc").file("m/x", b"").fifo("fifo");
    dir.ftk(["manifest", "create", "t", "-o", "m/good"]).run().status(0);
    dir.ftk(["manifest", "create", "t", "--no-content", "-o", "m/bare"]).run().status(0);
    let good = fs::read(dir.path("m/good")).unwrap();
    flip(&dir.path("t/a"));
    for (args, why) in [
        (&["t", "-"][..], "ftk: scrub rewrites the manifest, so it cannot be read from standard input\n"),
        (&["t", "fifo"], "ftk: 'fifo' is not a regular file, so it cannot be rewritten\n"),
        (&["t", "t"], "ftk: 't' is not a regular file, so it cannot be rewritten\n"),
        (&["t", "nowhere"], "ftk: cannot open 'nowhere': no such file or directory\n"),
        (&["t", "m/bare"], "ftk: 'm/bare' records no digests, so no content can be verified\n"),
        (&["t", "m/x"], "ftk: 'm/x': not a manifest of ftk: it is empty\n"),
        (&["m/good", "t"], "ftk: the directory comes first, then the manifest: 't' 'm/good'\n"),
        (&["nowhere", "m/good"], "ftk: cannot open 'nowhere': no such file or directory\n"),
        (&["t", "m/good", "--part", "5/4"], "expected a fraction such as 1/30"),
        (&["t", "m/good", "--time", "5"], "expected a period such as 90s, 30m, 2h or 1h30m"),
        (&["t", "m/good", "--time=-1h"], "expected a period"),
        (&["t", "m/good", "--bytes", "-1"], "unexpected argument '-1'"),
        (&["t", "/dev/stdin"], "ftk: '/dev/stdin': a path through a descriptor cannot be replaced\n"),
        (&["t", "m/good", "--cache"], "unexpected argument '--cache'"),
    ] {
        let stdin = fs::File::open(dir.path("m/good")).unwrap();
        dir.ftk(["manifest", "scrub"])
            .args(args)
            .stdin_from(stdin)
            .run()
            .status(2)
            .stdout("")
            .stderr_has(why);
    }
    let mut edited = lines(&dir.path("m/good"));
    edited[2] = edited[2].replace("\"mode\":\"0", "\"mode\":\"1");
    let sealed = seal(&edited);
    let footer = String::from_utf8(good.clone()).unwrap().lines().last().unwrap().to_owned();
    let edited = sealed.lines().take(3).chain([&*footer]).map(|line| format!("{line}\n")).collect::<String>();
    fs::write(dir.path("m/edited"), &edited).unwrap();
    dir.ftk(["manifest", "scrub", "t", "m/edited"]).run().status(2).stdout("");
    assert_eq!(fs::read_to_string(dir.path("m/edited")).unwrap(), edited);
    // A directory in which no file can be created.
    fs::set_permissions(dir.path("m"), Permissions::from_mode(0o555)).unwrap();
    let run = dir.ftk(["manifest", "scrub", "t", "m/good"]).unprivileged(&dir).run();
    run.status(2).stdout("").stderr_has("ftk: cannot write 'm/good': permission denied\n");
    assert_eq!(fs::read(dir.path("m/good")).unwrap(), good);
}

#[test]
fn a_manifest_in_the_tree_is_no_part_of_it() {
    let dir = Dir::new();
    dir.file("a", b"abc").dir("m");
    dir.ftk(["manifest", "create", ".", "-o", "m/real"]).run().status(0);
    symlink("real", dir.path("m/link")).unwrap();
    for name in ["m/link", "m/real"] {
        let run = dir.ftk(["manifest", "scrub", ".", name]).run().status(0).stdout("");
        run.stderr_has("  1 new: left for `ftk manifest update`\n").stderr_has("  1 file verified, ");
        assert!(fs::symlink_metadata(dir.path("m/link")).unwrap().is_symlink());
        assert_eq!(Manifest::read(&dir.path("m/real")).paths, [&b"."[..], b"a", b"m"]);
    }
}

/// A full disk is an error, and the manifest stays as it was.
#[test]
fn a_full_disk_keeps_the_old_manifest() {
    let dir = forty();
    dir.dir("small");
    let small = dir.path("small");
    let Some(_mounted) = Mounted::at(&small, ["-t", "tmpfs", "-o", "size=32k", "none"]) else { return };
    let old = fs::read(dir.aside("manifest")).unwrap();
    assert!((16 << 10..28 << 10).contains(&old.len()));
    fs::write(small.join("m"), &old).unwrap();
    flip(&dir.path("d0/39"));
    let run = dir.ftk(["manifest", "scrub", ".", "small/m"]).run().status(2);
    run.check(run.text().starts_with("corrupted\td0/39\t"), "what was found is printed");
    run.stderr_has("ftk: cannot write 'small/m': no space left on device\n");
    assert_eq!(fs::read(small.join("m")).unwrap(), old);
}

/// A long run prints what it finds at once.
#[test]
fn damage_is_printed_before_the_end() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def").file("large", &bytes(1, 3_000_000));
    create(&dir, &[]);
    flip(&dir.path("a"));
    flip(&dir.path("b"));
    scrub(&dir, &[]).status(1);
    let ftk = dir.ftk(["manifest", "scrub", ".", "../manifest", "--limit-rate", "500K", "--io", "sync"]);
    let mut child = ftk.spawn();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    wait_until(|| has_open(&child, "large"));
    assert!(line.starts_with("corrupted\ta\t"), "{line}");
    assert!(child.try_wait().unwrap().is_none(), "it is still reading");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Wherever the command is killed, the manifest is complete.
#[test]
fn killed_while_the_manifest_is_rewritten() {
    needs!("strace");
    let dir = forty();
    let old = fs::read(dir.aside("manifest")).unwrap();
    let mut replaced = 0;
    for call in ["write", "fsync", "linkat", "renameat", "flock"] {
        for when in 1..=3 {
            fs::write(dir.aside("manifest"), &old).unwrap();
            let kill = format!("inject={call}:signal=KILL:when={when}");
            let ftk = dir.ftk(["manifest", "scrub", "."]).arg(dir.aside("manifest"));
            let run = ftk.under(&dir, ["strace", "-f", "-o", "/dev/null", "-e", &kill]).run();
            run.check([0, 128 + 9].contains(&run.code()), "it ends or is killed");
            let now = recorded(&dir);
            assert_eq!(now.paths.len(), 48);
            let n = verified(&dir).len();
            assert!(n == 0 || n == 42, "{call} {when}: {n}");
            replaced += usize::from(n > 0);
            assert_eq!(now.untimed().entries, Manifest::parse(&old).entries);
        }
    }
    assert!((1..15).contains(&replaced), "{replaced}");
}

#[test]
fn clocks_that_were_wrong_do_not_hide_a_file() {
    let dir = forty();
    scrub(&dir, &[]).status(0);
    let manifest = dir.aside("manifest");
    let mut lines = lines(&manifest);
    let at = lines.iter().position(|line| line.starts_with("{\"path\":\"d2/38\"")).unwrap();
    let time = regex::Regex::new(r#""verified_ns":[0-9]+"#).unwrap();
    lines[at] = time.replace(&lines[at], "\"verified_ns\":9000000000000000000").into_owned();
    fs::write(&manifest, seal(&lines)).unwrap();
    scrub(&dir, &["--bytes", "1"]).status(0);
    assert!(recorded(&dir).entry("d2/38")["verified_ns"].as_i64().unwrap() < 9_000_000_000_000_000_000);
}

/// A manifest from another program may have any times.
#[test]
fn recorded_times_may_be_any_numbers() {
    let dir = Dir::new();
    (0..4).for_each(|nth| _ = dir.file(nth.to_string(), b"abc"));
    let good = lines(&create(&dir, &[]));
    let [start, time] =
        ["start", "mtime"].map(|it| regex::Regex::new(&format!("\"{it}_ns\":[0-9]+")).unwrap());
    let (least, most) = (i128::MIN.to_string(), i128::MAX.to_string());
    for ns in [&*least, "-1", "0", "9223372036854775807", &most] {
        for begin in [&*least, "0", &most] {
            let mut lines = good.clone();
            lines[0] = start.replace(&lines[0], &format!("\"start_ns\":{begin}")).into_owned();
            for (nth, line) in lines[2..].iter_mut().enumerate() {
                let verified = if nth % 2 == 0 { begin } else { ns };
                let line_now = time.replace(line, format!("\"mtime_ns\":{ns}")).into_owned();
                *line = format!("{},\"verified_ns\":{verified}}}", line_now.strip_suffix('}').unwrap());
            }
            for command in ["verify", "update", "scrub"] {
                fs::write(dir.aside("manifest"), seal(&lines)).unwrap();
                let run = dir.ftk(["manifest", command, "."]).arg(dir.aside("manifest")).run();
                run.check(run.code() < 2 && !run.err.contains("panicked"), command);
            }
        }
    }
}

#[test]
fn attributes_and_several_digests_are_kept() {
    let dir = Dir::new();
    dir.file("a", b"abc").raw_file(b"\xff\n", b"odd");
    create(&dir, &["-a", "md5,xxh3", "-E", "*.tmp"]);
    let before = recorded(&dir);
    scrub(&dir, &[]).status(0);
    let after = recorded(&dir);
    assert_eq!(after.header, before.header);
    assert!(after.entry("a")["verified_ns"].is_i64());
    assert_eq!(after.untimed().entries, before.entries);
}

#[test]
fn a_manifest_of_version_1_is_upgraded() {
    let dir = forty();
    let manifest = dir.aside("manifest");
    let member = regex::Regex::new(r#","(allocated_bytes|birth_ns)":-?[0-9]+|,"fs":"[0-9a-f]{32}""#).unwrap();
    let mut first: Vec<_> =
        lines(&manifest).iter().map(|line| member.replace_all(line, "").into_owned()).collect();
    first[0] = first[0].replace("\"version\":2", "\"version\":1");
    fs::write(&manifest, seal(&first)).unwrap();
    scrub(&dir, &["--part", "1/2"]).status(0);
    assert!(recorded(&dir).header["version"] == 2 && verified(&dir).len() > 10);
    dir.ftk(["manifest", "verify", "."]).arg(&manifest).run().status(0).stdout("");
}

/// What is found in another directory is no fact about the recorded one.
#[test]
fn a_scrub_of_another_root_writes_nothing() {
    let dir = Dir::on_disk();
    for nth in 0..4 {
        dir.file(format!("t/{nth}"), &bytes(nth, 1000));
    }
    dir.ftk(["manifest", "create", "-q", "t", "-o", "m"]).run().status(0);
    let copy = std::process::Command::new("cp").arg("-a").args([dir.path("t"), dir.path("copy")]).status();
    assert!(copy.unwrap().success());
    flip(&dir.path("copy/2"));
    let before = fs::read(dir.path("m")).unwrap();
    dir.ftk(["manifest", "scrub", "copy", "m"]).run().status(2).stderr_has("add --other-root");
    let run = dir.ftk(["manifest", "scrub", "copy", "m", "--other-root"]).run().status(1);
    run.check(run.text().contains("corrupted"), "the damage is reported");
    run.stderr_has(
        "  'm' is not written (--other-root): to adopt this ROOT, run `ftk manifest update --other-root`\n",
    );
    assert_eq!(fs::read(dir.path("m")).unwrap(), before);
    // The recorded tree is scrubbed as if nothing had happened.
    let run = dir.ftk(["manifest", "scrub", "t", "m", "--json"]).run().status(0);
    assert_eq!((&results(&run)["verified_files"], &results(&run)["damaged_files"]), (&4.into(), &0.into()));
    assert_ne!(fs::read(dir.path("m")).unwrap(), before);
}
