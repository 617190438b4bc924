//! Sorted output: by every key, reversed, and the first entries only.

use std::fs::File;
use std::time::{Duration, SystemTime};

use crate::harness::{Dir, bytes, needs, records};

fn tree() -> Dir {
    let dir = Dir::new();
    let names: [(&[u8], usize); 9] = [
        (b"b.txt", 30),
        (b"a.txt", 200),
        (b"d/a.c", 30),
        (b"d/z", 0),
        (b"d-e/a.txt", 5),
        (b".hidden", 7),
        (b"d/\xff.C", 31),
        (b"d/new\nline.c", 1000),
        (b"d/x.tar.gz", 30),
    ];
    for (nth, (name, len)) in names.into_iter().enumerate() {
        dir.raw_file(name, &bytes(nth as u64, len));
        let path = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name);
        let days = Duration::from_secs([5, 3, 9, 1, 3, 7, 2, 3, 4][nth] * 86_400);
        File::open(dir.path(path)).unwrap().set_modified(SystemTime::UNIX_EPOCH + days).unwrap();
    }
    // Times before 1970 come first.
    File::open(dir.path("d/z"))
        .unwrap()
        .set_modified(SystemTime::UNIX_EPOCH - Duration::from_secs(9))
        .unwrap();
    dir
}

/// All files in the order of a key that `find` prints; equal keys by path.
fn expected(dir: &Dir, key: &str) -> Vec<Vec<u8>> {
    let run = dir
        .ftk([] as [&str; 0])
        .instead(dir, ["find", ".", "-type", "f", "-printf", &format!("{key}/%p\\0")]);
    let mut entries: Vec<(f64, Vec<u8>)> = records(&run.run().status(0).out, 0)
        .into_iter()
        .map(|record| {
            let slash = record.iter().position(|byte| *byte == b'/').unwrap();
            (str::from_utf8(&record[..slash]).unwrap().parse().unwrap(), record[slash + 1..].to_vec())
        })
        .collect();
    entries.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    entries.into_iter().map(|entry| entry.1).collect()
}

/// Sorts all files by a part of their paths.
fn by(dir: &Dir, key: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Vec<u8>> {
    let mut paths = expected(dir, "0");
    paths.sort_by_key(|path| (key(path), path.clone()));
    paths
}

fn name(path: &[u8]) -> Vec<u8> {
    path.rsplit(|byte| *byte == b'/').next().unwrap().to_vec()
}

fn extension(path: &[u8]) -> Vec<u8> {
    let name = name(path);
    match name.iter().rposition(|byte| *byte == b'.') {
        Some(dot) if dot > 0 => name[dot + 1..].to_vec(),
        _ => Vec::new(),
    }
}

#[test]
fn by_every_key() {
    needs!("find");
    let dir = tree();
    for (key, expected) in [
        ("path", by(&dir, <[u8]>::to_vec)),
        ("name", by(&dir, name)),
        ("extension", by(&dir, extension)),
        ("size", expected(&dir, "%s")),
        ("mtime", expected(&dir, "%T@")),
    ] {
        let sort = format!("--sort={key}");
        let mut reversed = expected.clone();
        reversed.reverse();
        for (order, expected) in [(&[][..], expected), (&["--reverse"], reversed)] {
            for threads in ["mono", "8"] {
                let run = || dir.ftk(["find", "-t", "f", "-0", "-j", threads, &sort]).args(order);
                let all = run().run().status(0);
                all.check(records(&all.out, 0) == expected, "all entries");
                for most in [1, 4, 9, 1000] {
                    let some = run().args(["--max-results", &most.to_string()]).run().status(0);
                    some.check(records(&some.out, 0) == expected[..most.min(9)], "the first entries");
                    let format = run().args(["--format", "{path}", "--max-results", &most.to_string()]).run();
                    assert!(format.out == some.out);
                }
                let format = run().args(["--format", "{path}"]).run().status(0);
                assert!(format.out == all.out);
            }
        }
    }
}

#[test]
fn commands_get_entries_in_that_order() {
    let dir = tree();
    let run = dir.ftk([
        "find",
        "-t",
        "f",
        "--sort=size",
        "--reverse",
        "--max-results",
        "3",
        "--exec-batch",
        "printf",
        "%q,",
    ]);
    run.run().status(0).stdout("'./d/new'$'\\n''line.c',./a.txt,'./d/'$'\\377''.C',");
    let run = dir.ftk(["find", "-n", "*.txt", "--sort=size", "--exec-batch", "printf", "%s,"]);
    run.run().status(0).stdout("./d-e/a.txt,./b.txt,./a.txt,");
}

#[test]
fn the_first_entries_need_little_memory() {
    let dir = Dir::new();
    for nth in 0..2000 {
        dir.file(format!("{}/{}", nth % 7, "x".repeat(200) + &nth.to_string()), b"");
    }
    let all = dir.ftk(["find", "--sort=size", "--json", "--memory", "200K"]).run().status(2);
    all.stderr_has("the tree is too large");
    let run =
        dir.ftk(["find", "--sort=name", "--json", "--memory", "200K", "--max-results", "5"]).run().status(0);
    run.check(run.text().lines().count() == 5, "five entries");
}

#[test]
fn the_option_never_consumes_an_argument() {
    let dir = Dir::new();
    dir.file("size", b"").file("name", b"");
    dir.ftk(["find", "--sort", "size"]).run().status(0).stdout("size\n");
    dir.ftk(["find", "--sort=owner"]).run().status(2).stderr_has("path, name, size, mtime, extension");
    dir.ftk(["find", "--reverse"]).run().status(2).stderr_has("--sort");
}
