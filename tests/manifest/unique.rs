//! `ftk manifest unique`: content of one tree that is nowhere in another.

use std::fs;

use super::records::{create, json, name};
use crate::harness::{Dir, Run, records, sha256};

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
