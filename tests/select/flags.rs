//! Single options: what they do beyond those of GNU find, and what they cost.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use crate::harness::{Dir, needs};

/// Returns the sorted paths without a leading `./`.
fn found(dir: &Dir, args: &[&str]) -> String {
    let run = dir.ftk(["find", "--sort"]).args(args).run().status(0);
    run.check(run.err.is_empty() || run.out.is_empty(), "messages only for an empty list");
    run.text().replace("./", "").replace('\n', " ").trim_end().to_owned()
}

#[test]
fn times_are_relative_or_local() {
    let dir = Dir::new();
    let now = SystemTime::now();
    let hour = Duration::from_secs(3600);
    for (name, age) in
        [("now", hour / 60), ("hours", 5 * hour), ("days", 60 * hour), ("weeks", 24 * 30 * hour)]
    {
        dir.file(name, b"");
        File::options().write(true).open(dir.path(name)).unwrap().set_modified(now - age).unwrap();
    }
    let files = |args: &[&str]| found(&dir, &[&["-t", "f"], args].concat());
    assert_eq!(files(&["--changed-within", "1h"]), "now");
    assert_eq!(files(&["--changed-within", "1 day"]), "hours now");
    assert_eq!(files(&["--changed-within", "1week"]), "days hours now");
    assert_eq!(files(&["--changed-before", "2h"]), "days hours weeks");
    assert_eq!(files(&["--changed-before", "2h", "--changed-within", "7d"]), "days hours");
    assert_eq!(files(&["--newer", "days"]), "hours now");
    // A date is in the time zone of TZ; 05:00 in UTC is noon seven hours east of it.
    let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_706_677_200);
    File::options().write(true).open(dir.path("now")).unwrap().set_modified(noon).unwrap();
    for (time, is_since) in [
        ("2024-01-31T12:00", true),
        ("2024-01-31T12:00:00.000000001", false),
        ("2024-01-31 11:59:59", true),
        ("2024-01-31T05:00Z", true),
        ("2024-01-31T05:01Z", false),
        ("2024-01-31", true),
        ("2024-02-01", false),
        ("@1706677200", true),
        ("@1706677200.5", false),
    ] {
        let run = dir
            .ftk(["find", "-n", "now", "--changed-within", time])
            .under(&dir, ["env", "TZ=XXX-7"])
            .run()
            .status(0);
        run.stdout(if is_since { "./now\n" } else { "" });
        let run = dir
            .ftk(["find", "-n", "now", "--changed-before", time])
            .under(&dir, ["env", "TZ=XXX-7"])
            .run()
            .status(0);
        run.stdout(if is_since { "" } else { "./now\n" });
    }
}

#[test]
fn paths_and_regular_expressions() {
    let dir = Dir::new();
    dir.file("src/a.rs", b"").file("src/sub/b.rs", b"").file("tests/src/c.rs", b"").file("A.RS", b"");
    assert_eq!(found(&dir, &["--path", "src/*.rs"]), "src/a.rs src/sub/b.rs");
    assert_eq!(found(&dir, &["--path", "./src/a.rs", "--path", "/A*"]), "A.RS src/a.rs");
    assert_eq!(found(&dir, &["--regex", r"^src/[^/]*\.rs$"]), "src/a.rs");
    assert_eq!(
        found(&dir, &["--regex", r"(?i)\.rs$", "--regex", "sub"]),
        "A.RS src/a.rs src/sub src/sub/b.rs tests/src/c.rs"
    );
    assert_eq!(found(&dir, &["--regex", "sub", "--path", "*.rs"]), "src/sub/b.rs");
    // Paths are matched below their starting point; a starting point that is a file is matched by its name.
    let run =
        dir.ftk(["find", "--sort", "--regex", "^src", "src", "tests", "tests/src/c.rs"]).run().status(0);
    run.stdout("src\ntests/src\ntests/src/c.rs\n".replace("tests/src/c.rs\n", "").as_bytes());
}

#[test]
fn samefile_and_links() {
    let dir = Dir::new();
    dir.file("a", b"1")
        .hard_link("a", "b")
        .symlink("a", "l")
        .file("other", b"1")
        .dir("d")
        .hard_link("a", "d/c");
    assert_eq!(found(&dir, &["--samefile", "a"]), "a b d/c");
    assert_eq!(found(&dir, &["--samefile", "l"]), "l");
    assert_eq!(found(&dir, &["--samefile", "d", "--samefile", "other"]), "d other");
    assert_eq!(found(&dir, &["-L", "--samefile", "l"]), "a b d/c l");
    assert_eq!(found(&dir, &["--links", "+1", "-t", "f"]), "a b d/c");
    assert_eq!(found(&dir, &["--links", "-3", "--links", "+0", "-t", "f"]), "other");
}

#[test]
fn empty_files_and_directories() {
    let dir = Dir::new();
    dir.dir("d").file("full/f", b"").file("x", b"1").fifo("p").dir("locked");
    assert_eq!(found(&dir, &["--empty"]), "d full/f locked");
    assert_eq!(found(&dir, &["--empty", "-t", "d"]), "d locked");
    assert_eq!(found(&dir, &["--empty", "full"]), "full/f");
    dir.lock("locked");
    // An unreadable directory is one error, whether or not the walk enters it.
    for depth in ["1", "2"] {
        let run =
            dir.ftk(["find", "--sort", "--empty", "--max-depth", depth]).unprivileged(&dir).run().status(2);
        run.stderr("ftk: cannot open './locked': permission denied\n");
    }
}

#[test]
fn permissions_and_owners() {
    let dir = Dir::new();
    dir.file("a", b"").file("b", b"");
    for (name, mode) in [("a", "4755"), ("b", "640")] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(u32::from_str_radix(mode, 8).unwrap());
        fs::set_permissions(dir.path(name), mode).unwrap();
    }
    let files = |args: &[&str]| found(&dir, &[&["-t", "f"], args].concat());
    assert_eq!(files(&["--perm", "640"]), "b");
    assert_eq!(files(&["--perm", "755"]), "");
    assert_eq!(files(&["--perm", "-600"]), "a b");
    assert_eq!(files(&["--perm", "/6000"]), "a");
    assert_eq!(files(&["--perm", "640", "--perm", "-1"]), "a b");
    let me = format!("{}:{}", rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    assert_eq!(files(&["--owner", &me]), "a b");
    assert_eq!(files(&["--owner", &format!("!{me}")]), "");
}

/// Metadata is requested once, for entries that match all filters on name, type and path. For `--samefile` the inode
/// number in the listing does not suffice: it may be that of a file that a mount covers.
#[test]
fn metadata_is_requested_only_if_it_decides() {
    needs!("strace");
    let dir = Dir::new();
    for nth in 0..30 {
        dir.file(format!("d/{nth}.c"), b"x")
            .file(format!("d/{nth}.h"), b"x")
            .file(format!("e/{nth}.o"), b"x");
    }
    dir.hard_link("d/7.h", "e/same.h");
    // The metadata of starting points is always requested.
    let stats = |args: &[&str]| {
        let log = dir.aside("log");
        let ftk = dir.ftk(["find", "-j", "2"]).args(args);
        let trace = [
            "strace",
            "-f",
            "-o",
            log.to_str().unwrap(),
            "-e",
            "trace=newfstatat,statx,stat,lstat,fstatat64",
        ];
        ftk.under(&dir, trace).run().status(0);
        let log = fs::read_to_string(log).unwrap();
        let of = |end: &str| log.lines().filter(|line| line.contains(end)).count();
        [".c\"", ".h\"", ".o\""].map(of)
    };
    assert_eq!(stats(&[]), [0, 0, 0]);
    assert_eq!(stats(&["-e", "c", "-n", "1*", "--regex", "d/", "-t", "f"]), [0, 0, 0]);
    assert_eq!(
        stats(&["-e", "c", "-S", "+0", "--changed-within", "1h", "--perm", "/777", "--links", "1"]),
        [30, 0, 0]
    );
    assert_eq!(stats(&["-n", "1.*", "-S", "+0"]), [1, 1, 1]);
    assert_eq!(stats(&["-t", "d", "-S", "+0"]), [0, 0, 0]);
    assert_eq!(stats(&["--regex", "^e/", "--empty"]), [0, 1, 30]);
    assert_eq!(stats(&["-e", "h", "--samefile", "d/7.h"]), [0, 32, 0]);
    assert_eq!(stats(&["--ignore-files", "-E", "*.c"]), [0, 0, 0]);
}
