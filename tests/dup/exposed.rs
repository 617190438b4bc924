//! Symbolic links only to files that no other user can change or replace.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use rustix::fs::{XattrFlags, setxattr};

use crate::harness::{Dir, Run, is_root};

/// A user without any rights, and not the owner of anything in the tree.
const OTHER: u32 = 65534;

/// An access control list that lets one more user write: `u::rw-`, `u:65534:rw-`, `g::r--`, `m::rw-`, `o::r--`.
fn acl() -> Vec<u8> {
    let mut acl = 2_u32.to_le_bytes().to_vec();
    for (tag, perm, id) in
        [(1_u16, 6_u16, u32::MAX), (2, 6, OTHER), (4, 4, u32::MAX), (0x10, 6, u32::MAX), (0x20, 4, u32::MAX)]
    {
        acl.extend_from_slice(&tag.to_le_bytes());
        acl.extend_from_slice(&perm.to_le_bytes());
        acl.extend_from_slice(&id.to_le_bytes());
    }
    acl
}

fn prune(dir: &Dir, how: &[&str]) -> Run {
    let args = ["dup", "prune", "--action", "symlink", "--metadata-may-differ", "--reference", "t/keep/in"];
    dir.ftk(args).args(how).args(["t"]).run()
}

/// Prepares a tree, in which `b` is a copy of `keep/in/a`, and checks that every way of acting refuses `b`, or that none
/// does.
fn check(what: &str, is_refused: bool, prepare: impl Fn(&Dir)) {
    let tree = || {
        let dir = Dir::new();
        dir.file("t/keep/in/a", b"content").file("t/b", b"content");
        prepare(&dir);
        dir
    };
    let dir = tree();
    let is_link = |dir: &Dir| dir.path("t/b").is_symlink();
    let expect = |run: Run, dir: &Dir| {
        run.check(run.code() == if is_refused { 2 } else { 0 }, what);
        run.check(run.says("another user can") == is_refused, what);
        run.check(is_link(dir) != is_refused, what);
    };
    let plan = prune(&dir, &[]);
    plan.check(plan.code() == if is_refused { 2 } else { 0 } && !is_link(&dir), what);
    expect(prune(&dir, &["--yes"]), &dir);
    // A script checks again when it runs, as the mode may have changed since.
    let dir = Dir::new();
    dir.file("t/keep/in/a", b"content").file("t/b", b"content");
    let script = prune(&dir, &["--script"]).status(0).out;
    prepare(&dir);
    fs::write(dir.aside("script"), script).unwrap();
    let ran =
        std::process::Command::new("sh").arg(dir.aside("script")).current_dir(dir.path("")).output().unwrap();
    assert_eq!(ran.status.code(), Some(if is_refused { 2 } else { 0 }), "{what}: {ran:?}");
    assert_eq!(is_link(&dir), !is_refused, "{what}");
}

#[test]
fn a_file_that_another_user_can_change_is_not_linked_to() {
    let mode = |path: &'static str, mode: u32| {
        move |dir: &Dir| fs::set_permissions(dir.path(path), Permissions::from_mode(mode)).unwrap()
    };
    for (path, bits, is_refused) in [
        ("t/keep/in/a", 0o644, false),
        ("t/keep/in/a", 0o664, true),
        ("t/keep/in/a", 0o646, true),
        ("t/keep/in", 0o755, false),
        ("t/keep/in", 0o775, true),
        ("t/keep/in", 0o1777, false),
        ("t/keep", 0o777, true),
        ("t/keep", 0o1775, false),
        ("t", 0o757, true),
    ] {
        check(&format!("{path} {bits:o}"), is_refused, mode(path, bits));
    }
    check("an access control list", true, |dir| {
        setxattr(dir.path("t/keep/in/a"), "system.posix_acl_access", &acl(), XattrFlags::empty()).unwrap();
    });
    // What others can do to the victim does not matter.
    check("a victim that all can write to", false, mode("t/b", 0o666));
}

#[test]
fn a_file_of_another_user_is_not_linked_to_unless_root_acts_for_its_owner() {
    if !is_root() {
        return; // only root changes owners
    }
    let chown = |dir: &Dir, paths: &[&str]| {
        for path in paths {
            std::os::unix::fs::chown(dir.path(path), Some(OTHER), None).unwrap();
        }
    };
    check("a file of another user", true, |dir| chown(dir, &["t/keep/in/a"]));
    check("a directory of another user", true, |dir| chown(dir, &["t/keep"]));
    check("a victim of another user", false, |dir| chown(dir, &["t/b"]));
    check("everything of one user", false, |dir| {
        chown(dir, &["t", "t/keep", "t/keep/in", "t/keep/in/a", "t/b"]);
    });
}
