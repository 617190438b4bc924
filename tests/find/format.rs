//! `ftk find --format`, each field compared with `find -printf`.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::harness::{Dir, needs, records, sorted};

fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("a.tar.gz", b"abc").file("d/.hidden", b"").file("d/e/f.c", &[7; 10_000]).dir("empty.d");
    dir.symlink("a.tar.gz", "link").symlink("nowhere", "d/broken").fifo("fifo").socket("socket");
    dir.hard_link("d/e/f.c", "d/g").raw_file(b"new\nline\xff", b"");
    fs::set_permissions(dir.path("d/g"), Permissions::from_mode(0o4711)).unwrap();
    fs::set_permissions(dir.path("empty.d"), Permissions::from_mode(0o1700)).unwrap();
    let set = |path: &str, mtime| File::open(dir.path(path)).unwrap().set_modified(mtime).unwrap();
    set("a.tar.gz", SystemTime::UNIX_EPOCH + Duration::new(1_751_371_200, 1));
    set("d/.hidden", SystemTime::UNIX_EPOCH - Duration::from_millis(1500));
    dir
}

fn gnu(dir: &Dir, args: &[&str], format: &str, zone: &str) -> Vec<Vec<u8>> {
    let mut find = Command::new("find");
    find.args(args).args(["-printf", &format!("{format}\\0")]).current_dir(dir.path(""));
    sorted(records(&find.env("LC_ALL", "C").env("TZ", zone).output().unwrap().stdout, 0))
}

#[test]
fn fields_are_those_of_find() {
    needs!("find");
    let dir = tree();
    for (ours, theirs) in [
        ("{path}", "%p"),
        ("{path}|{name}", "%p|%f"),
        ("{path}|{root}|{relative}", "%p|%H|%P"),
        ("{path}|{type}|{depth}|{size}|{blocks}", "%p|%y|%d|%s|%b"),
        ("{path}|{mode}|{permissions}", "%p|%m|%M"),
        ("{path}|{uid}|{gid}|{user}|{group}", "%p|%U|%G|%u|%g"),
        ("{path}|{links}|{inode}|{device}|{target}", "%p|%n|%i|%D|%l"),
        (r"{{\t{path}\\\n}}", r"{\t%p\\\n}"),
    ] {
        for threads in ["mono", "8"] {
            for roots in [&["."][..], &["d", "empty.d", "link"], &["d", "./empty.d/../link"]] {
                let ftk = dir.ftk(["find", "-0", "-j", threads, "--format", ours]).args(roots);
                let run = ftk.run().status(0).stderr("");
                run.check(
                    sorted(records(&run.out, 0)) == gnu(&dir, roots, theirs, "UTC"),
                    "not what find prints",
                );
            }
        }
    }
    let run = dir.ftk(["find", "-0", "--format", "{path}|{root}|{relative}", "d//"]).run().status(0);
    run.check(sorted(records(&run.out, 0)) == gnu(&dir, &["d//"], "%p|%H|%P", "UTC"), "not what find prints");
    // Starting points are excluded: for those that end with a slash, `%h` differs from `{dir}`.
    let below = ["find", "-0", "--min-depth", "1", "--format", "{path}|{dir}", "."];
    let run = dir.ftk(below).run().status(0);
    run.check(sorted(records(&run.out, 0)) == gnu(&dir, &[".", "-mindepth", "1"], "%p|%h", "UTC"), "%h");
}

#[test]
fn times_are_local_and_say_so() {
    needs!("find");
    let dir = tree();
    for zone in ["UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "XXX+4:30"] {
        let ours = "{path}|{mtime}|{ctime}|{atime}|{mtime_ns}";
        let env = format!("TZ={zone}");
        let run =
            dir.ftk(["find", "-0", "-t", "f", "--format", ours]).under(&dir, ["env", &env]).run().status(0);
        let time = |which: &str| {
            ["Y-", "m-", "dT", "H:", "M:", "S", "z"].map(|part| format!("%{which}{part}")).concat()
        };
        let theirs = format!("%p|{}|{}|{}|%T@", time("T"), time("C"), time("A"));
        // GNU find writes the fraction with ten digits and the offset without a colon.
        let theirs = gnu(&dir, &[".", "-type", "f"], &theirs, zone).into_iter().map(|line| {
            let fields: Vec<_> = line.split(|&byte| byte == b'|').collect();
            let date = |field: &[u8]| {
                let (digits, offset) = field.split_at(field.len() - 5);
                [&digits[..digits.len() - 1], &offset[..3], b":", &offset[3..]].concat()
            };
            let seconds = str::from_utf8(fields[4]).unwrap();
            let nanoseconds = (nanoseconds(seconds)).to_string().into_bytes();
            [fields[0].to_vec(), date(fields[1]), date(fields[2]), date(fields[3]), nanoseconds].join(&b'|')
        });
        let theirs = sorted(theirs.collect());
        run.check(sorted(records(&run.out, 0)) == theirs, &format!("not what find prints in {zone}"));
    }
    let run = dir.ftk(["find", "a.tar.gz", "--format", "{mtime} {mtime_ns}"]).run().status(0);
    run.stdout("2025-07-01T12:00:00.000000001+00:00 1751371200000000001\n");
    let run = dir.ftk(["find", "d/.hidden", "--format", "{mtime} {mtime_ns}"]).run().status(0);
    run.stdout("1969-12-31T23:59:58.500000000+00:00 -1500000000\n");
}

/// Converts seconds with a fraction of ten digits, which GNU find counts upwards from the next lower second.
fn nanoseconds(seconds: &str) -> i128 {
    let (whole, fraction) = seconds.split_once('.').unwrap();
    let (whole, fraction): (i128, i128) = (whole.parse().unwrap(), fraction[..9].parse().unwrap());
    whole * 1_000_000_000 + fraction
}

#[test]
fn parts_of_names() {
    let dir = tree();
    let run =
        dir.ftk(["find", "--sort", "-t", "f,d", "--format", "{dir} {stem} {ext}|", "d", "a.tar.gz"]).run();
    run.status(0).stdout(". a.tar gz|\n. d |\nd .hidden |\nd e |\nd/e f c|\nd g |\n");
}

#[test]
fn records_end_with_newline_or_nul() {
    let dir = Dir::new();
    dir.file("a", b"1");
    dir.ftk(["find", "a", "--format", "{size}"]).run().status(0).stdout("1\n");
    dir.ftk(["find", "a", "--format", "{size}", "-0"]).run().status(0).stdout("1\0");
    dir.ftk(["find", "a", "--format", r"{size}\0{name}\r"]).run().status(0).stdout("1\0a\r\n");
    dir.ftk(["find", "a", "--format", ""]).run().status(0).stdout("\n");
}

#[test]
fn sorted_by_path_in_every_format() {
    let dir = Dir::new();
    for nth in 0..300 {
        dir.file(format!("{}/{nth}", nth % 7), &vec![0; nth]);
    }
    let paths = dir.ftk(["find", "--sort"]).run().status(0);
    for threads in ["mono", "8"] {
        let args = ["find", "--sort", "--format", "{size}|{path}", "-j", threads];
        let run = dir.ftk(args).run().status(0);
        let path_of = |line: &str| line.split_once('|').unwrap().1.to_owned() + "\n";
        run.check(
            run.text().lines().map(path_of).collect::<String>() == paths.text(),
            "in the order of paths",
        );
    }
    let run = dir.ftk(["find", "--sort", "--format", "{path}", "--memory", "16K"]).run().status(2).stdout("");
    run.stderr_has("the tree is too large (raise --memory to at least 64K)");
}

#[test]
fn invalid_formats_are_refused_before_the_walk() {
    let dir = Dir::new();
    dir.file("a", b"");
    for (format, problem) in [
        ("{path} {sise}", "unknown field `sise`"),
        ("{path} {sise}", "(at byte 8)"),
        ("{", "write `{{` for a literal brace (at byte 1)"),
        ("a}", "write `}}` for a literal brace (at byte 2)"),
        (r"\x", "(at byte 1)"),
    ] {
        dir.ftk(["find", "absent", ".", "--format", format])
            .run()
            .status(2)
            .stdout("")
            .stderr_has(problem)
            .stderr_lacks("absent");
    }
}
