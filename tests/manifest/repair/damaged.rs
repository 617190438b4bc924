//! Which files count as damaged, and what a repaired file keeps.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::time::{Duration, SystemTime};

use rustix::fs::{XattrFlags, getxattr, setxattr};

use super::super::records::{Manifest, json, verify};
use super::{damage, keep, mark, names, repair, said};
use crate::harness::{Dir, is_root, needs};

/// Everything that a repaired file keeps.
fn metadata(dir: &Dir, path: &str) -> (u32, u32, u32, SystemTime, Vec<u8>) {
    let metadata = fs::metadata(dir.path(path)).unwrap();
    let mut value = [0; 9];
    let len = getxattr(dir.path(path), "user.note", &mut value[..]).unwrap_or(0);
    let time = metadata.modified().unwrap();
    (metadata.mode(), metadata.uid(), metadata.gid(), time, value[..len].to_vec())
}

#[test]
fn damaged_files_are_restored_with_their_metadata() {
    let dir = Dir::new();
    dir.file("a/b", b"good content").file("c", b"other");
    _ = setxattr(dir.path("a/b"), "user.note", b"mine", XattrFlags::empty());
    fs::set_permissions(dir.path("a/b"), Permissions::from_mode(0o640)).unwrap();
    if is_root() {
        chown(dir.path("a/b"), Some(12), Some(34)).unwrap();
    }
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_234_567_890, 123_456_789);
    File::options().write(true).open(dir.path("a/b")).unwrap().set_modified(time).unwrap();
    keep(&dir);
    // The copy has other metadata, which are not used.
    let copied = dir.aside("copy").join("a/b");
    fs::set_permissions(&copied, Permissions::from_mode(0o600)).unwrap();
    File::options().write(true).open(&copied).unwrap().set_modified(SystemTime::now()).unwrap();
    damage(&dir.path("a/b"));
    let (before, inode) = (metadata(&dir, "a/b"), fs::metadata(dir.path("a/b")).unwrap().ino());
    let run = repair(&dir, &["--yes"]).status(0).stderr_has("  repaired 1 file, 12 B\n");
    run.check(said(&run)[0].starts_with("repair a/b 12 B from "), "the file is listed");
    assert_eq!(fs::read(dir.path("a/b")).unwrap(), b"good content");
    assert_eq!(metadata(&dir, "a/b"), before);
    let now = fs::metadata(dir.path("a/b")).unwrap();
    assert_ne!(now.ino(), inode, "the old file was replaced as a whole");
    verify(&dir, &[]).status(0).stdout("");
    assert_eq!(names(&dir.path("a")), ["b"]);
    // There is nothing left to do.
    repair(&dir, &["--yes"]).status(0).stdout("").stderr_has("  nothing to do\n");
}

#[test]
fn a_plan_changes_nothing() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"gone");
    keep(&dir);
    damage(&dir.path("a"));
    fs::remove_file(dir.path("b")).unwrap();
    let manifest = fs::read(dir.aside("manifest")).unwrap();
    let run = repair(&dir, &["--missing"]).status(0);
    run.check(said(&run).len() == 2, "two lines");
    let said =
        "  would repair 1 file and restore 1 missing file, 8 B. Nothing was changed: add --yes to do it.\n";
    run.stderr_has(said);
    let run = repair(&dir, &["--missing", "--json"]).status(0);
    let records = json(&run);
    assert_eq!((&records[0]["action"], &records[0]["path"]), (&"repair".into(), &"a".into()));
    assert_eq!(records[0]["from"], dir.aside("copy").join("a").to_str().unwrap());
    assert_eq!((&records[1]["action"], &records[1]["size_bytes"]), (&"restore".into(), &4.into()));
    let summary = serde_json::json!({"is_plan": true, "repaired": 1, "restored": 1, "replaced": 0, "metadata": 0, "joined": 0, "bytes": 8, "healed": 0,
        "without_copy": 0, "left": 0, "refused": 0, "failed": 0, "not_done": 0,
        "respelled": 0, "marks_removed": 0, "grown": 0, "unasked": {"missing": 0, "modified": 0, "metadata": 0, "links": 0}});
    assert_eq!(records[2]["summary"], summary);
    assert_eq!(names(&dir.path("")), ["a"]);
    assert_ne!(fs::read(dir.path("a")).unwrap(), b"good");
    assert_eq!(fs::read(dir.aside("manifest")).unwrap(), manifest);
    assert!(!dir.aside("state").exists(), "no journal");
}

#[test]
fn only_marked_files_are_read_if_there_are_marks() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"good");
    keep(&dir);
    damage(&dir.path("a"));
    mark(&dir);
    assert!(Manifest::read(&dir.aside("manifest")).entry("a")["damaged_ns"].is_number());
    damage(&dir.path("b"));
    let run = repair(&dir, &["--yes"]).status(0);
    run.check(said(&run).len() == 1, "only one file is repaired");
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"good");
    assert_ne!(fs::read(dir.path("b")).unwrap(), b"good");
    assert!(Manifest::read(&dir.aside("manifest")).entry("a")["damaged_ns"].is_null());
    // Without marks, all files are read.
    repair(&dir, &["--yes"]).status(0);
    assert_eq!(fs::read(dir.path("b")).unwrap(), b"good");
    verify(&dir, &[]).status(0);
}

#[test]
fn a_file_that_healed_is_no_longer_marked() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    damage(&dir.path("a"));
    mark(&dir);
    damage(&dir.path("a")); // inverts the same byte again
    let inode = fs::metadata(dir.path("a")).unwrap().ino();
    let run = repair(&dir, &["--yes"]).status(0).stderr_has("  nothing to do; 1 healed\n");
    run.check(said(&run) == ["healed a has its recorded content again"], "it is listed");
    assert_eq!(fs::metadata(dir.path("a")).unwrap().ino(), inode);
    assert!(Manifest::read(&dir.aside("manifest")).entry("a")["damaged_ns"].is_null());
}

#[test]
fn edited_files_are_never_replaced() {
    let dir = Dir::new();
    dir.file("size", b"good").file("time", b"good").file("type", b"good").file("unmarked", b"good");
    keep(&dir);
    dir.file("unmarked", b"edited");
    let run = repair(&dir, &["--yes"]).status(1).stdout("");
    run.stderr_has("  no damage; 1 modified (--modified restores it)\n");
    for name in ["size", "time", "type"] {
        damage(&dir.path(name));
    }
    mark(&dir);
    dir.file("size", b"edited").file("time", b"edit");
    fs::remove_file(dir.path("type")).unwrap();
    dir.dir("type");
    let run = repair(&dir, &["--yes", "--missing"]).status(1);
    let edited = |name| {
        format!(
            "leave {name} marked as damaged, and changed since: --modified restores it, `ftk manifest update` records it"
        )
    };
    let other_type = "leave type changed since it was recorded: see `ftk manifest update`".into();
    run.check(said(&run) == [edited("size"), edited("time"), other_type], "all are listed");
    run.stderr_has("  nothing was repaired; 3 left; 2 modified (--modified restores it)\n");
    assert_eq!(fs::read(dir.path("size")).unwrap(), b"edited");
    assert_eq!(fs::read(dir.path("time")).unwrap(), b"edit");
    assert!(dir.path("type").is_dir());
    assert_eq!(fs::read(dir.path("unmarked")).unwrap(), b"edited");
}

#[test]
fn a_marked_file_that_is_missing_needs_an_option() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"b").file("c", b"c");
    keep(&dir);
    damage(&dir.path("a"));
    mark(&dir);
    fs::remove_file(dir.path("a")).unwrap();
    let run = repair(&dir, &["--yes"]).status(1);
    run.check(said(&run) == ["leave a damaged and missing: add --missing"], "it is listed");
    repair(&dir, &["--yes", "--missing"]).status(0);
    verify(&dir, &[]).status(0);
    assert!(Manifest::read(&dir.aside("manifest")).entry("a")["damaged_ns"].is_null());
}

#[test]
fn odd_names_are_repaired() {
    let dir = Dir::new();
    for name in [&b"new\nline"[..], b"\xff\xfe", b"-rf", b"sp ace", b"d/\x1b[31m"] {
        dir.raw_file(name, b"good");
    }
    keep(&dir);
    for name in [&b"new\nline"[..], b"\xff\xfe", b"-rf", b"sp ace", b"d/\x1b[31m"] {
        damage(&dir.path(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name)));
    }
    let run = repair(&dir, &["--yes"]).status(0);
    run.check(run.text().lines().count() == 5 && !run.text().contains('\x1b'), "names are escaped");
    verify(&dir, &[]).status(0);
    assert_eq!(repair(&dir, &["--json"]).status(0).text().lines().count(), 1);
}

#[test]
fn set_id_bits_are_not_restored() {
    let dir = Dir::new();
    dir.file("a", b"good");
    fs::set_permissions(dir.path("a"), Permissions::from_mode(0o6755)).unwrap();
    keep(&dir);
    damage(&dir.path("a"));
    // A write removes the bits.
    fs::set_permissions(dir.path("a"), Permissions::from_mode(0o6755)).unwrap();
    let run = repair(&dir, &["--yes"]).status(2);
    run.stderr_has("ftk: 'a' is repaired without its set-ID bits and capabilities: set them yourself\n");
    assert_eq!(fs::metadata(dir.path("a")).unwrap().mode() & 0o7777, 0o755);
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"good");
}

/// A disk with errors, or a file system with checksums, returns no content.
#[test]
fn a_file_that_the_disk_does_not_return_is_repaired_on_request() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"other");
    keep(&dir);
    let failing = |args: &[&str]| {
        let (path, inject) = (dir.path("a"), "inject=pread64,preadv2,read,mmap,lseek:error=EIO");
        let strace = ["strace", "-f", "-o", "/dev/null", "-P", path.to_str().unwrap(), "-e", inject];
        let ftk = dir.ftk(["manifest", "repair", ".", "--io", "sync"]).arg(dir.aside("manifest"));
        ftk.arg("--from").arg(dir.aside("copy")).args(args).under(&dir, strace).run()
    };
    let inode = fs::metadata(dir.path("a")).unwrap().ino();
    let run = failing(&["--yes"]).status(2).stderr_has("ftk: cannot read './a': input/output error\n");
    let why = "cannot read the file: input/output error (--discard repairs it without keeping its content)";
    run.check(said(&run) == [format!("refuse a {why}")], "it is listed");
    assert_eq!(fs::metadata(dir.path("a")).unwrap().ino(), inode);
    let run = failing(&["--yes", "--discard"]).status(0);
    run.check(said(&run)[0].starts_with("repair a 4 B from "), "it is listed");
    assert_ne!(fs::metadata(dir.path("a")).unwrap().ino(), inode);
    verify(&dir, &[]).status(0);
    assert_eq!(names(&dir.path("")), ["a", "b"]);
}

/// Such an error does not show that a file was not edited.
#[test]
fn an_edited_file_that_the_disk_does_not_return_is_left() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    dir.file("a", b"edit");
    let path = dir.path("a");
    let strace =
        ["strace", "-f", "-o", "/dev/null", "-P", path.to_str().unwrap(), "-e", "inject=pread64:error=EIO"];
    let ftk =
        dir.ftk(["manifest", "repair", ".", "--io", "sync", "--yes", "--discard"]).arg(dir.aside("manifest"));
    let run = ftk.arg("--from").arg(dir.aside("copy")).under(&dir, strace).run().status(2);
    run.check(said(&run) == ["leave a cannot be read"], "it is listed");
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"edit");
}
