//! `ftk manifest unique`: content of one tree that is nowhere in another.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use super::records::{create, json, name};
use crate::harness::{Dir, Mounted, Run, records, sha256};

fn two_trees() -> Dir {
    let dir = Dir::new();
    dir.file("a", b"in both").file("sub/b", b"in the first").file("c", b"").raw_file(b"odd\xff\n", b"odd");
    dir.file("twice", b"in the first").symlink("a", "link");
    fs::rename(create(&dir, &["-a", "md5,sha256"]), dir.aside("first")).unwrap();
    fs::remove_dir_all(dir.path("")).unwrap();
    dir.file("other/name", b"in both").file("c", b"").file("d", b"in the second");
    fs::rename(create(&dir, &["-a", "sha256"]), dir.aside("second")).unwrap();
    dir
}

fn unique(dir: &Dir, a: &str, b: &str, args: &[&str]) -> Run {
    dir.ftk(["manifest", "unique"]).args([dir.aside(a), dir.aside(b)]).args(args).run()
}

#[test]
fn content_is_compared_and_names_are_not() {
    let dir = two_trees();
    let run = unique(&dir, "first", "second", &["-0"]).status(1);
    assert_eq!(records(&run.out, 0), [&b"odd\xff\n"[..], b"sub/b", b"twice"]);
    run.stderr_has("  3 files, 27 B, only in A   (status 1)\n");
    unique(&dir, "first", "second", &["-q"]).status(1).stdout(b"odd\xff\n\nsub/b\ntwice\n").stderr("");
    unique(&dir, "second", "first", &[]).status(1).stdout("d\n");
    let run = unique(&dir, "first", "first", &[]).status(0).stdout("");
    run.stderr("  all content of A is in B\n");
}

#[test]
fn as_json() {
    let dir = two_trees();
    let run = unique(&dir, "first", "second", &["--json"]).status(1);
    let found = json(&run);
    assert_eq!(found.len(), 3);
    assert_eq!(name(&found[0], "path"), b"odd\xff\n");
    assert_eq!((&found[1]["path"], &found[1]["size_bytes"]), (&"sub/b".into(), &12.into()));
    assert_eq!(found[1]["digests"]["sha256"], sha256(b"in the first"));
}

#[test]
fn manifests_without_a_common_digest_are_errors() {
    let dir = two_trees();
    fs::rename(create(&dir, &["-a", "blake3"]), dir.aside("blake3")).unwrap();
    fs::rename(create(&dir, &["--no-content"]), dir.aside("none")).unwrap();
    for other in ["blake3", "none"] {
        unique(&dir, "first", other, &[]).status(2).stdout("").stderr_has("no algorithm in common");
        unique(&dir, other, "first", &[]).status(2).stdout("").stderr_has("no algorithm in common");
    }
    unique(&dir, "missing", "first", &[]).status(2).stdout("").stderr_has("ftk: cannot open ");
    unique(&dir, "first", "second", &["-0", "--json"]).status(2).stdout("");
}

/// Is everything on the card already there? Directories are read, and manifests and directories can be mixed.
#[test]
fn directories_are_compared_by_size_and_content() {
    let dir = Dir::new();
    dir.file("card/DCIM/1", b"photo one").file("card/DCIM/2", b"photo two").file("card/new", b"photo 3rd");
    dir.file("card/large", &[1; 100_000]).file("card/empty", b"").raw_file(b"card/odd\xff\n", b"photo odd");
    dir.file("nas/2024/a", b"photo one").file("nas/b", b"photo two").file("nas/same size", b"photo xxx");
    dir.file("nas/unread", &[2; 50_000]).file("nas/e", b"").symlink("/nowhere", "nas/link");
    fs::hard_link(dir.path("card/new"), dir.path("card/again")).unwrap();
    let missing: [&[u8]; 4] = [b"again", b"large", b"new", b"odd\xff\n"];
    let card = dir.ftk(["manifest", "create", "card", "-a", "xxh3,sha256"]).run().status(0);
    fs::write(dir.aside("card.jsonl"), &card.out).unwrap();
    let nas = dir.ftk(["manifest", "create", "nas"]).run().status(0);
    fs::write(dir.aside("nas.jsonl"), &nas.out).unwrap();
    let [card, nas] = ["card.jsonl", "nas.jsonl"].map(|name| dir.aside(name));
    for (a, b) in [
        (dir.path("card"), dir.path("nas")),
        (dir.path("card"), nas.clone()),
        (card.clone(), dir.path("nas")),
        (card, nas),
    ] {
        let run = dir.ftk(["manifest", "unique", "-0"]).args([&a, &b]).run().status(1);
        // Paths of a tree can be used from here, those of a manifest below its root.
        let prefix = if a.is_dir() { format!("{}/", a.display()) } else { String::new() };
        let missing = missing.map(|path| [prefix.as_bytes(), path].concat());
        assert_eq!(records(&run.out, 0), missing, "{a:?} {b:?}");
        run.stderr_has("4 files, 100.03 kB, only in A");
    }
    // Only files whose size the other side has are read. A file with hard links is read once.
    let mut run = dir.ftk(["manifest", "unique", "card", "nas", "--json"]).run().status(1);
    run = run.stderr_has("only in A; 5 files of A read, 4 files of B read   (status 1)\n");
    let found = json(&run);
    assert_eq!(found.len(), 4);
    assert_eq!((&found[1]["path"], &found[1]["size_bytes"]), (&"large".into(), &100_000.into()));
    assert!(found[1].get("digests").is_none() && found[2]["digests"]["blake3"].is_string());

    dir.file("nas/c", b"photo 3rd").file("nas/d", b"photo odd").file("nas/l", &[1; 100_000]);
    let run = dir.ftk(["manifest", "unique", "card", "nas"]).run().status(0).stdout("");
    run.stderr_has("all content of A is in B; ");
}

/// What cannot be read is never said to be there.
#[test]
fn a_directory_that_cannot_be_read_is_unknown() {
    let dir = Dir::new();
    dir.file("card/a", b"photo one").file("card/b", b"photo two");
    dir.file("nas/a", b"photo one").file("nas/b", b"photo two").file("nas/sub/c", b"c");
    let other_user = || dir.ftk(["manifest", "unique", "card", "nas"]).unprivileged(&dir);
    other_user().run().status(0);
    let mode =
        |path: &str, mode| fs::set_permissions(dir.path(path), PermissionsExt::from_mode(mode)).unwrap();
    mode("nas/b", 0);
    other_user().run().status(2).stdout("card/b\n").stderr_has("1 file, 9 B, not in B as far as it is known");
    mode("nas/b", 0o644);
    mode("card/b", 0);
    other_user().run().status(2).stdout("").stderr_has("0 files, 0 B, only in A, which is not complete");
    mode("card/b", 0o644);
    mode("nas/sub", 0);
    // All that was looked for was found.
    other_user().run().status(0).stdout("");
    mode("nas/sub", 0o755);
    mode("card", 0o311);
    other_user().run().status(2).stdout("");
    mode("card", 0o755);
}

#[test]
fn directories_that_prove_nothing_are_refused() {
    let dir = Dir::new();
    dir.file("card/sub/a", b"photo").file("nas/a", b"photo").dir("empty").symlink("card", "link");
    for (a, b, why) in [
        ("empty", "nas", "'empty' has no files: is the right file system mounted?"),
        ("nas", "empty", "'empty' has no files"),
        ("card", "card", "'card' is inside 'card': each of its files would be found there as its own copy"),
        ("card/sub", "card", "'card/sub' is inside 'card'"),
        ("card", "card/sub", "'card/sub' is inside 'card'"),
        ("card", "link/sub", "'link/sub' is inside 'card'"),
        ("card", "missing", "cannot open 'missing'"),
        ("card", "nas/a", "'nas/a'"),
    ] {
        dir.ftk(["manifest", "unique", a, b]).run().status(2).stdout("").stderr_has(why);
    }
    // A directory of parts is a manifest, and one with anything else is a tree.
    let part = dir.ftk(["manifest", "create", "nas"]).run().status(0).out;
    fs::create_dir(dir.path("parts")).unwrap();
    fs::write(dir.path("parts/m.jsonl"), part).unwrap();
    dir.file("parts/x", b"x");
    dir.ftk(["manifest", "unique", "nas", "parts"]).run().status(1).stdout("nas/a\n");
}

/// The only copy is A's own file, or one that the manifest of B marks as damaged.
#[test]
fn a_file_of_a_or_damaged_content_is_no_copy() {
    let dir = Dir::new();
    let old = |path: &str| {
        let file = fs::File::options().write(true).open(dir.path(path)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    };
    dir.file("a/x", b"photo").dir("linked").file("b/copy", b"photo");
    fs::hard_link(dir.path("a/x"), dir.path("linked/y")).unwrap();
    dir.ftk(["manifest", "unique", "a", "linked"]).run().status(1).stdout("a/x\n");
    if let Some(_mounted) = Mounted::at(&dir.path("linked"), ["--bind", dir.path("a").to_str().unwrap()]) {
        dir.ftk(["manifest", "unique", "a", "linked"]).run().status(2).stdout("");
    }
    dir.file("around/z", b"other").dir("around/m");
    if let Some(_mounted) = Mounted::at(&dir.path("around/m"), ["--bind", dir.path("a").to_str().unwrap()]) {
        dir.ftk(["manifest", "unique", "a", "around"]).run().status(2).stdout("");
    }
    for path in ["a/x", "b/copy"] {
        old(path);
    }
    for (tree, manifest) in [("a", "a.jsonl"), ("b", "b.jsonl")] {
        dir.ftk(["manifest", "create", tree, "-o", manifest]).run().status(0);
    }
    dir.ftk(["manifest", "unique", "a", "b.jsonl"]).run().status(0);
    fs::write(dir.path("b/copy"), b"phoXo").unwrap();
    old("b/copy");
    dir.ftk(["manifest", "scrub", "b", "b.jsonl"]).run().status(1);
    for a in ["a", "a.jsonl"] {
        let top = if a == "a" { "a/" } else { "" };
        dir.ftk(["manifest", "unique", a, "b.jsonl"]).run().status(1).stdout(format!("{top}x\n"));
    }
    // What the run writes to was not read.
    dir.file("c/x", b"photo");
    let run = dir.ftk(["manifest", "unique", "a", "c", "--log", "a/log"]).run().status(2).stdout("");
    run.stderr_has("only in A, which is not complete");
}

/// The answer is about the recorded part of a tree, so the summary names it.
#[test]
fn recorded_selections_are_named() {
    let dir = Dir::new();
    dir.file("a/x.txt", b"in both")
        .file("a/y.o", b"only in a")
        .file("a/d/e/f", b"deep")
        .file("b/x", b"in both");
    dir.dir("empty");
    let make = |name: &str, args: &[&str]| {
        let made = dir.ftk(["manifest", "create"]).args(args).run().status(0);
        fs::write(dir.aside(name), &made.out).unwrap();
    };
    make("all", &["a"]);
    make("part", &["a", "-E", "*.o", "--max-depth", "1"]);
    make("one", &["a", "-n", "it's"]);
    make("b", &["b"]);
    make("of b", &["b", "--no-hidden"]);
    make("empty", &["empty"]);
    let of_a = "  A was recorded with --exclude=*.o --max-depth=1\n";
    let all = "  all recorded content of A is in B";
    unique(&dir, "part", "b", &[]).status(0).stderr(&format!("{of_a}{all}\n"));
    let run = unique(&dir, "part", "of b", &[]).status(0);
    run.stderr(&format!("{of_a}  B was recorded with --no-hidden\n{all}\n"));
    unique(&dir, "part", "of b", &["-q"]).status(0).stderr("");
    let run = unique(&dir, "all", "part", &[]).status(1).stdout("d/e/f\ny.o\n");
    run.stderr_has("  B was recorded with --exclude=*.o --max-depth=1\n").stderr_has(", only in A ");
    unique(&dir, "all", "b", &[]).status(1).stderr_lacks("recorded");
    // A tree has no record.
    let tree = |a: &str, b: &str| dir.ftk(["manifest", "unique"]).args([dir.aside(a), dir.path(b)]).run();
    tree("part", "b").status(0).stderr_has(of_a).stderr_has(&format!("{all}; "));
    // Nothing was compared.
    for (a, options) in [("empty", ""), ("one", " (it was recorded with selection options)")] {
        let said = format!("records no files, so nothing was compared{options}\n");
        unique(&dir, a, "b", &[]).status(2).stdout("").stderr_has(&said);
        tree(a, "b").status(2).stdout("").stderr_has(&said);
        unique(&dir, "b", a, &[]).status(1).stdout("x\n");
    }
}
