//! Tree digests of manifests.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use super::records::{Manifest, create, lines, seal, verify};
use super::trees::everything;
use crate::harness::{Chain, Dir, Mounted};

/// The page that specifies tree digests.
const PAGE: &str = include_str!("../../docs/tree-digest.md");

/// Creates the directory that the page describes.
pub(crate) fn example() -> Dir {
    let dir = Dir::new();
    dir.file("a.txt", b"abc").file("bin/run", b"#!/bin/sh\n").dir("empty").fifo("pipe");
    dir.symlink("bin/run", "bin-link").raw_file(b"\xff\n", b"");
    fs::set_permissions(dir.path("a.txt"), Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(dir.path("bin/run"), Permissions::from_mode(0o755)).unwrap();
    dir
}

/// Returns algorithm, directory and digest of each vector of the page.
pub(crate) fn vectors() -> Vec<[&'static str; 3]> {
    let (_, vectors) = PAGE.split_once("| algorithm | directory | tree digest |\n|---|---|---|\n").unwrap();
    let rows = vectors.lines().take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        [cells[1], if cells[2] == "the whole" { "." } else { cells[2] }, cells[3]]
    })
    .collect()
}

/// Returns the tree digest of a directory by SHA-256, `Null` if it has none.
fn tree(manifest: &Manifest, path: &str) -> Value {
    manifest.entry(path)["tree"]["sha256"].clone()
}

/// Returns the tree digest of the root after `ftk manifest create` with these options.
fn root(dir: &Dir, args: &[&str]) -> Value {
    tree(&Manifest::read(&create(dir, args)), ".")
}

#[test]
fn manifests_have_the_digests_of_the_page() {
    let dir = example();
    let vectors = vectors();
    assert!(vectors.len() > 10);
    for [algorithm, path, digest] in vectors {
        let manifest = Manifest::read(&create(&dir, &["-a", algorithm]));
        assert_eq!(manifest.entry(path)["tree"], serde_json::json!({ algorithm: digest }));
    }
    // Several algorithms do not influence each other.
    let several = Manifest::read(&create(&dir, &["-a", "md5,sha256,xxh3"]));
    for [algorithm, path, digest] in self::vectors() {
        let found = &several.entry(path)["tree"][algorithm];
        assert!(found.is_null() || found == digest, "{algorithm}");
    }
}

#[test]
fn only_what_a_tree_digest_covers_changes_it() {
    let dir = everything();
    let before = root(&dir, &[]);
    assert!(before.is_string());
    // Times, other permissions, hard links, and the place of the tree have no effect.
    dir.file("a", b"abc");
    fs::remove_file(dir.path("sub/hard")).unwrap();
    dir.file("sub/hard", b"abc");
    fs::set_permissions(dir.path("a"), Permissions::from_mode(0o4611)).unwrap();
    fs::set_permissions(dir.path("empty"), Permissions::from_mode(0o700)).unwrap();
    assert_eq!(root(&dir, &["-j", "4"]), before);

    let mut seen = vec![before.clone()];
    let mut changed = |dir: &Dir| {
        let now = root(dir, &[]);
        assert!(now.is_string() && !seen.contains(&now), "{now}");
        seen.push(now);
    };
    fs::set_permissions(dir.path("a"), Permissions::from_mode(0o711)).unwrap();
    changed(&dir);
    dir.file("sub/deep/c", b"other");
    changed(&dir);
    fs::rename(dir.path("fifo"), dir.path("FIFO")).unwrap();
    changed(&dir);
    fs::remove_file(dir.path("FIFO")).unwrap();
    dir.socket("FIFO");
    changed(&dir);
    fs::remove_file(dir.path("link")).unwrap();
    dir.symlink("b", "link");
    changed(&dir);
    fs::remove_dir(dir.path("empty")).unwrap();
    changed(&dir);
    dir.file("empty", b"");
    changed(&dir);
}

#[test]
fn directories_without_a_part_have_no_digest() {
    let dir = Dir::new();
    dir.file("d/e/x.o", b"1").file("d/e/.y", b"2").file("d/f/z", b"3").dir("d-empty").file("a", b"4");
    let all = Manifest::read(&create(&dir, &[]));
    for (options, without) in [
        (&["-E", "*.o"][..], &[".", "d", "d/e"][..]),
        (&["--no-hidden"], &[".", "d", "d/e"]),
        (&["--max-depth", "2"], &[".", "d", "d/e", "d/f"]),
        (&["--max-depth", "1"], &[".", "d", "d-empty"]),
        (&["--path", "d"], &[".", "d", "d/e", "d/f"]),
        (&["-E", "nothing"], &[]),
        (&["--one-file-system"], &[]),
    ] {
        let manifest = Manifest::read(&create(&dir, options));
        for (path, entry) in manifest.entries.iter().filter(|(_, entry)| entry["type"] == "directory") {
            let path = str::from_utf8(path).unwrap();
            let expected = if without.contains(&path) { Value::Null } else { tree(&all, path) };
            assert_eq!(entry["tree"]["sha256"], expected, "{options:?} {path}");
        }
        verify(&dir, &[]).status(0);
    }
    assert!(root(&dir, &["--no-content"]).is_null());
}

#[test]
fn directories_with_unreadable_entries_have_no_digest() {
    let dir = Dir::new();
    dir.file("file/locked", b"1").file("file/deep/x", b"2").file("dir/locked/x", b"3").file("good/x", b"4");
    let path = create(&dir, &[]);
    let all = Manifest::read(&path);
    dir.lock("file/locked").lock("dir/locked");
    fs::set_permissions(dir.path(""), Permissions::from_mode(0o777)).unwrap();
    let new = dir.aside("new");
    let create = ["manifest", "create", ".", "--force", "-o", "new"];
    // Both commands record the state as one that is not completely known.
    fs::copy(&path, dir.path("old")).unwrap();
    let update = ["manifest", "update", ".", "old", "-o", "new", "--force", "--check", "100%"];
    for args in [&create[..], &update] {
        let run = dir.ftk(args).unprivileged(&dir).run().status(2);
        run.stderr_has("'./file/locked'").stderr_has("'./dir/locked'");
        let found = Manifest::read(&dir.path("new"));
        for path in [".", "file", "dir", "dir/locked"] {
            assert!(tree(&found, path).is_null(), "{args:?} {path}");
        }
        for path in ["file/deep", "good"] {
            assert_eq!(tree(&found, path), tree(&all, path), "{args:?}");
        }
        fs::rename(dir.path("new"), &new).unwrap();
        // The digests that it has are those of its entries.
        let diff = dir.ftk(["manifest", "diff"]).args([&new, &new]).run().status(2);
        diff.stdout("unknown\tdir/locked\nunknown\tfile/locked\n");
    }
}

#[test]
fn update_writes_the_digests_of_a_new_manifest() {
    let dir = everything();
    let path = create(&dir, &[]);
    dir.file("sub/deep/c", b"new").file("sub/new", b"1");
    fs::remove_file(dir.path("a")).unwrap();
    let update = |dir: &Dir| dir.ftk(["manifest", "update", "."]).args([&path, Path::new("-o"), &path]).run();
    update(&dir).status(0);
    let updated = Manifest::read(&path);
    let created = Manifest::read(&create(&dir, &[]));
    assert_eq!(tree(&updated, "."), tree(&created, "."));
    // A manifest without digests of directories gets them.
    fs::write(&path, seal(&lines(&path))).unwrap();
    assert!(tree(&Manifest::read(&path), ".").is_null());
    update(&dir).status(0);
    assert_eq!(tree(&Manifest::read(&path), "."), tree(&created, "."));
}

#[test]
fn a_manifest_whose_tree_digests_contradict_its_entries_is_refused() {
    let dir = Dir::new();
    dir.file("d/x", b"abc").file("d-y", b"abc").file("e/z", b"abc");
    let path = create(&dir, &[]);
    let text = fs::read_to_string(&path).unwrap();
    let good: Vec<_> = text.lines().collect();
    let good = &good[..good.len() - 1];
    let edited = |edit: &dyn Fn(usize, &str) -> String| {
        let lines: Vec<_> = good.iter().enumerate().map(|(nth, line)| edit(nth, line)).collect();
        fs::write(&path, seal(&lines)).unwrap();
    };
    edited(&|_, line| line.to_owned());
    verify(&dir, &[]).status(0);
    let of_d = tree(&Manifest::read(&path), "d").as_str().unwrap().to_owned();
    let of_e = tree(&Manifest::read(&path), "e").as_str().unwrap().to_owned();
    let zeros = "0".repeat(64);
    type Edit<'e> = &'e dyn Fn(usize, &str) -> String;
    let cases: [(Edit<'_>, &str); 5] = [
        (&|_, line| line.replace(&of_d, &zeros), "tree of 'd' is not the digest of the entries below it"),
        (&|_, line| line.replace(&format!(",\"tree\":{{\"sha256\":\"{of_e}\"}}"), ""), "tree of '.' is not"),
        (
            &|_, line| if line.contains("d/x") { line.replace("0644", "0744") } else { line.into() },
            "tree of 'd'",
        ),
        (
            &|_, line| line.replace("\"tree\":{\"sha256\"", "\"tree\":{\"md5\""),
            "the sha256 digest is missing",
        ),
        (
            &|_, line| line.replace("\"digests\"", "\"tree\":{},\"digests\""),
            "tree: digests by all algorithms of the header are required",
        ),
    ];
    for (edit, why) in cases {
        edited(edit);
        for command in ["verify", "update", "diff", "unique"] {
            let paths = match command {
                "diff" | "unique" => [path.as_path(), &path],
                _ => [Path::new("."), &path],
            };
            let run = dir.ftk(["manifest", command]).args(paths).run().status(2).stdout("");
            run.stderr_has("manifest'").stderr_has(why);
        }
    }
}

#[test]
fn differences_never_name_the_tree_digest() {
    let dir = Dir::new();
    dir.file("d/x", b"abc");
    fs::rename(create(&dir, &[]), dir.aside("old")).unwrap();
    dir.file("d/x", b"abd");
    let new = create(&dir, &[]);
    let run = dir.ftk(["manifest", "diff", "--json"]).args([dir.aside("old"), new]).run().status(1);
    assert_eq!(run.text().lines().count(), 1);
    assert!(!run.text().contains("tree"), "{}", run.text());
}

#[test]
fn ten_thousand_levels() {
    let chain = Chain::new("d", 10_000, 1_000);
    let dir = chain.dir();
    let manifest = Manifest::read(&create(dir, &[]));
    assert!(tree(&manifest, ".").is_string());
    assert_eq!(manifest.paths.len(), 10_011);
    verify(dir, &[]).status(0);
    create(dir, &["--max-depth", "9999"]);
}

#[test]
fn directories_above_a_mount_that_was_not_entered_have_no_digest() {
    let dir = Dir::new();
    dir.dir("d/mount").file("e/x", b"1");
    let Some(_mounted) = Mounted::at(&dir.path("d/mount"), ["-t", "tmpfs", "none"]) else { return };
    assert!(root(&dir, &[]).is_string());
    let manifest = Manifest::read(&create(&dir, &["--one-file-system"]));
    for path in [".", "d", "d/mount"] {
        assert!(tree(&manifest, path).is_null(), "{path}");
    }
    assert!(tree(&manifest, "e").is_string());
}
