//! What a repair writes into the manifest: it removes marks of damage from the record of the repaired tree, and nothing else.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::{damage, keep, mark, repair};
use crate::harness::Dir;
use crate::manifest::records::{Manifest, verify};

/// A trial: `repair copy archive.jsonl --from archive --other-root` wrote inodes and times of the copy into the signed
/// manifest of the archive, and said nothing.
#[test]
fn no_fact_of_another_tree_is_recorded() {
    for is_marked in [false, true] {
        let dir = Dir::new();
        dir.file("a", b"good").file("d/b", b"fine");
        keep(&dir);
        damage(&dir.path("a"));
        if is_marked {
            mark(&dir);
        }
        let (copy, manifest) = (dir.aside("copy"), dir.aside("manifest"));
        fs::remove_dir_all(copy.join("d")).unwrap();
        damage(&copy.join("a"));
        let before = fs::read(&manifest).unwrap();
        dir.file("../good/a", b"good").file("../good/b", b"fine");
        let ftk = |args: &[&str]| {
            let ftk = dir.ftk(["manifest", "repair"]).arg(&copy).arg(&manifest).arg("--from");
            ftk.arg(dir.aside("good"))
                .args(["--missing", "--other-root", "--max-missing", "100%"])
                .args(args)
                .run()
        };
        let stay = if is_marked { ", and keeps 1 mark of damage\n" } else { "\n" };
        let said = format!("manifest' is not written (--other-root){stay}");
        ftk(&[]).status(0).stderr_has(&said);
        ftk(&["--yes"]).status(0).stderr_has(&said);
        assert_eq!(fs::read(copy.join("a")).unwrap(), b"good");
        assert_eq!(fs::read(copy.join("d/b")).unwrap(), b"fine");
        assert_eq!(fs::read(&manifest).unwrap(), before, "marked: {is_marked}");
    }
}

/// Without marks, the record of the tree says nothing that a repair makes untrue.
#[test]
fn a_record_without_marks_is_not_written() {
    let dir = Dir::new();
    dir.file("a", b"good").file("d/b", b"fine").file("c", b"other");
    keep(&dir);
    let manifest = dir.aside("manifest");
    let before = fs::read(&manifest).unwrap();
    // Then it may be read-only, and its directory too.
    fs::set_permissions(&manifest, Permissions::from_mode(0o444)).unwrap();
    damage(&dir.path("a"));
    fs::remove_dir_all(dir.path("d")).unwrap();
    repair(&dir, &["--missing", "--yes"]).status(0).stderr_lacks("manifest'");
    assert_eq!(fs::read(&manifest).unwrap(), before);
    verify(&dir, &[]).status(0);
    // The next update reads the new files, and records them.
    fs::set_permissions(&manifest, Permissions::from_mode(0o644)).unwrap();
    let update = dir.ftk(["manifest", "update", "."]).arg(&manifest).arg("-o").arg(&manifest).run();
    update.status(0).stderr_has("no changes to record");
}

#[test]
fn the_plan_says_that_marks_are_removed() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"good").hard_link("b", "l");
    keep(&dir);
    let manifest = dir.aside("manifest");
    for name in ["a", "b"] {
        damage(&dir.path(name));
    }
    mark(&dir);
    let marked = fs::read(&manifest).unwrap();
    let count = |run: crate::harness::Run| {
        run.text().lines().last().unwrap().split("\"marks_removed\":").nth(1).unwrap()[..1].to_owned()
    };
    repair(&dir, &[]).status(0).stderr_has("would also remove 3 marks of damage from '");
    assert_eq!(count(repair(&dir, &["--json"]).status(0)), "3");
    assert_eq!(fs::read(&manifest).unwrap(), marked);
    // A read-only manifest, such as a signed one, stays as it is, also if root repairs.
    fs::set_permissions(&manifest, Permissions::from_mode(0o444)).unwrap();
    let said = "manifest' is read-only, and keeps 3 marks of damage\n";
    repair(&dir, &[]).status(0).stderr_has(said);
    let run = repair(&dir, &["--yes", "--json"]).status(0).stderr_has(said);
    assert_eq!(count(run), "0");
    assert_eq!(fs::read(dir.path("l")).unwrap(), b"good");
    assert_eq!(fs::read(&manifest).unwrap(), marked);
    fs::set_permissions(&manifest, Permissions::from_mode(0o644)).unwrap();
    repair(&dir, &["--yes"]).status(0).stderr_has("  removed 3 marks of damage from '");
    assert!(["a", "b", "l"].iter().all(|name| Manifest::read(&manifest).entry(name)["damaged_ns"].is_null()));
    verify(&dir, &[]).status(0);
}

#[test]
fn a_part_is_repaired() {
    let dir = Dir::new();
    dir.file("a", b"good").file("tmp/b", b"good").file("tmp/c", b"fine");
    keep(&dir);
    damage(&dir.path("a"));
    damage(&dir.path("tmp/b"));
    fs::remove_file(dir.path("tmp/c")).unwrap();
    let args = ["--missing", "-E", "tmp"];
    repair(&dir, &args)
        .status(0)
        .stderr_has("  would repair 1 file, 4 B.")
        .stderr_has("  3 entries were not selected");
    // A glob that protects nothing stops the run.
    let run = repair(&dir, &["--yes", "-E", "temp"]).status(2);
    run.stderr_has("ftk: --exclude 'temp' matched nothing, so nothing was changed");
    assert_ne!(fs::read(dir.path("a")).unwrap(), b"good");
    repair(&dir, &[&args[..], &["--yes"]].concat()).status(0).stderr_has("  repaired 1 file, 4 B\n");
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"good");
    assert_ne!(fs::read(dir.path("tmp/b")).unwrap(), b"good");
    assert!(!dir.path("tmp/c").exists());
    // It matches only the record.
    fs::remove_dir_all(dir.path("tmp")).unwrap();
    repair(&dir, &["--yes", "--max-missing", "100%", "-E", "tmp"]).status(0);
}
