//! `--modified`: files that were truncated, overwritten or edited.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::{Duration, SystemTime};

use super::super::records::{Manifest, json, verify};
use super::{damage, journal, keep, mark, repair, repair_from, said};
use crate::harness::Dir;

/// Sets the mtime to this many seconds after the epoch.
fn set_time(dir: &Dir, name: &str, seconds: u64) {
    let file = File::options().write(true).open(dir.path(name)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

fn mtime(dir: &Dir, name: &str) -> i64 {
    fs::metadata(dir.path(name)).unwrap().mtime()
}

#[test]
fn what_could_be_restored_is_counted() {
    let dir = Dir::new();
    dir.file("gone", b"gone").file("cut", b"content").file("a", b"a").file("b", b"b").symlink("a", "l");
    dir.dir("d");
    keep(&dir);
    fs::remove_file(dir.path("gone")).unwrap();
    dir.file("cut", b"");
    fs::set_permissions(dir.path("a"), Permissions::from_mode(0o600)).unwrap();
    set_time(&dir, "b", 1);
    fs::set_permissions(dir.path("d"), Permissions::from_mode(0o700)).unwrap();
    let said = "  no damage; 1 missing (--missing restores it), 1 modified (--modified restores it), \
                3 with other metadata (--metadata restores it)\n";
    for args in [&[][..], &["--yes"]] {
        repair(&dir, args).status(1).stdout("").stderr_has(said);
    }
    let summary = &json(&repair(&dir, &["--json"]).status(1))[0]["summary"];
    assert_eq!(
        summary["unasked"],
        serde_json::json!({"missing": 1, "modified": 1, "metadata": 3, "links": 0})
    );
    // What is asked for is not counted, and what is left still is.
    let run = repair(&dir, &["--missing", "--modified", "--yes"]).status(1);
    run.stderr_has("  replaced 1 modified file and restored 1 missing file, 11 B; 3 with other metadata (");
    repair(&dir, &["--metadata", "--yes"]).status(0).stderr_has("  put back the metadata of 4 entries\n");
    verify(&dir, &[]).status(0);
    repair(&dir, &[]).status(0).stderr_has("  nothing to do\n");
}

#[test]
fn a_missing_file_that_moved_is_not_counted() {
    let dir = Dir::new();
    let long = [7; 200];
    dir.file("a", &long).file("b", b"b").file("c", b"c");
    keep(&dir);
    fs::rename(dir.path("a"), dir.path("new")).unwrap();
    repair(&dir, &[]).status(0).stdout("").stderr_has("  nothing to do\n");
}

#[test]
fn missing_links_and_empty_directories_are_counted() {
    let dir = Dir::new();
    dir.file("a", b"a").file("b", b"b").symlink("a", "l").dir("empty").dir("full").file("full/c", b"c");
    keep(&dir);
    for path in ["l", "full/c"] {
        fs::remove_file(dir.path(path)).unwrap();
    }
    fs::remove_dir(dir.path("empty")).unwrap();
    fs::remove_dir(dir.path("full")).unwrap();
    let run = repair(&dir, &["--max-missing", "100%"]).status(1);
    run.stderr_has("  no damage; 1 missing (--missing restores it)\n")
        .stderr_has("  2 missing links, special files or empty directories cannot be restored by repair\n");
}

#[test]
fn changed_files_are_restored_and_undo_brings_the_newer_content_back() {
    let dir = Dir::new();
    for (name, seconds) in [("cut", 100), ("over", 200), ("grown", 300), ("same", 400)] {
        dir.file(name, b"recorded");
        set_time(&dir, name, seconds);
    }
    fs::set_permissions(dir.path("cut"), Permissions::from_mode(0o640)).unwrap();
    keep(&dir);
    let newer = [("cut", &b""[..], 2000), ("over", b"edited!!", 4000), ("grown", b"recorded and more", 3000)];
    for (name, content, seconds) in newer {
        fs::write(dir.path(name), content).unwrap();
        set_time(&dir, name, seconds);
    }
    // The plan has both sizes and times, the newest first.
    let run = repair(&dir, &["--modified"]).status(0);
    let plan: Vec<_> =
        said(&run).iter().map(|line| line.split(" from ").next().unwrap().to_owned()).collect();
    let expected = [
        "replace over 8 B of 1970-01-01T01:06:40+00:00 \u{2192} 8 B of 1970-01-01T00:03:20+00:00",
        "replace grown 17 B of 1970-01-01T00:50:00+00:00 \u{2192} 8 B of 1970-01-01T00:05:00+00:00",
        "replace cut 0 B of 1970-01-01T00:33:20+00:00 \u{2192} 8 B of 1970-01-01T00:01:40+00:00",
    ];
    assert_eq!(plan, expected);
    let record = &json(&repair(&dir, &["--modified", "--json"]).status(0))[2];
    assert_eq!((&record["action"], &record["path"]), (&"replace".into(), &"cut".into()));
    assert_eq!((&record["size_bytes"], &record["now_size_bytes"]), (&8.into(), &0.into()));
    assert_eq!(record["mtime_ns"], 100_000_000_000_i64);
    assert_eq!(record["now_mtime_ns"], 2_000_000_000_000_i64);

    let run = repair(&dir, &["--modified", "--yes"]).status(0);
    run.stderr_has("  replaced 3 modified files, 24 B\n");
    for (name, seconds) in [("cut", 100), ("over", 200), ("grown", 300)] {
        assert_eq!(fs::read(dir.path(name)).unwrap(), b"recorded");
        assert_eq!(mtime(&dir, name), seconds);
    }
    assert_eq!(fs::metadata(dir.path("cut")).unwrap().mode() & 0o7777, 0o640);
    verify(&dir, &[]).status(0);

    dir.ftk(["undo"]).arg(journal(&dir)).run().status(0);
    for (name, content, seconds) in newer {
        assert_eq!(fs::read(dir.path(name)).unwrap(), content, "{name}");
        assert_eq!(mtime(&dir, name), seconds as i64, "{name}");
    }
}

#[test]
fn recorded_names_are_joined_and_new_ones_keep_the_newer_content() {
    let dir = Dir::new();
    dir.file("a", b"recorded").hard_link("a", "b").file("c", b"other");
    keep(&dir);
    fs::hard_link(dir.path("a"), dir.path("new")).unwrap();
    fs::remove_file(dir.path("c")).unwrap();
    fs::hard_link(dir.path("a"), dir.path("c")).unwrap();
    fs::write(dir.path("a"), b"edited").unwrap();
    let run = repair(&dir, &["--modified", "--yes"]).status(1);
    run.check(
        said(&run)[0] == "leave c is a hard link of a, with another recorded content",
        "one file cannot have two contents",
    );
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"recorded");
    let ino = |name| fs::metadata(dir.path(name)).unwrap().ino();
    assert_eq!(ino("a"), ino("b"));
    for name in ["new", "c"] {
        assert_eq!(fs::read(dir.path(name)).unwrap(), b"edited", "{name}");
    }
    // Now it is a file of its own.
    repair(&dir, &["--modified", "--yes"]).status(0);
    assert_eq!(fs::read(dir.path("c")).unwrap(), b"other");
}

#[test]
fn a_marked_file_that_was_edited_is_restored_on_request() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"good");
    keep(&dir);
    damage(&dir.path("a"));
    mark(&dir);
    dir.file("a", b"edited").file("b", b"cut");
    let run = repair(&dir, &["--yes"]).status(1);
    let left = "leave a marked as damaged, and changed since: --modified restores it, `ftk manifest update` records it";
    run.check(said(&run) == [left], "it is left");
    run.stderr_has("; 2 modified (--modified restores it)\n");
    repair(&dir, &["--modified", "--yes"]).status(0);
    verify(&dir, &[]).status(0);
    assert!(Manifest::read(&dir.aside("manifest")).entry("a")["damaged_ns"].is_null());
}

#[test]
fn a_changed_file_needs_a_good_copy() {
    let dir = Dir::new();
    dir.file("a", b"recorded");
    keep(&dir);
    dir.file("a", b"edited");
    fs::write(dir.aside("copy").join("a"), b"otherwise").unwrap();
    let run = repair(&dir, &["--modified", "--yes"]).status(1);
    run.check(said(&run) == ["no copy a no COPY has its recorded content"], "it is listed");
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"edited");
    repair_from(&dir, &[], &["--modified"]).status(2);
    repair_from(&dir, &[], &["--modified", "--metadata"])
        .status(2)
        .stderr_has("need a copy: name it with --from");
}

/// Nothing can restore these.
#[test]
fn other_types_and_targets_are_listed() {
    let dir = Dir::new();
    dir.file("a", b"a").file("b", b"b").symlink("a", "l").file("c", b"c");
    keep(&dir);
    fs::remove_file(dir.path("a")).unwrap();
    dir.dir("a");
    fs::remove_file(dir.path("l")).unwrap();
    dir.symlink("b", "l");
    let run = repair(&dir, &["--modified", "--missing", "--metadata", "--yes"]).status(1);
    let left = |name| format!("leave {name} changed since it was recorded: see `ftk manifest update`");
    run.check(said(&run)[..2] == ["a", "l"].map(left), "both are listed");
    assert!(dir.path("a").is_dir());
    assert_eq!(fs::read_link(dir.path("l")).unwrap().to_str(), Some("b"));
}
