//! Two commands that rewrite one manifest.

use std::fs;

use super::records::{Manifest, create};
use crate::harness::{Dir, Paused, bytes, has_open};

/// While one command rewrites a manifest, others are refused and change nothing.
#[test]
fn a_second_command_that_rewrites_a_manifest_is_refused() {
    let dir = Dir::new();
    dir.file("large", &bytes(1, 3_000_000)).file("small", b"small");
    let manifest = create(&dir, &[]);
    let before = fs::read(&manifest).unwrap();
    fs::hard_link(&manifest, dir.aside("same")).unwrap();
    let commands = [
        &["manifest", "scrub", "."][..],
        &["manifest", "update", "--check", "100%", ".", "-o", "../manifest"],
    ];
    for first in commands {
        let ftk = dir.ftk(first).arg("../manifest").args(["--limit-rate", "2M", "--io", "sync"]);
        let paused = Paused::when(ftk, |child| has_open(child, "large"));
        for second in commands {
            let run = dir.ftk(second).arg("../manifest").run().status(2).stdout("");
            run.stderr("ftk: '../manifest' is in use: another command rewrites it\n");
        }
        dir.ftk(["manifest", "scrub", ".", "../same"]).run().status(2).stderr_has(" is in use: ");
        assert_eq!(fs::read(&manifest).unwrap(), before);
        // Commands that only read it are not refused.
        dir.ftk(["manifest", "verify", ".", "../manifest"]).run().status(0);
        dir.ftk(["manifest", "update", ".", "../manifest", "-o", "../new", "--force"]).run().status(0);
        let done = paused.go_on();
        assert!(done.status.success(), "{done:?}");
        assert_ne!(fs::read(&manifest).unwrap(), before);
        dir.ftk(commands[0]).arg("../manifest").run().status(0);
        fs::write(&manifest, &before).unwrap();
        fs::remove_file(dir.aside("same")).unwrap();
        fs::hard_link(&manifest, dir.aside("same")).unwrap();
    }
}

/// A program that does not know the lock replaces the manifest: its file is kept.
#[test]
fn a_manifest_that_others_replace_is_not_overwritten() {
    let dir = Dir::new();
    dir.file("large", &bytes(1, 3_000_000));
    let manifest = create(&dir, &[]);
    let before = fs::read(&manifest).unwrap();
    for command in [
        &["manifest", "scrub", "."][..],
        &["manifest", "update", "--check", "100%", ".", "-o", "../manifest"],
    ] {
        let ftk = dir.ftk(command).arg("../manifest").args(["--limit-rate", "2M", "--io", "sync"]);
        let paused = Paused::when(ftk, |child| has_open(child, "large"));
        let mut other = Manifest::read(&manifest);
        other.paths.clear();
        fs::write(dir.aside("other"), b"replaced").unwrap();
        fs::rename(dir.aside("other"), &manifest).unwrap();
        let done = paused.go_on();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains("cannot write '../manifest': another program has replaced it"), "{said}");
        assert_eq!(fs::read(&manifest).unwrap(), b"replaced");
        fs::write(&manifest, &before).unwrap();
    }
}
