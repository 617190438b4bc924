//! Standard streams: closed ones, and `-` as a name.

use std::fs::{self, File};

use crate::harness::{Dir, Ftk, sha256};

/// The command after a redirection of the shell.
fn redirected(ftk: Ftk, dir: &Dir, redirection: &str) -> Ftk {
    ftk.under(dir, ["sh", "-c", &format!("exec \"$@\" {redirection}"), "sh"])
}

#[test]
fn h93_closed_standard_input_is_an_error_where_it_is_read() {
    let dir = Dir::new();
    dir.file("empty", b"").file("t/a", b"abc");
    dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
    for args in [
        &["hash"][..],
        &["hash", "-"],
        &["hash", "t", "-", "-"],
        &["hash", "--lines"],
        &["hash", "--lines", "-"],
        &["hash", "--check"],
        &["hash", "--check", "-"],
        &["hash", "--diff", "-", "empty"],
        &["hash", "--files-from", "-"],
        &["hash", "--files0-from", "-"],
        &["hash", "--special", "/dev/stdin"],
        &["hash", "--files-from", "/dev/stdin"],
        &["cmp", "empty"],
        &["cmp", "-", "empty"],
        &["cmp", "-s", "empty", "-"],
        &["cmp", "--special", "/dev/stdin", "empty"],
        &["find", "--files-from", "-"],
        &["du", "--files0-from", "-"],
        &["du", "--from", "-"],
        &["dup", "--files-from", "-"],
        &["dup", "--manifests", "-"],
        &["dup", "apply", "-", "--action", "delete"],
        &["manifest", "verify", "t", "-"],
        &["manifest", "diff", "-", "m"],
        &["manifest", "unique", "m", "-"],
        &["manifest", "export", "-", "--format", "mtree"],
        &["manifest", "import", "-"],
        &["manifest", "merge", "-"],
        &["manifest", "plan", "-", "--shards", "2"],
        &["manifest", "create", "t", "--shard", "1/2", "--plan", "-"],
        &["manifest", "update", "t", "-"],
        &["manifest", "repair", "t", "-", "--from", "t"],
        &["report", "-o", "page", "-"],
        &["find", "t", "-j", "mono", "--exec", "cat", "-", ";"],
    ] {
        let run = redirected(dir.ftk(args), &dir, "<&-").run().status(2);
        let is_named = args.contains(&"/dev/stdin") || args.contains(&"--exec");
        run.check(is_named || run.err.contains("standard input is closed"), "the reason is printed");
        if !args.contains(&"t") {
            run.check(run.out.is_empty(), "nothing is printed");
        }
    }
    // The null device is an input, and what is not used may be closed.
    let empty = format!("{}  -\n", sha256(b""));
    dir.ftk(["hash", "-"]).run().status(0).stdout(&empty);
    redirected(dir.ftk(["hash", "-"]), &dir, "</dev/null").run().status(0).stdout(&empty);
    redirected(dir.ftk(["hash", "t"]), &dir, "<&-").run().status(0);
}

#[test]
fn h93_closed_standard_output_is_an_error_where_it_is_written() {
    let dir = Dir::new();
    dir.file("t/a", b"abc");
    for args in [&["hash", "t"][..], &["--version"], &["--help"], &["help", "hash"], &["--describe"]] {
        let run = redirected(dir.ftk(args), &dir, ">&-").run().status(2);
        run.stderr("ftk: cannot write to standard output: it is closed\n");
    }
    for args in [&["hash", "t", "-o", "/dev/stdout"][..], &["hash", "t", "-o", "L", "--stats", "-"]] {
        redirected(dir.ftk(args), &dir, ">&-").run().status(2);
    }
    // A command that inherits the stream fails by itself.
    let exec = ["find", "t", "-j", "mono", "--exec", "echo", "{}", ";"];
    redirected(dir.ftk(exec), &dir, ">&-").run().status(2);
    for args in [
        &["hash", "-o", "L", "t"][..],
        &["find", "t", "-n", "none"],
        &["find", "--status", "t"],
        &["cmp", "t/a", "t/a"],
    ] {
        redirected(dir.ftk(args), &dir, ">&-").run().status(0);
    }
    assert_eq!(fs::read_to_string(dir.path("L")).unwrap(), format!("{}  t/a\n", sha256(b"abc")));
    // Messages to a closed standard error are lost, and the status counts them as usual.
    redirected(dir.ftk(["hash", "t"]), &dir, "2>&-").run().status(0);
    redirected(dir.ftk(["hash", "t", "missing"]), &dir, "2>&-").run().status(2);
    redirected(dir.ftk(["hash", "t", "--progress", "json"]), &dir, "2>&-").run().status(2);
    // No file of the run gets the number of a closed stream.
    redirected(dir.ftk(["hash", "-o", "L", "t", "missing"]), &dir, "<&- >&- 2>&-").run().status(2);
    assert_eq!(fs::read_to_string(dir.path("L")).unwrap(), format!("{}  t/a\n", sha256(b"abc")));
}

#[test]
fn each_dash_reads_on_as_in_sha256sum() {
    let dir = Dir::new();
    let both = format!("{}  -\n{}  -\n", sha256(b"abc"), sha256(b""));
    dir.ftk(["hash", "-", "-"]).stdin(b"abc").run().status(0).stdout(&both);
    dir.file("f", b"abc");
    dir.ftk(["hash", "-", "-"]).stdin_from(File::open(dir.path("f")).unwrap()).run().status(0).stdout(&both);
}

#[test]
fn a_dash_is_standard_output() {
    let dir = Dir::new();
    dir.file("t/a", b"abc").file("t/b", b"abc");
    dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
    dir.ftk(["hash", "t", "-o", "list"]).run().status(0);
    for args in [
        &["hash", "t"][..],
        &["hash", "--lines", "list"],
        &["hash", "--check", "list"],
        &["hash", "--tree", "t"],
        &["hash", "--diff", "list", "list"],
        &["manifest", "export", "m", "--format", "mtree"],
        &["manifest", "merge", "m"],
        &["manifest", "plan", "m", "--shards", "2"],
        &["dup", "t"],
    ] {
        let plain = dir.ftk(args).run();
        dir.ftk(args).args(["-o", "-"]).run().status(plain.code()).stdout(&plain.out);
    }
    for args in [&["manifest", "create", "t"][..], &["manifest", "update", "t", "m"], &["report", "t"]] {
        let run = dir.ftk(args).args(["-o", "-"]).run().status(0);
        run.check(run.out.len() > 100, "it is printed");
    }
    let stats = dir.ftk(["hash", "t", "-o", "list", "--stats", "-"]).run().status(0);
    assert!(stats.text().starts_with("{\n  \"ftk\": "), "{}", stats.text());
    let metrics = dir.ftk(["hash", "t", "-o", "list", "--metrics=-"]).run().status(0);
    assert!(metrics.text().starts_with("# HELP ftk_end_timestamp_seconds"), "{}", metrics.text());
    let both = dir.ftk(["hash", "t", "--stats", "-", "--metrics", "-"]).run().status(0);
    assert!(both.text().contains("  t/b\n{\n"), "{}", both.text());
    assert!(!dir.path("-").exists());
    // A reader that has seen enough is no error.
    let pipe = "{ \"$@\"; echo $? >../status; } | true";
    dir.ftk(["hash", "t", "-o", "list", "--stats", "-"])
        .under(&dir, ["sh", "-c", pipe, "sh"])
        .run()
        .status(0);
    assert_eq!(fs::read_to_string(dir.aside("status")).unwrap(), "0\n");
}

#[test]
fn only_a_path_with_a_slash_names_a_file_called_dash() {
    let dir = Dir::new();
    dir.file("-", b"abc").file("t/a", b"abc").file("t/b", b"abc");
    dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
    for args in [
        &["dup", "prune", "t", "--action", "delete", "--yes", "--journal", "-"][..],
        &["dup", "prune", "t", "--action", "delete", "--journal=-"],
        &["dup", "prune", "t", "--action", "delete", "--quarantine", "-"],
        &["dup", "prune", "t", "--action", "move=-"],
        &["dup", "prune", "t", "--action", "delete", "--reference", "-"],
        &["manifest", "repair", "t", "m", "--from", "t", "--yes", "--journal", "-"],
        &["find", "-"],
        &["find", "t", "--newer", "-"],
        &["find", "--explain", "-"],
        &["du", "-"],
        &["dup", "-"],
        &["undo", "-"],
        &["man", "--install", "-"],
        &["manifest", "create", "-"],
        &["cache", "forget", "-"],
    ] {
        dir.ftk(args)
            .run()
            .status(2)
            .stdout("")
            .stderr_has("`-` is not a file here; ./- names a file called `-`");
    }
    dir.ftk(["hash", "./-"]).run().status(0).stdout(format!("{}  ./-\n", sha256(b"abc")));
    dir.ftk(["find", "./-"]).run().status(0).stdout("./-\n");
    dir.ftk(["hash", "t/a", "-o", "./-"]).run().status(0);
    assert_eq!(fs::read_to_string(dir.path("-")).unwrap(), format!("{}  t/a\n", sha256(b"abc")));
    // Names in lists are names.
    dir.ftk(["find", "--files-from", "-"]).stdin(b"-\n").run().status(0).stdout("-\n");
}
