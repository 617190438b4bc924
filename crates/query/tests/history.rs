//! Snapshots of one tree, directories with everything below them, and tables of the user.

use std::collections::BTreeMap;
use std::fs;

use crate::harness::Dir;

/// Three snapshots of a tree: file names, and their sizes.
const SNAPSHOTS: [(&str, &[(&str, usize)]); 3] = [
    ("2026-08-01", &[("a/b/c/1.txt", 10), ("a/2", 5), ("3", 1)]),
    ("2026-09-01", &[("a/b/c/1.txt", 30), ("a/2", 5), ("d/4.TXT", 7), ("3", 1)]),
    ("2026-10-01", &[("a/2", 5), ("d/4.TXT", 8), ("d/e/f/5", 100), ("3", 1)]),
];

fn snapshots() -> Dir {
    let dir = Dir::new();
    for (date, files) in SNAPSHOTS {
        let _ = fs::remove_dir_all(dir.path("t"));
        for (path, size) in files {
            dir.file(format!("t/{path}"), &vec![b'x'; *size]);
        }
        // A directory whose name is not UTF-8 counts in those above it, and a second name counts once.
        dir.raw_file(b"t/a/\xff/g/6", &[b'y'; 1000]);
        fs::hard_link(dir.path("t/3"), dir.path("t/a/again")).unwrap();
        dir.ftk(&["manifest", "create", "t", "-o", &format!("{date}.jsonl")]).status(0);
        dir.ask(&["convert", &format!("{date}.jsonl"), "--snapshot", date, "-o", date]);
    }
    dir
}

/// A naive model: the files and bytes below each directory down to a depth.
fn below(files: &[(&str, usize)], depth: usize) -> BTreeMap<String, (i64, i64)> {
    let mut sums = BTreeMap::new();
    let all = files.iter().copied().chain([("a/?/6", 1000)]);
    for (path, size) in all {
        let names: Vec<_> = path.split('/').collect();
        let dirs = names.len() - 1 - usize::from(path.contains('?'));
        for level in 0..=dirs.min(depth) {
            let name = if level == 0 { ".".to_owned() } else { names[..level].join("/") };
            let sum: &mut (i64, i64) = sums.entry(name).or_default();
            *sum = (sum.0 + 1, sum.1 + size as i64);
        }
    }
    sums
}

#[test]
fn directories_count_everything_below_them() {
    let dir = snapshots();
    for (date, files) in SNAPSHOTS {
        for depth in [0, 1, 2, 9] {
            let rows = dir.rows(&["by-directory", date, "--depth", &depth.to_string()]);
            let found = rows.iter().map(|row| {
                let cells: Vec<_> = row.split(',').collect();
                assert_eq!(
                    cells[2],
                    (if cells[1] == "." { 0 } else { cells[1].split('/').count() }).to_string()
                );
                (cells[1].to_owned(), (cells[3].parse().unwrap(), cells[4].parse().unwrap()))
            });
            assert_eq!(found.collect::<BTreeMap<_, _>>(), below(files, depth), "{date} {depth}");
        }
    }
    dir.query(&["by-directory", "2026-08-01", "--depth", "100"]).status(2);
}

#[test]
fn a_trend_has_the_growth_since_the_snapshot_before() {
    let dir = snapshots();
    // The order of the arguments does not matter.
    let sets = ["2026-10-01", "2026-08-01", "2026-09-01"];
    let rows = dir.rows(&[&["trend", "--by", "directory", "--depth", "2"], &sets[..]].concat());
    let mut expected = Vec::new();
    for (nth, (date, files)) in SNAPSHOTS.iter().enumerate() {
        let last = nth.checked_sub(1).map(|last| below(SNAPSHOTS[last].1, 2));
        for (name, (files, bytes)) in below(files, 2) {
            let growth = last.as_ref().map(|last| last.get(&name).copied().unwrap_or_default());
            let growth = growth.map(|(f, b)| (bytes - b, files - f));
            let change = match growth {
                None => "first",
                Some((0, 0)) => "same",
                Some(growth) if growth > (0, 0) => "grown",
                Some(_) => "shrunk",
            };
            let growth = growth.map_or(",".to_owned(), |(bytes, files)| format!("{files},{bytes}"));
            expected.push((name.clone(), format!("{change},t,{name},{date},{files},{bytes},{growth}")));
        }
    }
    expected.sort();
    assert_eq!(rows, expected.into_iter().map(|(_, row)| row).collect::<Vec<_>>());
    let rows = dir.rows(&[&["trend", "--by", "extension"], &sets[..]].concat());
    assert_eq!(
        rows[3..],
        [
            "first,t,txt,2026-08-01,1,10,,",
            "grown,t,txt,2026-09-01,2,37,1,27",
            "shrunk,t,txt,2026-10-01,1,8,-1,-29"
        ]
    );
    let rows = dir.rows(&[&["trend", "--by", "owner"], &sets[..]].concat());
    assert_eq!(rows.len(), 3, "{rows:?}");
}

#[test]
fn snapshots_are_kept_apart() {
    let dir = snapshots();
    let [a, b, c] = SNAPSHOTS.map(|(date, _)| date);
    let error = dir.refused(&["duplicates", a, b]);
    assert!(error.contains("both hold") && error.contains("`history`"), "{error}");
    let sql =
        "SELECT snapshot, count(*) AS n FROM history WHERE type = 'file' GROUP BY snapshot ORDER BY snapshot";
    assert_eq!(dir.rows(&["sql", sql, a, b, c]), ["2026-08-01,5", "2026-09-01,6", "2026-10-01,6"]);
    dir.ask(&["convert", "2026-08-01.jsonl", "--snapshot", a, "-o", "again"]);
    assert!(dir.refused(&["trend", a, "again"]).contains("both hold"));
    dir.ask(&["convert", "2026-08-01.jsonl", "-o", "undated"]);
    assert!(dir.refused(&["trend", a, "undated"]).contains("undated has no snapshot"));
    for date in ["2026-02-30", "2026-2-3", "yesterday", "20260203", "2026-02-03T10:00"] {
        dir.query(&["convert", "2026-08-01.jsonl", "--snapshot", date, "-o", "x"]).status(2);
    }
}

#[test]
fn files_are_tables() {
    let dir = snapshots();
    let set = "2026-10-01";
    let uid = dir.rows(&["sql", "SELECT max(uid) AS uid FROM entries", set]).remove(0);
    dir.file("users.csv", format!("uid,name\n{uid},ann\n").as_bytes());
    dir.file("lines.jsonl", format!("{{\"uid\":{uid},\"name\":\"bob\"}}\n").as_bytes());
    let made =
        dir.query(&["sql", "SELECT uid, 'eve' AS name FROM entries LIMIT 1", set, "--format", "parquet"]);
    dir.file("p.parquet", &made.out);
    for (file, name) in [("users.csv", "ann"), ("lines.jsonl", "bob"), ("p.parquet", "eve")] {
        let sql = "SELECT DISTINCT u.name FROM entries e JOIN users u ON e.uid = u.uid";
        assert_eq!(dir.rows(&["sql", sql, set, "--table", &format!("users={file}")]), [name]);
    }
    // A table needs no set.
    assert_eq!(dir.rows(&["sql", "SELECT name FROM users", "--table", "users=users.csv"]), ["ann"]);
    for (table, why) in [
        ("entries=users.csv", "that of the sets"),
        ("users=users.txt", "must end in .csv"),
        ("users", "NAME=FILE"),
        ("a b=users.csv", "characters"),
        ("users=missing.csv", "missing.csv"),
    ] {
        let run = dir.query(&["sql", "SELECT 1 AS one", set, "--table", table]).status(2);
        assert!(run.err.contains(why), "{table}: {run:?}");
    }
}

#[test]
fn orphans_are_files_that_a_list_lacks() {
    let dir = snapshots();
    dir.file("t/007", b"7");
    dir.ftk(&["manifest", "create", "t", "-o", "t.jsonl"]).status(0);
    dir.ask(&["convert", "t.jsonl", "-o", "set"]);
    let of = |list: &str| -> Vec<String> {
        dir.file("list.csv", list.as_bytes());
        let rows = dir.rows(&["orphans", "set", "--expected", "list.csv"]);
        rows.iter().map(|row| row.split(',').skip(4).collect::<Vec<_>>().join("")).collect()
    };
    let b64 = "YS//L2cvNg==";
    assert_eq!(of("path\n3\na/2\nd/4.TXT\nd/4.TXT\nd/e/f/5\nother\n"), [b64, "007", "a/again"]);
    // Names are text, also those of digits. An empty one is no name in base64.
    assert_eq!(of("number,path\n1,007\n2,3\n3,7\n4,\n")[..2], [b64, "a/2"]);
    assert!(dir.query(&["orphans", "set"]).status(2).err.contains("--expected"));
    dir.file("list.csv", b"name\nx\n");
    assert!(dir.refused(&["orphans", "set", "--expected", "list.csv"]).contains("path"));
}

#[test]
fn functions_of_paths_and_numbers() {
    let dir = snapshots();
    let sql = "SELECT prefix(path, 2) AS p, depth(path) AS d, dirname(path) AS n, extension(path) AS e,
        human(size_bytes * 1000) AS h, age(mtime_ns) AS a FROM entries WHERE path IN ('a/2', 'd/4.TXT', '.') AND type <> 'x'
        AND path <> '.' ORDER BY path";
    assert_eq!(dir.rows(&["sql", sql, "2026-10-01"]), ["a/2,2,a,,5.00 kB,0", "d/4.TXT,2,d,txt,8.00 kB,0"]);
    let sql = "SELECT prefix('a/b/c', 2) AS p, depth('.') AS d, prefix(NULL, 1) AS n";
    assert_eq!(dir.rows(&["sql", sql, "2026-10-01"]), ["a/b,0,"]);
}
