//! `--since` and `manifest diff --by-directory`: which directories grew and shrank.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;

use super::tree;
use crate::harness::{Dir, Mounted, Run, bytes, needs, records, sha256};

/// What was on a file system that is not mounted did not shrink: a tree and a record that lack it say so.
#[test]
fn a_missing_mount_is_not_compared() {
    let dir = Dir::new();
    dir.file("t/a/1", &bytes(1, 9000));
    let disk = dir.dir("t/disk").path("t/disk");
    let Some(mounted) = Mounted::at(&disk, ["-t", "tmpfs", "none"]) else { return };
    dir.file("t/disk/d/2", &bytes(2, 90_000));
    let create = |name: &str| dir.ftk(["manifest", "create", "t", "-o", name]).run().status(0);
    create("old.jsonl");
    dir.ftk(["du", "--since", "old.jsonl", "t"]).run().status(0).stdout("");
    drop(mounted);
    create("new.jsonl");
    dir.file("t/a/3", &bytes(3, 5000));
    for (new, change) in [("t", 8192), ("new.jsonl", 0)] {
        let run = dir.ftk(["du", "--json", "--since", "old.jsonl", new]).run().status(2);
        let why = "'t/disk': another file system is recorded there, and none is mounted now: not compared";
        let run = run.stderr_has(why).stderr_has("1 entry not compared").stderr_has("(status 2)");
        let root = &objects(&run)[0];
        assert_eq!(
            (root["unknown"].as_u64(), number(root, "allocated_bytes_change")),
            (Some(1), change),
            "{new}"
        );
        assert!(!objects(&run).iter().any(|line| path(line).starts_with("t/disk/")));
    }
    let Some(_other) = Mounted::at(&disk, ["-t", "ramfs", "none"]) else { return };
    let run = dir.ftk(["du", "--since", "old.jsonl", "t"]).run().status(2);
    run.stderr_has("another file system is mounted there than the recorded one");
    // A copy has no mounts.
    dir.file("copy/a/1", &bytes(1, 9000)).file("copy/disk/d/2", &bytes(2, 90_000));
    dir.ftk(["du", "--since", "old.jsonl", "copy"]).run().status(0).stderr_has("is of another directory");
}

/// Hosts number the devices of a file system without an identity differently.
#[test]
fn hard_links_in_parts_of_several_hosts_count_once() {
    let dir = Dir::new();
    let Some(_mounted) = Mounted::at(&dir.dir("t").path("t"), ["-t", "tmpfs", "none"]) else { return };
    dir.file("t/a/x", &bytes(1, 100_000)).dir("t/b").dir("t/c").dir("parts");
    for name in ["t/b/x", "t/c/x"] {
        fs::hard_link(dir.path("t/a/x"), dir.path(name)).unwrap();
    }
    dir.ftk(["manifest", "create", "t", "-o", "whole.jsonl"]).run().status(0);
    let mut merge = vec!["manifest".to_owned(), "merge".into(), "-o".into(), "merged.jsonl".into()];
    for host in 1..=3_u32 {
        let (shard, part) = (format!("{host}/3"), format!("parts/{host}.jsonl"));
        dir.ftk(["manifest", "create", "--shard", &shard, "t", "-o", &part]).run().status(0);
        let text = fs::read_to_string(dir.path(&part)).unwrap();
        let (lines, _) = text.split_once("{\"footer\":").unwrap();
        let lines = lines.replace("\"dev\":", &format!("\"dev\":{host}"));
        let (records, digest) = (lines.lines().count(), sha256(lines.as_bytes()));
        let footer = format!("{{\"footer\":{{\"records\":{records},\"sha256\":\"{digest}\"}}}}\n");
        fs::write(dir.path(&part), lines + &footer).unwrap();
        merge.push(part);
    }
    dir.ftk(&merge).run().status(0);
    let du = |from: &str| dir.ftk(["du", "-s", "--from", from]).run().status(0).text().to_owned();
    assert_eq!([du("parts"), du("merged.jsonl")], [du("whole.jsonl"), du("whole.jsonl")]);
    for [old, new] in [["whole.jsonl", "merged.jsonl"], ["merged.jsonl", "t"], ["parts", "t"]] {
        dir.ftk(["du", "--since", old, new]).run().status(0).stdout("");
    }
}

/// What is counted of a directory: allocated bytes, sizes, and files.
type Sums = [i128; 3];

fn number(line: &Value, name: &str) -> i128 {
    line[name].to_string().parse().unwrap_or_else(|_| panic!("{name} of {line}"))
}

fn path(line: &Value) -> String {
    match line["path"].as_str() {
        Some(path) => path.to_owned(),
        None => format!("base64 {}", line["path_b64"]),
    }
}

fn objects(run: &Run) -> Vec<Value> {
    run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The sums of all directories, as `ftk du` prints them.
fn sums(dir: &Dir, args: &[&str]) -> BTreeMap<String, Sums> {
    let run = dir.ftk(["du", "--json", "-d999"]).args(args).run().status(0);
    let names = ["allocated_bytes", "apparent_bytes", "files"];
    objects(&run).iter().map(|line| (path(line), names.map(|name| number(line, name)))).collect()
}

/// The differences of two results of [`sums`]. Directories without one are omitted.
fn differences(old: &BTreeMap<String, Sums>, new: &BTreeMap<String, Sums>) -> BTreeMap<String, Sums> {
    let paths: BTreeSet<_> = old.keys().chain(new.keys()).cloned().collect();
    let difference = |path: String| {
        let [old, new] = [old, new].map(|sums| sums.get(&path).copied().unwrap_or_default());
        (path, [0, 1, 2].map(|nth| new[nth] - old[nth]))
    };
    paths.into_iter().map(difference).collect()
}

/// The changes that a run printed.
fn changes(run: &Run) -> BTreeMap<String, Sums> {
    let names = ["allocated_bytes_change", "apparent_bytes_change", "files_change"];
    objects(run).iter().map(|line| (path(line), names.map(|name| number(line, name)))).collect()
}

fn write_records(dir: &Dir, name: &str) -> [String; 2] {
    let text = |suffix: &str| dir.aside(&format!("{name}.{suffix}")).into_os_string().into_string().unwrap();
    let [manifest, ncdu] = ["jsonl", "json"].map(text);
    dir.ftk(["manifest", "create", "-q", ".", "-o", &manifest]).run().status(0);
    let dump = dir.ftk(["du", "-q", "--format", "ncdu", "."]).run().status(0);
    fs::write(&ncdu, &dump.out).unwrap();
    [manifest, ncdu]
}

/// Changes of all kinds in the tree of these tests.
fn change(dir: &Dir) {
    let remove = |name: &str| fs::remove_file(dir.path(name)).unwrap();
    dir.file("sizes/4096", &bytes(9, 500_000)).file("new/deep/er/x", &bytes(10, 70_000));
    remove("sizes/4097");
    // Files with several names lose the first of them, or get one that is before it.
    remove("d/linked");
    dir.dir("aa").hard_link("sizes/100000", "aa/linked").hard_link("d-e", "d-f/linked-e");
    fs::rename(dir.path("wide"), dir.path("odd/wide")).unwrap();
    // A directory becomes a file, and a file becomes a directory.
    fs::remove_dir_all(dir.path("empty")).unwrap();
    dir.file("empty", &bytes(11, 9000));
    remove("d.g");
    dir.file("d.g/z", &bytes(12, 20_000)).file("d/x", &bytes(13, 30));
}

#[test]
fn changes_are_the_differences_of_two_runs() {
    needs!("zstd");
    let dir = tree();
    // A manifest would read all of it.
    fs::remove_file(dir.path("hole")).unwrap();
    let before = sums(&dir, &["."]);
    let old = write_records(&dir, "old");
    dir.ftk([] as [&str; 0]).instead(&dir, ["zstd", "-q", "-k", &*old[0], &*old[1]]).run().status(0);
    change(&dir);
    let after = sums(&dir, &["."]);
    let new = write_records(&dir, "new");
    let mut expected = differences(&before, &after);
    assert!(expected["."][0] > 0 && expected["./wide"][2] == -300 && expected["./odd/wide"][2] == 300);
    // A directory is omitted if its bytes and the number of its files are the same.
    let is_changed = |measure: usize| move |_: &String, sums: &mut Sums| sums[measure] != 0 || sums[2] != 0;
    let mut by_size = expected.clone();
    expected.retain(is_changed(0));
    by_size.retain(is_changed(1));
    assert_ne!(expected, by_size, "a file grew within its block");
    assert!(expected.contains_key("./aa") && !expected.contains_key("./d-e"));
    for old in [&*old[0], &*old[1], &*format!("{}.zst", old[0]), &*format!("{}.zst", old[1])] {
        for newer in [&[][..], &["."], &[&*new[0]], &[&*new[1]]] {
            for threads in ["mono", "8"] {
                let run = dir.ftk(["du", "--json", "--since", old, "-d999", "-j", threads]).args(newer).run();
                let run = run.status(0);
                // A record of ncdu has an absolute root.
                let is_relative = newer != [&*new[1]];
                let root = dir.path("").canonicalize().unwrap().into_os_string().into_string().unwrap();
                let found = changes(&run).into_iter().map(|(path, sums)| match is_relative {
                    true => (path, sums),
                    false => (path.replacen(&root, ".", 1), sums),
                });
                let found: BTreeMap<_, _> = found.filter(|(path, _)| !path.starts_with("base64")).collect();
                run.check(found == expected, &format!("expected {expected:#?}"));
            }
        }
        let run = dir.ftk(["du", "--json", "--since", old, "-d999", "--apparent-size"]).run().status(0);
        assert_eq!(changes(&run), by_size);
    }
    let run = dir.ftk(["manifest", "diff", "--json", "--by-directory", &old[0], &new[0]]).run().status(1);
    assert_eq!(changes(&run), expected);
    let report = dir.ftk(["report", "--json", &old[0], &new[0]]).run().status(0);
    let report: Value = serde_json::from_str(report.text()).unwrap();
    let grown = report["changes"]["grown"].as_array().unwrap();
    let of_report = |line: &Value| {
        let names = ["allocated_bytes_change", "apparent_bytes_change", "files_change"];
        let path = if line["path"] == "." { ".".into() } else { format!("./{}", path(line)) };
        (path, names.map(|name| number(line, name)))
    };
    assert_eq!(grown.iter().map(of_report).collect::<BTreeMap<_, _>>(), expected);
}

/// The result of GNU du by path.
fn gnu(dir: &Dir) -> BTreeMap<Vec<u8>, i128> {
    let run = dir.ftk([] as [&str; 0]).instead(dir, ["du", "-0", "--block-size=1"]).run().status(0);
    let line = |line: Vec<u8>| {
        let tab = line.iter().position(|byte| *byte == b'\t').unwrap();
        (line[tab + 1..].to_vec(), str::from_utf8(&line[..tab]).unwrap().parse().unwrap())
    };
    records(&run.out, 0).into_iter().map(line).collect()
}

/// GNU du gives an inode to the first path that it reads, so no inode has links in two directories here.
#[test]
fn lines_are_the_differences_of_two_runs_of_gnu_du() {
    needs!("du");
    let dir = tree();
    for name in ["hole", "d/linked", "d-f/linked", "empty-not"] {
        fs::remove_file(dir.path(name)).unwrap();
    }
    let before = gnu(&dir);
    let [manifest, ncdu] = write_records(&dir, "old");
    dir.file("sizes/0", &bytes(1, 40_000)).file("new/er/x", b"1").hard_link("sizes/0", "sizes/00");
    fs::remove_dir_all(dir.path("wide")).unwrap();
    let after = gnu(&dir);
    let mut expected: BTreeMap<_, i128> = after.clone();
    before.iter().for_each(|(path, bytes)| *expected.entry(path.clone()).or_default() -= bytes);
    expected.retain(|_, bytes| *bytes != 0);
    for old in [manifest, ncdu] {
        let run = dir.ftk(["du", "-0", "-d99", "--since", &old]).run().status(0);
        let line = |line: Vec<u8>| {
            let tab = line.iter().position(|byte| *byte == b'\t').unwrap();
            (line[tab + 1..].to_vec(), str::from_utf8(&line[..tab]).unwrap().parse().unwrap())
        };
        let mut found: BTreeMap<Vec<u8>, i128> = records(&run.out, 0).into_iter().map(line).collect();
        // Directories use nothing on some file systems, but they have fewer files.
        found.retain(|_, bytes| *bytes != 0);
        assert_eq!(found, expected);
    }
}

#[test]
fn nothing_changed() {
    let dir = tree();
    fs::remove_file(dir.path("hole")).unwrap();
    for old in write_records(&dir, "old") {
        for more in [&[][..], &["-a"], &["-s"], &["--json"]] {
            let run = dir.ftk(["du", "--since", &old]).args(more).run().status(0).stdout("");
            run.stderr_has("  nothing grew or shrank; ");
        }
    }
    let [old, _] = write_records(&dir, "again");
    let diff = dir.ftk(["manifest", "diff", "--by-directory", &old, &old]).run().status(0);
    diff.stdout("");
    // Other content of the same size is a difference, although no directory grew.
    dir.file("sizes/4096", &bytes(99, 4096));
    let [new, _] = write_records(&dir, "new");
    dir.ftk(["manifest", "diff", "--by-directory", &old, &new]).run().status(1).stdout("");
}

fn scene() -> (Dir, String) {
    let dir = Dir::new();
    for (name, len) in [("photos/2026/raw/a", 4000), ("tmp/x", 13_000), ("tmp/y", 1), ("old/b", 700)] {
        dir.file(format!("srv/{name}"), &bytes(1, len));
    }
    dir.file("srv/same/c", b"1").dir("srv/backup");
    (0..9).for_each(|nth| {
        dir.file(format!("srv/small{nth}/d"), b"1");
    });
    let old = dir.aside("old.jsonl").into_os_string().into_string().unwrap();
    dir.ftk(["manifest", "create", "-q", "-t", "f", "srv", "-o", &old]).run().status(0);
    dir.file("srv/photos/2026/raw/a", &bytes(2, 49_000)).file("srv/backup/e", &bytes(3, 180_000));
    fs::remove_file(dir.path("srv/tmp/x")).unwrap();
    fs::remove_dir_all(dir.path("srv/old")).unwrap();
    (0..9).for_each(|nth| {
        dir.file(format!("srv/small{nth}/f"), b"22");
    });
    (dir, old)
}

#[test]
fn a_tree_on_a_terminal() {
    needs!("script");
    let (dir, old) = scene();
    let shown = |args: &str| {
        let ftk = env!("CARGO_BIN_EXE_ftk");
        let shell = format!("{ftk} du --apparent-size --since {old} srv {args} 2>/dev/null");
        let run =
            dir.ftk([] as [&str; 0]).instead(&dir, ["script", "-qec", &shell, "/dev/null"]).run().status(0);
        format!("\n{}", run.text().replace('\r', ""))
    };
    let expected = "
   +211 kB  srv                                          +8
   +180 kB  ├─ backup                                    +1  added
    +45 kB  ├─ photos/2026/raw
    -13 kB  ├─ tmp                                       -1
    -700 B  ├─ old                                       -1  removed
      +2 B  ├─ small0                                    +1
     +16 B  └─ (8 smaller)
";
    assert_eq!(shown("--top 8"), expected);
    let expected = "
     +207K  srv                                          +8
     +176K  ├─ backup                                    +1  added
      +44K  ├─ photos
      -14K  └─ (11 smaller)
";
    assert_eq!(shown("-h -d1 --top 3"), expected);
}

#[test]
fn lines_and_limits() {
    let (dir, old) = scene();
    let since =
        |args: &[&str]| dir.ftk(["du", "--apparent-size", "--since", &old, "srv"]).args(args).run().status(0);
    since(&["--top", "4"])
        .stdout("211318\tsrv\n180000\tsrv/backup\n45000\tsrv/photos\n45000\tsrv/photos/2026\n");
    since(&["-s"]).stdout("211318\tsrv\n");
    since(&["-s0"]).stdout(b"211318\tsrv\0");
    since(&["-sh"]).stdout("+207K\tsrv\n");
    since(&["-h", "-d1", "--top", "5"])
        .stdout("+207K\tsrv\n+176K\tsrv/backup\n+44K\tsrv/photos\n-13K\tsrv/tmp\n-700\tsrv/old\n");
    let run = since(&["-a", "--top", "9"]);
    run.check(run.text().ends_with("-13000\tsrv/tmp\n-13000\tsrv/tmp/x\n"), "files");
    let run = since(&[]);
    run.check(run.text().lines().count() == 16, "sixteen directories changed");
    run.stderr_has("  229 kB now, 18 kB on 20").stderr_has(" free\n");
    let run = since(&["--json", "-d1", "--top", "5"]);
    let kinds: Vec<_> =
        objects(&run).iter().map(|line| line["change"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["changed", "added", "changed", "changed", "removed"]);
}

/// What a record cannot see neither grew nor shrank, and what is above it changed by what is known.
#[test]
fn unreadable_directories_are_unknown() {
    let dir = Dir::new();
    dir.file("t/locked/x", &bytes(1, 50_000)).file("t/a/y", b"1").file("t/b/z", b"1");
    let record = |name: &str, status: i32| {
        let run = dir.ftk(["du", "-q", "--format", "ncdu", "t"]).unprivileged(&dir).run().status(status);
        fs::write(dir.aside(name), &run.out).unwrap();
        dir.aside(name)
    };
    let whole = record("whole", 0);
    dir.lock("t/locked");
    let cut = record("cut", 2);
    dir.file("t/a/y", &bytes(1, 9000));
    let grown = ["t/a", "t"].map(str::to_owned);
    let check = |run: Run, root: &str| {
        let lines = objects(&run);
        let known: Vec<_> = lines.iter().filter(|line| line["path"] != format!("{root}/locked")).collect();
        let paths: BTreeSet<_> = known.iter().map(|line| path(line).replacen(root, "t", 1)).collect();
        assert_eq!(paths, grown.clone().into());
        assert!(known.iter().all(|line| line["apparent_bytes_change"] == 8999), "{lines:?}");
        let locked = lines.iter().find(|line| line["path"] == format!("{root}/locked")).unwrap();
        assert_eq!((&locked["unknown"], &locked["apparent_bytes_change"]), (&1.into(), &Value::Null));
        assert_eq!(lines[0]["unknown"], 1);
        run.stderr_has("; 1 entry not compared: unreadable or excluded in one of them");
    };
    // It cannot be read now.
    let since = |old: &Path| dir.ftk(["du", "--json", "-d9", "--since"]).arg(old);
    check(
        since(&whole).arg("t").unprivileged(&dir).run().status(2).stderr_has("cannot open 't/locked'"),
        "t",
    );
    // It could not be read then.
    fs::set_permissions(dir.path("t/locked"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    check(
        since(&cut).arg("t").run().status(2).stderr_has("1 entry could not be read when it was written"),
        "t",
    );
    let now = record("now", 0);
    let root = dir.path("t").canonicalize().unwrap().into_os_string().into_string().unwrap();
    check(since(&cut).arg(&now).run().status(2), &root);
    // Only what is unknown differs.
    let run = since(&whole).arg(&cut).run().status(2);
    let lines = objects(&run);
    let unknown: Vec<_> =
        lines.iter().map(|line| (&line["unknown"], &line["apparent_bytes_change"])).collect();
    assert_eq!(unknown, [(&1.into(), &0.into()), (&1.into(), &Value::Null)]);
    let text = dir.ftk(["du", "-d9", "--since"]).arg(&whole).arg(&cut).run().status(2);
    text.stdout(format!("0\t{root}\n?\t{root}/locked\n"));
}

#[test]
fn the_selection_of_a_manifest_is_applied() {
    let dir = Dir::new();
    dir.file("t/a/x.rs", b"1").file("t/cache/y", &bytes(1, 90_000)).file("t/a/b/c/z.rs", &bytes(2, 7000));
    let old = |args: &[&str], name: &str| {
        dir.ftk(["manifest", "create", "-q", "t", "-o"]).arg(dir.aside(name)).args(args).run().status(0);
        dir.aside(name)
    };
    let records = [
        old(&["-E", "cache"], "exclude"),
        old(&["-E", "/cache/"], "exclude-path"),
        old(&["--max-depth", "1"], "depth"),
        old(&["-e", "rs"], "extension"),
        old(&["--where", "not path = \"cache/*\""], "where"),
        old(&["-x"], "x"),
    ];
    for old in &records {
        let run = dir.ftk(["du", "-a", "--since"]).arg(old).arg("t").run().status(0).stdout("");
        run.stderr_has("nothing grew or shrank");
    }
    dir.file("t/cache/more", &bytes(3, 9000)).file("t/a/new.rs", &bytes(4, 9000));
    for (old, expected) in records.iter().zip([9000, 9000, 0, 9000, 9000, 18_000]) {
        let run = dir.ftk(["du", "-s", "--apparent-size", "--since"]).arg(old).arg("t").run().status(0);
        // Directories grow by names on some file systems.
        let found = run.text().split('\t').next().unwrap().parse().unwrap_or(0);
        run.check((expected..expected + 500).contains(&found), "only what is selected");
    }
    let refused = dir.ftk(["du", "--since"]).arg(&records[0]).args(["t", "-E", "b"]).run().status(2);
    refused.stderr_has("--exclude cannot be used with a manifest: the options that ").stdout("");
    let run = dir.ftk(["du", "--since"]).arg(&records[0]).arg(&records[5]).run().status(2).stdout("");
    run.stderr_has("was made with '--exclude=cache', ")
        .stderr_has(" with '--one-file-system': what only one selects");
    let run =
        dir.ftk(["manifest", "diff", "--by-directory"]).arg(&records[0]).arg(&records[5]).run().status(2);
    run.stdout("").stderr_has("what only one selects");
    let report = dir.ftk(["report", "--json"]).arg(&records[0]).arg(&records[5]).run().status(0);
    let report = report.stderr_has("ftk: directories are not compared: ");
    assert_eq!(objects(&report)[0]["changes"]["grown"], Value::Null);
}

/// A file of ncdu does not record its selection, but ftk notes that there was one.
#[test]
fn the_selection_of_other_records_is_given_again() {
    let dir = Dir::new();
    dir.file("t/a/x", b"1").file("t/cache/y", &bytes(1, 90_000));
    let dump = dir.ftk(["du", "-q", "--format", "ncdu", "t", "-E", "cache"]).run().status(0);
    let old = dir.aside("old");
    fs::write(&old, &dump.out).unwrap();
    let run = dir.ftk(["du", "--since"]).arg(&old).arg("t").run().status(2).stdout("");
    run.stderr_has("was written with '--exclude', and does not record its value: add it");
    dir.ftk(["du", "--since"]).arg(&old).args(["t", "-E", "cache"]).run().status(0).stdout("");
    let all = dir.ftk(["du", "-q", "--format", "ncdu", "t"]).run().status(0);
    let run = dir.ftk(["du", "--since", "-"]).arg(&old).stdin(&all.out).run().status(2).stdout("");
    run.stderr_has("was made without options").stderr_has("with '--exclude': what only one selects");
    let run = dir.ftk(["du", "--since", "-", "t", "-E", "cache"]).stdin(&all.out).run().status(2).stdout("");
    run.stderr_has("'-' was written without options: omit --exclude");
    let run = dir.ftk(["du", "--since"]).arg(&old).args(["t", "-n", "x"]).run().status(2).stdout("");
    run.stderr_has("was written with '--exclude', and does not record its value: add it");
    let manifest = dir.aside("manifest");
    dir.ftk(["manifest", "create", "-q", "t", "-E", "cache", "-o"]).arg(&manifest).run().status(0);
    let export = dir.ftk(["manifest", "export", "--format", "ncdu"]).arg(&manifest).run().status(0);
    export.check(export.text().lines().next().unwrap().ends_with("\"filter\":\"--exclude\"},"), "noted");
}

/// ncdu lists what it excludes. It is unknown, unless neither side has counted it.
#[test]
fn what_ncdu_excluded_is_unknown() {
    let dir = Dir::new();
    dir.file("t/a/x", b"1").file("t/cache/y", &bytes(1, 90_000)).file("t/b/o.tmp", &bytes(2, 9000));
    dir.file("t/b/c/z", b"1");
    let root = dir.path("t").canonicalize().unwrap();
    let directory =
        |name: &str, rest: &str| format!("[{{\"name\":\"{name}\",\"asize\":4096,\"dsize\":4096}}{rest}]");
    let file = |name: &str, more: &str| format!(",{{\"name\":\"{name}\"{more}}}");
    let b = directory(
        "b",
        &(file("o.tmp", ",\"excluded\":\"pattern\"")
            + ","
            + &directory("c", &file("z", ",\"asize\":1,\"dsize\":4096"))),
    );
    let a = directory("a", &file("x", ",\"asize\":1,\"dsize\":4096"));
    let rest = format!(
        ",{a},{b}{}{}",
        file("cache", ",\"excluded\":\"pattern\""),
        file("proc", ",\"excluded\":\"kernfs\"")
    );
    let old = format!(
        "[1,2,{{\"progname\":\"ncdu\",\"timestamp\":86400}},\n{}]",
        directory(root.to_str().unwrap(), &rest)
    );
    dir.file("t/a/x", &bytes(3, 20_000))
        .file("t/b/c/z", &bytes(4, 30_000))
        .file("t/b/more", &bytes(5, 40_000));
    let run =
        dir.ftk(["du", "--apparent-size", "-d9", "--since", "-", "t"]).stdin(old.as_bytes()).run().status(0);
    // What is directly in t/b is not compared.
    let expected = "49998\tt\n29999\tt/b\n29999\tt/b/c\n19999\tt/a\n?\tt/cache\n";
    let run = run.stderr_has("on 1970-01-02 ").stderr_has("; 2 entries not compared: ");
    if fs::metadata(dir.path("t/a")).unwrap().len() == 4096 {
        run.stdout(expected);
    }
}

/// gdu writes no sizes of directories. Then those of the other side do not count.
#[test]
fn sizes_that_only_one_side_has_do_not_count() {
    let dir = Dir::new();
    dir.file("t/a/x", b"1").file("t/y", b"22").dir("t/b/c");
    let root = dir.path("t").canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let gdu = format!(
        "[1,2,{{\"progname\":\"gdu\",\"progver\":\"5\",\"timestamp\":86400}},\n[{{\"name\":\"{root}\"}},\n\
         [{{\"name\":\"a\"}},\n{{\"name\":\"x\",\"asize\":1,\"dsize\":4096}}],[{{\"name\":\"b\"}},[{{\"name\":\"c\"}}]],\n\
         {{\"name\":\"y\",\"asize\":2,\"dsize\":4096}}]]"
    );
    let size = |dir: &Dir| fs::metadata(dir.path("t")).unwrap().len();
    let since = |args: &[&str]| {
        dir.ftk(["du", "--apparent-size", "-d9", "--since", "-"]).args(args).stdin(gdu.as_bytes()).run()
    };
    since(&["t"]).status(0).stdout("");
    dir.file("t/a/x", b"333").dir("t/d");
    since(&["t"]).status(0).stdout("2\tt\n2\tt/a\n");
    if size(&dir) > 0 {
        let [_, ncdu] = write_records(&dir, "new");
        dir.file("gdu", gdu.as_bytes());
        let run = dir.ftk(["du", "--since", &ncdu, "gdu"]).run().status(2).stdout("");
        run.stderr_has("'gdu' has no sizes of directories, and ");
    }
}

#[test]
fn records_without_allocated_bytes() {
    let dir = Dir::new();
    dir.file("t/a/x", b"1").file("t/y", b"22");
    // hashdeep records sizes.
    let digest = |content: &[u8]| sha256(content);
    let list = format!(
        "%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n## Invoked from: /\n## $ hashdeep\n##\n\
         1,{},./a/x\n2,{},./y\n",
        digest(b"1"),
        digest(b"22")
    );
    let import =
        dir.ftk(["manifest", "import", "--format", "hashdeep", "-"]).stdin(list.as_bytes()).run().status(0);
    let old = dir.aside("old");
    fs::write(&old, &import.out).unwrap();
    dir.file("t/a/x", b"55555");
    let run = dir.ftk(["du", "--since"]).arg(&old).arg("t").run().status(2).stdout("");
    run.stderr_has("has no allocated_bytes: compare sizes with --apparent-size");
    let since = |more: &[&str]| {
        dir.ftk(["du", "--apparent-size", "--since"]).arg(&old).arg("t").args(more).run().status(0)
    };
    since(&[]).stdout("4\tt\n4\tt/a\n");
    let run = since(&["--json"]);
    run.check(!run.text().contains("allocated"), "unknown bytes are omitted");
    let new = dir.aside("new");
    dir.ftk(["manifest", "create", "-q", "--no-content", "-t", "f", "t", "-o"]).arg(&new).run().status(0);
    let diff = dir.ftk(["manifest", "diff", "--by-directory"]).arg(&old).arg(&new).run().status(1);
    diff.stdout("4\tt\n4\tt/a\n")
        .stderr_has("the sizes of files are compared: a manifest has no allocated_bytes");
}

#[test]
fn another_directory_is_named() {
    let dir = Dir::on_disk();
    dir.file("t/x", b"1").file("copy/x", b"1");
    let [manifest, ncdu] = ["m", "n"].map(|name| dir.aside(name));
    dir.ftk(["manifest", "create", "-q", "t", "-o"]).arg(&manifest).run().status(0);
    let dump = dir.ftk(["du", "-q", "--format", "ncdu", "t"]).run().status(0);
    fs::write(&ncdu, &dump.out).unwrap();
    for old in [&manifest, &ncdu] {
        let run = dir.ftk(["du", "-q", "--since"]).arg(old).arg("copy").run().status(0).stdout("");
        run.stderr_has("is of another directory, ");
        dir.ftk(["du", "-q", "--since"]).arg(old).arg("t").run().status(0).stderr("");
    }
    // A file system that is not mounted, or another one.
    let Some(_mounted) = Mounted::at(&dir.path("t"), ["-t", "tmpfs", "none"]) else { return };
    let run = dir.ftk(["du", "--since"]).arg(&manifest).arg("t").run().status(0);
    run.stderr_has("is of another directory, 't': its file system differs");
}

/// A manifest is not a part of the tree that it describes, wherever it is.
#[test]
fn records_of_other_forms() {
    let dir = Dir::on_disk();
    dir.file("t/a/x", &bytes(1, 9000)).file("t/b/y", b"1").dir("parts");
    dir.ftk(["manifest", "create", "-q", "t", "-o", "t/m.jsonl"]).run().status(0);
    dir.ftk(["manifest", "create", "-q", "t", "-o", "t/m.jsonl", "--force"]).run().status(0);
    let run = dir.ftk(["du", "--since", "t/m.jsonl", "t"]).run().status(0).stdout("");
    run.stderr_has("nothing grew or shrank").stderr_has("skipped: 1 own output file");
    fs::remove_file(dir.path("t/m.jsonl")).unwrap();
    // Nothing was renamed while the parts were recorded.
    fs::File::open(dir.path("t")).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    for part in ["1", "2"] {
        let (shard, out) = (format!("{part}/2"), format!("parts/{part}.jsonl"));
        dir.ftk(["manifest", "create", "-q", "--shard", &shard, "t", "-o", &out]).run().status(0);
    }
    let run = dir.ftk(["du", "--since", "parts/1.jsonl", "t"]).run().status(2).stdout("");
    run.stderr_has("'parts/1.jsonl': ");
    dir.ftk(["du", "--since", "parts", "t"]).run().status(0).stdout("").stderr_lacks("ftk: ");
    dir.file("t/b/y", &bytes(2, 20_000)).symlink("t", "link");
    let expected = "16384\tlink\n16384\tlink/b\n";
    let run = dir.ftk(["du", "--since", "parts", "link"]).run().status(0).stdout(expected);
    run.stderr_lacks("ftk: ");
    // A directory that is walked from its inside.
    let at = dir.path("t");
    let cd = format!("cd {} && {} du --since ../parts", at.display(), env!("CARGO_BIN_EXE_ftk"));
    dir.ftk([] as [&str; 0])
        .instead(&dir, ["sh", "-c", &cd])
        .run()
        .status(0)
        .stdout("16384\t.\n16384\t./b\n");
}

#[test]
fn refused_requests() {
    let (dir, old) = scene();
    for (args, why) in [
        (&["srv", "srv"][..], "--since compares with one directory or file"),
        (&["-L"], "--since cannot be used with --follow"),
        (&["--from", "x"], "cannot be used with"),
        (&["--exclusive"], "cannot be used with"),
        (&["--format", "ncdu"], "cannot be used with"),
        (&["nothing"], "cannot open 'nothing'"),
        (&["srv/tmp/y"], "'srv/tmp/y': "),
    ] {
        dir.ftk(["du", "--since", &old]).args(args).run().status(2).stdout("").stderr_has(why);
    }
    dir.ftk(["du", "--since", "srv/tmp/y"]).run().status(2).stderr_has("'srv/tmp/y': not the JSON of ncdu");
    let run = dir.ftk(["manifest", "diff", "--by-directory", &old]).arg(dir.aside("list"));
    fs::write(dir.aside("list"), b"d41d8cd98f00b204e9800998ecf8427e  a\n").unwrap();
    run.run().status(2).stderr_has("--by-directory needs manifests");
}

/// A trial: with the record of a directory above, paths that do not exist shrank, with status 0.
#[test]
fn a_record_of_a_directory_above_is_refused() {
    let dir = Dir::on_disk();
    dir.file("srv/log/app/x", &bytes(1, 9000)).file("srv/logs/y", b"1");
    let path = |name: &str| dir.path(name).to_str().unwrap().to_owned();
    let [above, below, ncdu] = ["above", "below", "ncdu"].map(|name| dir.aside(name));
    dir.ftk(["manifest", "create", "-q", "srv", "-o"]).arg(&above).run().status(0);
    dir.ftk(["manifest", "create", "-q", "srv/log", "-o"]).arg(&below).run().status(0);
    let dump = dir.ftk(["du", "-q", "--format", "ncdu", &path("srv")]).run().status(0);
    fs::write(&ncdu, &dump.out).unwrap();
    let since = |old: &std::path::Path, new: &str| dir.ftk(["du", "--since"]).arg(old).arg(new).run();
    since(&above, "srv/log")
        .status(2)
        .stdout("")
        .stderr_has("is of 'srv', which contains 'srv/log': compare all of 'srv'");
    since(&below, "srv")
        .status(2)
        .stdout("")
        .stderr_has("is of 'srv/log', which is only a part of 'srv': compare 'srv/log'");
    since(&ncdu, &path("srv/log")).status(2).stdout("").stderr_has("which contains '");
    for (old, new) in [(&above, "srv"), (&below, "srv/log"), (&ncdu, "srv")] {
        since(old, new).status(0).stdout("");
    }
    // This one is next to it.
    since(&below, "srv/logs").status(0).stderr_has("is of another directory, 'srv/log'");
}
