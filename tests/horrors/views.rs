//! File systems in user space, which may repeat inode numbers or return short reads.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::process::Command;

use crate::harness::{Dir, Mounted, bytes, needs, sum, uring};

/// A view of two file systems, in which each entry has the inode number of another entry. The fields are
/// unmounted in this order.
struct Colliding {
    _view: Mounted,
    _parts: [Mounted; 2],
    dir: Dir,
}

/// Mounts a file system at `view` with directories `a` and `b`. They have the same names with the same device
/// and inode numbers, but the contents of the files differ.
fn colliding() -> Option<Colliding> {
    let dir = Dir::new();
    dir.dir("../real/a").dir("../real/b").dir("view");
    let mount = |name: &str| Mounted::at(&dir.aside("real").join(name), ["-t", "tmpfs", "none"]);
    let parts = [mount("a")?, mount("b")?];
    for part in ["a", "b"] {
        let path = |name: &str| format!("../real/{part}/{name}");
        dir.dir(path("sub/deep")).file(path("file"), part.as_bytes());
        dir.hard_link(&path("file"), &path("sub/link"));
        dir.file(path("sub/deep/file"), format!("{part}{part}").as_bytes());
    }
    let view = Mounted::by(&dir, ["bindfs", "../real", "view"].map(str::to_owned), "view")?;
    let identity = |path: &str| {
        let metadata = fs::metadata(dir.path(path)).unwrap();
        (metadata.dev(), metadata.ino())
    };
    for name in ["", "file", "sub", "sub/deep", "sub/deep/file"] {
        let [a, b] = ["a", "b"].map(|part| identity(&format!("view/{part}/{name}")));
        assert_eq!(a, b, "the numbers of {name} collide");
    }
    Some(Colliding { _view: view, _parts: parts, dir })
}

const FILES: [&str; 6] = [
    "view/a/file",
    "view/a/sub/deep/file",
    "view/a/sub/link",
    "view/b/file",
    "view/b/sub/deep/file",
    "view/b/sub/link",
];

/// Returns the content of a file of the view.
fn content(path: &str) -> String {
    let part = &path["view/".len()..][..1];
    part.repeat(if path.contains("deep") { 2 } else { 1 })
}

#[test]
fn h78_every_entry_is_listed_once() {
    let Some(Colliding { dir, .. }) = &colliding() else { return };
    for follow in [&[][..], &["-L"]] {
        for threads in ["mono", "4"] {
            let run = dir.ftk(["find", "-j", threads, "view"]).args(follow).run().status(0);
            let mut lines: Vec<_> = run.text().lines().collect();
            lines.sort_unstable();
            let others = ["view", "view/a", "view/a/sub", "view/a/sub/deep"];
            let others = others.into_iter().chain(["view/b", "view/b/sub", "view/b/sub/deep"]);
            let mut expected: Vec<_> = others.chain(FILES).collect();
            expected.sort_unstable();
            run.check(lines == expected, "every entry once");

            let run = dir.ftk(["hash", "-a", "blake3", "-j", threads, "view"]).args(follow).run().status(0);
            let lines: Vec<_> = run.text().lines().map(str::to_owned).collect();
            let line = |path: &&str| format!("{}  {path}", blake3(&content(path)));
            run.check(lines == FILES.iter().map(line).collect::<Vec<_>>(), "every file, with its digest");
        }
    }
}

fn blake3(text: &str) -> &'static str {
    match text {
        "a" => "17762fddd969a453925d65717ac3eea21320b66b54342fde15128d6caf21215f",
        "b" => "10e5cf3d3c8a4f9f3468c8cc58eea84892a22fdadbc1acb22410190044c1d553",
        "aa" => "211db469968e18af8a4c08b0aaca0901a09e1dd5929df5bebf8c38c8c8a12e19",
        _ => "58293e32b140c28c1debf42045417b312d36a6c2b6a649ec381ebe1350e12a87",
    }
}

#[test]
fn h78_every_entry_is_recorded_with_its_own_content() {
    let Some(Colliding { dir, .. }) = &colliding() else { return };
    let run = dir.ftk(["manifest", "create", "view", "-a", "blake3"]).run().status(0);
    for path in FILES {
        let record =
            run.text().lines().find(|line| line.contains(&format!("\"{}\"", &path["view/".len()..])));
        let record = record.unwrap_or_default();
        run.check(record.contains(blake3(&content(path))), path);
    }
    run.check(run.text().lines().count() == 2 + 13, "a header, 13 entries, a footer");
}

#[test]
fn h78_equal_inode_numbers_do_not_make_files_equal() {
    let Some(Colliding { dir, .. }) = &colliding() else { return };
    dir.ftk(["cmp", "view/a", "view/b"]).run().status(1);
    dir.ftk(["cmp", "--metadata", "view/a", "view/b"]).run().status(1);
    dir.ftk(["cmp", "view/a/file", "view/b/file"]).run().status(1);
    dir.ftk(["cmp", "-s", "view/a/sub/deep/file", "view/b/sub/deep/file"]).run().status(1);
}

#[test]
fn h78_no_file_is_pruned_because_of_its_inode_number() {
    for action in super::pruning::ACTIONS {
        let Some(Colliding { dir, .. }) = &colliding() else { return };
        dir.ftk(["dup", "prune", "--yes", "--action", action, "view"]).run();
        for path in FILES {
            let found = fs::read_to_string(dir.path(path)).unwrap();
            assert_eq!(found, content(path), "{action} {path}");
        }
    }
}

/// A library for `LD_PRELOAD`, with which no `pread` returns more than 50,000 bytes.
const SHORT_READS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
ssize_t pread64(int file, void *bytes, size_t count, off_t offset) {
    static ssize_t (*read)(int, void *, size_t, off_t);
    if (!read) read = (ssize_t (*)(int, void *, size_t, off_t)) dlsym(RTLD_NEXT, "pread64");
    return read(file, bytes, count < 50000 ? count : 50000, offset);
}
ssize_t pread(int file, void *bytes, size_t count, off_t offset) { return pread64(file, bytes, count, offset); }
"#;

/// Mounts `real` at `view` so that each read returns at most 50,000 bytes: the server returns no more, and with
/// `direct_io` the kernel passes this on.
fn short_reads(dir: &Dir) -> Option<Mounted> {
    let (source, library) = (dir.aside("short.c"), dir.aside("short.so"));
    fs::write(&source, SHORT_READS).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl");
    assert!(compiler.status().unwrap().success());
    let preload = format!("LD_PRELOAD={}", library.display());
    let mount = ["env", &preload, "bindfs", "-o", "direct_io", "real", "view"];
    let view = Mounted::by(dir, mount.map(str::to_owned), "view")?;
    let got = File::open(dir.path("view/long")).unwrap().read_at(&mut [0; 65_536], 3).unwrap();
    assert_eq!(got, 50_000, "reads are short");
    Some(view)
}

#[test]
fn h46_every_command_handles_short_reads() {
    needs!("cc", "b3sum", "sha256sum", "xxhsum", "find", "xargs");
    let dir = Dir::new();
    let long = bytes(1, 20_000_001);
    dir.dir("view").file("real/long", &long).file("real/copy", &long).file("real/tail", &long[1..]);
    for len in [49_999, 50_000, 50_001, 65_536, 100_000, 300_000] {
        dir.file(format!("real/{len}"), &long[..len]);
    }
    dir.hole("real/hole", 17_000_003);
    let Some(_view) = short_reads(&dir) else { return };
    for (algorithm, tool) in [
        ("sha256", &["sha256sum", "--"][..]),
        ("blake3", &["b3sum", "--"]),
        ("xxh128", &["xxhsum", "-q", "-H2"]),
    ] {
        let expected = String::from_utf8(sum(&dir, tool, &["real"])).unwrap().replace("  real/", "  view/");
        for threads in ["mono", "4"] {
            for io in if uring() { &["sync", "uring"][..] } else { &["sync"] } {
                let args = ["hash", "-a", algorithm, "-j", threads, "--io", io, "view"];
                dir.ftk(args).run().status(0).stdout(&expected);
            }
        }
    }
    dir.ftk(["dup", "--verify", "view"]).run().status(0).stdout("view/copy\nview/long\n\n");
    dir.ftk(["manifest", "create", "view", "-o", "../manifest"]).run().status(0);
    dir.ftk(["manifest", "verify", "--mode", "content", "real", "../manifest"]).run().status(0).stdout("");
    dir.ftk(["manifest", "verify", "view", "../manifest"]).run().status(0).stdout("");
    for options in [&[][..], &["-j", "4"]] {
        dir.ftk(["cmp", "view", "real"]).args(options).run().status(0).stdout("");
        dir.ftk(["cmp", "view/long", "real/copy"]).args(options).run().status(0);
        dir.ftk(["cmp", "view/long", "real/tail"]).args(options).run().status(1);
    }
}

/// `undo` copies a file whose copy was pruned.
#[test]
fn h46_a_short_read_is_not_a_change() {
    needs!("cc");
    let dir = Dir::new();
    let long = bytes(1, 3_000_001);
    dir.dir("view").file("real/long", &long).file("real/copy", &long);
    let Some(_view) = short_reads(&dir) else { return };
    let prune = ["dup", "prune", "--yes", "--action", "symlink", "--journal", "../journal", "view"];
    dir.ftk(prune).run().status(0);
    let is_link = |name: &str| fs::symlink_metadata(dir.path(name)).unwrap().is_symlink();
    assert!(is_link("view/copy") != is_link("view/long"));
    dir.ftk(["dup", "undo", "../journal"]).run().status(0);
    assert!(!is_link("view/copy") && !is_link("view/long"));
    assert!(["real/copy", "real/long"].iter().all(|name| fs::read(dir.path(name)).unwrap() == long));
}

pub(super) fn is_trusted(dir: &Dir) -> bool {
    let kind = rustix::fs::statfs(dir.path("")).unwrap().f_type;
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994].contains(&kind)
}
