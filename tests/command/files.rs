//! No file that a run reads or writes is replaced by another output of the run.

use std::fs::{self, File};

use crate::harness::Dir;

/// A tree, and one file of each kind that a command reads.
fn scene() -> Dir {
    let dir = Dir::new();
    dir.file("t/a", b"abc").file("t/b", b"abc").file("copy/a", b"abc").file("copy/b", b"abc").dir("out/data");
    dir.file("names", b"t/a\n").symlink("t/a", "link");
    dir.hard_link("t/a", "hard link");
    let run = |args: &[&str]| _ = dir.ftk(args).run().status(0);
    run(&["hash", "t", "-o", "list"]);
    run(&["hash", "copy", "-o", "other"]);
    // A plan needs the path of its tree.
    let tree = dir.path("t");
    let tree = tree.to_str().unwrap();
    run(&["manifest", "create", tree, "-o", "m"]);
    run(&["manifest", "create", "copy", "-o", "n"]);
    run(&["manifest", "plan", "m", "--shards", "1", "-o", "plan"]);
    dir.dir("parts");
    run(&["manifest", "create", tree, "--shard", "1/1", "--plan", "plan", "-o", "parts/1.jsonl"]);
    run(&["dup", "t", "--json", "-o", "report"]);
    let dump = dir.ftk(["du", "t", "--format", "ncdu"]).run().status(0);
    dir.file("dump", &dump.out);
    run(&["dup", "prune", "copy", "--action", "hardlink", "--yes", "--journal", "j"]);
    dir
}

/// Commands, and a file that each one reads.
const INPUTS: &[(&[&str], &str)] = &[
    (&["hash", "t/a"], "t/a"),
    (&["hash", "link"], "t/a"),
    (&["hash", "t/a"], "hard link"),
    (&["hash", "--check", "list"], "list"),
    (&["hash", "--diff", "list", "other"], "other"),
    (&["hash", "--lines", "list"], "list"),
    (&["hash", "--files-from", "names"], "names"),
    (&["hash", "t", "--newer", "names"], "names"),
    (&["hash", "t", "--where", "newer = names"], "names"),
    (&["find", "t", "--where", "not (size > 1 or samefile = \"t/a\")"], "t/a"),
    (&["du", "t", "--exclude-where", "newer=names"], "names"),
    (&["hash", "/dev/stdin"], "names"),
    (&["hash"], "names"),
    (&["hash", "t", "-"], "names"),
    (&["cmp", "t/a", "t/b"], "t/b"),
    (&["cmp", "t/a"], "names"),
    (&["find", "t/a"], "t/a"),
    (&["find", "t", "--samefile", "t/a"], "t/a"),
    (&["find", "t", "--explain", "t/a"], "t/a"),
    (&["find", "--files0-from", "-"], "names"),
    (&["du", "t/a"], "t/a"),
    (&["du", "--from", "dump"], "dump"),
    (&["dup", "t/a", "t/b"], "t/b"),
    (&["dup", "--manifests", "m", "n"], "n"),
    (&["dup", "prune", "--action", "delete", "t/a", "t/b"], "t/a"),
    (&["dup", "prune", "--action", "delete", "t", "--reference", "names"], "names"),
    (&["dup", "prune", "--action", "delete", "t", "--keep-one-per", "names"], "names"),
    (&["dup", "apply", "report", "--action", "delete"], "report"),
    (&["dup", "undo", "j"], "j"),
    (&["undo", "j"], "j"),
    (&["manifest", "create", "t", "--shard", "1/1", "--plan", "plan"], "plan"),
    (&["manifest", "verify", "t", "m"], "m"),
    (&["manifest", "diff", "m", "n"], "n"),
    (&["manifest", "unique", "m", "n"], "m"),
    (&["manifest", "export", "m", "--format", "mtree"], "m"),
    (&["manifest", "export", "parts", "--format", "mtree"], "parts/1.jsonl"),
    (&["manifest", "import", "list"], "list"),
    (&["manifest", "merge", "parts/1.jsonl"], "parts/1.jsonl"),
    (&["manifest", "plan", "m", "--shards", "2"], "m"),
    (&["manifest", "scrub", "t", "m"], "m"),
    (&["manifest", "update", "t", "m"], "m"),
    (&["manifest", "repair", "t", "m", "--from", "copy"], "m"),
    (&["report", "m", "n", "-o", "page"], "n"),
    (&["cache", "forget", "t/a"], "t/a"),
];

#[test]
fn h94_no_output_replaces_an_input() {
    let dir = scene();
    for &(args, input) in INPUTS {
        let before = fs::read(dir.path(input)).unwrap();
        for output in ["--stats", "--metrics", "-o"] {
            let has_output = match args[0] {
                "hash" => true,
                "dup" => !["prune", "apply", "undo"].contains(&args[1]),
                "manifest" => ["create", "export", "import", "merge", "plan"].contains(&args[1]),
                _ => false,
            };
            if output == "-o" && !has_output {
                continue;
            }
            let stdin = File::open(dir.path("names")).unwrap();
            let run = dir.ftk(args).args([output, input]).stdin_from(stdin).run().status(2);
            run.check(run.err.contains(" is both input and output"), "the reason is printed");
            run.check(run.out.is_empty(), "nothing is done before");
            assert_eq!(fs::read(dir.path(input)).unwrap(), before, "{args:?} {output}");
        }
    }
    // The journal and the file that a bag would replace are outputs, too.
    dir.file("bag/data/a", b"abc");
    fs::copy(dir.path("m"), dir.path("bag/manifest-sha256.txt")).unwrap();
    let bag = ["manifest", "export", "--format", "bagit", "bag/manifest-sha256.txt", "-o", "bag", "--force"];
    dir.ftk(bag).run().status(2).stderr("ftk: 'bag/manifest-sha256.txt' is both input and output\n");
    for input in ["m", "t/a"] {
        let run = dir.ftk(["manifest", "repair", "t", "m", "--from", "copy", "--yes", "--journal", "m"]);
        run.run().status(2).stderr("ftk: 'm' is both input and output (--journal)\n");
        assert!(dir.path(input).exists());
    }
}

#[test]
fn standard_output_is_an_output() {
    let dir = scene();
    for (args, input) in [
        (&["hash", "t/a"][..], "t/a"),
        (&["hash", "--check", "list"], "list"),
        (&["dup", "t/a", "t/b"], "t/b"),
        (&["manifest", "diff", "m", "n"], "n"),
        (&["manifest", "verify", "t", "m"], "m"),
        (&["manifest", "scrub", "t", "m"], "m"),
        (&["du", "--from", "dump"], "dump"),
        (&["undo", "j"], "j"),
    ] {
        let before = fs::read(dir.path(input)).unwrap();
        let append = File::options().append(true).open(dir.path(input)).unwrap();
        dir.ftk(args).stdout(append).run().status(2).stderr_has("is both input and output");
        assert_eq!(fs::read(dir.path(input)).unwrap(), before, "{args:?}");
    }
    for output in ["-o", "--stats", "--metrics"] {
        let same = File::create(dir.path("same")).unwrap();
        let run = dir.ftk(["hash", "t", output, "same"]).stdout(same).run().status(2);
        run.stderr(&format!("ftk: {output} and standard output name the same file\n"));
    }
    // Through its descriptor, standard output is shared.
    let log = File::create(dir.path("log")).unwrap();
    dir.ftk(["hash", "t/a", "--stats", "/dev/stdout"]).stdout(log).run().status(0);
    let log = fs::read_to_string(dir.path("log")).unwrap();
    assert!(log.contains("  t/a\n{\n  \"ftk\""), "{log}");
    // Messages may not be lost either; but both streams usually go to one file.
    let sh = ["sh", "-c", "exec \"$@\" 2> same", "sh"];
    dir.ftk(["hash", "t", "-o", "same"]).under(&dir, sh).run().status(2);
    assert_eq!(fs::read(dir.path("same")).unwrap(), b"ftk: -o and standard error name the same file\n");
    dir.ftk(["hash", "t"]).under(&dir, ["sh", "-c", "exec \"$@\" > log 2>&1", "sh"]).run().status(0);
}

#[test]
fn standard_error_is_an_output() {
    let dir = scene();
    for (args, input) in [
        (&["hash", "nothing", "t/a"][..], "t/a"),
        (&["hash", "--check", "list"], "list"),
        (&["cmp", "t/a", "t/b"], "t/b"),
        (&["manifest", "verify", "t", "m"], "m"),
        (&["undo", "j"], "j"),
    ] {
        let before = fs::read_to_string(dir.path(input)).unwrap();
        let append = format!("exec \"$@\" 2>> {input}");
        let run = dir.ftk(args).under(&dir, ["sh", "-c", &append, "sh"]).run().status(2);
        run.check(run.out.is_empty(), "nothing is done");
        let reason = format!("ftk: '{input}' is both input and output (standard error)\n");
        assert_eq!(fs::read_to_string(dir.path(input)).unwrap(), before + &reason, "{args:?}");
    }
    // A log in the tree is usual, and is skipped where files are read.
    let logged = ["sh", "-c", "exec \"$@\" 2>> t/log", "sh"];
    dir.ftk(["find", "t", "--sort"]).under(&dir, logged).run().status(0).stdout("t\nt/a\nt/b\nt/log\n");
    let run = dir.ftk(["hash", "t"]).under(&dir, logged).run().status(0);
    run.check(run.out.split(|byte| *byte == b'\n').count() == 3, "two files");
    let log = fs::read_to_string(dir.path("t/log")).unwrap();
    assert!(log.contains("skipped: 1 own output file"), "{log}");
}

#[test]
fn descriptors_lead_to_their_files() {
    let dir = scene();
    for (args, input) in [
        (&["hash", "t/a", "--stats", "/dev/fd/3"][..], "t/a"),
        (&["hash", "t/a", "-o", "/dev/fd/3"], "t/a"),
        (&["hash", "t/a", "--metrics", "/proc/self/fd/3"], "hard link"),
        (&["hash", "--check", "list", "--stats", "/dev/fd/3"], "list"),
        (&["manifest", "verify", "t", "m", "--stats", "/dev/fd/3"], "m"),
        (&["manifest", "update", "t", "m", "-o", "/dev/fd/3"], "m"),
    ] {
        for redirection in ["<>", ">>"] {
            let before = fs::read(dir.path(input)).unwrap();
            let open = format!("exec \"$@\" 3{redirection}'{input}'");
            let run = dir.ftk(args).under(&dir, ["sh", "-c", &open, "sh"]).run().status(2);
            run.stderr_has(" is both input and output");
            assert_eq!(fs::read(dir.path(input)).unwrap(), before, "{args:?}");
        }
    }
    for (redirections, [stats, metrics], is_fine) in [
        ("3>new 4>new", ["/dev/fd/3", "/dev/fd/4"], false),
        ("3>new", ["/dev/fd/3", "new"], false),
        (">new 3>>new", ["/dev/fd/3", "/dev/null"], false),
        ("3>new", ["/dev/fd/3", "/proc/self/fd/3"], true),
        (">new 2>&1", ["/dev/stderr", "/dev/stdout"], true),
    ] {
        let open = format!("exec \"$@\" {redirections}");
        let args = ["hash", "t", "--stats", stats, "--metrics", metrics];
        let run = dir.ftk(args).under(&dir, ["sh", "-c", &open, "sh"]).run();
        let run = run.status(if is_fine { 0 } else { 2 });
        run.check(is_fine || run.err.contains(" name the same file"), "the reason is printed");
        let new = fs::read_to_string(dir.path("new")).unwrap();
        assert_eq!((new.contains("\"ftk\": \"stats\""), new.contains("# HELP ")), (is_fine, is_fine));
    }
}

#[test]
fn no_two_outputs_are_one_file() {
    let dir = scene();
    dir.symlink("new", "dangling").symlink("out", "way");
    let commands: &[&[&str]] = &[
        &["hash", "t", "-o"],
        &["hash", "t", "--metrics"],
        &["dup", "t", "-o"],
        &["manifest", "create", "t", "-o"],
        &["manifest", "import", "list", "-o"],
        &["manifest", "merge", "parts/1.jsonl", "-o"],
        &["manifest", "export", "m", "--format", "mtree", "-o"],
        &["manifest", "plan", "m", "--shards", "2", "-o"],
        &["manifest", "update", "t", "m", "-o"],
        &["report", "t", "-o"],
        &["manifest", "repair", "t", "m", "--from", "copy", "--yes", "--journal"],
        &["dup", "prune", "--action", "hardlink", "--yes", "t", "--journal"],
        &["dup", "prune", "--action", "delete", "--yes", "t", "--quarantine"],
    ];
    for args in commands {
        for [one, other] in [["new", "new"], ["dangling", "new"], ["out/x", "./way/x"]] {
            let run = dir.ftk(*args).args([one, "--stats", other]).run().status(2);
            run.check(run.err.contains(" name the same file\n"), "the reason is printed");
            assert!(!dir.path("new").exists() && !dir.path("out/x").exists(), "{args:?}");
        }
    }
    let moved = dir.ftk(["dup", "prune", "--action", "move=away", "--yes", "t", "--stats", "away"]);
    moved.run().status(2).stderr_has("name the same file");
    let page = dir.ftk(["man", "--install", "out", "--stats", "out/ftk-hash.1"]).run().status(2);
    page.stderr("ftk: --install and --stats name the same file\n");
    let bag = ["manifest", "export", "--format", "bagit", "m", "-o", "out", "--metrics", "out/bagit.txt"];
    dir.ftk(bag).run().status(2).stderr_has("name the same file");
    assert_eq!(fs::read_dir(dir.path("out")).unwrap().count(), 1, "only data");
    // Devices are shared, and `update` replaces the manifest that it reads.
    let null = ["hash", "t", "-o", "/dev/null", "--stats", "/dev/null", "--metrics", "/dev/null"];
    dir.ftk(null).run().status(0);
    dir.ftk(["manifest", "update", "t", "m", "-o", "m"]).run().status(0);
}

#[test]
fn the_store_of_digests_is_no_output() {
    let dir = Dir::on_disk();
    dir.file("a", b"abc").dir("../cache/ftk");
    let store = dir.aside("cache").join("ftk/digests");
    for _ in 0..2 {
        for output in ["-o", "--stats", "--metrics"] {
            let run = dir.ftk(["hash", "a", "--cache", output]).arg(&store).run().status(2);
            run.stderr_has("is both input and output");
        }
        dir.ftk(["hash", "a", "--cache"]).run().status(0);
    }
    assert!(fs::read(&store).unwrap().starts_with(b"SQLite format 3\0"));
}
