//! Sets with failures: what could not be read is unknown, and never removed, new or missing.

use std::collections::BTreeSet;
use std::fs;

use sha2::{Digest as _, Sha256};

use crate::harness::Dir;

/// Writes a manifest like another one, of a run that could not read some paths.
fn with_failures(dir: &Dir, from: &str, to: &str, failed: &[&str]) {
    let text = fs::read_to_string(dir.path(from)).unwrap();
    let failed: Vec<_> = failed.iter().map(|path| format!("{{\"path\":\"{path}\"}}")).collect();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.pop();
    let header = lines[0].replace("\"version\":2", "\"version\":3");
    lines[0] = format!("{},\"failed\":[{}]}}", header.strip_suffix('}').unwrap(), failed.join(","));
    let body = lines.join("\n") + "\n";
    let digest: String = Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let footer = format!("{{\"footer\":{{\"records\":{},\"sha256\":\"{digest}\"}}}}\n", lines.len());
    dir.file(to, (body + &footer).as_bytes());
}

/// A tree, and a later one of which three directories and a file could not be read. One directory has another normal
/// form in the list of failures.
fn trees() -> Dir {
    let dir = Dir::new();
    for path in ["a/x", "a/b/y", "ab/z", "keep", "gone", "e\u{301}/p", "file", "100%_/q"] {
        dir.file(format!("old/{path}"), path.as_bytes());
    }
    dir.raw_file(b"old/a/\xff", b"raw");
    for path in ["a/new", "ab/new", "keep", "100%_/new"] {
        dir.file(format!("new/{path}"), path.as_bytes());
    }
    dir.ftk(&["manifest", "create", "--no-xattrs", "old", "-o", "old.jsonl"]).status(0);
    dir.ftk(&["manifest", "create", "--no-xattrs", "new", "-o", "all.jsonl"]).status(0);
    with_failures(&dir, "all.jsonl", "new.jsonl", &["100%_", "a", "file", "\u{e9}"]);
    for set in ["old", "new"] {
        dir.ask(&["convert", &format!("{set}.jsonl"), "-o", &format!("{set}.set")]);
    }
    dir
}

/// The paths that `ftk manifest diff` calls unknown, removed or new.
fn of_diff(dir: &Dir, sides: [&str; 2]) -> BTreeSet<(String, String)> {
    let run = dir.ftk(&["manifest", "diff", "--json", sides[0], sides[1]]).status(2);
    let lines = run.text().lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let text = |line: &serde_json::Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let verdict = |line: serde_json::Value| {
        let of = text(&line, "change");
        let is_known = ["removed", "added", "unknown"].contains(&&*of);
        is_known.then(|| (of, text(&line, "path") + &text(&line, "path_b64")))
    };
    lines.filter_map(verdict).collect()
}

#[test]
fn changes_below_a_failure_are_unknown() {
    let dir = trees();
    for (sides, removed) in [(["old", "new"], "removed"), (["new", "old"], "added")] {
        let sets = sides.map(|side| format!("{side}.set"));
        let run = dir.query(&["changed", &sets[0], &sets[1], "--format", "csv"]).status(2);
        let rows: Vec<Vec<&str>> = run.text().lines().skip(1).map(|row| row.split(',').collect()).collect();
        let of_only_one = rows.iter().filter(|row| row[0] != "modified" && row[0] != "metadata");
        let found: BTreeSet<_> =
            of_only_one.map(|row| (row[0].to_owned(), format!("{}{}", row[1], row[2]))).collect();
        assert_eq!(
            found,
            of_diff(&dir, sides.map(|side| format!("{side}.jsonl")).each_ref().map(|it| &**it))
        );
        let has = |change: &str, path: &str| found.contains(&(change.to_owned(), path.to_owned()));
        for path in ["a", "a/x", "a/b", "a/b/y", "a/new", "YS//", "file", "e\u{301}/p", "100%_/q", "\u{e9}"] {
            assert!(has("unknown", path), "{path}: {found:?}");
        }
        assert!(has(removed, "gone") && has(removed, "ab/z"), "{found:?}");
        assert!(run.err.contains("4 paths could not be read"), "{run:?}");
        // The status does not depend on the rows that are printed.
        dir.query(&["changed", &sets[0], &sets[1], "--limit", "0"]).status(2);
    }
}

#[test]
fn what_is_not_found_is_unknown_if_there_are_failures() {
    let dir = trees();
    let rows = |args: &[&str], status| {
        let run = dir.query(&[&["missing-in"], args, &["--format", "csv"]].concat()).status(status);
        let rows = run.text().lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
        rows.map(|row| (row[0].to_owned(), format!("{}{}", row[5], row[6]))).collect::<Vec<_>>()
    };
    // Nothing is known to be missing. `keep` is there.
    let found = rows(&["old.set", "new.set"], 2);
    assert_eq!(found.len(), 8, "{found:?}");
    assert!(found.iter().all(|(reason, path)| reason == "unknown" && path != "keep"), "{found:?}");
    // A record below a failure is of an earlier run: it is no copy.
    with_failures(&dir, "old.jsonl", "kept.jsonl", &["a"]);
    dir.ask(&["convert", "kept.jsonl", "-o", "kept.set"]);
    let found = rows(&["old.set", "kept.set"], 2);
    assert_eq!(found.iter().map(|(_, path)| &**path).collect::<Vec<_>>(), ["YS//", "a/b/y", "a/x"]);
    // Another set has them.
    dir.ask(&["convert", "old.jsonl", "-o", "copy.set"]);
    assert!(rows(&["old.set", "kept.set", "copy.set"], 0).is_empty());
    // What the first set could not read is unknown even if everything else has a copy.
    assert_eq!(rows(&["kept.set", "old.set"], 2), [("unknown".to_owned(), "a".to_owned())]);
}

#[test]
fn the_growth_of_what_could_not_be_read_is_unknown() {
    let dir = trees();
    for (sides, known) in [(["old.set", "new.set"], "grown,2"), (["new.set", "old.set"], "shrunk,-2")] {
        let run = dir.query(&["growth", sides[0], sides[1], "--format", "csv"]).status(2);
        let mut rows: Vec<_> = run.text().split("\r\n").skip(1).filter(|row| !row.is_empty()).collect();
        assert!(rows.remove(0).starts_with(&format!("{known},1,1,")), "{run:?}");
        // The directory of `file` lacks it. The name of one directory is recorded in another normal form.
        let unknown: BTreeSet<_> = rows.into_iter().map(str::to_owned).collect();
        let expected = [".", "100%_", "a", "a/b", "e\u{301}", "\u{e9}"];
        assert_eq!(unknown, expected.map(|parent| format!("unknown,,,,,,{parent},")).into());
        dir.query(&["growth", sides[0], sides[1], "--limit", "0"]).status(2);
    }
    // Everything below the root.
    with_failures(&dir, "all.jsonl", "none.jsonl", &["."]);
    dir.ask(&["convert", "none.jsonl", "-o", "none.set"]);
    let run = dir.query(&["growth", "old.set", "none.set", "--format", "csv"]).status(2);
    assert!(
        run.text().split("\r\n").skip(1).all(|row| row.is_empty() || row.starts_with("unknown,")),
        "{run:?}"
    );
}

/// A name that could not be read may be the first one of a file that is recorded elsewhere.
#[test]
fn hard_links_of_what_could_not_be_read_are_unknown() {
    let dir = Dir::new();
    dir.file("t/a/first", &[b'x'; 100]).file("t/b/other", b"1").file("t/c/pair", b"22");
    for (from, to) in [("a/first", "b/second"), ("c/pair", "c/twin")] {
        fs::hard_link(dir.path("t").join(from), dir.path("t").join(to)).unwrap();
    }
    dir.ftk(&["manifest", "create", "--no-xattrs", "t", "-o", "old.jsonl"]).status(0);
    fs::remove_file(dir.path("t/a/first")).unwrap();
    fs::hard_link(dir.path("t/b/second"), dir.path("kept")).unwrap();
    dir.file("t/c/new", b"333");
    dir.ftk(&["manifest", "create", "--no-xattrs", "t", "-o", "all.jsonl"]).status(0);
    with_failures(&dir, "all.jsonl", "new.jsonl", &["a"]);
    for (manifest, snapshot) in [("old", "2026-01-01"), ("new", "2026-02-01")] {
        let set = format!("{manifest}.set");
        dir.ask(&["convert", &format!("{manifest}.jsonl"), "-o", &set, "--snapshot", snapshot]);
    }
    let run = dir.query(&["growth", "old.set", "new.set", "--format", "csv"]).status(2);
    let rows: Vec<_> = run.text().split("\r\n").skip(1).filter(|row| !row.is_empty()).collect();
    assert_eq!(rows, ["grown,3,1,2,2,5,c,", "unknown,,,,,,a,", "unknown,,,,,,b,"]);
    let run = dir.query(&["trend", "old.set", "new.set", "--format", "csv"]).status(2);
    let rows: Vec<_> = run.text().split("\r\n").filter(|row| row.contains(",2026-02-01,")).collect();
    let unknown = |name: &str| format!("unknown,t,{name},2026-02-01,,,,");
    assert_eq!(rows, [&*unknown("."), &*unknown("a"), &*unknown("b"), "grown,t,c,2026-02-01,2,5,1,3"]);
}

#[test]
fn a_trend_over_what_could_not_be_read_is_unknown() {
    let dir = trees();
    let sets =
        [("old", "2026-01-01"), ("new", "2026-02-01"), ("all", "2026-03-01")].map(|(manifest, snapshot)| {
            let manifest = format!("{manifest}.jsonl");
            dir.ask(&["convert", &manifest, "-o", snapshot, "--source", "t", "--snapshot", snapshot]);
            snapshot
        });
    let rows = |by: &[&str]| -> Vec<Vec<String>> {
        let run = dir.query(&[&["trend"], by, &sets[..], &["--format", "csv"]].concat()).status(2);
        let rows = run.text().split("\r\n").skip(1).filter(|row| !row.is_empty());
        rows.map(|row| row.split(',').map(str::to_owned).collect()).collect()
    };
    let found = rows(&["--by", "directory", "--depth", "2"]);
    let of = |name: &str| -> Vec<_> {
        found
            .iter()
            .filter(|row| row[2] == name)
            .map(|row| [&row[0], &row[3], &row[4]].map(|it| &**it))
            .collect()
    };
    let [first, second, third] = sets;
    // Above a failure, at it and below it. Then the last value is not known.
    assert_eq!(of("."), [["first", first, "9"], ["unknown", second, ""], ["unknown", third, "4"]]);
    assert_eq!(of("a"), [["first", first, "3"], ["unknown", second, ""], ["unknown", third, "1"]]);
    assert_eq!(of("a/b"), [["first", first, "1"], ["unknown", second, ""]]);
    assert_eq!(of("ab"), [["first", first, "1"], ["grown", second, "1"], ["same", third, "1"]]);
    assert!(found.iter().all(|row| row[0] != "unknown" || row[6..] == ["", ""]), "{found:?}");
    // A file of any owner may be missing.
    for by in ["owner", "extension"] {
        let changes: Vec<_> = rows(&["--by", by]).into_iter().map(|row| row[0].clone()).collect();
        assert_eq!(changes, ["first", "unknown", "unknown"], "{by}");
    }
    // Without failures the status is 0.
    dir.query(&["trend", first, third]).status(0);
}

/// A content that one of several sets has is not missing.
#[test]
fn contents_are_searched_in_all_other_sets() {
    let dir = Dir::new();
    for (tree, names) in [("a", &["1", "2", "3", "4"][..]), ("b", &["1"]), ("c", &["2", "5"]), ("d", &["3"])]
    {
        for name in names {
            dir.file(format!("{tree}/{name}-{tree}"), name.as_bytes());
        }
        dir.set(tree, &[]);
    }
    let of = |sets: &[&str]| -> Vec<String> {
        let rows = dir.rows(&[&["missing-in"], sets].concat());
        rows.iter().map(|row| row.split(',').nth(5).unwrap().to_owned()).collect()
    };
    assert_eq!(of(&["a.set", "b.set", "c.set", "d.set"]), ["4-a"]);
    assert_eq!(of(&["a.set", "c.set"]), ["1-a", "3-a", "4-a"]);
    assert!(dir.query(&["missing-in", "a.set"]).status(2).out.is_empty());
    dir.ftk(&["manifest", "create", "-a", "md5", "b", "-o", "md5.jsonl"]).status(0);
    dir.ask(&["convert", "md5.jsonl", "-o", "md5.set"]);
    let error = dir.refused(&["missing-in", "a.set", "b.set", "md5.set"]);
    assert!(error.contains("digests by sha256 and md5.set by md5"), "{error}");
}

#[test]
fn a_seal_lists_what_could_not_be_read() {
    let dir = trees();
    let failed = dir.rows(&["sql", "SELECT path FROM failed ORDER BY path", "new.set"]);
    assert_eq!(failed, ["100%_", "a", "file", "\u{e9}"]);
    assert!(dir.rows(&["sql", "SELECT path FROM failed", "old.set"]).is_empty());
    let seal = fs::read_to_string(dir.path("old.set/_set.jsonl")).unwrap();
    assert!(!seal.contains("failed"), "{seal}");
}
