//! `ftk dup undo`: restores the tree.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use super::tree::plant;
use crate::harness::Dir;

/// The restorable parts of an entry: everything except its inode number and ctime.
#[derive(Debug, PartialEq, Eq)]
struct Known {
    mode: u32,
    uid: u32,
    gid: u32,
    mtime: (i64, i64),
    content: Vec<u8>,
}

/// Returns everything except directories and the file that marks one for moved files.
fn snapshot(dir: &Dir) -> BTreeMap<PathBuf, Known> {
    let mut known = BTreeMap::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(dir.path(&path)).unwrap();
        let mut content = Vec::new();
        if metadata.is_dir() {
            waiting
                .extend(fs::read_dir(dir.path(&path)).unwrap().map(|it| path.join(it.unwrap().file_name())));
            continue;
        } else if metadata.is_file() {
            content = fs::read(dir.path(&path)).unwrap();
        } else if metadata.is_symlink() {
            content = fs::read_link(dir.path(&path)).unwrap().as_os_str().as_bytes().to_vec();
        }
        let (mode, uid, gid) = (metadata.mode(), metadata.uid(), metadata.gid());
        let mtime = (metadata.mtime(), metadata.mtime_nsec());
        if path.ends_with("FTK-QUARANTINE.TAG") {
            continue;
        }
        known.insert(path, Known { mode, uid, gid, mtime, content });
    }
    known
}

fn journal(dir: &Dir) -> PathBuf {
    let mut entries = fs::read_dir(dir.aside("state").join("ftk")).unwrap();
    let journal = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    journal
}

#[test]
fn undo_restores_everything() {
    for (seed, args) in [
        (60, &["--action", "hardlink"][..]),
        (61, &["--action", "symlink"]),
        (62, &["--action", "move=away"]),
        (63, &["--action", "delete", "--quarantine", "away"]),
    ] {
        let dir = Dir::new();
        plant(&dir, seed, 80);
        let before = snapshot(&dir);
        dir.ftk(["dup", "prune", "--yes"]).args(args).run().status(0);
        let run = dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(0);
        run.check(run.text().contains("  restore  "), "what is restored is listed");
        assert!(snapshot(&dir) == before, "{args:?}");
        // Another undo changes nothing.
        let run = dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(0);
        run.stderr_has("  restored 0 files; ").stderr_has("  nothing is left to undo\n");
        assert!(snapshot(&dir) == before, "{args:?}");
    }
}

#[test]
fn files_created_since_are_not_overwritten() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same").file("c", b"same");
    dir.ftk(["dup", "prune", "--action", "move=away", "--yes"]).run().status(0);
    dir.file("b", b"a new file of that name");
    let run = dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(2);
    run.check(run.text().contains("  restore  ./c"), "one file is restored");
    run.check(run.text().contains("  fail     ./b "), "the other is not restored");
    run.stderr_has("  restored 1 file; 1 file could not be restored\n")
        .stderr_has("  1 file left to undo: repeat");
    assert_eq!(fs::read(dir.path("b")).unwrap(), b"a new file of that name");
}

#[test]
fn deleted_files_are_reported_as_lost() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same");
    dir.ftk(["dup", "prune", "--action", "delete", "--yes"]).run().status(0);
    let run = dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(2);
    run.check(
        run.text().contains("  fail     ./b ") && run.text().contains("deleted for good"),
        "the message is printed",
    );
}

#[test]
fn undo_restores_permissions() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same");
    for path in ["a", "b"] {
        fs::set_permissions(dir.path(path), fs::Permissions::from_mode(0o640)).unwrap();
    }
    let before = snapshot(&dir);
    dir.ftk(["dup", "prune", "--action", "symlink", "--yes"]).run().status(0);
    dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(0);
    assert_eq!(snapshot(&dir), before);
}

/// If a run was killed between two names of one file, undo joins them again.
#[test]
fn undo_rejoins_hard_links_if_only_some_were_replaced() {
    for action in ["hardlink", "symlink"] {
        let dir = Dir::new();
        dir.file("a", b"same").file("b", b"same");
        fs::hard_link(dir.path("b"), dir.path("c")).unwrap();
        fs::hard_link(dir.path("b"), dir.aside("c")).unwrap();
        // A run would leave the file if the report said that it has another name.
        let report = dir.ftk(["dup", "--json"]).run().status(0).text().replace("\"nlink\":3", "\"nlink\":2");
        let args = ["dup", "apply", "-", "--edited", "--keep", "first", "--action", action, "--yes"];
        dir.ftk(args).stdin(report.as_bytes()).run().status(0);
        fs::rename(dir.aside("c"), dir.path("c")).unwrap();
        let run = dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(0);
        run.check(run.text().contains("  leave    ./c"), "the hard link is unchanged");
        let [a, b, c] = ["a", "b", "c"].map(|path| fs::symlink_metadata(dir.path(path)).unwrap().ino());
        assert!(a != b && b == c, "{action}");
    }
}

#[test]
fn h26_files_that_are_not_journals_are_errors() {
    let dir = Dir::new();
    dir.file("empty", b"").file("text", b"no journal\n");
    for path in ["empty", "text", "missing"] {
        dir.ftk(["dup", "undo", path]).run().status(2).stderr_has(path);
    }
    dir.ftk(["undo", "empty"]).run().status(2).stderr_has("'empty': it is empty: nothing was done\n");
}

#[test]
fn undo_finds_the_last_run_and_lists_all() {
    let dir = Dir::new();
    dir.ftk(["undo", "--list"]).run().status(0).stdout("").stderr_has("no runs to undo");
    dir.ftk(["undo", "--last"]).run().status(2).stderr_has("no journal in");
    let contents = [["a", "b"], ["c", "d"]];
    for [one, other] in contents {
        dir.file(one, one.as_bytes()).file(other, one.as_bytes());
        dir.ftk(["dup", "prune", "--action", "hardlink", "--yes", one, other]).run().status(0);
    }
    let inode = |path: &str| fs::metadata(dir.path(path)).unwrap().ino();
    let list = dir.ftk(["undo", "--list"]).run().status(0);
    let lines: Vec<_> = list.text().lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line.contains("  1 file linked  in ")), "{lines:?}");
    let json = dir.ftk(["undo", "--list", "--json"]).run().status(0);
    let runs: Vec<serde_json::Value> =
        json.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(runs[0]["started_ns"].as_i64() > runs[1]["started_ns"].as_i64(), "the newest first");
    assert_eq!(runs[0]["steps"], serde_json::json!([{"action": "hardlink", "files": 1}]));

    let last = dir.ftk(["undo", "--last"]).run().status(0);
    last.stderr_has(runs[0]["journal"].as_str().unwrap()).stderr_has("nothing is left to undo");
    assert!(inode("a") == inode("b") && inode("c") != inode("d"));
    let again = dir.ftk(["undo", "--last"]).run().status(0);
    again.stderr_has("restored 0 files; 1 file needed nothing\n");
    assert!(inode("a") == inode("b"), "it does not go on to the run before");

    // With a journal that cannot be used, the last run is not known.
    fs::write(dir.aside("state").join("ftk/dup-x.jsonl"), "{}\n").unwrap();
    dir.ftk(["undo", "--last"]).run().status(2).stderr_has("cannot tell which run is the last one");
    dir.ftk(["undo", "--list"]).run().status(2).stderr_has("it is not a journal of ftk");
    for args in [&[][..], &["--last", "--list"], &["--last", "x"]] {
        dir.ftk(["undo"]).args(args).run().status(2);
    }
}
