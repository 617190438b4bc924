//! Hard links that were split, joined or exchanged.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::records::Manifest;
use super::repair::damage;
use crate::harness::Dir;

/// Makes a tree with two groups of links, and its manifest.
fn recorded() -> Dir {
    let dir = Dir::new();
    for group in ["one", "two"] {
        dir.file(format!("t/{group}/a"), b"same").hard_link(&format!("t/{group}/a"), &format!("t/{group}/b"));
    }
    dir.file("t/alone", b"same");
    let files = ["alone", "one/a", "two/a"].map(|path| dir.path(format!("t/{path}")));
    assert!(Command::new("touch").args(["-d", "@1000000000"]).args(files).status().unwrap().success());
    dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
    dir
}

/// Copies the tree to `copy` with cp and these options.
fn copy(dir: &Dir, options: &str) {
    let cp = Command::new("cp").args(["-r", options, "t", "copy"]).current_dir(dir.path("")).status();
    assert!(cp.unwrap().success());
}

const VERIFY: [&str; 4] = ["manifest", "verify", "copy", "m"];

#[test]
fn a_faithful_copy_has_the_same_links() {
    let dir = recorded();
    copy(&dir, "-a");
    dir.ftk(VERIFY).run().status(0).stdout("");
    dir.ftk(["cmp", "--metadata", "t", "copy"]).run().status(0).stdout("");
    dir.ftk(["manifest", "create", "copy", "-o", "n"]).run().status(0);
    dir.ftk(["manifest", "diff", "m", "n"]).run().status(0).stdout("");
}

/// The entry is modified. Its other names are not separate files because of that.
#[test]
fn a_name_that_has_another_type_is_no_split() {
    for kind in ["directory", "fifo", "symlink"] {
        let dir = Dir::new();
        for tree in ["t", "copy"] {
            dir.file(format!("{tree}/a"), b"same").hard_link(&format!("{tree}/a"), &format!("{tree}/b"));
        }
        let files = ["t/a", "copy/a"].map(|path| dir.path(path));
        assert!(Command::new("touch").args(["-d", "@1000000000"]).args(files).status().unwrap().success());
        dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
        fs::remove_file(dir.path("copy/b")).unwrap();
        match kind {
            "directory" => _ = dir.dir("copy/b"),
            "fifo" => _ = dir.fifo("copy/b"),
            _ => _ = dir.symlink("a", "copy/b"),
        }
        dir.ftk(["manifest", "create", "copy", "-o", "n"]).run().status(0);
        let ignored = ["--ignore", "mtime,mode"];
        let verify = dir.ftk(VERIFY).args(ignored).run().status(1);
        let diff = dir.ftk(["manifest", "diff", "m", "n"]).args(ignored).run().status(1);
        for run in [&verify, &diff] {
            let text = run.text();
            assert!(text.starts_with("modified\tb\ttype file ") && text.lines().count() == 1, "{text}");
        }
        assert_eq!(verify.text(), diff.text());
        let cmp = dir.ftk(["cmp", "--metadata", "t", "copy"]).run().status(1);
        assert!(!cmp.text().contains("unlinked"), "{}", cmp.text());
    }
}

#[test]
fn a_copy_without_links_is_reported_once() {
    let dir = recorded();
    copy(&dir, "--preserve=mode,ownership,timestamps");
    let once = "unlinked\t.\t2 groups of hard links are separate files in the copy\n";
    dir.ftk(VERIFY).run().status(1).stdout(once).stderr_has("2 groups of hard links are separate files");
    dir.ftk(VERIFY).args(["--ignore", "links"]).run().status(0).stdout("");
    dir.ftk(VERIFY).args(["--mode", "content"]).run().status(0).stdout("");
    let object = "{\"verdict\":\"unlinked\",\"path\":\".\",\"link_groups\":2}\n";
    dir.ftk(VERIFY).arg("--json").run().status(1).stdout(object);
    dir.ftk(["manifest", "create", "copy", "-o", "n"]).run().status(0);
    for mode in ["strict", "metadata"] {
        dir.ftk(["manifest", "diff", "--mode", mode, "m", "n"]).run().status(1).stdout(once);
    }
    dir.ftk(["manifest", "diff", "--mode", "content", "m", "n"]).run().status(0).stdout("");
    dir.ftk(["cmp", "--metadata", "t", "copy"]).run().status(1).stdout(once);
    dir.ftk(["cmp", "t", "copy"]).run().status(0).stdout("");
    for (pair, side) in [(["t", "copy"], "b"), (["copy", "t"], "a")] {
        let object =
            format!("{{\"difference\":\"unlinked\",\"path\":\".\",\"in\":\"{side}\",\"link_groups\":2}}\n");
        let run = dir.ftk(["cmp", "--metadata", "--json"]).args(pair).run().status(1);
        assert_eq!(run.text().lines().next(), Some(object.trim_end()));
        assert_eq!(run.text().lines().count(), 2, "the last one says what was compared");
    }
}

#[test]
fn h100_links_that_were_exchanged_joined_or_split_are_reported() {
    // All files have the same content, mode and times, so that only the links differ.
    for (script, expected) in [
        (
            "ln -f one/a two/b; ln -f two/a one/b",
            &[["one/b", "'one/a'", "none"], ["two/a", "none", "'one/b'"], ["two/b", "'two/a'", "'one/a'"]][..],
        ),
        ("ln -f alone two/b", &[["two/b", "'two/a'", "'alone'"]]),
        (
            "ln -f alone one/a; ln -f alone one/b",
            &[["one/a", "none", "'alone'"], ["one/b", "'one/a'", "'alone'"]],
        ),
        ("cp -p two/b x; mv -f x two/b", &[["two/b", "'two/a'", "none"]]),
    ] {
        let dir = recorded();
        copy(&dir, "-a");
        let done = Command::new("sh").args(["-ec", script]).current_dir(dir.path("copy")).status();
        assert!(done.unwrap().success());
        let line = |[path, old, new]: &[&str; 3]| format!("metadata\t{path}\thard link of {old} → {new}\n");
        let lines: String = expected.iter().map(line).collect();
        dir.ftk(VERIFY).run().status(1).stdout(&lines);
        dir.ftk(VERIFY).args(["--exit-on-first", "-q"]).run().status(1);
        dir.ftk(["manifest", "create", "copy", "-o", "n"]).run().status(0);
        dir.ftk(["manifest", "diff", "m", "n"]).run().status(1).stdout(&lines);
        let line = |[path, a, b]: &[&str; 3]| format!("links differ\t{path}\thard link of {a}, {b}\n");
        let lines: String = expected.iter().map(line).collect();
        dir.ftk(["cmp", "--metadata", "t", "copy"]).run().status(1).stdout(&lines);
    }
}

/// The record of a directory that cannot be listed keeps its links, under the new name of their group.
#[test]
fn update_keeps_the_links_of_records_that_it_keeps() {
    let dir = recorded();
    dir.file("t/two/sub/c", b"").hard_link("t/two/b", "t/two/sub/b");
    dir.ftk(["manifest", "create", "t", "-o", "m", "--force"]).run().status(0);
    fs::remove_file(dir.path("t/two/a")).unwrap();
    dir.lock("t/two/sub");
    fs::set_permissions(dir.path(""), Permissions::from_mode(0o777)).unwrap();
    dir.ftk(["manifest", "update", "t", "m", "-o", "n"]).unprivileged(&dir).run().status(2);
    fs::set_permissions(dir.path("t/two/sub"), Permissions::from_mode(0o755)).unwrap();
    let verify = dir.ftk(["manifest", "verify", "--ignore", "mode", "t", "n"]).run().status(2);
    verify.stdout("unknown\ttwo/sub\n");
}

/// The record of a damaged file stays, and so does its group, also if its name is a separate file now.
#[test]
fn update_keeps_the_group_of_a_damaged_file_that_was_separated() {
    for name in ["x", "y", "z"] {
        let dir = Dir::new();
        dir.file("t/x", b"content").hard_link("t/x", "t/y").hard_link("t/x", "t/z").file("t/k", b"k");
        dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
        let update =
            || dir.ftk(["manifest", "update", "--check", "100%", "t", "m", "-o", "m"]).run().status(1);
        super::repair::damage(&dir.path("t/x"));
        update();
        let status =
            Command::new("cp").arg("-p").arg(dir.path("t").join(name)).arg(dir.path("copy")).status();
        assert!(status.unwrap().success());
        fs::rename(dir.path("copy"), dir.path("t").join(name)).unwrap();
        let separate = || {
            let run = dir.ftk(["manifest", "verify", "t", "m"]).run().status(1);
            run.text().lines().filter(|line| line.contains("hard link of")).count()
        };
        let before = separate();
        assert!(before > 0, "{name}");
        for _ in 0..2 {
            update();
            assert_eq!(separate(), before, "{name}");
        }
    }
}

/// Makes a name a separate file with the same content and metadata.
fn separate(dir: &Dir, name: &str) {
    let path = dir.path("t").join(name);
    let cp = Command::new("cp").arg("-p").arg(&path).arg(dir.path("split")).status();
    assert!(cp.unwrap().success());
    fs::rename(dir.path("split"), path).unwrap();
}

/// A record that is kept shares its group only with the same records, also in later updates.
#[test]
fn different_records_share_no_group() {
    let update =
        |dir: &Dir| dir.ftk(["manifest", "update", "--check", "100%", "t", "m", "-o", "m"]).run().code();
    let groups = |dir: &Dir, names: &[&str]| {
        let manifest = Manifest::read(&dir.path("m"));
        let group = |name: &&str| manifest.entry(name)["link_group"].as_str().unwrap_or("").to_owned();
        names.iter().map(group).collect::<Vec<_>>()
    };
    let make = |first: &str, others: &[&str]| {
        let dir = Dir::new();
        dir.file("t/k", b"k").file("t/l", b"l").file(format!("t/{first}"), b"content");
        others.iter().for_each(|name| _ = dir.hard_link(&format!("t/{first}"), &format!("t/{name}")));
        dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
        dir
    };
    // The other names were edited, or got other permissions.
    for (damaged, other, edits) in [("x", "y", true), ("z", "x", true), ("x", "y", false), ("z", "x", false)]
    {
        let dir = make("x", &["y", "z"]);
        separate(&dir, damaged);
        damage(&dir.path("t").join(damaged));
        match edits {
            true => fs::write(dir.path("t").join(other), "edited content").unwrap(),
            false => {
                fs::set_permissions(dir.path("t").join(other), Permissions::from_mode(0o600)).unwrap();
            }
        }
        for _ in 0..2 {
            assert_eq!(update(&dir), 1);
            let expected = if damaged == "x" { ["x", "y", "y"] } else { ["x", "x", "z"] };
            assert_eq!(groups(&dir, &["x", "y", "z"]), expected, "{damaged} {edits}");
        }
    }
    // The first name is gone, and a new file takes it.
    let dir = make("w", &["x", "y", "z"]);
    fs::remove_file(dir.path("t/w")).unwrap();
    separate(&dir, "x");
    damage(&dir.path("t/x"));
    assert_eq!(update(&dir), 1);
    dir.file("t/w", b"new").hard_link("t/w", "t/ww");
    for _ in 0..2 {
        assert_eq!(update(&dir), 1);
        assert_eq!(groups(&dir, &["w", "ww", "x", "y", "z"]), ["w", "w", "x", "x", "x"]);
    }
    // A new name of a damaged file comes before the recorded ones.
    let dir = make("x", &["y"]);
    separate(&dir, "y");
    damage(&dir.path("t/y"));
    dir.hard_link("t/y", "t/b");
    for _ in 0..2 {
        assert_eq!(update(&dir), 1);
        assert_eq!(groups(&dir, &["b", "x", "y"]), ["b", "b", "b"]);
        let run = dir.ftk(["manifest", "verify", "t", "m"]).run().status(1);
        run.check(run.text().contains("hard link of 'b'"), "they are separate files");
    }
}
