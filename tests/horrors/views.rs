//! File systems in user space, which may repeat inode numbers or report wrong holes.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use crate::harness::{Dir, Mounted, needs};

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
    dir.ftk(["cmp", "-q", "view/a/sub/deep/file", "view/b/sub/deep/file"]).run().status(1);
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

/// Holes are trusted on a few file systems only. Here `lseek` always reports that no data follows.
#[test]
fn h59_holes_are_trusted_on_known_file_systems_only() {
    needs!("strace");
    let dir = Dir::new();
    let files = |dir: &str| ["a", "b"].map(|name| format!("{dir}/{name}"));
    dir.dir("view");
    for path in files("../real") {
        dir.hole(&path, 8 << 20);
        File::options()
            .write(true)
            .open(dir.path(&path))
            .unwrap()
            .write_all_at(path.as_bytes(), 4 << 20)
            .unwrap();
    }
    let Some(_view) = Mounted::by(&dir, ["bindfs", "../real", "view"].map(str::to_owned), "view") else {
        return;
    };
    let lying = |paths: [String; 2], options: &[&str]| {
        let lie = ["strace", "-f", "-o", "/dev/null", "-e", "trace=lseek", "-e", "inject=lseek:error=ENXIO"];
        dir.ftk(["cmp", "-q"]).args(options).args(paths).under(&dir, lie).run()
    };
    for options in [&[][..], &["-j", "4"]] {
        lying(files("view"), options).status(1);
    }
    dir.dir("trees/a").dir("trees/b");
    lying(["view/a".into(), "view/b".into()], &[]).status(1);
    // On a trusted file system the wrong report has an effect.
    if is_trusted(&dir) {
        lying(files("../real"), &[]).status(0);
    }
}

fn is_trusted(dir: &Dir) -> bool {
    let kind = rustix::fs::statfs(dir.path("")).unwrap().f_type;
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994].contains(&kind)
}
