//! Exclusions from lists of patterns, and by files that mark directories, compared with git and GNU tar.

use std::collections::BTreeSet;
use std::process::Command;

use crate::harness::{Dir, needs, records};

/// A tree with names of many kinds.
fn scene() -> Dir {
    let dir = Dir::new();
    for path in
        ["a.o", "keep.o", "d/a.o", "d/keep.o", "d/e/x.c", "e/x.c", "build/y", "d/build/y", "f/build", " x"]
    {
        dir.file(format!("t/{path}"), b"x");
    }
    dir
}

/// The regular files below `t` that a search prints.
fn found(dir: &Dir, args: &[&str]) -> BTreeSet<String> {
    let run = dir.ftk(["find", "-t", "f", "t"]).args(args).run().status(0);
    let below = |line: Vec<u8>| String::from_utf8(line).unwrap().trim_start_matches("t/").to_owned();
    records(&run.out, b'\n').into_iter().map(below).collect()
}

#[test]
fn lists_exclude_what_git_excludes() {
    needs!("git");
    let dir = scene();
    let git = |args: &[&str]| Command::new("git").args(args).current_dir(dir.path("t")).output().unwrap();
    git(&["init", "-q"]);
    for list in [
        "*.o\n",
        "# all\n*.o\n!keep.o\n",
        "!keep.o\n*.o\n",
        "/a.o\n",
        "build/\n",
        "/build\n\n",
        "d/e\n",
        "e/*.c\n",
        "**/e/\n",
        "d/*\n!d/e\n",
        "d/\n!d/e/x.c\n",
        "\u{feff}*.[oc]\r\n!d/**\r\n",
        "\\ x\n",
    ] {
        dir.file("list", list.as_bytes());
        let listed = git(&["ls-files", "-o", "--exclude-from", "../list"]);
        let expected: BTreeSet<_> =
            String::from_utf8(listed.stdout).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(found(&dir, &["-E", ".git", "--exclude-from", "list"]), expected, "{list:?}");
        let piped = dir.ftk(["find", "-t", "f", "-c", "-E", ".git", "--exclude-from", "-", "t"]);
        piped.stdin(list.as_bytes()).run().status(0).stdout(format!("{}\n", expected.len()));
    }
    // Several lists are one.
    dir.file("list", b"*.o\n").file("more", b"!keep.o\n");
    assert!(found(&dir, &["--exclude-from", "list", "--exclude-from", "more"]).contains("keep.o"));
    assert!(!found(&dir, &["--exclude-from", "more", "--exclude-from", "list"]).contains("keep.o"));
}

#[test]
fn tagged_directories_are_those_of_tar() {
    needs!("tar");
    let dir = scene();
    let tag = b"Signature: 8a477f597d28d172789f06886806bc55\nA comment.\n";
    dir.file("t/d/e/CACHEDIR.TAG", tag).file("t/build/CACHEDIR.TAG", &tag[1..]).fifo("t/f/CACHEDIR.TAG");
    dir.file("t/d/build/.nobackup", b"").dir("t/e/.nobackup").file("t/f/g/nobackup", b"");
    for (ours, tars, start) in [
        (&["--exclude-caches"][..], &["--exclude-caches-under"][..], "t"),
        (&["--exclude-if-present", ".nobackup"], &["--exclude-tag-under=.nobackup"], "t"),
        (&["--exclude-if-present=build"], &["--exclude-tag-under=build"], "t"),
        (
            &["--exclude-caches", "--exclude-if-present=.nobackup", "--exclude-if-present=nobackup"],
            &["--exclude-caches-under", "--exclude-tag-under=.nobackup", "--exclude-tag-under=nobackup"],
            "t",
        ),
        // A starting point.
        (&["--exclude-caches"], &["--exclude-caches-under"], "t/d/e"),
        (&["--exclude-if-present=.nobackup"], &["--exclude-tag-under=.nobackup"], "t/e"),
    ] {
        let archive = Command::new("tar")
            .args(["-c", "-f", "-"])
            .args(tars)
            .arg(start)
            .current_dir(dir.path(""))
            .output()
            .unwrap()
            .stdout;
        dir.file("archive", &archive);
        let listed = Command::new("tar").arg("-tf").arg(dir.path("archive")).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let expected: BTreeSet<_> =
            listed.lines().map(|line| line.trim_end_matches('/').to_owned()).collect();
        let run = dir.ftk(["find", start]).args(ours).run().status(0);
        let found: BTreeSet<_> = run.text().lines().map(str::to_owned).collect();
        assert_eq!(found, expected, "{ours:?} {start}");
        run.stderr_has(" tagged director");
    }
    // No link is a tag of a cache, as its specification says. The name may have any type otherwise.
    dir.symlink("../d/e/CACHEDIR.TAG", "t/e/CACHEDIR.TAG").symlink("nowhere", "t/f/here");
    assert!(found(&dir, &["--exclude-caches"]).contains("e/x.c"));
    assert!(!found(&dir, &["--exclude-if-present", "here"]).contains("f/build"));
}

#[test]
fn a_directory_whose_tag_cannot_be_read_is_an_error_and_not_entered() {
    let dir = scene();
    dir.file("t/d/CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55");
    crate::harness::set_mode(&dir.path("t/d/CACHEDIR.TAG"), 0);
    let run = dir.ftk(["find", "--exclude-caches", "t"]).unprivileged(&dir).run().status(2);
    run.check(!run.text().contains("t/d/"), "the directory was entered");
    run.stderr_has("cannot read 't/d/CACHEDIR.TAG': permission denied");
}

#[test]
fn lists_and_lines_that_match_nothing_are_named() {
    let dir = scene();
    dir.file("list", b"*.o\n/nothing\n# no\nd/nothing\n").file("none", b"- *.o\n");
    let run = dir.ftk(["find", "-c", "--exclude-from", "list", "t"]).run().status(0);
    run.stderr("  --exclude-from 'list': 2 of 3 lines matched nothing\n");
    let unused = "  --exclude-from 'none' matched nothing: a list has the syntax of .gitignore\n";
    dir.ftk(["find", "-c", "--exclude-from", "none", "t"]).run().status(0).stderr(unused);
    // What another rule skips, and lines that keep something, have matched.
    dir.file("list", b"/d\n!keep.o\n");
    let run = dir.ftk(["find", "-c", "-E", "d", "--exclude-from", "list", "t"]).run().status(0);
    run.stderr_lacks("matched nothing");
    // Both trees of a comparison count.
    dir.file("u/only", b"").file("list", b"only\n/d\n");
    dir.ftk(["cmp", "--exclude-from", "list", "t", "u"]).run().stderr_lacks("matched nothing");
}

#[test]
fn nothing_is_changed_if_a_list_or_a_tag_protects_nothing() {
    let dir = scene();
    dir.file("none", b"nothing\n").file("list", b"nothing\nd/\n").file("t/d/tag", b"");
    let prune = ["dup", "prune", "--action", "delete", "--yes", "t"];
    for rule in [["--exclude-from", "none"], ["--exclude-if-present", "nothing"]] {
        let run = dir.ftk(prune).args(rule).run().status(2);
        run.stderr_has("matched nothing, so nothing was changed");
        let run = dir.ftk(["find", "t", "--exec", "rm", "{}", ";"]);
        run.args(rule).run().status(2).stderr_has("matched nothing");
    }
    assert_eq!(found(&dir, &[]).len(), 11);
    // One line that matches is enough.
    let kept = ["d/a.o", "d/build/y", "d/e/x.c", "d/keep.o"];
    dir.ftk(prune).args(["--exclude-from", "list"]).run().status(0);
    assert!(kept.iter().all(|path| dir.path(format!("t/{path}")).exists()));
    dir.file("t/copy", b"x").file("t/copy2", b"x");
    dir.ftk(prune).args(["--exclude-if-present", "tag"]).run().status(0);
    assert!(kept.iter().all(|path| dir.path(format!("t/{path}")).exists()));
}

#[test]
fn malformed_lists_and_names_stop_before_anything_is_done() {
    let dir = scene();
    for (list, message) in [
        (&b"*.o\n\n[a\n"[..], "'list': line 3 is not a pattern of .gitignore"),
        (b"!\n", "'list': line 1 is not a pattern"),
        (b"x\na\0b\n", "'list': line 2 is not a pattern"),
        (&b"*a*b?c\n".repeat(100_000)[..], "cannot use 'list': it has too many patterns"),
        (&vec![b'a'; (1 << 20) + 1][..], "cannot use 'list': it is larger than 1 MiB"),
    ] {
        dir.file("list", list);
        dir.ftk(["find", "--exclude-from", "list", "t"]).run().status(2).stdout("").stderr_has(message);
        let create = ["manifest", "create", "-o", "m", "--exclude-from", "list", "t"];
        dir.ftk(create).run().status(2).stderr_has(message);
        assert!(!dir.path("m").exists());
    }
    dir.ftk(["find", "--exclude-from", "missing", "t"]).run().status(2).stderr_has("cannot open 'missing'");
    for (name, message) in [("a/b", "cannot contain `/`"), ("", "not the name"), ("..", "not the name")] {
        dir.ftk(["find", "--exclude-if-present", name, "t"]).run().status(2).stderr_has(message);
    }
    // Standard input has one use.
    let twice = dir.ftk(["hash", "--exclude-from", "-", "-", "t"]).stdin(b"x\n").run().status(2);
    twice.stderr_has("standard input is already the list of --exclude-from");
    let twice = dir.ftk(["find", "--exclude-from", "-", "--files-from", "-"]).stdin(b"t\n").run().status(2);
    twice.stderr_has("standard input has another use");
}

#[test]
fn manifests_record_lines_and_tags() {
    let dir = scene();
    dir.file("list", "\u{feff}# no\n*.o\r\n!keep.o\n".as_bytes()).file("t/f/tag", b"");
    let options = ["--exclude-from", "list", "--exclude-caches", "--exclude-if-present", "tag"];
    dir.ftk(["manifest", "create", "-o", "m", "t"]).args(options).run().status(0);
    let recorded = std::fs::read_to_string(dir.path("m")).unwrap();
    let lines = r#""options":[{"option":"--exclude-line=*.o"},{"option":"--exclude-line=!keep.o"},{"option":"--exclude-caches"},{"option":"--exclude-if-present=tag"}]"#;
    assert!(recorded.contains(lines), "{recorded}");
    // The list is not needed anymore, and must not be: a record may come from another user.
    std::fs::remove_file(dir.path("list")).unwrap();
    dir.file("t/new.o", b"").file("t/f/new", b"");
    dir.ftk(["manifest", "verify", "t", "m"]).run().status(0).stderr_has(" as recorded");
    dir.file("t/new", b"");
    dir.ftk(["manifest", "verify", "t", "m"]).run().status(1).stdout("new\tnew\n");
    let other = recorded.replace("--exclude-line=*.o", "--exclude-from=/etc/passwd");
    dir.file("other", other.as_bytes());
    dir.ftk(["manifest", "verify", "t", "other"]).run().status(2);
}

/// A command that acts names unused lines of a list even with `-q`: one of them may be mistyped.
#[test]
fn unused_lines_are_named_by_commands_that_act() {
    let dir = Dir::new();
    dir.file("t/a", b"same").file("t/b", b"same").file("t/keep", b"same").file("list", b"keep\nkeeep\nc\n");
    let said = "--exclude-from 'list': 2 of 3 lines matched nothing\n";
    let prune = ["dup", "prune", "--action", "delete", "--exclude-from", "list", "t"];
    dir.ftk(prune).arg("-q").run().status(0).stderr_lacks("matched nothing");
    dir.ftk(prune).args(["-q", "--yes"]).run().status(0).stderr_has(&format!("ftk: {said}"));
    let run = dir.ftk(["find", "t", "--exclude-from", "list", "--exec", "true"]).run().status(0);
    run.stderr(&format!("  {said}"));
    dir.ftk(["dup", "-q", "--exclude-from", "list", "t"]).run().status(0).stderr("");
}
