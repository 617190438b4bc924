//! `ftk dup prune --script`: the script does what the plan lists, for all names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use super::tree::{NAMES, contents_of, oracle, plant};
use crate::harness::{Dir, needs};

const SHELLS: [&[&str]; 3] = [&["sh"], &["bash"], &["busybox", "sh"]];

/// Writes the script next to the tree.
fn script(dir: &Dir, args: &[&str]) {
    let file = fs::File::create(dir.aside("script")).unwrap();
    dir.ftk(["dup", "prune", ".", "--min-size", "0", "--script"]).args(args).stdout(file).run().status(0);
}

fn run(dir: &Dir, shell: &[&str]) -> crate::harness::Run {
    let script = dir.aside("script");
    dir.ftk([""; 0]).instead(dir, shell.iter().copied().map(OsStr::new).chain([script.as_os_str()])).run()
}

/// Under every shell, the script leads to the same files and links as `--yes`.
#[test]
fn a_script_does_what_prune_does() {
    needs!("bash", "busybox");
    for action in ["hardlink", "symlink", "delete", "move=away"] {
        for shell in SHELLS {
            let dirs = [Dir::new(), Dir::new()];
            dirs.iter().for_each(|dir| plant(dir, 70, 80));
            let [by_script, by_prune] = &dirs;
            // The files of the two trees have other times.
            script(by_script, &["--keep", "first", "--action", action]);
            run(by_script, shell).status(0);
            let args =
                ["dup", "prune", ".", "--min-size", "0", "--keep", "first", "--action", action, "--yes"];
            by_prune.ftk(args).run().status(0);
            let shape = |dir: &Dir| {
                let files = contents_of(dir, ".");
                let names: Vec<_> =
                    files.iter().map(|(path, content, _)| (path.clone(), content.len())).collect();
                let links = |(path, ..): &(Vec<u8>, Vec<u8>, u64)| {
                    fs::symlink_metadata(dir.path(OsStr::from_bytes(path))).unwrap().nlink()
                };
                (names, files.iter().map(links).collect::<Vec<_>>())
            };
            assert_eq!(shape(by_script), shape(by_prune), "{action} with {shell:?}");
            if !action.starts_with("move") {
                // Links to empty files would free nothing.
                assert!(oracle(by_script, 1).is_empty());
            }
        }
    }
}

/// A script does not touch files that changed after it was written.
#[test]
fn a_script_compares_first() {
    needs!("bash", "busybox");
    for action in ["hardlink", "symlink", "delete", "move=away"] {
        for shell in SHELLS {
            let dir = Dir::new();
            dir.file("a", b"same").file("b", b"same").file("c", b"same");
            script(&dir, &["--action", action]);
            dir.file("b", b"SAME");
            let run = run(&dir, shell);
            run.check(run.code() != 0, "the script says so");
            assert_eq!(fs::read(dir.path("b")).unwrap(), b"SAME", "{action} with {shell:?}");
            assert_eq!(fs::read(dir.path("a")).unwrap(), b"same");
            assert_eq!(fs::symlink_metadata(dir.path("b")).unwrap().nlink(), 1);
        }
    }
}

#[test]
fn standard_output_has_only_the_script() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same");
    let run = dir.ftk(["dup", "prune", ".", "--action", "delete", "--script"]).run().status(0);
    run.check(run.out.starts_with(b"#!/bin/sh\n"), "it is a script");
    assert!(dir.path("a").exists() && dir.path("b").exists() && !dir.aside("state").exists());
}

/// Names that a careless script would run, expand, split or treat as options.
#[test]
fn h21_names_in_scripts_are_quoted() {
    needs!("bash", "busybox");
    let more: [&[u8]; 6] = [b"`touch Y`", b";touch Z", b"'; touch W; '", b"\\", b"\"$HOME\"", b"-n"];
    for action in ["hardlink", "symlink", "delete", "move=away"] {
        for shell in SHELLS {
            let dir = Dir::new();
            for (nth, name) in NAMES.iter().chain(&more).enumerate() {
                let keeper = [b"0", *name].concat();
                dir.raw_file(&keeper, format!("content {nth}").as_bytes());
                dir.raw_file(name, format!("content {nth}").as_bytes());
            }
            script(&dir, &["--keep", "path=./0*", "--action", action]);
            run(&dir, shell).status(0);
            for (nth, name) in NAMES.iter().chain(&more).enumerate() {
                let keeper = [b"0", *name].concat();
                let content = fs::read(dir.path(OsStr::from_bytes(&keeper))).unwrap();
                assert_eq!(content, format!("content {nth}").as_bytes(), "{name:?}");
                let metadata = fs::symlink_metadata(dir.path(OsStr::from_bytes(name)));
                let is_done = match action {
                    "hardlink" => metadata.is_ok_and(|it| it.nlink() == 2),
                    "symlink" => metadata.is_ok_and(|it| it.is_symlink()),
                    _ => metadata.is_err(),
                };
                assert!(is_done, "{action} with {shell:?}: {name:?}");
            }
            for made in ["X", "Y", "Z", "W"] {
                assert!(!dir.path(made).exists(), "{action} with {shell:?} ran a name");
            }
        }
    }
}
