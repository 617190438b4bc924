//! `find --from`: the entries of a record.

use std::fs;

use crate::harness::{Dir, needs, records, sorted};

/// A tree `t`, of which `t.jsonl` is the manifest.
fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("t/a", b"abc").file("t/a-b", b"").file("t/a.d/x.c", b"12").file("t/a.d/y", &[0; 5000]);
    dir.raw_file(b"t/\xff.c", b"x").dir("t/empty").dir("t/a.d/deep/er").symlink("a", "t/link").fifo("t/fifo");
    dir.hard_link("t/a", "t/a.d/z");
    dir.ftk(["manifest", "create", "t", "-o", "t.jsonl"]).run().status(0);
    dir
}

/// Filters and formats give what they give for the tree.
#[test]
fn a_fresh_record_is_like_the_tree() {
    let dir = tree();
    for args in [
        &[][..],
        &["-t", "f", "-c"],
        &["-E", "a.d"],
        &["-E", "t/a.d/deep"],
        &["-E", "a.d/x.c", "--max-depth", "2"],
        &["--path", "t/a.d/*"],
        &["--min-depth", "2", "-x"],
        &["--empty"],
        &["--where", "empty or target = a or links > 1"],
        &["--where", "mtime < 1d and (perm = 644 or not user = root)"],
        &["--exclude-where", "name = a* and type = d"],
        &["--where", "xattr = nothing or capable or nouser"],
        &["--sort=size", "--reverse"],
        &["--sort", "--max-results", "3"],
        &["-l", "--sort"],
        &["--json"],
        &["--group-by", "extension"],
        &["--group-by", "directory", "--json"],
        &[
            "--sort",
            "--format",
            "{type} {path} {relative} {root} {size} {blocks} {mtime} {ctime_ns} {inode} {device} {target}",
        ],
    ] {
        let of_tree = dir.ftk(["find", "t"]).args(args).run();
        let of_record = dir.ftk(["find", "--from", "t.jsonl"]).args(args).run().status(of_tree.code());
        assert_eq!(of_record.err, of_tree.err, "{args:?}");
        let lines =
            |out: &[u8]| if args.contains(&"--sort") { records(out, 10) } else { sorted(records(out, 10)) };
        assert_eq!(lines(&of_record.out), lines(&of_tree.out), "{args:?}");
    }
}

/// The tree is not looked at, wherever the record is read.
#[test]
fn the_tree_may_be_gone() {
    let dir = tree();
    let expected = dir.ftk(["find", "t", "-0", "--sort"]).run().out;
    let long = dir.ftk(["find", "t", "-l", "--sort", "--color", "always"]).run().out;
    fs::remove_dir_all(dir.path("t")).unwrap();
    // Another file has the name of a recorded one.
    dir.file("link", b"").file("a.d/x.c", b"other");
    dir.ftk(["find", "-0", "--sort", "--from", "t.jsonl"]).run().status(0).stdout(&expected);
    dir.ftk(["find", "-l", "--sort", "--color", "always", "--from", "t.jsonl"]).run().status(0).stdout(&long);
    let manifest = fs::read(dir.path("t.jsonl")).unwrap();
    dir.ftk(["find", "-0", "--sort", "--from", "-"]).stdin(&manifest).run().status(0).stdout(&expected);
    dir.ftk(["find", "-c", "--from", "t.jsonl", "t.jsonl"]).run().status(0).stdout("26\n");
    dir.ftk(["find", "--status", "--from", "t.jsonl", "-n", "nothing"]).run().status(1);
}

/// No system call names the tree or anything in it, whatever the filters are.
#[test]
fn no_filter_looks_at_the_disk() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("w/leafy/a.d/x.c", b"12")
        .file("w/leafy/b", b"")
        .symlink("b", "w/leafy/link")
        .dir("w/leafy/a.d/deep");
    let absolute = dir.path("w/leafy").into_os_string().into_string().unwrap();
    dir.file("patterns", b"/a.d/deep\n*.o\n").file("newer", b"");
    let log = dir.aside("log");
    for (root, words) in
        [("w/leafy", "w/leafy"), (&*absolute, &*absolute), ("./w/../w/leafy/", "w/../w/leafy")]
    {
        dir.ftk(["manifest", "create", root, "--force", "-o", "m.jsonl"]).run().status(0);
        let above = words.strip_suffix("/leafy").unwrap();
        let in_tree = ["find", "--from", "m.jsonl"].map(ToOwned::to_owned).to_vec();
        for (args, lacks) in [
            (vec!["-E".to_owned(), format!("{words}/a.d")], "x.c"),
            (vec!["-E".to_owned(), format!("{above}/*/a.d/x.c")], "x.c"),
            (vec!["-E".to_owned(), format!("{above}/leaf?/a.d/")], "x.c"),
            (vec!["-E".to_owned(), format!("{words}//{{a.d,q}}/x.c")], "x.c"),
            (vec!["--path".to_owned(), format!("{words}/a.d/*")], "/b"),
            (vec!["--path".to_owned(), "b".to_owned(), "-E".to_owned(), "a.d/deep".to_owned()], "x.c"),
            (vec!["--where".to_owned(), format!("path = \"{above}/*/b\" and not capable")], "x.c"),
            (vec!["--exclude-where".to_owned(), format!("path = \"{words}/a.d\" and type = d")], "x.c"),
            (
                vec![
                    "--exclude-from".to_owned(),
                    "patterns".to_owned(),
                    "--newer".to_owned(),
                    "/".to_owned(),
                ],
                "deep",
            ),
            (vec!["-l".to_owned(), "--color=always".to_owned(), "--hyperlink=always".to_owned()], "nothing"),
            (vec!["--empty".to_owned(), "-x".to_owned(), "-S".to_owned(), "0".to_owned()], "x.c"),
            (vec!["--where".to_owned(), "target = b or xattr = q or links > 3 or nouser".to_owned()], "x.c"),
            (
                vec![
                    "--json".to_owned(),
                    "--sort".to_owned(),
                    "--changed-within".to_owned(),
                    "1d".to_owned(),
                ],
                "nothing",
            ),
            (vec!["--group-by".to_owned(), "directory".to_owned()], "nothing"),
            (
                vec![
                    "--perm".to_owned(),
                    "/777".to_owned(),
                    "--owner".to_owned(),
                    "0".to_owned(),
                    "-e".to_owned(),
                    "c".to_owned(),
                ],
                "/b",
            ),
            (
                vec![
                    "--max-depth".to_owned(),
                    "1".to_owned(),
                    "--regex".to_owned(),
                    "^a".to_owned(),
                    "--no-hidden".to_owned(),
                ],
                "/b",
            ),
        ] {
            let strace = ["strace", "-f", "-e", "trace=%file", "-o"];
            let wrapper = strace.iter().map(|arg| arg.as_ref()).chain([log.as_os_str()]);
            let run = dir.ftk(&in_tree).args(&args).under(&dir, wrapper).run();
            run.check(run.code() == 0, &format!("{args:?}"));
            run.check(!run.text().contains(lacks), &format!("{lacks}: {args:?}"));
            let calls = fs::read_to_string(&log).unwrap();
            let touches = |call: &&str| {
                !call.contains("execve(")
                    && ["leafy", "x.c", "a.d", "/w\"", "\"w\"", "link\""].iter().any(|it| call.contains(it))
            };
            run.check(calls.lines().find(touches).is_none(), calls.lines().find(touches).unwrap_or_default());
            run.check(calls.contains("m.jsonl"), "the calls are in the log");
        }
    }
}

#[test]
fn parts_are_one_record() {
    let dir = tree();
    dir.dir("parts");
    for nth in ["1", "2"] {
        let (shard, part) = (format!("{nth}/2"), format!("parts/{nth}.jsonl"));
        dir.ftk(["manifest", "create", "t", "--shard", &shard, "-o", &part]).run().status(0);
    }
    let whole = dir.ftk(["find", "-0", "--from", "t.jsonl"]).run().status(0).out;
    dir.ftk(["find", "-0", "--from", "parts"]).run().status(0).stdout(whole);
    dir.ftk(["find", "--from", "parts/1.jsonl"]).run().status(2).stdout("");
}

#[test]
fn what_the_record_does_not_answer_is_an_error() {
    let dir = tree();
    let find = |args: &[&str]| dir.ftk(["find", "--from", "t.jsonl"]).args(args).run();
    let said = "cannot stat 't': the record has no atime_ns\n";
    for args in [&["--where", "atime < 1d"][..], &["--format", "{atime}"], &["--format", "{path} {atime_ns}"]]
    {
        let run = find(args).status(2).stderr_has(said);
        assert_eq!(run.err.lines().filter(|line| line.contains("atime_ns")).count(), 1, "{}", run.err);
    }
    for (args, test) in [
        (&["--where", "readable"][..], "readable"),
        (&["--where", "fstype = ext4"], "fstype"),
        (&["--where", "ignored"], "`ignored`"),
        (&["--ignore-files"], "--ignore-files"),
        (&["--exclude-caches"], "--exclude-caches"),
        (&["--samefile", "t/a"], "samefile"),
    ] {
        let said = format!("{test} cannot be used with --from: a record does not have ");
        find(args).status(2).stdout("").stderr_has(&said);
    }
    find(&["-L"]).status(2).stdout("");
    find(&["--exec", "rm"]).status(2).stdout("");
    // What was skipped when the tree was recorded may be in a directory that looks empty.
    dir.ftk(["manifest", "create", "t", "-E", "er", "--force", "-o", "t.jsonl"]).run().status(0);
    find(&["--empty", "-t", "f"]).status(0).stdout("t/a-b\n");
    find(&["--empty", "-n", "deep"]).status(2).stderr_has("the record has no list of all entries in it");
    dir.ftk(["manifest", "create", "t", "--no-xattrs", "--force", "-o", "t.jsonl"]).run().status(0);
    find(&["--where", "xattr = a"]).status(2).stderr_has("the record has no xattrs");
    dir.file("list", b"x")
        .ftk(["find", "--from", "list"])
        .run()
        .status(2)
        .stderr_has("'list': not a manifest");
}

/// What could not be read is reported, and the rest is listed.
#[test]
fn unknown_parts_are_errors() {
    let dir = tree();
    let manifest = String::from_utf8(fs::read(dir.path("t.jsonl")).unwrap()).unwrap();
    let mut lines: Vec<_> = manifest.lines().map(ToOwned::to_owned).collect();
    lines.pop();
    lines[0] = lines[0].replace("\"version\":2", "\"version\":3");
    lines[0].pop();
    lines[0] += ",\"failed\":[{\"path\":\"empty\"}]}";
    fs::write(dir.path("t.jsonl"), crate::manifest::records::seal(&lines)).unwrap();
    let run = dir.ftk(["find", "-c", "--from", "t.jsonl"]).run().status(2).stdout("13\n");
    run.stderr_has("cannot list 't/empty': it could not be read when the record was made");
}
