//! Runs the commands that `docs/lake.md` shows with their output, and compares what they print with the page.
//!
//! `FTK_UPDATE_DOCS=1` replaces the outputs that differ.

use std::collections::BTreeMap;
use std::fs::{self, FileTimes};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, SystemTime};

use ftk_harness::{Page, Step, bytes, sha256};
use serde_json::{Value, json};

use crate::harness::Dir;

const LAKE: Page = Page(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lake.md"));

/// The sections whose commands have outputs.
const SECTIONS: [&str; 3] = ["Snapshots of one tree", "Every question", "A bucket"];

/// Noon of a day of 2026, in seconds after 1970.
fn noon(month: u64, day: u64) -> u64 {
    const DAYS: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    (20_454 + DAYS[month as usize - 1] + day - 1) * 86_400 + 43_200
}

/// A file of one of two snapshots of `home`: its path, the day when it was written, the seed of its content, and its
/// size.
type Wanted = (&'static str, (u64, u64), u64, usize);

const SEPTEMBER: [Wanted; 6] = [
    ("ann/film/reel.mov", (2, 3), 1, 300_000),
    ("ann/notes.txt", (8, 9), 2, 900),
    ("ann/.lock", (8, 9), 0, 0),
    ("bob/data/run1.csv", (7, 1), 3, 40_000),
    ("bob/data/run2.csv", (8, 20), 4, 70_000),
    ("bob/old.tar", (1, 2), 5, 25_000),
];

const OCTOBER: [Wanted; 7] = [
    ("ann/film/reel.mov", (2, 3), 1, 300_000),
    ("ann/notes.txt", (9, 14), 6, 905),
    ("ann/.lock", (8, 9), 0, 0),
    ("bob/copy/reel.mov", (2, 3), 1, 300_000),
    ("bob/data/run1.csv", (7, 1), 3, 40_000),
    ("bob/data/run2.csv", (8, 20), 7, 70_000),
    ("bob/data/run3.csv", (9, 20), 8, 110_000),
];

fn write(dir: &Dir, path: &str, (month, day): (u64, u64), seed: u64, len: usize) {
    dir.file(path, &bytes(seed, len));
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(noon(month, day));
    let file = fs::File::options().write(true).open(dir.path(path)).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

/// Records `tree` with values that do not depend on the machine: two owners, whole blocks, and inodes in the order of
/// paths.
fn record(dir: &Dir, tree: &str, month: u64, name: &str) {
    let recorded = format!("{tree}.jsonl");
    dir.ftk(&["manifest", "create", "-q", "--no-xattrs", tree, "-o", &recorded]).status(0);
    let recorded = fs::read_to_string(dir.path(recorded)).unwrap();
    let mut lines = recorded.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    let head = json!({
        "ftk": "manifest", "version": 2, "root": "home", "algorithms": header["algorithms"], "xattrs": false,
        "options": [], "start_ns": noon(month, 1) * 1_000_000_000
    });
    let mut text = format!("{}\n", first_member("ftk", &head));
    for (nth, mut line) in lines.filter(|line| line.get("path").is_some()).enumerate() {
        let path = line["path"].as_str().unwrap().to_owned();
        let is_directory = line["type"] == "directory";
        let members = line.as_object_mut().unwrap();
        for member in ["fs", "birth_ns", "verified_ns", "link_group"] {
            members.remove(member);
        }
        let uid = if path.starts_with("bob") { 1001 } else { 1000 };
        let fixed = json!({ "uid": uid, "gid": 100, "dev": 1, "ino": 100 + nth, "mode": "0644", "nlink": 1 });
        members.extend(fixed.as_object().unwrap().clone());
        let time = if is_directory { json!(noon(1, 1) * 1_000_000_000) } else { members["mtime_ns"].clone() };
        members.insert("ctime_ns".into(), time.clone());
        members.insert("mtime_ns".into(), time);
        if is_directory {
            members.insert("size_bytes".into(), json!(4096));
        }
        let size = members["size_bytes"].as_u64().unwrap();
        members.insert("allocated_bytes".into(), json!(size.next_multiple_of(4096)));
        // A later run found that the content of this one had changed.
        if path == "bob/data/run1.csv" {
            members.insert("damaged_ns".into(), json!(noon(10, 5) * 1_000_000_000));
        }
        text += &format!("{}\n", first_member("path", &line));
    }
    let footer = json!({ "footer": { "records": text.lines().count(), "sha256": sha256(text.as_bytes()) } });
    dir.file(name, format!("{text}{footer}\n").as_bytes());
}

/// The text of an object, which begins with this member.
fn first_member(name: &str, object: &Value) -> String {
    let mut rest = object.as_object().unwrap().clone();
    let first = rest.remove(name).unwrap();
    let rest = Value::Object(rest).to_string();
    format!("{{\"{name}\":{first},{}", &rest[1..])
}

/// Writes an S3 Inventory of a bucket that keeps versions.
fn inventory(dir: &Dir) {
    let of = |key: &str, id: &str, flags: &str, size: &str, day: u64, class: &str| {
        let e_tag = if size.is_empty() { String::new() } else { format!("{day:032x}") };
        format!(
            "\"photos\",\"{key}\",\"{id}\",{flags},\"{size}\",\"2026-09-{day:02}T12:00:00.000Z\",\"{e_tag}\",\"{class}\",\"SSE-S3\"\n"
        )
    };
    let (latest, old, deleted) = ("\"true\",\"false\"", "\"false\",\"false\"", "\"true\",\"true\"");
    let rows = [
        of("2026/a.jpg", "v3", latest, "52000", 20, "STANDARD"),
        of("2026/a.jpg", "v2", old, "51000", 10, "STANDARD"),
        of("2026/a.jpg", "v1", old, "50000", 1, "GLACIER"),
        of("2026/b.jpg", "v2", deleted, "", 15, ""),
        of("2026/b.jpg", "v1", old, "70000", 2, "STANDARD"),
        of("2026/c.jpg", "v1", latest, "5", 3, "STANDARD"),
    ];
    // The ETag of the last one is that of the content `photo`.
    let data = rows.concat().replace(&format!("{:032x}", 3), "5ae0c1c8a5260bc7b6648f6fbd115c35");
    dir.file("inventory/rows.csv", data.as_bytes());
    let schema = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass, EncryptionStatus";
    let files = json!([{ "key": "rows.csv", "size": data.len() }]);
    let manifest =
        json!({ "sourceBucket": "photos", "fileFormat": "CSV", "fileSchema": schema, "files": files });
    dir.file("inventory/manifest.json", manifest.to_string().as_bytes());
    dir.file("photos/2026/c.jpg", b"photo").file("photos/2026/new.jpg", b"not yet uploaded");
}

/// A directory with all that the page uses, and the programs in `bin`.
fn scene() -> Dir {
    let dir = Dir::new();
    for (month, wanted) in [(9, &SEPTEMBER[..]), (10, &OCTOBER[..])] {
        let tree = format!("tree-{month}");
        for (path, day, seed, len) in wanted {
            write(&dir, &format!("{tree}/{path}"), *day, *seed, *len);
        }
        record(&dir, &tree, month, &format!("2026-{month:02}.jsonl"));
    }
    inventory(&dir);
    dir.file("list.csv", b"path\nann/film/reel.mov\nann/notes.txt\nann/.lock\n");
    dir.file("users.csv", b"uid,name\n1000,ann\n1001,bob\n");
    dir.dir("bin").dir("lake");
    for (name, program) in
        [("ftk", ftk_harness::program()), ("ftk-query", env!("CARGO_BIN_EXE_ftk-query").into())]
    {
        symlink(program, dir.path("bin").join(name)).unwrap();
    }
    dir
}

/// Runs a command, and returns what it prints and its status.
fn run(dir: &Dir, step: &Step) -> (String, Option<i32>) {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", dir.path("bin").display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1\n{}", step.command)]).current_dir(dir.path(""));
    let done = shell.env("PATH", path).env("TZ", "UTC").output().unwrap();
    // Answers have blanks at the ends of lines, which pages do not have.
    let text = String::from_utf8(done.stdout).unwrap();
    (text.lines().map(|line| line.trim_end().to_owned() + "\n").collect(), done.status.code())
}

#[test]
fn the_page_shows_what_the_commands_print() {
    let dir = scene();
    let mut shown = BTreeMap::new();
    for heading in SECTIONS {
        let section = LAKE.section(heading);
        let mut outputs = Vec::new();
        for step in &section.steps {
            let (output, status) = run(&dir, step);
            assert_eq!(status, Some(0), "{}\n{output}", step.command);
            if std::env::var_os("FTK_UPDATE_DOCS").is_none() {
                assert_eq!(output, step.output, "{}", step.command);
            }
            if let Some(rest) = step.command.strip_prefix("ftk query ") {
                shown.insert(rest.split(' ').next().unwrap().to_owned(), output.lines().count());
            }
            outputs.push(output);
        }
        if std::env::var_os("FTK_UPDATE_DOCS").is_some() {
            LAKE.update(heading, &outputs);
        }
    }
    // Every question has an answer with rows.
    for question in dir.ask(&["list"]).lines().map(|line| line.split(' ').next().unwrap()) {
        assert!(shown.get(question).is_some_and(|lines| *lines > 1), "{question}: {shown:?}");
    }
}
