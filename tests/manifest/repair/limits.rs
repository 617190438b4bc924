//! Guards, locks, full disks and directories without permissions.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;

use super::{damage, keep, mark, names, repair};
use crate::harness::{Dir, Mounted, bytes, is_root, signal, wait_until};

#[test]
fn another_root_is_refused() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"b");
    keep(&dir);
    let Some(other) = Mounted::new("tmpfs") else { return };
    fs::copy(dir.path("a"), other.path("a")).unwrap();
    let repair = |args: &[&str]| {
        let ftk = dir.ftk(["manifest", "repair"]).arg(other.path("")).arg(dir.aside("manifest"));
        ftk.arg("--from").arg(dir.aside("copy")).args(args).run()
    };
    repair(&["--missing", "--yes"]).status(2).stderr_has("is not the recorded directory");
    assert_eq!(names(&other.path("")), ["a"]);
    let run = repair(&["--missing", "--yes", "--other-root"]).status(1);
    run.stderr_has("with other metadata (--metadata restores it)\n");
    assert_eq!(fs::read(other.path("b")).unwrap(), b"b");
}

#[test]
fn a_locked_manifest_is_refused() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    damage(&dir.path("a"));
    let file = File::open(dir.aside("manifest")).unwrap();
    flock(&file, FlockOperation::LockExclusive).unwrap();
    repair(&dir, &["--yes"]).status(2).stderr_has("is in use: another command rewrites it");
    repair(&dir, &[]).status(0);
    // A process that another test starts at this moment holds the file until it runs its program, so closing does not
    // unlock it.
    flock(&file, FlockOperation::Unlock).unwrap();
    repair(&dir, &["--yes"]).status(0);
}

#[test]
fn standard_input_is_only_planned() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    damage(&dir.path("a"));
    let manifest = fs::read(dir.aside("manifest")).unwrap();
    let ftk = |args: &[&str]| {
        let ftk = dir.ftk(["manifest", "repair", ".", "-", "--from"]).arg(dir.aside("copy"));
        ftk.args(args).stdin(&manifest).run()
    };
    ftk(&[]).status(0);
    ftk(&["--yes"]).status(2).stderr_has("it cannot be standard input");
}

#[test]
fn a_manifest_without_digests_cannot_repair() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    super::create(&dir, &["--no-content"]);
    repair(&dir, &[]).status(2).stderr_has("records no digests");
}

#[test]
fn a_full_disk_is_noticed_before_anything_changes() {
    let point = tempfile::tempdir().unwrap();
    let Some(disk) = Mounted::at(point.path(), ["-t", "tmpfs", "-o", "size=3M", "none"]) else { return };
    let dir = Dir::new();
    let content = bytes(1, 2 << 20);
    fs::create_dir(dir.aside("copy")).unwrap();
    fs::write(dir.aside("copy").join("a"), &content).unwrap();
    let status = Command::new("cp").arg("-a").arg(dir.aside("copy").join("a")).arg(disk.path("a")).status();
    assert!(status.unwrap().success());
    dir.ftk(["manifest", "create", "-o"]).arg(dir.aside("manifest")).arg(disk.path("")).run().status(0);
    damage(&disk.path("a"));
    let damaged = fs::read(disk.path("a")).unwrap();
    let repair = || {
        let ftk = dir.ftk(["manifest", "repair", "--yes"]).arg(disk.path("")).arg(dir.aside("manifest"));
        ftk.arg("--from").arg(dir.aside("copy")).run()
    };
    repair().status(2).stderr_has("not enough space on the file system of '");
    assert!(fs::read(disk.path("a")).unwrap() == damaged);
    assert_eq!(names(&disk.path("")), ["a"]);
    assert!(!dir.aside("state").exists(), "no journal");
}

#[test]
fn a_directory_without_permission_is_an_error() {
    let dir = Dir::new();
    dir.file("d/a", b"good").file("b", b"good");
    keep(&dir);
    for name in ["d/a", "b"] {
        damage(&dir.path(name));
    }
    fs::create_dir(dir.aside("state")).unwrap();
    if !is_root() {
        return;
    }
    let own = |path: &std::path::Path| std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
    fs::create_dir(dir.aside("own")).unwrap();
    fs::rename(dir.aside("manifest"), dir.aside("own").join("manifest")).unwrap();
    let manifest = dir.aside("own").join("manifest");
    for path in
        [&dir.path(""), &dir.path("b"), &dir.path("d/a"), &dir.aside("state"), &dir.aside("own"), &manifest]
    {
        own(path);
    }
    fs::set_permissions(dir.path("d"), Permissions::from_mode(0o755)).unwrap();
    let ftk =
        dir.ftk(["manifest", "repair", ".", "--yes"]).arg(&manifest).arg("--from").arg(dir.aside("copy"));
    let run = ftk.unprivileged(&dir).run().status(2);
    run.check(run.err.contains("ftk: 'd/a': ") && run.err.contains("permission denied"), "it is listed");
    assert_eq!(fs::read(dir.path("b")).unwrap(), b"good");
    assert_ne!(fs::read(dir.path("d/a")).unwrap(), b"good");
    assert_eq!(names(&dir.path("d")), ["a"]);
    assert!(fs::read_to_string(&manifest).unwrap().contains("\"d/a\""));
}

#[test]
fn a_manifest_that_cannot_be_written_stops_the_run() {
    let dir = Dir::new();
    dir.file("a", b"good");
    keep(&dir);
    damage(&dir.path("a"));
    mark(&dir);
    if !is_root() {
        return;
    }
    for path in [dir.path(""), dir.path("a")] {
        std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
    }
    let ftk = dir.ftk(["manifest", "repair", ".", "--yes"]).arg(dir.aside("manifest"));
    let run = ftk.arg("--from").arg(dir.aside("copy")).unprivileged(&dir).run().status(2);
    run.stderr_has("cannot write '");
    assert_ne!(fs::read(dir.path("a")).unwrap(), b"good");
}

/// The file that is being restored is finished, and the manifest is written.
#[test]
fn a_signal_ends_the_run_between_two_files() {
    let dir = Dir::new();
    // Each file is larger than a batch.
    for (seed, name) in [(1, "a"), (2, "b")] {
        dir.file(name, &bytes(seed, 17 << 20));
    }
    keep(&dir);
    for name in ["a", "b"] {
        damage(&dir.path(name));
    }
    mark(&dir);
    let ftk =
        dir.ftk(["manifest", "repair", ".", "--yes", "--limit-rate", "100M"]).arg(dir.aside("manifest"));
    let child = ftk.arg("--from").arg(dir.aside("copy")).arg("--journal").arg(dir.aside("journal")).spawn();
    wait_until(|| fs::read_to_string(dir.aside("journal")).is_ok_and(|text| text.contains("\"step\":0")));
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(2), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("  not done b"), "{said}");
    let is_done = said.contains("  repair   a");
    let manifest = super::super::records::Manifest::read(&dir.aside("manifest"));
    assert_eq!(manifest.entry("a")["damaged_ns"].is_null(), is_done, "{said}");
    assert!(manifest.entry("b")["damaged_ns"].is_number());
    repair(&dir, &["--yes"]).status(0);
    assert_eq!(names(&dir.path("")), ["a", "b"]);
    super::super::records::verify(&dir, &[]).status(0);
}

#[test]
fn a_read_only_file_system_is_an_error() {
    let point = tempfile::tempdir().unwrap();
    let Some(disk) = Mounted::at(point.path(), ["-t", "tmpfs", "none"]) else { return };
    let dir = Dir::new();
    for path in [disk.path("a"), dir.aside("copy").join("a")] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "good").unwrap();
    }
    dir.ftk(["manifest", "create", "-o"]).arg(dir.aside("manifest")).arg(disk.path("")).run().status(0);
    damage(&disk.path("a"));
    let status = Command::new("mount").args(["-o", "remount,ro"]).arg(point.path()).status();
    assert!(status.unwrap().success());
    let ftk = dir.ftk(["manifest", "repair", "--yes"]).arg(disk.path("")).arg(dir.aside("manifest"));
    let run = ftk.arg("--from").arg(dir.aside("copy")).run().status(2);
    run.check(run.says("cannot make the copy: read-only file system"), "it is listed");
}
