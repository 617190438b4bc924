//! Where the content comes from.

use std::fs;

use super::super::records::verify;
use super::{copy, damage, keep, names, repair, repair_from, said};
use crate::harness::Dir;

#[test]
fn content_is_found_under_another_name() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"same");
    keep(&dir);
    let copied = dir.aside("copy");
    fs::create_dir(copied.join("deep")).unwrap();
    fs::rename(copied.join("a"), copied.join("deep/other")).unwrap();
    fs::write(copied.join("decoy"), "evil").unwrap();
    damage(&dir.path("a"));
    let run = repair(&dir, &["--yes"]).status(0);
    run.check(said(&run)[0].ends_with("/copy/deep/other"), "the source is named");
    assert_eq!(fs::read(dir.path("a")).unwrap(), b"good");
}

#[test]
fn a_damaged_copy_is_not_used() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"fine");
    keep(&dir);
    damage(&dir.path("a"));
    damage(&dir.path("b"));
    damage(&dir.aside("copy").join("a"));
    let run = repair(&dir, &["--yes"]).status(1);
    run.check(said(&run)[0] == "no copy a no COPY has its recorded content", "it is said");
    let run = run.stderr_has("  repaired 1 file, 4 B; 1 without a good copy\n");
    run.check(said(&run)[1].starts_with("repair b "), "the other file is repaired");
    assert_ne!(fs::read(dir.path("a")).unwrap(), b"good");
    repair(&dir, &[]).status(1).stderr_has("  nothing would be repaired; 1 without a good copy\n");
}

/// With `-q`, what was repaired is not listed, and how to undo it is said.
#[test]
fn a_quiet_repair_keeps_what_is_needed() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"fine");
    keep(&dir);
    damage(&dir.path("a"));
    damage(&dir.path("b"));
    damage(&dir.aside("copy").join("a"));
    let plan = repair(&dir, &["-q"]).status(1).stderr("");
    assert_eq!(said(&plan).len(), 2);
    let run = repair(&dir, &["-q", "--yes"]).status(1);
    assert_eq!(said(&run), ["no copy a no COPY has its recorded content"]);
    let run = run.stderr_has("  to undo this: ftk undo '").stderr_has("  the damaged content is kept in '");
    run.check(run.err.lines().count() == 2, "no other line");
    let run = dir.ftk(["undo", "-q", "--last"]).run().status(0).stdout("");
    run.check(
        run.err.starts_with("  journal: '") && run.err.lines().count() == 1,
        "the journal that was found",
    );
}

#[test]
fn copies_are_searched_in_their_order() {
    let dir = Dir::new();
    dir.file("a", b"aaaa").file("b", b"bbbb").file("c", b"cccc");
    keep(&dir);
    copy(&dir, "second");
    let [first, second] = ["copy", "second"].map(|name| dir.aside(name));
    fs::remove_file(first.join("a")).unwrap();
    damage(&first.join("b"));
    fs::remove_file(second.join("c")).unwrap();
    for name in ["a", "b", "c"] {
        damage(&dir.path(name));
    }
    let run = repair_from(&dir, &["copy", "second"], &["--yes"]).status(0);
    let from = |line: &String| line.rsplit('/').nth(1).unwrap().to_owned();
    assert_eq!(said(&run).iter().map(from).collect::<Vec<_>>(), ["second", "second", "copy"]);
    verify(&dir, &[]).status(0);
}

/// The same path in a later copy is preferred to another path in an earlier one.
#[test]
fn the_same_path_is_preferred() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    copy(&dir, "second");
    fs::rename(dir.aside("copy").join("a"), dir.aside("copy").join("b")).unwrap();
    damage(&dir.path("a"));
    let run = repair_from(&dir, &["copy", "second"], &[]).status(0);
    run.check(said(&run)[0].ends_with("/second/a"), "the source is named");
}

#[test]
fn a_part_of_a_copy_that_cannot_be_read_is_an_error() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    damage(&dir.path("a"));
    let run = repair_from(&dir, &["copy", "none"], &["--yes"]).status(2);
    run.stderr_has("ftk: cannot open '");
    assert_ne!(fs::read(dir.path("a")).unwrap(), b"good");
    let run = repair_from(&dir, &["copy", "manifest"], &["--yes"]).status(2);
    run.stderr_has("/manifest' is not a directory\n");
    dir.ftk(["manifest", "repair", "."]).arg(dir.aside("manifest")).run().status(2).stderr_has("--from");
}

#[test]
fn the_tree_itself_can_be_a_copy() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"good");
    keep(&dir);
    damage(&dir.path("a"));
    let ftk = dir.ftk(["manifest", "repair", "."]).arg(dir.aside("manifest")).args(["--from", "."]);
    let run = ftk.arg("--yes").run().status(0);
    run.check(said(&run) == ["repair a 4 B from ./b"], "the source is named");
    verify(&dir, &[]).status(0);
    assert_eq!(names(&dir.path("")), ["a", "b"]);
}
