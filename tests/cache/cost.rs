//! What the cache may not cost: system calls and syncs in a first run, memory, and errors.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};

use super::{cached, counted, place, settle, stored};
use crate::harness::{Dir, bytes, is_root, needs};

const FILES: usize = 500;

/// Returns a tree of small files.
fn tree() -> Option<Dir> {
    let dir = place()?;
    for nth in 0..FILES {
        dir.file(format!("t/{}/{nth:030}", nth % 10), &bytes(nth as u64 / 2, 40));
    }
    settle();
    Some(dir)
}

/// Returns how often a command makes these calls.
fn calls(dir: &Dir, args: &[&str], names: &str) -> usize {
    let log = dir.aside("log");
    let strace = ["strace", "-f", "-qq", "-o", log.to_str().unwrap(), "-e", names];
    let run = dir.ftk(args).args(["-q", "-j", "mono"]).under(dir, strace).run();
    run.check(run.code() < 2, "no error");
    fs::read_to_string(&log).unwrap().lines().filter(|line| line.contains('(')).count()
}

#[test]
fn a_first_run_examines_no_files_and_syncs_once() {
    needs!("strace");
    let Some(dir) = tree() else { return };
    let stats = "statx,newfstatat,fstatat64,stat,lstat";
    let all = |args: &[&str]| [calls(&dir, args, stats), calls(&dir, args, "fsync,fdatasync")];
    // SQLite makes some of these calls, too.
    const SQLITE: usize = 300;
    let [plain, _] = all(&["hash", "t"]);
    let first = calls(&dir, &["hash", "t", "--cache"], stats);
    assert!(first < plain + SQLITE, "{first} calls instead of {plain}");
    dir.ftk(["cache", "clear"]).run().status(0);
    // The journal, its directory and the store.
    assert_eq!(calls(&dir, &["hash", "t", "--cache"], "fsync,fdatasync"), 3);
    // Files that are known are examined; others are not.
    let [second, syncs] = all(&["hash", "t", "--cache"]);
    assert!((plain + FILES..plain + FILES + SQLITE).contains(&second) && syncs == 0, "{second}, {syncs}");
    dir.dir("u");
    (0..FILES).for_each(|nth| _ = dir.file(format!("u/{nth}"), b"new"));
    settle();
    let other = calls(&dir, &["hash", "u", "--cache"], stats);
    assert!(other < plain + SQLITE, "{other} calls instead of {plain}");
    // `dup` needs the sizes anyway.
    let [plain, _] = all(&["dup", "t"]);
    calls(&dir, &["dup", "t", "--cache"], stats);
    let second = calls(&dir, &["dup", "t", "--cache"], stats);
    assert!(second < plain + SQLITE, "{second} calls instead of {plain}");
}

/// Returns the least memory, in KiB, with which a command succeeds.
fn least(dir: &Dir, args: &[&str]) -> usize {
    let is_enough = |kib: usize| {
        let memory = format!("{kib}K");
        dir.ftk(args).args(["--memory", &memory, "-j", "mono"]).run().code() < 2
    };
    (1..200).map(|nth| 32 * nth).find(|&kib| is_enough(kib)).expect("six megabytes are enough")
}

#[test]
fn a_tree_that_fits_into_the_memory_fits_with_the_cache() {
    let Some(dir) = place() else { return };
    for nth in 0..4000 {
        dir.file(format!("t/{}/{nth:030}", nth % 10), &bytes(nth / 2, 40));
    }
    settle();
    for args in [&["hash", "t"][..], &["dup", "t"], &["manifest", "create", "t"]] {
        let first = least(&dir, args);
        dir.ftk(["cache", "clear"]).run().status(0);
        for nth in 0..2 {
            for more in [0, 32, 64, 96, 128, 256, 1024] {
                let memory = format!("{}K", first + more);
                let args = [args, &["--memory", &memory, "-j", "mono", "--cache"]].concat();
                let (run, reused) = counted(&dir, dir.ftk(&args).arg("-q"));
                run.check(run.code() < 2, &memory);
                run.stderr("");
                assert_eq!(reused > Some(0), nth > 0 || more > 0, "{args:?}");
            }
        }
    }
}

/// A directory that can be listed but not searched.
#[test]
fn files_that_cannot_be_examined_are_counted_as_without_the_cache() {
    let Some(dir) = place() else { return };
    dir.file("t/a/one", b"1").file("t/a/two", b"2").file("t/b", b"3");
    settle();
    fs::create_dir(dir.aside("cache")).unwrap();
    if is_root() {
        chown(dir.aside("cache"), Some(65534), Some(65534)).unwrap();
    }
    for args in [&["hash", "t"][..], &["manifest", "create", "t"]] {
        let run = |option: &[&str]| dir.ftk(args).args(option).unprivileged(&dir).run();
        run(&["--cache"]).status(0);
        fs::set_permissions(dir.path("t/a"), fs::Permissions::from_mode(0o744)).unwrap();
        let lines =
            |err: &str| err.lines().filter(|line| !line.contains(" in ")).collect::<Vec<_>>().join("\n");
        let expected = run(&[]).status(2);
        assert!(expected.err.contains("2 files not "), "{}", expected.err);
        for _ in 0..2 {
            let cached = run(&["--cache"]).status(2).stderr_has("1 digest reused");
            assert_eq!(lines(&cached.err), lines(&expected.err));
        }
        fs::set_permissions(dir.path("t/a"), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn links_that_are_followed_are_reused() {
    let Some(dir) = place() else { return };
    dir.file("a", b"1").file("t/b", b"2").symlink("../a", "t/link").symlink("b", "t/to b");
    settle();
    for args in [&["hash", "-L", "t"][..], &["hash", "-L", "t", "a", "t/link"]] {
        dir.ftk(["cache", "clear"]).run().status(0);
        let files = dir.ftk(args).run().status(0).text().lines().count() as u64;
        assert_eq!((cached(&dir, args), cached(&dir, args)), (0, files), "{args:?}");
        assert_eq!(stored(&dir), 2);
    }
}
