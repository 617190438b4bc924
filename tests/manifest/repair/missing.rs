//! `--missing`: files that are gone.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use super::super::records::verify;
use super::{damage, keep, names, repair, said};
use crate::harness::{Dir, is_root};

fn mode(dir: &Dir, path: &str) -> u32 {
    fs::metadata(dir.path(path)).unwrap().mode() & 0o7777
}

#[test]
fn missing_files_and_their_directories_are_restored() {
    let dir = Dir::new();
    dir.file("a/b/c/file", b"deep").file("a/other", b"other").file("stay", b"stay").file("stay2", b"2");
    for (path, mode) in [("a/b/c/file", 0o604), ("a/b/c", 0o555), ("a/b", 0o2775), ("a", 0o711)] {
        fs::set_permissions(dir.path(path), Permissions::from_mode(mode)).unwrap();
    }
    if is_root() {
        for path in ["a/b/c/file", "a/b/c"] {
            chown(dir.path(path), Some(12), Some(34)).unwrap();
        }
    }
    keep(&dir);
    let before = fs::metadata(dir.path("a/b/c")).unwrap();
    fs::set_permissions(dir.path("a/b/c"), Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(dir.path("a")).unwrap();
    let run = repair(&dir, &["--max-missing", "5"]).status(1).stdout("");
    run.stderr_has("  no damage; 2 missing (--missing restores it)\n");
    repair(&dir, &["--missing"]).status(2).stderr_has("raise --max-missing");
    let run = repair(&dir, &["--missing", "--max-missing", "100%", "--yes"]).status(0);
    run.stderr_has("  restored 2 missing files, 9 B\n");
    assert_eq!(fs::read(dir.path("a/b/c/file")).unwrap(), b"deep");
    assert_eq!((mode(&dir, "a/b/c/file"), mode(&dir, "a/b/c"), mode(&dir, "a")), (0o604, 0o555, 0o711));
    assert_eq!(mode(&dir, "a/b"), 0o775, "set-group-ID is not restored");
    let after = fs::metadata(dir.path("a/b/c")).unwrap();
    assert_eq!((after.uid(), after.gid(), after.mtime()), (before.uid(), before.gid(), before.mtime()));
    if is_root() {
        assert_eq!(fs::metadata(dir.path("a/b/c/file")).unwrap().uid(), 12);
    }
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().starts_with("metadata\ta/b\t") && run.text().lines().count() == 1, "only that bit");
}

/// Nothing is missing in the directory of the damaged file.
#[test]
fn a_damaged_file_and_a_missing_one_in_other_directories_are_restored() {
    let dir = Dir::new();
    dir.file("a/damaged", b"good").file("b/missing", b"gone").file("c", b"c");
    keep(&dir);
    damage(&dir.path("a/damaged"));
    fs::remove_file(dir.path("b/missing")).unwrap();
    repair(&dir, &["--missing", "--yes"]).status(0);
    assert_eq!(fs::read(dir.path("a/damaged")).unwrap(), b"good");
    assert_eq!(fs::read(dir.path("b/missing")).unwrap(), b"gone");
}

#[test]
fn set_id_bits_of_missing_files_are_not_restored() {
    let dir = Dir::new();
    dir.file("a", b"good").file("b", b"b").file("c", b"c");
    fs::set_permissions(dir.path("a"), Permissions::from_mode(0o6755)).unwrap();
    keep(&dir);
    fs::remove_file(dir.path("a")).unwrap();
    for args in [&["--missing"][..], &["--missing", "--yes"]] {
        let run = repair(&dir, args).status(1);
        let left = "leave a lacks recorded set-ID bits or capabilities: set them yourself";
        run.check(said(&run)[0] == left, "it is listed");
    }
    assert_eq!(mode(&dir, "a"), 0o755);
}

#[test]
fn renamed_files_are_not_restored() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same").file("c", b"c");
    keep(&dir);
    fs::rename(dir.path("a"), dir.path("new")).unwrap();
    let run = repair(&dir, &["--missing", "--yes"]).status(0);
    run.check(said(&run) == ["leave a its content is now at new"], "it is listed");
    // One new file stands for one missing file.
    fs::remove_file(dir.path("b")).unwrap();
    let run = repair(&dir, &["--missing", "--yes", "--max-missing", "100%"]).status(0);
    run.check(said(&run)[1].starts_with("restore b "), "the second file is restored");
    assert_eq!(names(&dir.path("")), ["b", "c", "new"]);
}

/// An empty file that is new is not the missing one.
#[test]
fn a_missing_empty_file_is_restored_next_to_a_new_one() {
    let dir = Dir::new();
    dir.file("a/__init__.py", b"").file("a/x", b"x").file("b", b"b").file("z/y", b"y");
    keep(&dir);
    // The file system may give the new file the inode number of the removed one.
    fs::remove_file(dir.path("a/__init__.py")).unwrap();
    dir.file("z/.lock", b"");
    let found = verify(&dir, &["--ignore", "mtime"]).status(1);
    found.stdout("missing\ta/__init__.py\nnew\tz/.lock\n");
    let run = repair(&dir, &["--missing", "--yes"]).status(0);
    run.check(said(&run)[0].starts_with("restore a/__init__.py "), "the empty file is restored");
    assert_eq!(names(&dir.path("a")), ["__init__.py", "x"]);
}

#[test]
fn links_and_special_files_are_counted() {
    let dir = Dir::new();
    dir.file("a", b"a").file("b", b"b").symlink("a", "link");
    keep(&dir);
    fs::remove_file(dir.path("link")).unwrap();
    let run = repair(&dir, &["--missing", "--yes"]).status(1);
    run.stderr_has("  1 missing link, special file or empty directory cannot be restored by repair\n");
}

#[test]
fn an_ordinary_user_restores_own_files() {
    let dir = Dir::new();
    dir.file("d/a", b"a").file("d/b", b"b").file("c", b"c").dir("../state");
    if !is_root() {
        return;
    }
    chown(dir.path("d/b"), Some(12), Some(34)).unwrap();
    for path in [dir.path(""), dir.path("d"), dir.path("d/a"), dir.aside("state")] {
        chown(path, Some(65534), Some(65534)).unwrap();
    }
    fs::set_permissions(dir.path("d/b"), Permissions::from_mode(0o4755)).unwrap();
    keep(&dir);
    // The directory of the manifest belongs to the user, too.
    fs::create_dir(dir.aside("own")).unwrap();
    fs::rename(dir.aside("manifest"), dir.aside("own").join("manifest")).unwrap();
    for path in [dir.aside("own"), dir.aside("own").join("manifest")] {
        chown(path, Some(65534), Some(65534)).unwrap();
    }
    fs::remove_dir_all(dir.path("d")).unwrap();
    let ftk = dir.ftk(["manifest", "repair", ".", "--missing", "--max-missing", "100%", "--yes"]);
    let ftk = ftk.arg(dir.aside("own").join("manifest")).arg("--from").arg(dir.aside("copy"));
    ftk.unprivileged(&dir).run().status(1).stderr_has("; 1 left\n");
    for (name, mode) in [("d/a", 0o644), ("d/b", 0o755)] {
        let metadata = fs::metadata(dir.path(name)).unwrap();
        assert_eq!(
            (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777),
            (65534, 65534, mode),
            "{name}"
        );
    }
}

/// A file below a tag exists. It is neither restored over itself nor called another one.
#[test]
fn what_a_tag_hides_is_not_missing() {
    let dir = Dir::new();
    dir.file("t/d/x", b"1").file("t/e/y", b"2").file("t/gone/z", b"3").file("t/stay", b"4");
    let create = ["manifest", "create", "-q", "t", "-o", "m", "--exclude-caches"];
    dir.ftk(create).args(["--exclude-if-present", ".nobackup"]).run().status(0);
    let copy = std::process::Command::new("cp").arg("-a").args([dir.path("t"), dir.path("copy")]).status();
    assert!(copy.unwrap().success());
    dir.file("t/d/CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55").file("t/e/.nobackup", b"");
    fs::remove_file(dir.path("t/gone/z")).unwrap();
    let why = "a tag or an option of the record hides it or its directory: neither compared nor restored";
    let args = ["manifest", "repair", "t", "m", "--from", "copy", "--missing", "--max-missing", "100%"];
    for yes in [&[][..], &["--yes"]] {
        let run = dir.ftk(args).args(yes).run().status(1);
        for path in ["d/x", "e/y"] {
            let line = run.text().lines().find(|line| line.contains(path)).unwrap_or_default();
            run.check(line.trim_start().starts_with("leave ") && line.ends_with(why), path);
        }
        run.stderr_has("1 missing file, 1 B; 2 left");
    }
    assert_eq!(fs::read(dir.path("t/gone/z")).unwrap(), b"3");
    // Whether a hidden file is gone is not known either, until the tag is gone.
    fs::remove_file(dir.path("t/d/x")).unwrap();
    dir.ftk(args).arg("--yes").run().status(1).stderr_has("nothing was repaired; 2 left");
    fs::remove_file(dir.path("t/d/CACHEDIR.TAG")).unwrap();
    dir.ftk(args).arg("--yes").run().status(1).stderr_has("restored 1 missing file, 1 B; 1 left");
    assert_eq!(fs::read(dir.path("t/d/x")).unwrap(), b"1");
}
