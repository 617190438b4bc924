//! Parts of a manifest as inputs: they become the rows of one tree.

use std::fs;

use crate::harness::Dir;

/// Makes a tree, its manifest, and its parts in `parts`.
fn parts() -> Dir {
    let dir = Dir::new();
    for nth in 0..12 {
        dir.file(format!("t/d{}/{nth}", nth % 5), format!("{}", nth % 3).as_bytes());
    }
    dir.raw_file(b"t/d1/\xff", b"0").file("t/new\nline", b"1").file("t/-a", b"");
    fs::create_dir(dir.path("parts")).unwrap();
    dir.ftk(&["manifest", "create", "t", "-o", "whole.jsonl"]).status(0);
    for (number, name) in [(1, "1.jsonl"), (2, "2.jsonl.zst"), (3, "3.jsonl")] {
        let (shard, name) = (format!("{number}/3"), format!("parts/{name}"));
        dir.ftk(&["manifest", "create", "--shard", &shard, "t", "-o", &name]).status(0);
    }
    dir
}

fn csv(dir: &Dir, sql: &str, set: &str) -> String {
    dir.ask(&["sql", sql, set, "--format", "csv"])
}

const ARGUMENTS: [&str; 3] = ["parts/3.jsonl", "parts/1.jsonl", "parts/2.jsonl.zst"];

#[test]
fn all_parts_are_one_source() {
    let dir = parts();
    dir.ask(&["convert", "whole.jsonl", "-o", "whole"]);
    dir.ask(&["convert", "parts", "-o", "directory"]);
    dir.ask(&[&["convert"], &ARGUMENTS[..], &["-o", "arguments"]].concat());
    let columns = "source, path, path_b64, parent, parent_b64, type, size_bytes, mtime_ns, ino, digest";
    let entries = format!("SELECT {columns} FROM entries ORDER BY path, path_b64");
    let contents = "SELECT * FROM contents ORDER BY digest, path, path_b64";
    let expected = [csv(&dir, &entries, "whole"), csv(&dir, contents, "whole")];
    assert_eq!(expected[0].matches("\r\n").count(), 1 + 21, "{expected:?}");
    for set in ["directory", "arguments"] {
        assert_eq!([csv(&dir, &entries, set), csv(&dir, contents, set)], expected);
        let seal = fs::read_to_string(dir.path(set).join("_set.jsonl")).unwrap();
        assert!(seal.contains(r#""sources":[{"source":"t","root":"t","shards":3}]"#), "{seal}");
        // A question about one tree.
        assert_eq!(dir.ask(&["changed", "whole", set, "--format", "json"]), "");
    }
}

#[test]
fn rows_name_their_shard() {
    let dir = parts();
    dir.ask(&["convert", "parts", "-o", "set"]);
    let rows = csv(&dir, "SELECT shard, count(*) AS n FROM entries GROUP BY shard ORDER BY shard", "set");
    assert_eq!(rows.lines().count(), 4, "{rows}");
    for number in [1, 3] {
        let text = fs::read_to_string(dir.path(format!("parts/{number}.jsonl"))).unwrap();
        assert!(rows.contains(&format!("\n{number}/3,{}\r\n", text.lines().count() - 2)), "{rows}");
    }
    dir.ask(&["convert", "whole.jsonl", "-o", "whole"]);
    assert_eq!(csv(&dir, "SELECT count(shard) AS n FROM entries", "whole"), "n\r\n0\r\n");
}

#[test]
fn incomplete_and_mixed_parts_are_refused() {
    let dir = parts();
    let error = dir.refused(&["convert", "parts/1.jsonl", "-o", "x"]);
    assert!(error.contains("2 of 3 shards are missing: 2, 3"), "{error}");
    let error = dir.refused(&["convert", "parts/1.jsonl", "parts/1.jsonl", "-o", "x"]);
    assert!(error.contains("'parts/1.jsonl' and 'parts/1.jsonl': both are shard 1"), "{error}");
    let error = dir.refused(&["convert", "whole.jsonl", "parts", "-o", "x"]);
    assert!(error.contains("two inputs are of \"t\""), "{error}");
    dir.ftk(&["manifest", "create", "-a", "md5", "--shard", "2/3", "t", "-o", "md5.jsonl"]).status(0);
    let error = dir.refused(&["convert", "parts/1.jsonl", "md5.jsonl", "parts/3.jsonl", "-o", "x"]);
    assert!(error.contains("different algorithms"), "{error}");
    fs::rename(dir.path("parts/3.jsonl"), dir.path("parts/3")).unwrap();
    let error = dir.refused(&["convert", "parts", "-o", "x"]);
    assert!(error.contains("1 of 3 shards are missing: 3"), "{error}");
    fs::copy(dir.path("whole.jsonl"), dir.path("parts/whole.jsonl")).unwrap();
    let error = dir.refused(&["convert", "parts", "-o", "x"]);
    assert!(error.contains("'parts/whole.jsonl': it records a whole tree"), "{error}");
    let report = dir.ftk(&["dup", "--json", "t"]);
    dir.file("reports/r.jsonl", &report.out);
    let error = dir.refused(&["convert", "reports", "-o", "x"]);
    assert!(error.contains("'reports/r.jsonl': it is not a part"), "{error}");
    fs::create_dir(dir.path("empty")).unwrap();
    assert!(dir.refused(&["convert", "empty", "-o", "x"]).contains("a directory without parts"));
    assert!(!dir.path("x").exists());
}

#[test]
fn two_trees_in_parts_are_two_directories() {
    let dir = parts();
    dir.file("u/a", b"0");
    fs::create_dir(dir.path("more")).unwrap();
    for number in 1..=2 {
        let (shard, name) = (format!("{number}/2"), format!("more/{number}.jsonl"));
        dir.ftk(&["manifest", "create", "--shard", &shard, "u", "-o", &name]).status(0);
    }
    dir.ask(&["convert", "parts", "more", "-o", "set"]);
    let rows = csv(&dir, "SELECT source, count(*) AS n FROM entries GROUP BY source ORDER BY source", "set");
    assert_eq!(rows, "source,n\r\nt,21\r\nu,2\r\n");
}

/// What was renamed between the runs of shards is said as `merge` says it.
#[test]
fn renames_between_parts_are_said() {
    for order in [[1, 2, 3], [3, 1, 2], [2, 3, 1]] {
        for (from, to) in [("d0", "renamed"), ("d1/1", "d2/again")] {
            let dir = Dir::new();
            for nth in 0..12 {
                dir.file(format!("t/d{}/{nth}", nth % 5), format!("{nth}").as_bytes());
            }
            fs::create_dir(dir.path("parts")).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(30)); // ticks of the clock of files
            for (nth, number) in order.iter().enumerate() {
                let (shard, name) = (format!("{number}/3"), format!("parts/{number}.jsonl"));
                dir.ftk(&["manifest", "create", "-q", "--shard", &shard, "t", "-o", &name]).status(0);
                if nth == 0 {
                    fs::rename(dir.path("t").join(from), dir.path("t").join(to)).unwrap();
                }
            }
            let parts = ["parts/1.jsonl", "parts/2.jsonl", "parts/3.jsonl"];
            let merge =
                dir.ftk(&[&["manifest", "merge", "-q"], &parts[..], &["-o", "m.jsonl"]].concat()).status(0);
            let convert = dir.query(&["convert", "-q", "parts", "-o", "set"]).status(0);
            assert!(merge.err.contains("changed while the shards were recorded"), "{merge:?}");
            assert_eq!(convert.err, merge.err.replace("ftk: ", "ftk query: 't': "));
            let rows = |set: &str| csv(&dir, "SELECT path FROM entries ORDER BY path", set);
            dir.ask(&["convert", "m.jsonl", "-o", "merged"]);
            assert_eq!(rows("set"), rows("merged"));
        }
    }
    // Nothing changed.
    let dir = parts();
    let convert = dir.query(&["convert", "-q", "parts", "-o", "set"]).status(0);
    assert_eq!(convert.err, "");
}

/// Shards lack the tree digests of the directories that they share, so the answer would lack directories.
#[test]
fn equal_directories_need_a_merged_manifest() {
    let dir = parts();
    dir.ask(&["convert", "parts", "-o", "set"]);
    let error = dir.refused(&["duplicate-directories", "set"]);
    assert!(error.contains("merge them with `ftk manifest merge`"), "{error}");
    dir.ftk(&["manifest", "merge", "parts/1.jsonl", "parts/2.jsonl.zst", "parts/3.jsonl", "-o", "m.jsonl"])
        .status(0);
    dir.ask(&["convert", "m.jsonl", "-o", "merged"]);
    dir.ask(&["duplicate-directories", "merged"]);
}
