//! Mounts inside a tree.

use crate::harness::{Dir, Mounted, gnu_find, needs, records, sorted};

/// A directory that is mounted below itself is entered once, as by GNU find. It is an error in both.
#[test]
fn a_directory_that_contains_itself_is_entered_once() {
    needs!("find");
    let dir = Dir::new();
    dir.file("a/b/c/covered", b"").file("a/f", b"x");
    let bind = ["--bind".into(), dir.path("a").into_os_string()];
    let Some(_bound) = Mounted::at(&dir.path("a/b"), bind) else { return };
    for threads in ["mono", "4"] {
        for more in [&[][..], &["-L"], &["--sort"], &["-S", "+0"]] {
            let run = dir.ftk(["find", "-0", "-j", threads, "a"]).args(more).run().status(2);
            // GNU find does not list the directory.
            let theirs = dir.ftk([] as [&str; 0]).instead(&dir, ["find", "a", "-print0"]).run().status(1);
            let mut expected = records(&theirs.out, 0);
            expected.push(b"a/b".to_vec());
            run.check(sorted(records(&run.out, 0)) == sorted(expected), "not what GNU find lists, and a/b");
            run.stderr_has("ftk: cannot enter 'a/b': leads back to \"a\"\n");
        }
        let theirs = dir.ftk([] as [&str; 0]).instead(&dir, ["find", "a", "-type", "f"]).run().status(1);
        dir.ftk(["find", "-j", threads, "-t", "f", "a"]).run().status(2).stdout(&theirs.out);
        let run = dir.ftk(["hash", "-j", threads, "a"]).run().status(2);
        run.check(run.text().ends_with("  a/f\n") && run.text().lines().count() == 1, "one file");
    }
    // As a starting point it is an ordinary directory.
    let run = dir.ftk(["find", "-0", "a/b"]).run().status(0).stderr("");
    run.check(sorted(records(&run.out, 0)) == gnu_find(&dir, &["a/b"]), "not what GNU find lists");
}

/// The listing of a directory shows the inode number of the file that the mount covers.
#[test]
fn samefile_finds_a_file_that_is_mounted_elsewhere() {
    needs!("find");
    let dir = Dir::new();
    dir.file("d/original", b"x").hard_link("d/original", "d/link").file("e/view", b"").file("e/other", b"");
    let bind = ["--bind".into(), dir.path("d/original").into_os_string()];
    let Some(_bound) = Mounted::at(&dir.path("e/view"), bind) else { return };
    let expected = gnu_find(&dir, &[".", "-samefile", "d/link"]);
    assert_eq!(expected.len(), 3);
    for option in [&["--samefile", "d/link"][..], &["--where", "samefile = \"d/link\""]] {
        let run = dir.ftk(["find", "-0"]).args(option).run().status(0);
        run.check(sorted(records(&run.out, 0)) == expected, "not what GNU find lists");
    }
}
