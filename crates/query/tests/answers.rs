//! Questions, the forms of their answers, and errors in SQL.

use std::fs;

use crate::harness::Dir;

/// Two trees: `old` and `new`.
fn trees(dir: &Dir) -> [String; 2] {
    dir.file("old/same", b"same")
        .file("old/copy", b"same")
        .file("old/gone", b"gone")
        .file("old/edited", b"1");
    dir.file("new/same", b"same")
        .file("new/moved", b"gone")
        .file("new/edited", b"22")
        .file("new/added", b"added");
    [dir.set("old", &["--snapshot", "2026-09-01"]), dir.set("new", &["--snapshot", "2026-10-01"])]
}

fn csv(dir: &Dir, args: &[&str]) -> Vec<String> {
    let rows = dir.ask(&[args, &["--format", "csv"]].concat());
    rows.split("\r\n").skip(1).filter(|row| !row.is_empty()).map(str::to_owned).collect()
}

#[test]
fn contents_are_compared_wherever_they_are() {
    let dir = Dir::new();
    let [old, new] = trees(&dir);
    let missing = csv(&dir, &["missing-in", &old, &new]);
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(
        missing[0].starts_with("missing,1,sha256,") && missing[0].ends_with(",old,edited,"),
        "{missing:?}"
    );
    let duplicates = csv(&dir, &["duplicates", &old, &new]);
    let names: Vec<_> = duplicates.iter().map(|row| row.splitn(6, ',').nth(5).unwrap()).collect();
    assert_eq!(names, ["new,same,", "old,copy,", "old,same,", "new,moved,", "old,gone,"]);
    // Sets may be above.
    let above = ["old/../old.set", "./new/../new.set"];
    assert_eq!(csv(&dir, &["duplicates", above[0], above[1]]), duplicates);
}

#[test]
fn changes_are_found_by_path() {
    let dir = Dir::new();
    let [old, new] = trees(&dir);
    let changes = csv(&dir, &["changed", &old, &new]);
    let changes: Vec<_> = changes.iter().filter(|row| !row.contains("same")).collect();
    let of = |name: &str| {
        changes.iter().find(|row| row.contains(&format!(",{name},"))).unwrap().split(',').next().unwrap()
    };
    assert_eq!(
        [of("added"), of("copy"), of("edited"), of("gone"), of("moved")],
        ["added", "removed", "modified", "removed", "added"]
    );
}

#[test]
fn every_question_runs() {
    let dir = Dir::new();
    let [old, new] = trees(&dir);
    let list = dir.ask(&["list"]);
    dir.file("expected.csv", b"path\nsame\n");
    assert_eq!(list.lines().count(), 19);
    for line in list.lines() {
        let name = line.split(' ').next().unwrap();
        let since: &[&str] = match name {
            "unverified-since" | "cold" => &["--since", "2100-01-01"],
            "orphans" => &["--expected", "expected.csv"],
            _ => &[],
        };
        let has_default = ["by-age", "by-directory", "trend"].contains(&name);
        for format in ["table", "csv", "json", "parquet"] {
            let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_ftk-query"));
            run.args([name, &old, &new, "--format", format]).args(since).current_dir(dir.path(""));
            let output = run.output().unwrap();
            assert!(output.status.success(), "{name} {format}: {output:?}");
        }
        let sql = dir.ask(&[name, "--show", "x", "y"]);
        assert!(sql.starts_with("-- ") && sql.contains("SELECT"), "{sql}");
        // The same text, as a file.
        if since.is_empty() && !has_default {
            dir.file("q.sql", sql.as_bytes());
            assert_eq!(
                dir.ask(&["sql", "--file", "q.sql", &old, &new]),
                dir.ask(&[name, &old, &new]),
                "{name}"
            );
        }
    }
}

#[test]
fn parameters_are_values_and_never_sql() {
    let dir = Dir::new();
    let [old, new] = trees(&dir);
    assert_eq!(csv(&dir, &["versions-of", &old, &new, "--name", "edited"]).len(), 2);
    assert_eq!(csv(&dir, &["versions-of", &old, &new]).len(), 2);
    assert!(csv(&dir, &["versions-of", &old, &new, "--name", "x' OR '1'='1"]).is_empty());
    assert_eq!(csv(&dir, &["unverified-since", &old, "--since", "2100-01-01"]).len(), 4);
    assert!(csv(&dir, &["unverified-since", &old, "--since", "1h"]).is_empty());
    dir.query(&["unverified-since", &old]).status(2);
    dir.query(&["largest", &old, "--since", "1h"]).status(2);
}

/// A naive model: the recorded times, sizes and owners, added up here.
#[test]
fn old_files_are_added_up() {
    let dir = Dir::new();
    let now = 1_790_000_000;
    let day = 86_400;
    let ages = [0, 1, day - 1, day, 7 * day, 30 * day - 1, 366 * day, 731 * day, 5000 * day, -5];
    for (nth, age) in ages.into_iter().enumerate() {
        let name = format!("t/d{}/{nth}", nth % 3);
        dir.file(&name, &vec![b'x'; nth * 1000]);
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs((now - age) as u64);
        fs::File::options().write(true).open(dir.path(&name)).unwrap().set_modified(time).unwrap();
    }
    // A second name adds nothing.
    fs::hard_link(dir.path("t/d0/9"), dir.path("t/d1/z")).unwrap();
    let set = dir.set("t", &[]);
    let at = "2026-09-21T14:13:20Z";
    let of = |from: i64, to: i64| {
        let old = ages.iter().enumerate().filter(|(_, age)| (from..to).contains(&(**age * 1_000_000_000)));
        old.fold((0, 0), |(files, bytes), (nth, _)| (files + 1, bytes + nth * 1000))
    };
    let limits = [0, 1, 7, 30, 90, 365, 730, 1826, 3652].map(|days: i64| days * day * 1_000_000_000);
    let mut expected = vec![(-1, of(i64::MIN, 0))];
    for (nth, from) in limits.iter().enumerate() {
        let to = limits.get(nth + 1).copied().unwrap_or(i64::MAX);
        expected.push((from / day / 1_000_000_000, of(*from, to)));
    }
    expected.retain(|(_, (files, _))| *files > 0);
    let rows = csv(&dir, &["by-age", &set, "--at", at]);
    let numbers = |row: &String| -> Vec<i64> { row.split(',').map(|it| it.parse().unwrap_or(-9)).collect() };
    let found: Vec<_> = rows.iter().map(numbers).map(|row| (row[0], (row[1], row[2] as usize))).collect();
    assert_eq!(found, expected);

    let since = now - 30 * day;
    let mut expected: Vec<(usize, String, usize)> = Vec::new();
    for dir in 0..3 {
        let old = ages.iter().enumerate().filter(|(nth, age)| nth % 3 == dir && now - **age < since);
        let (files, bytes) = old.fold((0, 0), |(files, bytes), (nth, _)| (files + 1, bytes + nth * 1000));
        if files > 0 {
            expected.push((bytes, format!("d{dir}"), files));
        }
    }
    expected.sort_by(|a, b| b.cmp(a));
    let rows = csv(&dir, &["cold", &set, "--since", "2026-08-22T14:13:20Z"]);
    let row = |row: &String| -> (usize, String, usize) {
        let cells: Vec<_> = row.split(',').collect();
        (cells[5].parse().unwrap(), cells[2].to_owned(), cells[4].parse().unwrap())
    };
    assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), expected);
}

#[test]
fn the_forms_of_an_answer() {
    let dir = Dir::new();
    dir.file("t/new\nline\u{202e}", b"1").file("t/a,\"b\"", b"12");
    let set = dir.set("t", &[]);
    let sql = "SELECT path, size_bytes, target FROM entries WHERE type = 'file' ORDER BY size_bytes";
    let of = |format: &str| dir.ask(&["sql", sql, &set, "--format", format]);
    assert_eq!(of("csv"), "path,size_bytes,target\r\n\"new\nline\u{202e}\",1,\r\n\"a,\"\"b\"\"\",2,\r\n");
    assert_eq!(
        of("json"),
        "{\"path\":\"new\\nline\\u202e\",\"size_bytes\":1,\"target\":null}\n\
         {\"path\":\"a,\\\"b\\\"\",\"size_bytes\":2,\"target\":null}\n"
    );
    assert_eq!(
        of("table"),
        "path               size_bytes  target\nnew\\nline\\u{202e}           1\na,\"b\"                       2\n"
    );
    let limited = dir.query(&["sql", sql, &set, "--limit", "1"]);
    assert_eq!(limited.text().lines().count(), 2);
    assert!(limited.err.contains("more rows"), "{limited:?}");
    assert!(!dir.query(&["sql", sql, &set, "--limit", "2"]).err.contains("more rows"));
    assert_eq!(dir.query(&["sql", sql, &set, "--limit", "2", "-q"]).err, "");
}

#[test]
fn an_error_in_sql_has_a_position() {
    let dir = Dir::new();
    dir.file("t/a", b"1");
    let set = dir.set("t", &[]);
    let refused = |sql: &str| dir.refused(&["sql", sql, &set]);
    assert!(refused("SELECT path\nFROM entries WHER type = 1").contains("Line: 2, Column: "));
    assert!(refused("SELECT path,\n  sizes FROM entries").contains("line 2, column 3"));
    assert!(refused("SELECT * FROM files").contains("files"));
    assert!(refused("SELECT 1; SELECT 2").contains("a single SQL statement"));
    for sql in [
        "COPY entries TO 'x.csv'",
        "CREATE TABLE x AS SELECT 1",
        "SET datafusion.execution.batch_size = 1",
        "DROP VIEW entries",
    ] {
        refused(sql);
    }
    assert!(!dir.path("x.csv").exists());
    assert!(refused("SELECT * FROM a_entries").contains("two sets"));
}

#[test]
fn a_tree_is_not_a_duplicate_of_itself() {
    let dir = Dir::new();
    dir.file("t/a", b"1");
    let set = dir.set("t", &[]);
    dir.ask(&["convert", "t.jsonl", "-o", "again"]);
    let error = dir.refused(&["duplicates", &set, "again"]);
    assert!(error.contains("both hold"), "{error}");
    assert!(csv(&dir, &["changed", &set, "again"]).is_empty());
}

#[test]
fn a_closed_output_is_no_error() {
    let dir = Dir::new();
    dir.file("t/a", b"1");
    dir.set("t", &[]);
    let script = format!(
        "{} sql 'SELECT a.path FROM entries a, entries b, entries c' t.set | true; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_ftk-query")
    );
    let output =
        std::process::Command::new("bash").args(["-c", &script]).current_dir(dir.path("")).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "0\n", "{:?}", String::from_utf8(output.stderr));
}

#[test]
fn other_files_with_a_seal_are_checked() {
    let dir = Dir::new();
    dir.file("t/a", b"1");
    let set = dir.set("t", &[]);
    // A table of another program under the seal of a set.
    let other = std::process::Command::new(env!("CARGO_BIN_EXE_ftk-query"))
        .args(["sql", "SELECT path, 1 AS path_b64 FROM entries", &set, "--format", "parquet"])
        .current_dir(dir.path(""))
        .output()
        .unwrap();
    for (bytes, why) in [(&other.stdout[..], "no column `source`"), (b"not Parquet", "cannot use")] {
        fs::write(dir.path("t.set/entries-1.parquet"), bytes).unwrap();
        seal_again(&dir, "t.set", bytes);
        let error = dir.refused(&["largest", &set]);
        assert!(error.contains(why), "{error}");
    }
}

/// Makes the seal of a set match new bytes of its entries.
fn seal_again(dir: &Dir, set: &str, bytes: &[u8]) {
    use sha2::{Digest as _, Sha256};
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let path = dir.path(format!("{set}/_set.jsonl"));
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = lines.iter().position(|line| line.contains("entries-1")).unwrap();
    let sha256 = hex(&Sha256::digest(bytes));
    lines[at] = format!(
        "{{\"file\":\"entries-1.parquet\",\"rows\":1,\"size_bytes\":{},\"sha256\":\"{sha256}\"}}",
        bytes.len()
    );
    lines.pop();
    let body = lines.join("\n") + "\n";
    let footer = hex(&Sha256::digest(body.as_bytes()));
    fs::write(
        path,
        format!("{body}{{\"footer\":{{\"records\":{},\"sha256\":\"{footer}\"}}}}\n", lines.len()),
    )
    .unwrap();
}
