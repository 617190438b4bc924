//! `ftk dup --manifests`, and `apply` of its reports.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::Value;

use crate::harness::{Dir, Run, records};

/// Creates two disks with copies on both, each recorded in a manifest next to the test directory.
fn disks() -> Dir {
    let dir = Dir::new();
    dir.file("one/a", b"the same").file("one/sub/b", b"the same").hard_link("one/a", "one/sub/linked");
    dir.file("two/c", b"the same")
        .file("two/only", b"another")
        .file("one/x", b"third")
        .file("two/y", b"third");
    dir.raw_file(b"one/\xff\n", b"odd").raw_file(b"two/\xfe", b"odd");
    for disk in ["one", "two"] {
        record(&dir, disk, &[]);
    }
    dir
}

fn record(dir: &Dir, disk: &str, args: &[&str]) {
    let file = format!("../{disk}.jsonl");
    dir.ftk(["manifest", "create", "--force", disk, "-o", &file]).args(args).run().status(0);
}

fn search(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["dup", "--manifests", "../one.jsonl", "../two.jsonl"]).args(args).run()
}

fn apply(dir: &Dir, args: &[&str]) -> Run {
    search(dir, &["--json", "-o", "../report"]).status(0);
    dir.ftk(["dup", "apply", "../report"]).args(args).run()
}

const ROOTS: [&str; 4] = ["--root", "one.jsonl=one", "--root", "two.jsonl=two"];

#[test]
fn groups_are_those_of_a_search_of_the_trees() {
    let dir = disks();
    // Nothing but the manifests is read.
    for disk in ["one", "two"] {
        fs::rename(dir.path(disk), dir.aside(&format!("away-{disk}"))).unwrap();
    }
    let run = search(&dir, &[]).status(0);
    let expected: &[u8] = b"one/a\none/sub/b\ntwo/c\n\none/x\ntwo/y\n\none/\xff\n\ntwo/\xfe\n\n";
    let run = run.stdout(expected);
    run.stderr_has("no file was read: the groups are candidates")
        .stderr_has("compared 9 recorded files of 2 manifests by sha256");
    let screen = search(&dir, &["--format", "screen"]).status(0);
    screen.check(screen.text().contains("    two/c   in '../two.jsonl'\n"), "the manifest of each member");
    screen.check(
        screen.text().contains("    one/sub/linked   in '../one.jsonl'   ⛓ hard link of 'one/a'"),
        "hard links",
    );
    screen.check(screen.text().contains("  4 × 8 B   wastes 16 B\n"), "hard links count once");
    let summary = search(&dir, &["--summary", "--json"]).status(0);
    let summary: Value = serde_json::from_slice(&summary.out).unwrap();
    assert_eq!(
        (&summary["files"], &summary["groups"], &summary["waste_bytes"]),
        (&8.into(), &3.into(), &24.into())
    );
    let csv = search(&dir, &["--format", "csv"]).status(0);
    assert_eq!(records(&csv.out, b'\n').len(), 9, "a header and eight members");
    for size in [&["--min-size", "6"][..], &["--max-size", "3"]] {
        let lines = records(&search(&dir, size).status(0).out, b'\n').len();
        assert_eq!(
            lines, 4,
            "{size:?}: a group, in which one name contains a newline or three names, and an empty line"
        );
    }
}

#[test]
fn a_report_is_applied_to_mounted_trees() {
    let dir = disks();
    let plan = apply(&dir, &[&["--action", "hardlink"][..], &ROOTS].concat()).status(0);
    plan.stderr_has("would link 4 files");
    let inode = |path: &str| fs::metadata(dir.path(path)).unwrap().ino();
    let run =
        dir.ftk(["dup", "apply", "../report", "--action", "hardlink", "--yes"]).args(ROOTS).run().status(0);
    run.stderr_has("linked 4 files");
    for path in ["one/sub/b", "one/sub/linked", "two/c"] {
        assert_eq!(inode(path), inode("one/a"), "{path}");
    }
    assert_ne!(inode("two/only"), inode("one/a"));
}

/// A copy on a disk that is not mounted is no reason to remove the last copy on those that are.
#[test]
fn copies_that_cannot_be_compared_do_not_count() {
    let dir = disks();
    let run = apply(&dir, &["--action", "delete", "--yes", "--root", "two.jsonl=two"]).status(0);
    run.stderr_has("5 files of '../one.jsonl' are not considered").stderr_has("nothing to do");
    assert!(dir.path("two/c").exists());
    let run = apply(&dir, &["--action", "delete", "--yes", "--root", "one.jsonl=one"]).status(0);
    run.stderr_has("deleted 1 file");
    assert!(dir.path("one/a").exists() && !dir.path("one/sub/b").exists() && dir.path("two/c").exists());
}

#[test]
fn manifests_can_be_references() {
    let dir = disks();
    let args = [&["--action", "delete", "--yes", "--reference", "two.jsonl"][..], &ROOTS].concat();
    apply(&dir, &args).status(0).stderr_has("deleted 5 files");
    assert!(dir.path("two/c").exists() && dir.path("two/y").exists() && !dir.path("one").join("a").exists());
    let args = ["--action", "delete", "--reference", "two.jsonl", "--root", "one.jsonl=one"];
    dir.ftk(["dup", "apply", "../report"])
        .args(args)
        .run()
        .status(2)
        .stderr_has("is not here: add --root FILE=DIR");
    let prune = dir.ftk(["dup", "prune", "--action", "delete", "--reference", "../two.jsonl", "one"]).run();
    prune.status(2).stderr_has("is not a directory");
}

/// Each change is one that a stale record does not know.
#[test]
fn files_that_are_not_as_recorded_are_not_considered() {
    for (change, why) in [
        ("echo longer > two/c", "its size is not as recorded"),
        ("touch -d 2001-01-01 two/c", "its time of modification is not as recorded"),
        ("cp -p two/c two/new && mv two/new two/c", "another file than the recorded one"),
        ("rm two/c", "two/c"),
        ("rm two/c && ln -s ../one/a two/c", "it is not a regular file"),
        ("chmod 600 two/c", "its time of change is not as recorded"),
    ] {
        let dir = disks();
        dir.ftk([""; 0]).instead(&dir, ["sh", "-c", change]).run().status(0);
        let args = [&["--action", "hardlink", "--yes"][..], &ROOTS].concat();
        let run = apply(&dir, &args).status(2);
        run.check(run.err.contains(why), why);
        run.check(!run.text().contains("two/c"), "no step");
        assert_eq!(fs::read(dir.path("one/sub/b")).unwrap(), b"the same", "{change}");
    }
}

/// A report may say that contents are equal which are not: file system, inode, size and times are those of the file.
#[test]
fn bytes_decide_and_not_the_record() {
    let dir = disks();
    search(&dir, &["--json", "-o", "../report"]).status(0);
    fs::write(dir.path("two/other"), "the sane").unwrap();
    let other = fs::metadata(dir.path("two/other")).unwrap();
    let nanos = |seconds: i64, nanos: i64| seconds * 1_000_000_000 + nanos;
    let forge = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for member in line["members"].as_array_mut().into_iter().flatten() {
            if member["path"] == "two/c" {
                member["path"] = "two/other".into();
                member["ino"] = other.ino().into();
                member["mtime_ns"] = nanos(other.mtime(), other.mtime_nsec()).into();
                member["ctime_ns"] = nanos(other.ctime(), other.ctime_nsec()).into();
            }
        }
        line.to_string() + "\n"
    };
    let report = fs::read_to_string(dir.aside("report")).unwrap();
    fs::write(dir.aside("forged"), report.lines().map(forge).collect::<String>()).unwrap();
    let run =
        dir.ftk(["dup", "apply", "--edited", "../forged", "--action", "hardlink", "--yes"]).args(ROOTS).run();
    let run = run.status(2).stderr_has("1 refused");
    run.check(run.says("two/other"), "the refused file");
    assert_eq!(fs::read(dir.path("two/other")).unwrap(), b"the sane");
}

#[test]
fn manifests_without_a_common_algorithm_are_refused() {
    let dir = disks();
    record(&dir, "two", &["-a", "blake3", "-a", "crc32"]);
    let run = search(&dir, &[]).status(2).stdout("");
    run.stderr_has("'../one.jsonl' has sha256; '../two.jsonl' has blake3, crc32");
    record(&dir, "one", &["-a", "crc32", "-a", "xxh128"]);
    search(&dir, &[]).status(2).stderr_has("no digest algorithm in common");
    record(&dir, "two", &["-a", "xxh128", "-a", "md5"]);
    let run = search(&dir, &["--json"]).status(0);
    run.check(run.text().contains("\"algorithm\":\"xxh128\""), "the common one");
    run.stderr_has("files can be crafted to have equal digests");
    record(&dir, "one", &["-a", "md5", "-a", "blake3"]);
    record(&dir, "two", &["-a", "md5", "-a", "blake3"]);
    let run = search(&dir, &["--json"]).status(0);
    run.check(run.text().contains("\"algorithm\":\"blake3\""), "a cryptographic one");
    let run = dir.ftk(["dup", "--manifests", "../one.jsonl", "../one.jsonl"]).run().status(2);
    run.stderr_has("are the same manifest");
    for args in [&["one"][..], &["--verify"], &["-n", "x"], &["-a", "sha256"], &["--cache"]] {
        dir.ftk(["dup"])
            .args(args)
            .args(["--manifests", "../one.jsonl"])
            .run()
            .status(2)
            .stderr_has("cannot be used with");
    }
    dir.ftk(["dup", "apply", "../report", "--action", "delete", "--root", "x"]).run().status(2);
}

/// Changes members of the manifest of a disk, and seals it again.
fn edit(dir: &Dir, disk: &str, change: impl Fn(&str) -> String) {
    let path = dir.aside(&format!("{disk}.jsonl"));
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let mut sealed = String::new();
    for line in &lines[..lines.len() - 1] {
        sealed += &change(line);
        sealed.push('\n');
    }
    let digest = crate::harness::sha256(sealed.as_bytes());
    let footer = format!("{{\"footer\":{{\"records\":{},\"sha256\":\"{digest}\"}}}}\n", lines.len() - 1);
    fs::write(path, sealed + &footer).unwrap();
}

#[test]
fn contradicting_records_of_one_inode_are_reported_and_in_no_group() {
    let dir = disks();
    // The identity of file systems is not known everywhere.
    let with_fs = |line: &str| {
        let has_fs = !line.contains("\"type\":\"file\"") || line.contains("\"fs\":");
        let line = line.replace("\"dev\":", "\"fs\":\"000000000000000000000000000000aa\",\"dev\":");
        if has_fs { line.replacen("\"fs\":\"000000000000000000000000000000aa\",", "", 1) } else { line }
    };
    edit(&dir, "one", with_fs);
    edit(&dir, "two", with_fs);
    let ino = |path: &str| format!("\"ino\":{},", fs::metadata(dir.path(path)).unwrap().ino());
    let (only, a) = (ino("two/only"), ino("one/a"));
    edit(&dir, "two", |line| line.replace(&only, &a));
    let run = search(&dir, &["--format", "screen"]).status(2);
    run.check(!run.text().contains("one/a") && !run.text().contains("one/sub/linked"), "not grouped");
    run.check(run.text().contains("one/sub/b") && run.text().contains("two/c"), "the others are");
    for name in ["'one/a' in '../one.jsonl'", "'one/sub/linked' in", "'two/only' in '../two.jsonl'"] {
        run.check(run.err.contains(name), name);
    }
    run.stderr_has("1 file with contradicting digests: not compared (status 2)");
}

#[test]
fn damaged_entries_are_no_candidates() {
    let dir = disks();
    edit(&dir, "two", |line| match line.contains("\"path\":\"c\"") {
        true => line.strip_suffix('}').unwrap().to_owned() + ",\"damaged_ns\":5}",
        false => line.to_owned(),
    });
    let run = search(&dir, &[]).status(0);
    run.check(!run.out.windows(5).any(|part| part == b"two/c"), "not a candidate");
    run.stderr_has("1 file marked as damaged: skipped");
}

#[test]
fn little_memory_gives_the_same_answer() {
    let dir = Dir::new();
    for nth in 0..2000 {
        dir.file(format!("one/{}/{nth}", nth % 7), format!("{}", nth % 700).as_bytes());
        dir.file(format!("two/{nth}"), format!("{}", nth % 900).as_bytes());
    }
    for disk in ["one", "two"] {
        record(&dir, disk, &[]);
    }
    let groups = |memory: &[&str]| {
        let run = search(&dir, &[&["--json"][..], memory].concat()).status(0);
        let lines = records(&run.out, b'\n');
        lines[1..lines.len() - 1].to_vec()
    };
    let all = groups(&[]);
    assert_eq!(all.len(), 900);
    assert!(all == groups(&["--memory", "64K"]), "with temporary files");
    let full = search(&dir, &["--memory", "64K"]);
    full.status(0);
    let run = dir.ftk(["dup", "--memory", "64K", "--manifests", "../one.jsonl", "../two.jsonl"]);
    run.instead(
        &dir,
        [
            "env",
            "TMPDIR=/dev/null/none",
            env!("CARGO_BIN_EXE_ftk"),
            "dup",
            "--memory",
            "64K",
            "--manifests",
            "../one.jsonl",
        ],
    )
    .run()
    .status(2)
    .stdout("")
    .stderr_has("cannot sort in temporary files");
}
