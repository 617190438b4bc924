//! Files with other content of which nothing shows whether they were edited or are damaged: their records have no time,
//! or they were damaged before.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use super::damage::flip;
use super::records::{Manifest, create, json as objects, lines, seal};
use super::repair::{copy, mark, repair};
use crate::harness::{Dir, Run, sha256};

/// Imports a checksum list of three files, and damages one of them.
fn imported() -> Dir {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def").file("c", b"ghi");
    copy(&dir, "copy");
    let list = dir.ftk(["hash", "-a", "sha256", "a", "b", "c"]).run().status(0).out;
    let run = dir.ftk(["manifest", "import", "--format", "sha256", "-"]).stdin(&list).run().status(0);
    fs::write(dir.aside("manifest"), &run.out).unwrap();
    flip(&dir.path("a"));
    dir
}

fn run(dir: &Dir, command: &str, args: &[&str]) -> Run {
    dir.ftk(["manifest", command, "."]).arg(dir.aside("manifest")).args(args).run()
}

const SAID: &str = "ftk: 'a': content differs, and the record has no time or no size: perhaps damaged\n";

#[test]
fn update_keeps_the_only_good_digest() {
    let dir = imported();
    let good = sha256(b"abc");
    for _ in 0..2 {
        let update = run(&dir, "update", &["-o", "../manifest"]).status(1).stderr_has(SAID);
        update
            .stderr_has("  1 perhaps damaged file kept as recorded; --accept PATH records one as it is now");
        let now = Manifest::read(&dir.aside("manifest"));
        assert_eq!(now.entry("a")["digests"]["sha256"], good);
        assert!(now.entry("a")["mtime_ns"].is_null() && now.entry("b")["mtime_ns"].is_i64());
    }
    run(&dir, "update", &["-o", "../manifest", "--accept", "a"]).status(0).stderr_lacks("damaged");
    let now = Manifest::read(&dir.aside("manifest"));
    assert!(now.entry("a")["digests"]["sha256"] != good && now.entry("a")["mtime_ns"].is_i64());
    run(&dir, "scrub", &[]).status(0);
}

#[test]
fn update_records_the_file_when_its_content_is_restored() {
    let dir = imported();
    flip(&dir.path("a"));
    run(&dir, "update", &["-o", "../manifest"]).status(0);
    assert!(Manifest::read(&dir.aside("manifest")).entry("a")["mtime_ns"].is_i64());
}

#[test]
fn scrub_reports_it_until_it_is_decided() {
    let dir = imported();
    let before = Manifest::read(&dir.aside("manifest"));
    for _ in 0..2 {
        let scrub = run(&dir, "scrub", &[]).status(1);
        scrub.check(scrub.text().starts_with("modified\ta\tsha256 "), "the file");
        let scrub =
            scrub.stderr_has("  1 file with other content, perhaps damaged: the record shows neither");
        scrub.stderr_has(", except 1 changed\n").stderr_lacks("not read since");
        assert_eq!(Manifest::read(&dir.aside("manifest")).entry("a"), before.entry("a"));
    }
    let results = objects(&run(&dir, "scrub", &["--json"]).status(1)).pop().unwrap();
    assert_eq!((&results["undecided_files"], &results["files"]), (&1.into(), &2.into()));
}

/// A list with sizes, such as one of hashdeep, is enough to search copies.
#[test]
fn repair_lists_it_and_does_not_replace_it() {
    let dir = imported();
    repair(&dir, &[]).status(2).stderr_has("lacks sizes").stderr_lacks("update");
    flip(&dir.path("a"));
    let _ = run(&dir, "update", &["-o", "../manifest"]).status(0);
    let mtime = regex::Regex::new(r#","mtime_ns":-?[0-9]+"#).unwrap();
    let untimed: Vec<_> =
        lines(&dir.aside("manifest")).iter().map(|line| mtime.replace(line, "").into_owned()).collect();
    fs::write(dir.aside("manifest"), seal(&untimed)).unwrap();
    flip(&dir.path("a"));
    let damaged = fs::read(dir.path("a")).unwrap();
    for args in [&[][..], &["--yes"]] {
        let repair = repair(&dir, args).status(1);
        repair.check(repair.text().contains("content differs, and the record has no time"), "the file");
        assert_eq!(fs::read(dir.path("a")).unwrap(), damaged);
    }
    mark(&dir);
    assert_eq!(Manifest::read(&dir.aside("manifest")).entry("a")["digests"]["sha256"], sha256(b"abc"));
}

/// Returns a tree with a damaged file that is marked, and was touched since.
fn touched() -> Dir {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def").file("c", b"ghi");
    create(&dir, &[]);
    flip(&dir.path("a"));
    run(&dir, "scrub", &[]).status(1);
    touch(&dir);
    dir
}

fn touch(dir: &Dir) {
    let later = SystemTime::now() + Duration::from_secs(3600);
    File::open(dir.path("a")).unwrap().set_modified(later).unwrap();
}

#[test]
fn a_marked_file_that_was_touched_is_not_forgotten() {
    let dir = touched();
    let marked = Manifest::read(&dir.aside("manifest"));
    assert!(marked.entry("a")["damaged_ns"].is_i64());
    for _ in 0..2 {
        let scrub = run(&dir, "scrub", &[]).status(1).stderr_has("  damaged earlier, changed since: a\n");
        let scrub = scrub.stdout("modified\ta\n");
        scrub.stderr_has("  1 damaged file changed since: see `ftk manifest update`   (status 1)\n");
        let update = run(&dir, "update", &["-o", "../manifest"]).status(1);
        update.stderr_has(
            "ftk: 'a': damaged earlier, and only its time changed since: perhaps still damaged\n",
        );
        let now = Manifest::read(&dir.aside("manifest"));
        for member in ["digests", "mtime_ns", "damaged_ns"] {
            assert_eq!(now.entry("a")[member], marked.entry("a")[member]);
        }
    }
    run(&dir, "update", &["-o", "../manifest", "--accept", "a"]).status(0).stderr_lacks("'a'");
    assert!(Manifest::read(&dir.aside("manifest")).entry("a")["damaged_ns"].is_null());
    run(&dir, "scrub", &[]).status(0);
}

#[test]
fn a_restored_file_loses_its_mark_whatever_its_time() {
    let dir = touched();
    flip(&dir.path("a"));
    run(&dir, "update", &["-o", "../manifest"]).status(0).stderr_lacks("damaged");
    assert!(Manifest::read(&dir.aside("manifest")).entry("a")["damaged_ns"].is_null());
}

#[test]
fn update_names_a_file_that_loses_its_mark() {
    let dir = touched();
    dir.file("a", b"a new text");
    run(&dir, "scrub", &[]).status(1).stderr_has("  damaged earlier, changed since: a\n");
    let update = run(&dir, "update", &["-o", "../manifest"]).status(0);
    update
        .stderr_has("ftk: 'a': damaged earlier, and its size or type changed since: recorded as it is now\n");
    assert!(Manifest::read(&dir.aside("manifest")).entry("a")["damaged_ns"].is_null());
    run(&dir, "scrub", &[]).status(0);
}

/// The import reads only the list.
#[test]
fn files_of_an_imported_list_were_never_read() {
    let dir = imported();
    flip(&dir.path("a"));
    let scrub = run(&dir, "scrub", &["--bytes", "1"]).status(0).stderr_lacks("every file was read");
    scrub.stderr_has("; 2 were not read since they were recorded\n");
    let scrub = run(&dir, "scrub", &["--bytes", "1"]).status(0).stderr_lacks("every file was read");
    scrub.stderr_has("; 1 was not read since it was recorded\n");
    run(&dir, "scrub", &["--bytes", "1"])
        .status(0)
        .stderr_has("  every file was read within ")
        .stderr_lacks("not read");
}
