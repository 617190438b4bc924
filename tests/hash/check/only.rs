//! `--only`, and options that a check does not use.

use std::fs;
use std::process::Command;

use crate::harness::{Dir, needs, sha256};

/// The directory of a release, with its list.
fn release() -> Dir {
    let dir = Dir::new();
    let mut list = String::new();
    for (name, content) in [("a.gz", "a"), ("a.gz.asc", "asc"), ("b.gz", "b")] {
        dir.file(format!("dist/{name}"), content.as_bytes());
        list += &format!("{}  {name}\n", sha256(content.as_bytes()));
    }
    dir.file("SUMS", list.as_bytes());
    dir
}

#[test]
fn only_checks_the_lines_of_one_name() {
    let dir = release();
    let check = |args: &[&str]| dir.ftk(["hash", "--check", "--root", "dist", "SUMS"]).args(args).run();
    check(&["--only", "a.gz"]).status(0).stdout("a.gz: OK\n").stderr_has("1 ok");
    check(&["--only", "./a.gz", "--only", "b.gz"]).status(0).stdout("a.gz: OK\nb.gz: OK\n");
    // Other files may be damaged or missing.
    dir.file("dist/b.gz", b"other");
    fs::remove_file(dir.path("dist/a.gz.asc")).unwrap();
    check(&["--only", "a.gz"]).status(0).stdout("a.gz: OK\n");
    check(&["--only", "b.gz"]).status(1).stdout("b.gz: FAILED\n");
    check(&["--only", "a.gz.asc"]).status(1).stdout("a.gz.asc: FAILED open or read\n");
    check(&["--only", "a.gz", "--status"]).status(0).stdout("").stderr("");
}

/// A name that no list has is a failure, even if all others match.
#[test]
fn a_name_that_is_not_listed_fails() {
    let dir = release();
    let check = |args: &[&str]| dir.ftk(["hash", "--check", "--root", "dist"]).args(args).run();
    let run = check(&["SUMS", "--only", "c.gz", "--only", "a.gz"]).status(1);
    run.stdout("a.gz: OK\nc.gz: NOT LISTED\n").stderr_has("WARNING: 1 file is not in any list");
    check(&["SUMS", "--only", "c.gz", "--status"]).status(1).stdout("").stderr("");
    check(&["SUMS", "--only", "c.gz", "--ignore-missing"]).status(1).stdout("c.gz: NOT LISTED\n");
    let run = check(&["SUMS", "--only", "a", "--json"]).status(1);
    run.stdout("{\"path\":\"a\",\"verdict\":\"not_listed\"}\n");
    // The names of several lists count together.
    dir.file("more", format!("{}  c\n", sha256(b"c")).as_bytes()).file("dist/c", b"c");
    check(&["SUMS", "more", "--only", "c", "--only", "b.gz"]).status(0).stdout("b.gz: OK\nc: OK\n");
    // If a list cannot be read, nothing says that it lacks the name.
    check(&["SUMS", "absent", "--only", "c"]).status(2).stdout("").stderr_has("cannot open 'absent'");
}

/// The same names as a list of exactly these lines.
#[test]
fn only_gives_what_the_lines_alone_give() {
    needs!("sha256sum");
    let dir = release();
    dir.file("dist/b.gz", b"other");
    for name in ["a.gz.asc", "b.gz"] {
        let run = dir.ftk(["hash", "--check", "--root", "dist", "SUMS", "--only", name]).run();
        let script = format!("grep -x '.*  {name}' ../SUMS | sha256sum --check");
        let peer = Command::new("sh").args(["-c", &script]).current_dir(dir.path("dist")).output().unwrap();
        run.status(peer.status.code().unwrap()).stdout(&peer.stdout);
    }
}

/// These were ignored without a word.
#[test]
fn options_that_a_check_cannot_use_are_refused() {
    let dir = release();
    for (args, why) in [
        (&["--files-from", "absent"][..], "--files-from cannot be used with --check"),
        (&["--files0-from", "absent", "--new"], "--files0-from cannot be used with --check"),
        (&["-L"], "--follow needs --new"),
        (&["-n", "a*"], "--name needs --new"),
    ] {
        let run = dir.ftk(["hash", "--check", "--root", "dist", "SUMS"]).args(args).run();
        run.status(2).stdout("").stderr_has(why);
    }
    let run = dir.ftk(["hash", "--check", "SUMS", "dist"]).run().status(2);
    run.stderr_has("cannot check 'dist': no file has a name such as SHA256SUMS");
}
