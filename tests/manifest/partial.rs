//! Commands that look at a part of a record.

use std::fs;
use std::process::Command;

use super::records::{Manifest, create, verify};
use crate::harness::{Dir, Run};

/// A tree like /etc, of which `etc.jsonl` is the manifest.
fn etc() -> Dir {
    let dir = Dir::new();
    for file in ["ssl/certs/1.pem", "ssl/certs/2.pem", "ssl/openssl.cnf", "ssh/key", "ssh/config", "cron/job"]
    {
        dir.file(format!("etc/{file}"), file.as_bytes());
    }
    for file in ["a", "b", "c", "d"] {
        dir.file(format!("etc/{file}"), file.as_bytes());
    }
    manifest(&dir, &["create", "etc", "-o", "etc.jsonl"]).status(0);
    dir
}

fn manifest(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["manifest"]).args(args).run()
}

/// Copies a tree with all metadata.
fn copy(dir: &Dir, from: &str, to: &str) {
    let status = Command::new("cp").args(["-a"]).arg(dir.path(from)).arg(dir.path(to)).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_directory_below_the_recorded_root_is_verified_as_its_part() {
    let dir = etc();
    let etc = fs::canonicalize(dir.path("etc")).unwrap();
    let first = format!("  verifying 'ssl', a part of the recorded '{}'\n", etc.display());
    for root in ["etc/ssl", "etc/ssl/", "etc/../etc/ssl"] {
        let run = manifest(&dir, &["verify", root, "etc.jsonl"]).status(0).stdout("");
        run.stderr_has(&first).stderr_has("  5 of 5 as recorded\n").stderr_lacks("etc/ssl'");
    }
    dir.file("etc/ssl/new", b"").file("etc/ssh/new", b"").file("etc/ssl/certs/1.pem", b"edited");
    let run = manifest(&dir, &["verify", "--ignore", "mtime", "etc/ssl", "etc.jsonl"]).status(1);
    assert_eq!(run.text().lines().last().unwrap(), "new\tnew");
    assert!(run.text().starts_with("modified\tcerts/1.pem\t"), "{}", run.text());
    // The whole root is verified as a whole, and a directory that is not recorded too.
    manifest(&dir, &["verify", "etc", "etc.jsonl"]).status(1).stderr_lacks("a part of");
    copy(&dir, "etc", "copy");
    fs::rename(dir.path("copy"), dir.path("etc/new.d")).unwrap();
    manifest(&dir, &["verify", "etc/new.d", "etc.jsonl"]).status(1).stderr_lacks("a part of");
}

#[test]
fn recorded_options_are_relative_to_the_recorded_root() {
    let dir = etc();
    for args in [
        &["-E", "ssl/certs"][..],
        &["-E", "etc/ssl/certs/1.pem", "-E", "certs/*"],
        &["--path", "ssl/*", "--path", "ssl"],
        &["--max-depth", "2"],
        &["--where", "depth != 3"],
        &["--exclude-where", "path = ssl/certs and depth = 2"],
        &["--regex", "^ssl/c"],
        &["--name", "ssl", "--name", "certs"],
        &["--exclude-if-present", "1.pem"],
    ] {
        manifest(&dir, &[&["create", "etc", "--force", "-o", "etc.jsonl"], args].concat()).status(0);
        let recorded = Manifest::read(&dir.path("etc.jsonl"));
        let in_part = recorded.paths.iter().filter(|path| path.starts_with(b"ssl")).count();
        let said = format!("  {in_part} of {in_part} as recorded\n");
        manifest(&dir, &["verify", "etc/ssl", "etc.jsonl"]).status(0).stdout("").stderr_has(&said);
        copy(&dir, "etc/ssl", "copy");
        let below = ["verify", "--below", "ssl", "copy", "etc.jsonl"];
        manifest(&dir, &below).status(0).stdout("").stderr_has(&said);
        fs::remove_dir_all(dir.path("copy")).unwrap();
    }
    manifest(&dir, &["create", "etc", "--force", "--ignore-files", "-o", "etc.jsonl"]).status(0);
    manifest(&dir, &["verify", "etc/ssl", "etc.jsonl"]).status(2).stderr_has("files above this part");
}

#[test]
fn a_copy_of_a_part_is_named_by_below() {
    let dir = etc();
    copy(&dir, "etc/ssl", "tls");
    let etc = fs::canonicalize(dir.path("etc")).unwrap().display().to_string();
    let absolute = format!("{etc}/ssl");
    for below in ["ssl", "./ssl/", &absolute] {
        let args = ["verify", "--below", below, "tls", "etc.jsonl"];
        manifest(&dir, &args).status(0).stdout("").stderr_has("verifying 'ssl', a part of");
    }
    for below in ["nothing", "a", "ssl/certs/1.pem", "sslx"] {
        let said = format!("it records no directory '{below}'");
        manifest(&dir, &["verify", "--below", below, "tls", "etc.jsonl"]).status(2).stderr_has(&said);
    }
    manifest(&dir, &["verify", "--below", "ssl", "etc.jsonl"]).status(2).stderr_has("give ROOT and FILE");
    // Without it, the message names the directory, and nothing is read.
    let run = manifest(&dir, &["verify", "tls", "etc.jsonl"]).status(2).stdout("");
    let said = format!("'tls' is not the recorded directory '{etc}': it looks like 'ssl' below it");
    run.stderr_has(&said).stderr_has("--below ssl)");
    // A copy of most of the tree is no such thing, and neither is a tree with nothing of it.
    copy(&dir, "etc", "whole");
    fs::remove_dir_all(dir.path("whole/ssl")).unwrap();
    manifest(&dir, &["verify", "whole", "etc.jsonl"]).status(1);
    dir.file("other/x", b"");
    manifest(&dir, &["verify", "other", "etc.jsonl"]).status(1).stderr_has("missing");
}

#[test]
fn selection_options_of_a_part_are_below_it() {
    let dir = etc();
    dir.file("etc/ssl/certs/1.pem", b"edited");
    for args in [
        &["-E", "certs"][..],
        &["-E", "certs/1.pem"],
        &["-E", "etc/ssl/certs"],
        &["--path", "openssl.cnf"],
        &["--where", "not name = 1.pem"],
        &["--exclude-where", "depth = 1 and type = d"],
    ] {
        let run = manifest(&dir, &[&["verify", "etc/ssl", "etc.jsonl"], args].concat()).status(0).stdout("");
        run.stderr_lacks("matched nothing");
    }
    let run = manifest(&dir, &["verify", "etc/ssl", "etc.jsonl", "-E", "ssl/certs"]).status(1);
    run.stderr_has("--exclude 'ssl/certs' matched nothing in this part\n");
}

#[test]
fn expressions_select_what_is_looked_at() {
    let dir = Dir::new();
    dir.file("a.c", b"1").file("b.h", b"2").file("src/c.c", b"3").file("src/old/d.c", b"4");
    let path = create(&dir, &[]);
    let path = path.to_str().unwrap();
    dir.file("a.c", b"x").file("src/old/d.c", b"y").file("src/new.c", b"");
    for (args, expected) in [
        (&["--where", "extension = c", "--exclude-where", "name = old"][..], &["a.c", "src/new.c"][..]),
        (&["--where", "depth > 1"], &["src/new.c", "src/old/d.c"]),
        (&["--exclude-where", "path = \"src/*\""], &["a.c"]),
    ] {
        let run = verify(&dir, args).status(1);
        let found: Vec<_> = run.text().lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
        assert_eq!(found, expected, "{args:?}");
    }
    for args in [["--where", "size > 1"], ["--exclude-where", "mtime < 1d"], ["--where", "ignored"]] {
        for command in [&["verify", "."][..], &["scrub", "."], &["export", "--format", "csv"]] {
            manifest(&dir, &[command, &[path], &args].concat()).status(2).stdout("");
        }
    }
}

/// Only the selected files are read; the records of all others stay as they are.
#[test]
fn a_partial_scrub_keeps_all_records() {
    let dir = etc();
    let before = fs::read(dir.path("etc.jsonl")).unwrap();
    dir.file("etc/ssh/new", b"").file("etc/ssl/new", b"");
    fs::remove_file(dir.path("etc/a")).unwrap();
    fs::remove_file(dir.path("etc/ssl/openssl.cnf")).unwrap();
    let run = manifest(&dir, &["scrub", "etc", "etc.jsonl", "--path", "ssl/*"]).status(0);
    run.stderr_has("2 files verified")
        .stderr_has("  1 new, 1 missing: left for")
        .stderr_has("entries were not selected");
    let (before, after) = (Manifest::parse(&before), Manifest::read(&dir.path("etc.jsonl")));
    assert_eq!(before.paths, after.paths);
    for (path, entry) in &after.entries {
        let is_read = path.starts_with(b"ssl/certs/");
        assert_eq!(entry["verified_ns"].is_null(), !is_read, "{entry}");
    }
    assert_eq!(before.untimed().entries, after.untimed().entries);
    manifest(&dir, &["scrub", "etc", "etc.jsonl", "--path", "x/*"])
        .status(2)
        .stderr_has("nothing was verified");
    manifest(&dir, &["scrub", "etc", "etc.jsonl", "-E", "nothing"])
        .status(0)
        .stderr_has("--exclude 'nothing' matched nothing\n");
}

#[test]
fn a_part_is_exported() {
    let dir = etc();
    let args = ["export", "--format", "sha256", "etc.jsonl", "--path", "ss*", "-E", "certs"];
    let run = manifest(&dir, &args).status(0);
    let paths: Vec<_> = run.text().lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert_eq!(paths, ["./ssh/config", "./ssh/key", "./ssl/openssl.cnf"]);
    run.stderr_has("entries were not selected");
    manifest(&dir, &["export", "--format", "mtree", "etc.jsonl", "-E", "zz"])
        .status(0)
        .stderr_has("--exclude 'zz' matched nothing\n");
}

/// What is in the trash of B is no copy.
#[test]
fn unique_looks_at_a_part_of_both_sides() {
    let dir = Dir::new();
    dir.file("card/1", b"one").file("card/2", b"two").file("card/trash/3", b"three");
    dir.file("nas/x/1", b"one").file("nas/trash/2", b"two");
    manifest(&dir, &["create", "card", "-o", "card.jsonl"]).status(0);
    manifest(&dir, &["create", "nas", "-o", "nas.jsonl"]).status(0);
    for [a, b] in [["card", "nas"], ["card.jsonl", "nas.jsonl"], ["card", "nas.jsonl"], ["card.jsonl", "nas"]]
    {
        // Paths of a tree begin with it.
        let top = if a == "card" { "card/" } else { "" };
        manifest(&dir, &["unique", a, b]).status(1).stdout(format!("{top}trash/3\n"));
        let run = manifest(&dir, &["unique", a, b, "-E", "trash"]).status(1).stdout(format!("{top}2\n"));
        run.stderr_has("were not selected\n").stderr_lacks("matched nothing");
        let run = manifest(&dir, &["unique", a, b, "--path", "1", "--path", "x/*"]).status(0).stdout("");
        run.stderr_has("all content of A is in B");
        manifest(&dir, &["unique", a, b, "-E", "zz"])
            .status(1)
            .stderr_has("--exclude 'zz' matched nothing\n");
    }
}

#[test]
fn an_unused_rule_stops_a_repair() {
    let dir = etc();
    copy(&dir, "etc", "backup");
    fs::remove_file(dir.path("etc/a")).unwrap();
    let repair = ["repair", "etc", "etc.jsonl", "--from", "backup", "--missing", "--yes"];
    for args in [["-E", "zz"], ["--exclude-where", "name = zz"]] {
        let run = manifest(&dir, &[&repair[..], &args].concat()).status(2);
        run.stderr_has("matched nothing, so nothing was changed");
    }
    assert!(!dir.path("etc/a").exists());
    manifest(&dir, &[&repair[..], &["--where", "name = b"]].concat()).status(0);
    assert!(!dir.path("etc/a").exists());
    manifest(&dir, &[&repair[..], &["--where", "name = a", "-E", "ssl"]].concat()).status(0);
    assert!(dir.path("etc/a").exists());
}

#[test]
fn plans_among_parts_are_skipped() {
    let dir = etc();
    dir.dir("parts");
    manifest(&dir, &["plan", "--shards", "2", "etc", "-o", "parts/plan.jsonl"]).status(0);
    for shard in ["1", "2"] {
        let (nth, part) = (format!("{shard}/2"), format!("parts/part-{shard}.jsonl.zst"));
        let args = ["create", "--shard", &nth, "--plan", "parts/plan.jsonl", "etc", "-o", &part];
        manifest(&dir, &args).status(0);
    }
    manifest(&dir, &["verify", "etc", "parts"]).status(0).stderr_has("15 of 15 as recorded");
    manifest(&dir, &["diff", "etc.jsonl", "parts"]).status(0).stdout("");
    manifest(&dir, &["unique", "parts", "etc.jsonl"]).status(0).stdout("");
    manifest(&dir, &["export", "--format", "sha256", "parts"]).status(0);
    manifest(&dir, &["plan", "--shards", "3", "--from-parts", "parts"]).status(0);
    dir.ftk(["du", "-s", "--from", "parts"]).run().status(0);
    let parts = ["parts/plan.jsonl", "parts/part-1.jsonl.zst", "parts/part-2.jsonl.zst"];
    let run = manifest(&dir, &[&["merge", "-o", "whole.jsonl"], &parts[..]].concat()).status(0);
    run.stderr_has("15 entries of 2 parts");
    manifest(&dir, &["merge", "parts/plan.jsonl"]).status(2).stderr_has("all arguments are plans");
    for part in [1, 2] {
        fs::remove_file(dir.path(format!("parts/part-{part}.jsonl.zst"))).unwrap();
    }
    manifest(&dir, &["verify", "etc", "parts"]).status(2).stderr_has("is a directory without parts");
}
