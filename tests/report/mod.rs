//! `ftk report`: the data of the page, compared with GNU du, and the page itself.

mod browser;
mod decisions;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Dir, Ftk, signal};

/// Returns the data of a report.
fn data(ftk: Ftk) -> Value {
    serde_json::from_str(ftk.run().status(0).text()).unwrap()
}

/// Returns one value of the root.
fn of_root(data: &Value, column: &str) -> u64 {
    data["space"][column][0].as_u64().unwrap()
}

fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("a/x.jpg", &[b'x'; 10_000]).file("a-b/y.txt", &[b'y'; 5_000]).file("z", b"").dir("empty");
    dir.hard_link("a/x.jpg", "linked.jpg");
    dir
}

#[test]
fn the_root_has_the_totals_of_du() {
    let dir = tree();
    let data = data(dir.ftk(["report", "--json", "."]));
    let du = |option: &str| {
        let output =
            Command::new("du").args(["-s", "--block-size=1", option, "."]).current_dir(dir.path("")).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        text.split('\t').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(of_root(&data, "allocated_bytes"), du("--one-file-system"));
    assert_eq!(of_root(&data, "apparent_bytes"), du("--apparent-size"));
    assert_eq!(of_root(&data, "files"), 4);
    assert_eq!(data["title"], ".");
    assert_eq!((&data["ftk"], &data["version"]), (&Value::from("report"), &Value::from(1)));
}

#[test]
fn a_manifest_gives_the_space_of_its_tree() {
    let dir = tree();
    dir.ftk(["manifest", "create", ".", "-o"]).arg(dir.aside("manifest")).run().status(0);
    let from_tree = data(dir.ftk(["report", "--json", "."]));
    let from_manifest = data(dir.ftk(["report", "--json"]).arg(dir.aside("manifest")));
    assert_eq!(from_tree["space"], from_manifest["space"]);
    assert_eq!(from_tree["health"], Value::Null);
    assert_eq!(from_manifest["health"]["never_read_files"], 4);
    assert_eq!(from_manifest["changes"], Value::Null);
}

#[test]
fn two_manifests_give_the_changes() {
    let dir = tree();
    dir.ftk(["manifest", "create", ".", "-o"]).arg(dir.aside("old")).run().status(0);
    dir.file("new/n", b"1").file("z", b"changed");
    fs::remove_file(dir.path("a-b/y.txt")).unwrap();
    dir.ftk(["manifest", "create", ".", "-o"]).arg(dir.aside("new")).run().status(0);
    let data = data(dir.ftk(["report", "--json"]).arg(dir.aside("old")).arg(dir.aside("new")));
    let counts = &data["changes"]["counts"];
    assert_eq!(
        (&counts["added"], &counts["removed"], &counts["modified"]),
        (&2.into(), &1.into(), &1.into())
    );
    let rows = data["changes"]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["path"] == "a-b/y.txt").unwrap();
    assert_eq!(
        (&row["kind"], &row["old_bytes"], &row["new_bytes"]),
        (&"removed".into(), &5000.into(), &Value::Null)
    );
}

/// Makes the two parts of a manifest of `.` in a directory next to it.
fn parts(dir: &Dir, name: &str) -> PathBuf {
    let parts = dir.aside(name);
    fs::create_dir(&parts).unwrap();
    for shard in ["1/2", "2/2"] {
        let part = parts.join(format!("part-{}.jsonl", &shard[..1]));
        dir.ftk(["manifest", "create", "--shard", shard, ".", "-o"]).arg(part).run().status(0);
    }
    parts
}

#[test]
fn the_parts_of_a_manifest_are_like_the_whole() {
    let dir = tree();
    let old = parts(&dir, "old");
    dir.ftk(["manifest", "create", ".", "-o"]).arg(dir.aside("whole")).run().status(0);
    let whole = data(dir.ftk(["report", "--json"]).arg(dir.aside("whole")));
    let from_parts = data(dir.ftk(["report", "--json", "--parts"]).arg(&old));
    assert_eq!(whole["space"], from_parts["space"]);
    assert_eq!(whole["health"], from_parts["health"]);
    // Without the option, a directory is a tree.
    assert_eq!(data(dir.ftk(["report", "--json"]).arg(&old))["health"], Value::Null);

    dir.file("new/n", b"1");
    let new = parts(&dir, "new");
    let changes = data(dir.ftk(["report", "--json"]).arg(&old).arg(&new));
    assert_eq!(changes["changes"]["counts"]["added"], 2);

    let part = new.join("part-2.jsonl");
    dir.ftk(["report", "--parts", "-o"])
        .arg(&part)
        .arg(&new)
        .run()
        .status(2)
        .stderr_has("both input and output");
    fs::set_permissions(&part, fs::Permissions::from_mode(0o000)).unwrap();
    let run = dir.ftk(["report", "--json", "--parts"]).arg(&new).unprivileged(&dir).run();
    run.status(2).stderr_has("part-2.jsonl").stdout("");
    fs::remove_file(&part).unwrap();
    dir.ftk(["report", "--json", "--parts"]).arg(&new).run().status(2).stderr_has("2");
    dir.ftk(["report", "--json", "--parts", "a"]).run().status(2).stderr_has("without parts");
    dir.ftk(["report", "--json", "--parts", "--dup", "a"]).run().status(2).stderr_has("--dup");
}

/// Adds the names of all members, except of objects whose keys are not names of members.
fn add_members(value: &Value, members: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            members.insert(name.clone());
            add_members(value, members);
        }),
        Value::Array(values) => values.iter().for_each(|value| add_members(value, members)),
        _ => {}
    }
}

#[test]
fn all_members_are_documented() {
    let dir = tree();
    dir.file("copies/1/x", b"equal").file("copies/2/x", b"equal");
    let manifest = |name: &str| {
        dir.ftk(["manifest", "create", ".", "-o"]).arg(dir.aside(name)).run().status(0);
    };
    manifest("old");
    dir.file("a-b/y.txt", b"changed").file("new", b"");
    fs::rename(dir.path("a/x.jpg"), dir.path("moved.jpg")).unwrap();
    manifest("new");
    let mut members = BTreeSet::new();
    for args in [&["--dup", "--dirs", "."][..], &["../old"], &["../old", "../new"]] {
        add_members(&data(dir.ftk(["report", "--json"]).args(args)), &mut members);
    }
    // A file that is marked as damaged.
    let old = fs::read_to_string(dir.path("moved.jpg")).unwrap();
    let mtime = fs::metadata(dir.path("moved.jpg")).unwrap().modified().unwrap();
    fs::write(dir.path("moved.jpg"), old.replacen('x', "y", 1)).unwrap();
    let file = fs::File::options().write(true).open(dir.path("moved.jpg")).unwrap();
    file.set_times(fs::FileTimes::new().set_modified(mtime)).unwrap();
    dir.ftk(["manifest", "scrub", ".", "../new"]).run().status(1);
    let scrubbed = data(dir.ftk(["report", "--json", "../new"]));
    assert_ne!(scrubbed["health"]["damaged"], Value::from(Vec::<Value>::new()));
    add_members(&scrubbed, &mut members);

    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/json.md")).unwrap();
    let page = page.split("\n## ").find(|part| part.starts_with("`ftk report --json`")).unwrap();
    let is_missing = |name: &&String| !page.contains(&format!("`{name}`"));
    let missing: Vec<_> = members.iter().filter(is_missing).collect();
    assert!(
        members.len() > 60 && missing.is_empty(),
        "{} members, {missing:?} not documented",
        members.len()
    );
}

#[test]
fn the_page_is_one_file_and_skips_itself() {
    let dir = tree();
    dir.ftk(["report", "-o", "page.html"]).run().status(0).stdout("");
    let page = fs::read_to_string(dir.path("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{page}");
    assert!(page.contains("x.jpg") && !page.contains("page.html"));
    assert!(page.len() < 200_000, "{}", page.len());
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn a_page_without_a_name_replaces_no_file() {
    let dir = tree();
    dir.file(".dir.v1/x", b"x")
        .file("dir.v1.html", b"of another program")
        .symlink("nowhere", "dir.v1-2.html");
    dir.ftk(["manifest", "create", "a", "-o", "a.jsonl.zst"]).run().status(0);
    let here = dir.path("").canonicalize().unwrap();
    let here = format!("{}.html", here.file_name().unwrap().to_str().unwrap());
    for (args, name) in [
        (&[".dir.v1/"][..], "dir.v1-3.html"),
        (&["--dup", ".dir.v1"], "dir.v1-4.html"),
        (&["a.jsonl.zst"], "a.html"),
        (&[], &*here),
        (&["--max-depth", "0", "/"], "report.html"),
    ] {
        let run = dir.ftk(["report"]).args(args).run().status(0).stdout("");
        let run = run.stderr_has(&format!("  wrote '{name}', ")).stderr_has(": open it in a browser\n");
        run.check(fs::read_to_string(dir.path(name)).unwrap().starts_with("<!DOCTYPE html>"), "a page");
    }
    assert_eq!(fs::read(dir.path("dir.v1.html")).unwrap(), b"of another program");
    assert!(!dir.path("nowhere").exists());
    let run = dir.ftk(["report", "-o", "-", "a"]).run().status(0).stderr_has("  wrote ");
    assert!(run.text().starts_with("<!DOCTYPE html>"));
}

#[test]
fn unreadable_directories_are_on_the_page_and_in_the_status() {
    let dir = tree();
    dir.dir("locked/inner").lock("locked");
    let run = dir.ftk(["report", "--json", "."]).unprivileged(&dir).run().status(2).stderr_has("locked");
    let data: Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!(data["problems"]["unreadable"], 1);
    assert_eq!(data["problems"]["messages"][0], "./locked");
}

#[test]
fn what_cannot_be_read_is_named_once() {
    let dir = tree();
    dir.dir("locked").lock("locked").file("a/copy.jpg", &[b'x'; 10_000]).lock("a/copy.jpg");
    for options in [&["--dup"][..], &["--dup", "--dirs"]] {
        let run = dir.ftk(["report", "--json", "."]).args(options).unprivileged(&dir).run().status(2);
        for name in ["locked", "copy.jpg"] {
            run.check(run.err.matches(name).count() == 1, name);
        }
        let data: Value = serde_json::from_str(run.text()).unwrap();
        assert_eq!(data["problems"]["unreadable"], 2);
        assert_eq!(data["problems"]["messages"], Value::from(vec!["./locked", "./a/copy.jpg"]));
        assert_eq!(of_root(&data, "files"), 5);
    }
}

#[test]
fn what_options_exclude_is_counted() {
    let dir = tree();
    let data = data(dir.ftk(["report", "--json", ".", "-E", "a-b"]));
    assert_eq!(data["problems"]["excluded"], 1);
    assert!(!data["space"]["name"].as_array().unwrap().contains(&"a-b".into()));
}

#[test]
fn wrong_inputs_are_refused() {
    let dir = tree();
    dir.file("text", b"no manifest\n").file("m", b"");
    dir.ftk(["report", "-o", "p", "nothing"]).run().status(2).stderr_has("nothing");
    dir.ftk(["report", "-o", "p", "text"]).run().status(2).stderr_has("text");
    let why = "ftk: two INPUTs are an older and a newer manifest: '.' is a directory without parts";
    dir.ftk(["report", "-o", "p", ".", "."]).run().status(2).stderr_has(why);
    dir.ftk(["report", "-o", "p", "--dup", "a", "a"])
        .run()
        .status(2)
        .stderr_has("--dup searches one directory");
    dir.ftk(["report", "-o", "p", "--files-from", "text"]).run().status(2).stderr_has("--files-from");
    dir.ftk(["manifest", "create", "a", "-o", "man"]).run().status(0);
    dir.ftk(["report", "-o", "man", "man"]).run().status(2).stderr_has("both input and output");
    dir.ftk(["report", "-o", "p", "-S", "+1", "man"]).run().status(2).stderr_has("--size cannot be used");
    let whole = fs::read(dir.path("man")).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    dir.file("cut", &whole[..=last]);
    dir.ftk(["report", "-o", "p", "cut"]).run().status(2).stderr_has("cut");
    assert!(!dir.path("p").exists());
}

#[test]
fn an_empty_tree_and_huge_sizes_have_a_page() {
    let dir = Dir::new();
    let empty = data(dir.ftk(["report", "--json"]));
    assert_eq!(empty["space"]["name"], Value::from(vec!["."]));
    // The largest length on ext4 is 16 TiB; the sum of its holes is 0.
    let huge = fs::File::create(dir.path("huge")).unwrap();
    huge.set_len(1 << 43).unwrap();
    let data = data(dir.ftk(["report", "--json"]));
    assert!(of_root(&data, "apparent_bytes") >= 1 << 43);
    assert!(of_root(&data, "allocated_bytes") < 1 << 20);
}

#[test]
fn files_of_an_exbibyte_are_counted_exactly() {
    // File systems on disks have smaller files.
    let dir = Dir::new();
    for name in ["one", "two", "three"] {
        dir.hole(name, 1 << 60);
    }
    let data = data(dir.ftk(["report", "--json"]));
    let sizes: Vec<u64> = (0..4).map(|node| number(&data["space"]["apparent_bytes"][node])).collect();
    assert_eq!(&sizes[1..], [1 << 60; 3]);
    assert!((3 << 60..(3 << 60) + 4096).contains(&sizes[0]), "{sizes:?}");
    dir.ftk(["report", "-o", "page.html"]).run().status(0);
}

/// Returns a number, which is a string if JavaScript would round it.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

#[test]
fn few_descriptors_are_enough() {
    let dir = tree();
    for n in 0..50 {
        dir.file(format!("many/{n}/{n}/{n}/file"), b"same");
    }
    let expected = data(dir.ftk(["report", "--json", "--dup", "--dirs", "."]));
    let few = data(dir.ftk(["report", "--json", "--dup", "--dirs", "."]).limit(&dir, "-n 16"));
    assert_eq!(few["space"], expected["space"]);
    assert_eq!(few["duplicates"]["groups"], expected["duplicates"]["groups"]);
}

#[test]
fn a_signal_leaves_no_page() {
    let dir = Dir::new();
    dir.fifo("manifest");
    let mut child = dir.ftk(["report", "-o", "page.html", "manifest"]).spawn();
    // It waits for the manifest.
    let _writer = fs::File::options().write(true).open(dir.path("manifest")).unwrap();
    signal(&child, Signal::TERM);
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(15), "{status:?}");
    let names: Vec<_> = fs::read_dir(dir.path("")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["manifest"]);
}
