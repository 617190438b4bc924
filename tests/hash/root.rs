//! `--root` of a new list: names relative to a directory.

use std::fs;
use std::process::Command;

use crate::harness::{Dir, needs};

/// The list is that of sha256sum in the directory, and both programs can check it there.
#[test]
fn names_are_those_that_sha256sum_writes_in_the_directory() {
    needs!("sha256sum");
    let dir = Dir::new();
    dir.file("dist/a b", b"a").file("dist/sub/c", b"c").raw_file(b"dist/new\nline", b"n").file("other", b"");
    let in_dist = |script: &str| {
        Command::new("sh").args(["-c", script]).current_dir(dir.path("dist")).output().unwrap()
    };
    let peer = in_dist("sha256sum 'a b' 'new\nline' sub/c");
    for args in [
        &["--root", "dist"][..],
        &["--root", "dist/", "dist"],
        &["--root", "dist", "dist/sub", "dist//a b", "dist/new\nline"],
    ] {
        dir.ftk(["hash"]).args(args).run().status(0).stdout(&peer.stdout);
    }
    let run = dir.ftk(["hash", "--root", "dist", "-o", "dist/SUMS"]).run().status(0);
    run.check(fs::read(dir.path("dist/SUMS")).unwrap() == peer.stdout, "the list in the directory");
    assert!(in_dist("sha256sum --check --strict SUMS").status.success());
    dir.ftk(["hash", "--check", "--root", "dist", "dist/SUMS"]).run().status(0);
    let run = dir.ftk(["hash", "-o", "dist/SUMS", "dist/"]).run().status(0);
    run.stderr_has("  names begin with 'dist/': --root dist writes them for a check in dist\n");
    for args in [&["-o", "SUMS", "dist"][..], &["-o", "./SUMS", "."], &["-o", "dist/SUMS", "dist/sub"]] {
        dir.ftk(["hash"]).args(args).run().status(0).stderr_lacks("names begin");
    }
    // In the working directory, the names have no `./`.
    let run = dir.ftk(["hash", "--root", ".", "other", "./dist/sub"]).run().status(0);
    run.check(run.text().contains("  dist/sub/c\n") && run.text().contains("  other\n"), "bare names");
    let run = dir.ftk(["hash", "--root", "dist", "--json", "dist/sub"]).run().status(0);
    run.check(run.text().starts_with("{\"path\":\"sub/c\","), "in JSON too");
}

#[test]
fn what_is_not_below_the_root_is_refused() {
    let dir = Dir::new();
    dir.file("dist/a", b"a").file("dist/; b", b"").file("other", b"");
    for (args, why) in [
        (&["--root", "dist", "other"][..], "'other' is not below --root 'dist'"),
        (&["--root", "dist", "dist/a", "-"], "--root cannot be used with standard input"),
        (&["--root", "absent"], "--root 'absent' is not a directory"),
        (&["--root", "other", "other"], "--root 'other' is not a directory"),
        (&["--root", "dist", "--tree", "dist"], "--root needs --check"),
        // The name in the list is what the format must represent.
        (&["--root", "dist", "--sfv"], "cannot list 'dist/; b'"),
    ] {
        dir.ftk(["hash"]).args(args).run().status(2).stderr_has(why);
    }
}
