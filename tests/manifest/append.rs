//! Archives in which nothing may change: `update --append-only`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::records::{Manifest, create};
use crate::harness::{Dir, Run};

fn recorded() -> Dir {
    let dir = Dir::new();
    for path in ["gone", "edited", "mode", "became a directory", "removed/a", "removed/b", "same"] {
        dir.file(path, path.as_bytes());
    }
    create(&dir, &[]);
    dir
}

fn append(dir: &Dir) -> Run {
    let manifest = dir.aside("manifest");
    dir.ftk(["manifest", "update", "--append-only", "."]).arg(&manifest).arg("-o").arg(&manifest).run()
}

fn paths(manifest: &Manifest) -> Vec<String> {
    manifest.paths.iter().map(|path| String::from_utf8(path.clone()).unwrap()).collect()
}

#[test]
fn new_files_are_added() {
    let dir = recorded();
    let before = Manifest::read(&dir.aside("manifest"));
    dir.file("sub/new", b"new").hard_link("sub/new", "another name");
    append(&dir).status(0).stderr_lacks("not as recorded");
    let after = Manifest::read(&dir.aside("manifest"));
    let added = paths(&after).into_iter().filter(|path| !paths(&before).contains(path)).collect::<Vec<_>>();
    assert_eq!(added, ["another name", "sub", "sub/new"]);
    dir.ftk(["manifest", "verify", "."]).arg(dir.aside("manifest")).run().status(0);
}

#[test]
fn what_changed_keeps_its_record_and_is_reported_in_every_run() {
    let dir = recorded();
    let before = Manifest::read(&dir.aside("manifest"));
    fs::remove_file(dir.path("gone")).unwrap();
    fs::remove_dir_all(dir.path("removed")).unwrap();
    fs::remove_file(dir.path("became a directory")).unwrap();
    dir.file("became a directory/below", b"").file("edited", b"other content").file("new", b"new");
    fs::set_permissions(dir.path("mode"), Permissions::from_mode(0o600)).unwrap();
    for _ in 0..2 {
        let run = append(&dir).status(1).stderr_has("7 entries missing or changed: the old records are kept");
        let run = run.stderr_has("'gone' is missing\n").stderr_has("'removed/b' is missing\n");
        let run = run.stderr_has("'edited' is not as recorded: size 6 → 13, mtime ");
        run.stderr_has("'mode' is not as recorded: mode 0644 → 0600\n")
            .stderr_has("'became a directory' is not as recorded: type file → directory, mode 0644 → 0755\n");
        let after = Manifest::read(&dir.aside("manifest"));
        let added = paths(&after).into_iter().filter(|path| !paths(&before).contains(path));
        assert_eq!(added.collect::<Vec<_>>(), ["new"]);
        for path in ["gone", "edited", "mode", "became a directory", "removed", "removed/a", "removed/b"] {
            let without_time = |manifest: &Manifest| {
                let mut entry = manifest.entry(path).clone();
                entry.as_object_mut().unwrap().remove("verified_ns");
                entry
            };
            assert_eq!(without_time(&after), without_time(&before), "{path}");
        }
    }
    // Restored files are as recorded again. The tree digests are those of all records.
    fs::remove_dir_all(dir.path("became a directory")).unwrap();
    let verify = dir.ftk(["manifest", "verify", "--mode", "content", "--json", "."]);
    let run = verify.arg(dir.aside("manifest")).run().status(1);
    let missing = run.text().lines().filter(|line| line.contains("\"missing\"")).count();
    assert_eq!(missing, 5, "{}", run.text());
}

/// The first name of a group of hard links becomes a separate file. Only the later name shows that.
#[test]
fn a_split_hard_link_is_reported_in_every_run() {
    let dir = Dir::new();
    dir.file("a", b"content").hard_link("a", "b");
    create(&dir, &[]);
    let before = Manifest::read(&dir.aside("manifest"));
    fs::copy(dir.path("a"), dir.path("c")).unwrap();
    let time = fs::metadata(dir.path("a")).unwrap().modified().unwrap();
    fs::File::options().write(true).open(dir.path("c")).unwrap().set_modified(time).unwrap();
    fs::rename(dir.path("c"), dir.path("a")).unwrap();
    for _ in 0..2 {
        append(&dir).status(1).stderr_has("'b' is not as recorded: hard link of 'a' → none\n");
        let after = Manifest::read(&dir.aside("manifest"));
        for name in ["a", "b"] {
            assert_eq!(after.entry(name)["link_group"], before.entry(name)["link_group"], "{name}");
        }
    }
    dir.ftk(["manifest", "verify", "."]).arg(dir.aside("manifest")).run().status(1);
}

/// The record of the moved name is kept, and so is the name of its group.
#[test]
fn a_moved_hard_link_joins_the_recorded_group() {
    let dir = Dir::new();
    dir.file("x", &[7; 100]).hard_link("x", "z");
    create(&dir, &[]);
    fs::rename(dir.path("x"), dir.path("y")).unwrap();
    for _ in 0..3 {
        append(&dir)
            .status(1)
            .stderr_has("'x' is missing\n")
            .stderr_has("1 entry missing")
            .stderr_lacks("'z'");
        let after = Manifest::read(&dir.aside("manifest"));
        assert_eq!(["x", "y", "z"].map(|name| after.entry(name)["link_group"].clone()), ["x"; 3]);
    }
}

#[test]
fn hard_links_that_were_not_recorded_may_go() {
    let dir = Dir::new();
    dir.file("a", b"content").file("b", b"other").hard_link("a", "../snapshot");
    create(&dir, &[]);
    fs::remove_file(dir.aside("snapshot")).unwrap();
    append(&dir).status(0).stderr_lacks("not as recorded");
    dir.ftk(["manifest", "verify", "."]).arg(dir.aside("manifest")).run().status(0);
}

/// The record of the changed file has one name, and is kept. So the links of the new names cannot be recorded.
#[test]
fn a_new_name_of_a_changed_file_is_added_and_not_reported() {
    let dir = recorded();
    dir.file("edited", b"other content").hard_link("edited", "a new name").hard_link("edited", "z");
    let mut before = None;
    for _ in 0..3 {
        let run = append(&dir).status(1).stderr_has("'edited' is not as recorded: size 6 ");
        run.stderr_lacks("hard link of").stderr_has("1 entry missing or changed");
        let after = Manifest::read(&dir.aside("manifest")).untimed().entries;
        assert!(before.is_none_or(|before| before == after), "the same records");
        before = Some(after);
    }
    let verify = dir.ftk(["manifest", "verify", "."]).arg(dir.aside("manifest")).run().status(1);
    verify.stderr_has("1 modified   (status 1)");
    // The links are recorded when the file is as recorded again.
    let manifest = dir.aside("manifest");
    dir.ftk(["manifest", "update", "."]).arg(&manifest).arg("-o").arg(&manifest).run().status(0);
    for name in ["a new name", "edited", "z"] {
        assert_eq!(Manifest::read(&manifest).entry(name)["link_group"], "a new name");
    }
}

#[test]
fn times_that_have_shifted_keep_their_records() {
    let dir = recorded();
    let before = Manifest::read(&dir.aside("manifest"));
    for name in ["gone", "edited", "mode", "became a directory", "removed/a", "removed/b", "same"] {
        let file = fs::File::options().write(true).open(dir.path(name)).unwrap();
        let time = file.metadata().unwrap().modified().unwrap();
        file.set_modified(time + std::time::Duration::from_secs(3600)).unwrap();
    }
    for _ in 0..2 {
        append(&dir).status(1).stderr_has("'same' is not as recorded: mtime ");
        let after = Manifest::read(&dir.aside("manifest"));
        assert_eq!(after.entry("same")["mtime_ns"], before.entry("same")["mtime_ns"]);
    }
}

/// The damaged file keeps its time, too.
#[test]
fn a_healed_file_is_as_recorded_after_a_shift() {
    let dir = recorded();
    let names = ["gone", "edited", "mode", "became a directory", "removed/a", "removed/b", "same"];
    let shift = |hours: i64| {
        for name in names {
            let file = fs::File::options().write(true).open(dir.path(name)).unwrap();
            let time = file.metadata().unwrap().modified().unwrap();
            let by = std::time::Duration::from_secs(3600);
            file.set_modified(if hours > 0 { time + by } else { time - by }).unwrap();
        }
    };
    let content = |content: &[u8]| {
        let time = fs::metadata(dir.path("same")).unwrap().modified().unwrap();
        fs::write(dir.path("same"), content).unwrap();
        fs::File::options().write(true).open(dir.path("same")).unwrap().set_modified(time).unwrap();
    };
    let before = Manifest::read(&dir.aside("manifest"));
    content(b"rots");
    shift(1);
    for _ in 0..2 {
        append(&dir)
            .status(1)
            .stderr_has("'same' is corrupted: content changed, size did not, and mtime shifted");
        let after = Manifest::read(&dir.aside("manifest"));
        assert_eq!(after.entry("same")["mtime_ns"], before.entry("same")["mtime_ns"]);
    }
    content(b"same");
    shift(-1);
    dir.ftk(["manifest", "verify", "."]).arg(dir.aside("manifest")).run().status(0);
    append(&dir).status(0);
}

/// Records of damaged and of missing names do not hide that others were separated.
#[test]
fn a_damaged_name_that_was_separated_hides_no_split() {
    let dir = Dir::new();
    dir.file("x", b"content").hard_link("x", "y").hard_link("x", "z");
    create(&dir, &[]);
    let time = fs::metadata(dir.path("x")).unwrap().modified().unwrap();
    fs::remove_file(dir.path("x")).unwrap();
    dir.file("x", b"c0ntent");
    fs::File::options().write(true).open(dir.path("x")).unwrap().set_modified(time).unwrap();
    for _ in 0..2 {
        let run = append(&dir).status(1).stderr_has("'x' is corrupted: ");
        let run = run.stderr_has("'y' is not as recorded: hard link of 'x' → none\n");
        run.stderr_has("'z' is not as recorded: hard link of 'x' → 'y'\n");
    }
}

/// The mount point of a disk that is not mounted is another directory. If that is ignored, too much is missing.
#[test]
fn an_empty_mount_point_changes_nothing() {
    let dir = recorded();
    dir.ftk(["manifest", "create", ".", "-o", "../manifest", "--force"]).run().status(0);
    let before = fs::read(dir.aside("manifest")).unwrap();
    let empty = dir.aside("empty");
    fs::create_dir(&empty).unwrap();
    for options in [&[][..], &["--other-root"]] {
        let update = dir.ftk(["manifest", "update", "--append-only"]).args(options).arg(&empty);
        update.args(["../manifest", "-o", "../manifest"]).run().status(2);
        assert_eq!(fs::read(dir.aside("manifest")).unwrap(), before);
    }
}
