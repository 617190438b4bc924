//! Options that have another meaning in another tool must not produce a wrong result with status 0.

use crate::harness::{Dir, Run, needs};

/// A row of the table in `ftk help coming-from`.
struct Row {
    there: String,
    commands: Vec<String>,
    here: String,
}

/// Returns all rows of the table.
fn rows(dir: &Dir) -> Vec<Row> {
    let page = dir.ftk(["help", "coming-from"]).run().status(0).stderr("");
    let lines = page.text().lines().filter(|line| line.starts_with("| `"));
    // Tables of two columns have whole commands, which other tests run.
    let lines = lines.filter(|line| line.matches(" | ").count() == 2);
    // Spellings of one option share a line.
    let rows = lines.flat_map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [there, commands, here] = cells[..] else { panic!("{line}") };
        let row = |there: &str| Row {
            there: there.into(),
            commands: commands.split(", ").map(Into::into).collect(),
            here: here.replace('`', ""),
        };
        there.trim_matches('`').split("`, `").map(row).collect::<Vec<_>>()
    });
    rows.collect()
}

fn scene() -> Dir {
    let dir = Dir::new();
    dir.file("a/x", b"one").file("a/y", b"one").file("b/x", b"two").file("file", b"").file("d/z", b"");
    dir.file("list", b"d41d8cd98f00b204e9800998ecf8427e  d/z\n");
    dir
}

/// Runs a command of `ftk` with the options of another tool.
fn run(dir: &Dir, command: &str, there: &str) -> Run {
    let operands: &[&str] = match command {
        "cmp" => &["a", "b"],
        "dup prune" => &["--action", "delete", "a"],
        "dup apply" => &["--action", "delete", "file"],
        "manifest" => &[],
        "manifest unique" => &["file", "file"],
        _ => &["a"],
    };
    let value = |word: &str| match word {
        "FILE" => "file".into(),
        "DIR" => "a".into(),
        "LIST" => "list".into(),
        "sh:FILE" => "sh:file".into(),
        "GLOB" => "*.x".into(),
        "RE" => "x".into(),
        "CMD" => "true".into(),
        "FORMAT" => "%p".into(),
        "FILTER" => "onlyext:x".into(),
        "PATTERN" => "jpg".into(),
        word => word.to_owned(),
    };
    dir.ftk(command.split(' ')).args(operands).args(there.split(' ').map(value)).run()
}

/// Options that ftk has with another meaning, and whose intended meaning cannot be recognised.
const UNRECOGNISED: [&str; 7] = ["-L", "-c md5,sha1", "-o f", "-s", "--verbose", "-r DIR", "-x jpg"];

#[test]
fn h79_every_row_of_the_table() {
    let rows = rows(&scene());
    assert!(rows.len() > 200, "{} rows", rows.len());
    for row in rows {
        for command in &row.commands {
            let dir = scene();
            let is_careful = row.here.starts_with("**Careful**");
            if is_careful && UNRECOGNISED.contains(&&*row.there) {
                continue;
            }
            let run = run(&dir, command, &row.there).status(2);
            // The whole line is rewritten: then it works.
            if let Some((_, line)) = run.err.split_once("; in ftk: ftk ") {
                let line = line.split("   (").next().unwrap();
                let line = format!("'{}' {line}", env!("CARGO_BIN_EXE_ftk"));
                let run = dir.ftk([""; 0]).instead(&dir, ["sh", "-c", &line]).run();
                let is_empty = ["nothing was ", "not a manifest", "empty files are equal"]
                    .iter()
                    .any(|why| run.err.contains(why));
                run.check(run.code() <= 1 || is_empty, "the line works");
                continue;
            }
            let hint = match (&*row.there, is_careful) {
                ("PATTERN", _) => "to search by name: ftk find -n '*jpg*'",
                ("-x CMD", _) => "to run a command: ftk find --exec",
                ("-x LIST", _) => {
                    ": ftk manifest import list -o k.jsonl, then ftk manifest unique a k.jsonl; "
                }
                ("-a -k FILE", _) => "by content: ftk manifest import FILE",
                ("-n DIR" | "-o name" | "-o sh:FILE", _) => ", and '",
                (_, true) => row.here.split_once("; ").unwrap().1,
                _ => &row.here,
            };
            run.check(run.err.contains(hint), &format!("ftk {command} {}: {hint}", row.there));
            run.check(!run.err.contains("a similar argument"), "nothing else is suggested");
        }
    }
}

/// An operator of find is named even if the parser rejects the operand after it.
#[test]
fn h79_operators_before_the_path() {
    let dir = scene();
    for (operator, hint) in [("!", "use --where 'not ...'"), ("(", "--where"), (")", "--where")] {
        for operands in [[operator, "a"], ["a", operator]] {
            let run = dir.ftk(["manifest", "create"]).args(operands).run().status(2).stdout("");
            run.stderr_has(&format!("'{operator}' is GNU find syntax: ")).stderr_has(hint);
        }
    }
}

/// A trial: `md5deep -x LIST` became a list of everything, and of LIST.
#[test]
fn h79_a_list_of_known_files_is_no_path() {
    let dir = scene();
    let hashdeep = b"%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## $ hashdeep\n##\n0,d41d8cd98f00b204e9800998ecf8427e,z\n";
    dir.file("it's", hashdeep);
    for (args, import, path) in [
        (&["-x", "list", "a"][..], "list", "a"),
        (&["-rx", "list", "a"], "list", "a"),
        (&["a", "-a", "md5", "-x", "list"], "list", "a"),
        (&["-x", "it's", "--", "-"], "'it'\\''s'", "-"),
        (&["-x", "list"], "list", "PATH"),
    ] {
        let run = dir.ftk(["hash"]).args(args).stdin(b"").run().status(2).stdout("");
        run.stderr_has(&format!(
            "ftk manifest import {import} -o k.jsonl, then ftk manifest unique {path} k.jsonl"
        ));
    }
    for args in
        [&["--one-file-system", "list"][..], &["list", "-x"], &["-x", "a", "list"], &["-x", "a/x", "file"]]
    {
        dir.ftk(["hash"]).args(args).run().status(0);
    }
}

/// What the page says instead of `md5deep -x` does the same, also for files that have another name.
#[test]
fn h79_unique_lists_what_md5deep_x_lists() {
    needs!("hashdeep");
    let dir = scene();
    dir.file("new/renamed", b"one").file("new/a/x", b"three").file("new/other", b"four");
    let by = |words: &[&str]| dir.ftk([""; 0]).instead(&dir, words).run();
    let run = |words: &[&str]| dir.ftk(words).run().status(0);
    let known = by(&["md5deep", "-r", "-l", "a"]).status(0);
    let deep = by(&["hashdeep", "-r", "a"]).status(0);
    dir.file("k", &known.out).file("deep", &deep.out);
    let root = dir.path("").canonicalize().unwrap();
    run(&["manifest", "import", "k", "-o", "k.jsonl"]);
    run(&["manifest", "import", "--root", root.to_str().unwrap(), "deep", "-o", "deep.jsonl"]);
    let mut unknown: Vec<_> =
        by(&["md5deep", "-r", "-l", "-x", "k", "new"]).text().lines().map(String::from).collect();
    unknown.sort();
    assert_eq!(unknown, ["new/a/x", "new/other"]);
    for known in ["k.jsonl", "deep.jsonl"] {
        let ours = dir.ftk(["manifest", "unique", "new", known]).run().status(1);
        assert_eq!(ours.text().lines().collect::<Vec<_>>(), unknown);
    }
}

/// The commands of the original report: each did something else and exited with status 0.
#[test]
fn h79_recursive_means_recursive() {
    let dir = scene();
    let diff = "content differs\tx\tfirst at byte 1\nonly in a\ty\n";
    dir.ftk(["cmp", "-rq", "a", "b"]).run().status(1).stdout(diff).stderr("");
    dir.ftk(["cmp", "-rs", "a", "b"]).run().status(1).stdout("").stderr("");
    dir.ftk(["cmp", "-rq", "a", "a"]).run().status(0).stdout("").stderr("");
    dir.ftk(["dup", "-r", "a"]).run().status(0).stdout("a/x\na/y\n\n");
    dir.ftk(["dup", "prune", "-r", "a", "--action", "delete"])
        .run()
        .status(0)
        .stderr_has("would delete 1 file");
    let hash = dir.ftk(["hash", "a"]).run().status(0);
    dir.ftk(["hash", "-r", "--recursive", "a"]).run().status(0).stdout(&hash.out);
    for command in [&["create", "-r", "a"][..], &["create", "a", "--recursive"]] {
        dir.ftk(["manifest"]).args(command).run().status(0);
    }
    dir.ftk(["find", "-r", "x", "a"]).run().status(2).stdout("").stderr_has("there is no option '-r'");
}

/// Two clusters of short options that hide a value.
#[test]
fn h79_a_directory_given_to_a_value_option_is_an_error() {
    let dir = scene();
    for line in [&["dup", "-rn", "a"][..], &["dup", "-n", "-r", "a"], &["dup", "-n", "a", "b"]] {
        dir.ftk(line).run().status(2).stdout("").stderr_has("in ftk, -n is --name");
    }
    dir.ftk(["dup", "-n", "[xy]", "a"]).run().status(0).stdout("a/x\na/y\n\n");
    dir.ftk(["dup", "--name", "a", "."]).run().status(0).stdout("");
    dir.ftk(["dup", "-o", "time", "a"]).run().status(2).stderr_has("order of fdupes");
    dir.ftk(["dup", "-o", "./time", "a"]).run().status(0);
    dir.ftk(["dup", "a", "//", "b"]).run().status(2).stdout("").stderr_has("rmlint");
}

/// Values of options and arguments of --exec commands are not parsed as find expressions.
#[test]
fn h79_values_are_not_options() {
    let dir = scene();
    dir.file("-empty", b"x").file("d/-name", b"");
    dir.ftk(["find", "d", "-n", "-name"]).run().status(0).stdout("d/-name\n");
    dir.ftk(["hash", "--", "-empty"]).run().status(0);
    let exec = ["find", "d", "-n", "z", "--exec", "find", "{}", "-empty", ";"];
    dir.ftk(exec).run().status(0).stdout("d/z\n");
    dir.ftk(["cmp", "-ls", "file", "file"]).run().status(2).stderr_has("--list and --status");
    dir.ftk(["find", "-e", "mpty"]).run().status(0).stdout("");
}

/// A verification that looked at nothing fails; empty trees are equal.
#[test]
fn h79_filters_that_match_nothing() {
    let dir = scene();
    dir.dir("empty/1").dir("empty/2");
    let none = "nothing was compared: the filters match none of 3 files";
    for filter in
        [&["-e", "zip"][..], &["-n", "nothing"], &["-S", "+1G"], &["-E", "*"], &["--min-depth", "2"]]
    {
        dir.ftk(["cmp", "a", "b"]).args(filter).run().status(2).stdout("").stderr_has(none);
    }
    dir.ftk(["cmp", "a", "b", "--max-depth", "0"]).run().status(2).stderr_has("nothing was compared");
    dir.ftk(["cmp", "empty/1", "empty/2", "-e", "zip"]).run().status(0);
    dir.ftk(["cmp", "a", "b", "-n", "y"]).run().status(1).stdout("only in a\ty\n");

    let list = dir.ftk(["hash", "a", "-o", "list"]).run().status(0);
    list.check(dir.path("list").exists(), "there is a list");
    for filter in [["-e", "zip"], ["-n", "x"]] {
        dir.ftk(["hash", "--check", "list"]).args(filter).run().status(2).stdout("").stderr_has("--new");
    }
    let run = dir.ftk(["hash", "--check", "--new", "list", "-e", "zip"]).run().status(2);
    run.stderr_has("the filters match none of 6 files");

    for command in ["find", "hash", "dup"] {
        let run = dir.ftk([command, "a", "-e", "zip"]).run().status(0);
        run.stderr_has("  the filters match none of 2 files\n");
        let quiet = if command == "find" { "--status" } else { "-q" };
        dir.ftk([command, "a", "-e", "zip", quiet]).run().stderr("");
    }
    let sorted = dir.ftk(["find", "a", "-e", "zip", "--sort"]).run().status(0);
    sorted.stderr_has("  the filters match none of 2 files\n");
    let excluded = dir.ftk(["find", "d", "-E", "*", "-t", "f"]).run().status(0);
    excluded.stderr_has("  the filters match none of 1 file\n");
}

/// A missing path may be meant as a pattern.
#[test]
fn h79_a_missing_path_suggests_a_search_by_name() {
    let dir = scene();
    let hint =
        "ftk: cannot stat 'jpg': no such file or directory\n     to search by name: ftk find -n '*jpg*'\n";
    dir.ftk(["find", "jpg"]).run().status(2).stdout("").stderr(hint);
    dir.ftk(["find", "a/jpg"])
        .run()
        .status(2)
        .stderr("ftk: cannot stat 'a/jpg': no such file or directory\n");
    dir.ftk(["hash", "-q", "jpg"])
        .run()
        .status(2)
        .stderr("ftk: cannot stat 'jpg': no such file or directory\n");
}
