//! Manifests, copies and trees that are made to do harm.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::super::records::{lines, seal};
use super::{damage, keep, names, repair, said};
use crate::harness::Dir;

#[test]
fn nothing_is_written_through_a_link_in_the_tree() {
    let dir = Dir::new();
    dir.file("d/a", b"good").file("b", b"b").file("c", b"c").file("e", b"e");
    keep(&dir);
    fs::create_dir(dir.aside("outside")).unwrap();
    fs::remove_dir_all(dir.path("d")).unwrap();
    symlink(dir.aside("outside"), dir.path("d")).unwrap();
    let run = repair(&dir, &["--missing", "--yes"]).status(2);
    let refused = "refuse d/a a directory on the path of the file is a symbolic link, which is not followed";
    run.check(said(&run)[1..] == [refused], "it is refused");
    assert_eq!(names(&dir.aside("outside")), [""; 0]);
    // A file where a directory was.
    fs::remove_file(dir.path("d")).unwrap();
    dir.file("d", b"file");
    let run = repair(&dir, &["--missing", "--yes"]).status(2);
    run.check(said(&run)[1].contains("not a directory"), "it is refused");
    assert_eq!(fs::read(dir.path("d")).unwrap(), b"file");
}

#[test]
fn links_and_fifos_in_a_copy_are_not_read() {
    let dir = Dir::new();
    dir.file("d/a", b"good").file("b", b"fine").file("c", b"nice");
    keep(&dir);
    let copied = dir.aside("copy");
    fs::rename(copied.join("d"), dir.aside("outside")).unwrap();
    symlink(dir.aside("outside"), copied.join("d")).unwrap();
    fs::rename(copied.join("b"), dir.aside("b")).unwrap();
    symlink(dir.aside("b"), copied.join("b")).unwrap();
    fs::remove_file(copied.join("c")).unwrap();
    dir.fifo("../copy/c");
    for name in ["d/a", "b", "c"] {
        damage(&dir.path(name));
    }
    let run = repair(&dir, &["--yes"]).status(1);
    run.check(said(&run).iter().all(|line| line.starts_with("no copy ")), "no file is used");
    assert_eq!(said(&run).len(), 3);
}

#[test]
fn paths_outside_the_root_are_refused() {
    let dir = Dir::new();
    dir.file("d/a", b"good").file("b", b"b");
    keep(&dir);
    for path in ["../a", "/etc/a", "d/../../a", "d//a", "./a"] {
        let manifest = dir.aside("manifest");
        let changed: Vec<_> =
            lines(&manifest).iter().map(|line| line.replace("\"d/a\"", &format!("\"{path}\""))).collect();
        fs::write(dir.aside("evil"), seal(&changed)).unwrap();
        let ftk = dir.ftk(["manifest", "repair", ".", "--missing", "--yes"]).arg(dir.aside("evil"));
        ftk.arg("--from").arg(dir.aside("copy")).run().status(2).stdout("");
    }
}

/// The manifest claims that a set-user-ID program is damaged, and the copy has what should replace it.
#[test]
fn a_manifest_cannot_replace_the_content_of_a_set_id_program() {
    let dir = Dir::new();
    dir.file("su", b"evil").file("b", b"b");
    keep(&dir);
    let time = fs::metadata(dir.path("su")).unwrap().modified().unwrap();
    dir.file("su", b"good");
    fs::File::options().write(true).open(dir.path("su")).unwrap().set_modified(time).unwrap();
    fs::set_permissions(dir.path("su"), Permissions::from_mode(0o4755)).unwrap();
    fs::set_permissions(dir.aside("copy").join("su"), Permissions::from_mode(0o4755)).unwrap();
    repair(&dir, &["--yes"]).status(2);
    assert_eq!(fs::metadata(dir.path("su")).unwrap().permissions().mode() & 0o7777, 0o755);
}

#[test]
fn a_manifest_that_was_tampered_with_is_refused() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    let mut text = fs::read_to_string(dir.aside("manifest")).unwrap();
    text = text.replace("\"0644\"", "\"4755\"");
    fs::write(dir.aside("manifest"), text).unwrap();
    repair(&dir, &["--yes"]).status(2);
}
