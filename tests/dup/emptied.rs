//! Directories that a run empties, and directories for moved files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use rustix::fs::{XattrFlags, setxattr};
use serde_json::Value;

use crate::harness::{Dir, Run};

/// Returns a tree in which everything below `in` has a copy in `keep`, except `in/mixed/other`.
fn tree() -> Dir {
    let dir = Dir::new();
    for (nth, path) in ["trip/a/b/1", "trip/a/2", "trip/3", "mixed/4", "single/5"].iter().enumerate() {
        let content = [b'a' + nth as u8; 5000];
        dir.file(format!("t/in/{path}"), &content).file(format!("t/keep/{nth}"), &content);
    }
    dir.file("t/in/mixed/other", b"has no copy").dir("t/in/was-empty").dir("t/in/single/in-it");
    let mode = |path: &str, mode| fs::set_permissions(dir.path(path), Permissions::from_mode(mode)).unwrap();
    mode("t/in/trip/a", 0o751);
    mode("t/in/trip/a/b", 0o2700);
    _ = setxattr(dir.path("t/in/trip/a"), "user.note", b"mine", XattrFlags::empty());
    for path in ["a/b", "a", ""] {
        let mut touch = Command::new("touch");
        touch.args(["-d", "2001-02-03 04:05:06.789"]).arg(dir.path(format!("t/in/trip/{path}")));
        assert!(touch.status().unwrap().success());
    }
    dir
}

/// Returns type, permissions, owner and time of everything below `in/trip`.
fn state(dir: &Dir) -> String {
    let format = "%P %y %m %U %G %T@\n";
    let found =
        Command::new("find").arg(dir.path("t/in/trip")).args(["-printf", format]).output().unwrap().stdout;
    let mut lines: Vec<_> = str::from_utf8(&found).unwrap().lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn prune(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["dup", "prune", "--remove-empty-dirs", "--reference", "t/keep"]).args(args).run()
}

/// Returns the directories that the lines of a run name as removed.
fn removed(run: &Run) -> Vec<&str> {
    run.text()
        .lines()
        .filter_map(|line| line.strip_prefix("  remove   ")?.split_whitespace().next())
        .collect()
}

#[test]
fn a_directory_that_becomes_empty_is_removed_and_undo_makes_it_again() {
    let dir = tree();
    let before = state(&dir);
    let args = ["--action", "move=away", "t/in"];
    let plan = prune(&dir, &args).status(0);
    assert_eq!(removed(&plan), ["t/in/trip/a/b/", "t/in/trip/a/", "t/in/trip/"]);
    let run = prune(&dir, &[&args[..], &["--yes", "--journal", "j"]].concat()).status(0);
    assert_eq!(removed(&run), removed(&plan));
    let run = run.stderr_has("moved 5 files, with 3 empty directories\n");
    run.check(!dir.path("t/in/trip").exists(), "the empty directories are gone");
    for path in ["t/in/was-empty", "t/in/single/in-it", "t/in/mixed/other", "away/t/in/trip/a/b/1"] {
        run.check(dir.path(path).exists(), path);
    }
    dir.ftk(["undo", "j"]).run().status(0);
    assert_eq!(state(&dir), before);
    // Another undo finds everything as it was.
    dir.ftk(["undo", "j"]).run().status(0);
    assert_eq!(state(&dir), before);
}

#[test]
fn h14_starting_points_and_the_working_directory_stay() {
    for (starts, gone, stays) in [
        (&["t/in/trip"][..], &["t/in/trip/a"][..], "t/in/trip"),
        (&["t/in/trip/"], &["t/in/trip/a"], "t/in/trip"),
        (&["t/in", "t/in/trip/a"], &["t/in/trip/a/b"], "t/in/trip/a"),
        (&["t/in", "link"], &["t/in/trip/a/b"], "t/in/trip/a"),
        (&["t/in/trip/a/b/1", "t/in/trip/a/2"], &[], "t/in/trip/a/b"),
    ] {
        let dir = tree();
        dir.symlink("t/in/trip/a", "link");
        let run = prune(&dir, &[&["--action", "delete", "--yes"], starts].concat()).status(0);
        run.check(dir.path(stays).is_dir(), &format!("{starts:?}: {stays} stays"));
        gone.iter().for_each(|path| run.check(!dir.path(path).exists(), &format!("{starts:?}: {path} goes")));
    }
    let dir = tree();
    let args = ["dup", "prune", "--remove-empty-dirs", "--reference", "../../../keep"];
    let ftk = dir.ftk(args).args(["--action", "delete", "--yes", "../../../in"]);
    ftk.under(&dir, ["sh", "-c", "cd t/in/trip/a && exec \"$@\"", "sh"]).run().status(0);
    assert!(dir.path("t/in/trip/a").is_dir() && !dir.path("t/in/trip/a/b").exists());
}

#[test]
fn a_script_and_a_report_remove_the_same_directories() {
    let dir = tree();
    let args = ["--action", "delete", "t/in"];
    let planned = prune(&dir, &args).status(0);
    let script = prune(&dir, &[&args[..], &["--script"]].concat()).status(0).out;
    fs::write(dir.aside("script"), script).unwrap();
    let run = || Command::new("sh").arg(dir.aside("script")).current_dir(dir.path("")).status().unwrap();
    assert!(run().success());
    assert!(!dir.path("t/in/trip").exists() && dir.path("t/in/was-empty").exists());

    let dir = tree();
    dir.ftk(["dup", "--json", "-o", "r", "t"]).run().status(0);
    let apply = ["dup", "apply", "r", "--action", "delete", "--reference", "t/keep", "--remove-empty-dirs"];
    let applied = dir.ftk(apply).arg("--yes").run().status(0);
    assert_eq!(removed(&applied), removed(&planned));
    assert!(!dir.path("t/in/trip").exists() && dir.path("t/in/was-empty").exists());
}

/// If a step of the script is refused, its directory stays with everything above it.
#[test]
fn a_directory_with_a_refused_file_stays() {
    let dir = tree();
    let script = prune(&dir, &["--action", "delete", "--script", "t/in"]).status(0).out;
    fs::write(dir.aside("script"), script).unwrap();
    fs::write(dir.path("t/in/trip/a/2"), "changed").unwrap();
    let status = Command::new("sh").arg(dir.aside("script")).current_dir(dir.path("")).status().unwrap();
    assert_eq!(status.code(), Some(2));
    assert!(dir.path("t/in/trip/a/2").exists() && !dir.path("t/in/trip/a/b").exists());

    let dir = tree();
    dir.ftk(["dup", "--json", "-o", "r", "t"]).run().status(0);
    fs::write(dir.path("t/in/trip/a/2"), "changed").unwrap();
    let apply = ["dup", "apply", "r", "--action", "delete", "--reference", "t/keep", "--remove-empty-dirs"];
    let applied = dir.ftk(apply).arg("--yes").run().status(2);
    assert_eq!(removed(&applied), ["t/in/trip/a/b/"]);
    assert!(dir.path("t/in/trip/a/2").exists() && !dir.path("t/in/trip/a/b").exists());
}

#[test]
fn whole_directories_empty_the_one_above_them() {
    let dir = Dir::new();
    for top in ["keep/x", "in/up/y"] {
        dir.file(format!("t/{top}/1"), b"one").file(format!("t/{top}/deep/2"), b"two");
    }
    let args = ["--dirs", "--action", "move=away", "--journal", "j", "--yes", "t/in"];
    let run = prune(&dir, &args).status(0);
    assert_eq!(removed(&run), ["t/in/up/"]);
    assert!(dir.path("t/in").exists() && !dir.path("t/in/up").exists());
    dir.ftk(["undo", "j"]).run().status(0);
    assert!(dir.path("t/in/up/y/1").exists() && dir.path("t/in/up/y/deep/2").exists());
}

#[test]
fn the_option_needs_an_action_that_removes_names() {
    let dir = tree();
    for action in ["hardlink", "symlink", "reflink"] {
        let run = prune(&dir, &["--action", action, "t/in"]).status(2);
        run.stderr_has("--remove-empty-dirs needs --action delete, trash or move=DIR");
    }
    let run = prune(&dir, &["--json", "--action", "delete", "t/in"]).status(0);
    let lines: Vec<Value> = run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let directories = lines.iter().filter(|line| line["action"] == "remove" && line["is_directory"] == true);
    assert_eq!(directories.count(), 3);
    assert_eq!(lines.last().unwrap()["summary"]["emptied_directories"], 3);
}

#[test]
fn directories_that_ftk_made_for_moved_files_are_not_searched() {
    let dir = Dir::new();
    dir.file("t/a", b"same").file("t/b", b"same").file("t/d/c", b"same").dir("t/old");
    let prune = |action: &[&str]| {
        dir.ftk(["dup", "prune", "--keep", "first", "--yes", "--action"])
            .args(action)
            .arg("t")
            .run()
            .status(0)
    };
    prune(&["move=t/new"]);
    let tag = "FTK-QUARANTINE.TAG";
    assert!(dir.path(format!("t/new/{tag}")).is_file() && dir.path("t/new/t/b").is_file());
    let found = |args: &[&str]| {
        let run = dir.ftk(["dup", "-0"]).args(args).run().status(0);
        run.out.split(|&byte| byte == 0).filter(|path| !path.is_empty()).count()
    };
    assert_eq!(found(&["t"]), 0);
    dir.ftk(["dup", "t"]).run().status(0).stderr_has("skipped: 1 quarantine directory\n");
    assert_eq!(found(&["t/new"]), 2);
    assert_eq!(found(&["t", "t/new"]), 3);
    let listed = dir.ftk(["find", "t"]).run().status(0);
    listed.check(listed.text().contains("t/new/t/b\n"), "find lists everything");

    // A directory that exists is not marked. That of a run below a --quarantine is always new.
    dir.file("t/e", b"same");
    prune(&["move=t/old"]);
    assert!(dir.path("t/old/t/e").is_file() && !dir.path(format!("t/old/{tag}")).exists());
    dir.file("t/f", b"same");
    prune(&["delete", "--quarantine", "t/q", "-E", "old"]);
    assert_eq!(found(&["t/q"]), 0);
    assert_eq!(found(&["t", "-E", "old"]), 0);

    // Only a regular file marks a directory.
    for (nth, plant) in
        [(|path: &std::path::Path| fs::create_dir(path).unwrap()) as fn(&std::path::Path), |path| {
            std::os::unix::fs::symlink("a", path).unwrap()
        }]
        .iter()
        .enumerate()
    {
        dir.file(format!("u/{nth}/a"), b"other").file(format!("u/{nth}/b"), b"other");
        plant(&dir.path(format!("u/{nth}/{tag}")));
        assert_eq!(found(&[&format!("u/{nth}/..")]), 2 * (nth + 1));
    }
}
