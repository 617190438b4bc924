//! `ftk hash --diff`: the differences of two lists.

use std::fs;

use serde_json::Value;

use super::names::hostile_tree;
use crate::harness::{Dir, Run, bytes, needs, records};

/// Writes the list of the tree next to it.
fn list(dir: &Dir, name: &str, args: &[&str]) {
    dir.ftk(["hash", ".", "-o"]).arg(dir.aside(name)).args(args).run().status(0);
}

fn diff(dir: &Dir, old: &str, new: &str, args: &[&str]) -> Run {
    dir.ftk(["hash", "--diff"]).arg(dir.aside(old)).arg(dir.aside(new)).args(args).run()
}

fn write(dir: &Dir, name: &str, list: &str) {
    fs::write(dir.aside(name), list).unwrap();
}

/// Creates a tree, and lists of it before and after changes.
fn changed_tree() -> Dir {
    let dir = Dir::new();
    for name in ["gone", "kept", "edited", "from", "sub/swapped", "sub/traded"] {
        dir.file(name, name.as_bytes());
    }
    list(&dir, "old", &[]);
    fs::remove_file(dir.path("gone")).unwrap();
    fs::rename(dir.path("from"), dir.path("sub/to")).unwrap();
    dir.file("sub/swapped", b"sub/traded").file("sub/traded", b"sub/swapped");
    dir.file("edited", b"other").file("fresh", b"fresh").file("copy", b"kept");
    list(&dir, "new", &[]);
    dir
}

const CHANGES: &str = "\
added    ./copy
modified ./edited
added    ./fresh
moved    ./from \u{2192} ./sub/to
removed  ./gone
modified ./sub/swapped
modified ./sub/traded
";

#[test]
fn every_change_is_listed_by_path() {
    let dir = changed_tree();
    let run = diff(&dir, "old", "new", &[]).status(1).stdout(CHANGES);
    run.stderr("  1 file the same; 2 added, 1 removed, 3 modified, 1 moved   (status 1)\n");
    diff(&dir, "old", "new", &["-q", "-j", "mono"]).status(1).stdout(CHANGES).stderr("");
    diff(&dir, "old", "old", &[]).status(0).stdout("").stderr("  6 files the same\n");
}

#[test]
fn as_json() {
    let dir = changed_tree();
    let run = diff(&dir, "old", "new", &["--json"]).status(1);
    let said: String = run
        .text()
        .lines()
        .map(|line| {
            let object: Value = serde_json::from_str(line).unwrap();
            let text = |field: &str| object[field].as_str().map(str::to_owned);
            let to = text("new_path").map_or_else(String::new, |to| format!(" \u{2192} {to}"));
            format!("{:<8} {}{to}\n", text("change").unwrap(), text("path").unwrap())
        })
        .collect();
    assert_eq!(said, CHANGES);
}

#[test]
fn into_a_file() {
    let dir = changed_tree();
    dir.ftk(["hash", "--diff", "../old", "../new", "-o", "changes"]).run().status(1).stdout("");
    assert_eq!(fs::read_to_string(dir.path("changes")).unwrap(), CHANGES);
    dir.ftk(["hash", "--diff", "../old", "../new", "-o", "../old"]).run().status(2).stderr_has("input");
    dir.ftk(["hash", "--diff", "../old", "../new", "-o", "/dev/full"]).run().status(2).stderr_has("no space");
}

#[test]
fn lists_in_every_format() {
    let dir = changed_tree();
    for algorithm in ["sha256", "blake2b", "xxh3"] {
        list(&dir, "plain", &["-a", algorithm]);
        list(&dir, "tagged", &["-a", algorithm, "--tag"]);
        list(&dir, "several", &["-a", "md5", "-a", algorithm]);
        let zero = ["-z", "-a", algorithm];
        list(&dir, "zero", &zero);
        let same = "  7 files the same\n";
        let asked = ["-a", algorithm];
        for (old, new) in [("plain", "tagged"), ("tagged", "several"), ("several", "plain")] {
            diff(&dir, old, new, &asked).status(0).stdout("").stderr(same);
        }
        diff(&dir, "zero", "zero", &zero).status(0).stdout("").stderr(same);
        diff(&dir, "zero", "plain", &zero).status(2).stderr_has("does not end with NUL");
    }
    // Digits of either case, lines in any order, and comments.
    let text = fs::read_to_string(dir.aside("new")).unwrap();
    let mut lines: Vec<_> = text.lines().map(|line| line.replace("  ./", " *./")).collect();
    lines.reverse();
    write(&dir, "other", &format!("# by hand\n\n{}\n", lines.join("\n")));
    let upper: String = text.lines().map(|line| line[..64].to_uppercase() + &line[64..] + "\n").collect();
    write(&dir, "upper", &upper);
    for new in ["other", "upper"] {
        diff(&dir, "old", new, &[]).status(1).stdout(CHANGES);
    }
    diff(&dir, "upper", "new", &[]).status(0).stdout("");
}

#[test]
fn from_standard_input_and_pipes() {
    let dir = changed_tree();
    let old = fs::read(dir.aside("old")).unwrap();
    let run = dir.ftk(["hash", "--diff", "-", "../new"]).stdin(&old).run();
    run.status(1).stdout(CHANGES);
    let run = dir.ftk(["hash", "--diff", "../new", "-"]).stdin(&old).run();
    run.status(1).stderr_has("; 1 added, 2 removed, 3 modified, 1 moved ");
    dir.ftk(["hash", "--diff", "-", "-"]).stdin(&old).run().status(2).stdout("").stderr_has("only once");
}

/// Only the lists are read: the files do not exist.
#[test]
fn equal_contents_are_matched_as_moves_in_order() {
    let dir = Dir::new();
    let line = |digest: u8, path: &str| format!("{}  {path}\n", format!("{digest:02x}").repeat(32));
    let list =
        |lines: &[(u8, &str)]| lines.iter().map(|(digest, path)| line(*digest, path)).collect::<String>();
    write(&dir, "old", &list(&[(1, "c"), (1, "a"), (1, "b"), (2, "d"), (3, "stays")]));
    write(&dir, "new", &list(&[(1, "z"), (2, "x"), (1, "y"), (2, "w"), (3, "stays")]));
    let arrow = '\u{2192}';
    diff(&dir, "old", "new", &[]).status(1).stdout(format!(
        "moved    a {arrow} y\nmoved    b {arrow} z\nremoved  c\nmoved    d {arrow} w\nadded    x\n"
    ));
}

#[test]
fn names_are_escaped() {
    let dir = hostile_tree();
    list(&dir, "old", &[]);
    fs::remove_dir_all(dir.path("")).unwrap();
    fs::create_dir(dir.path("")).unwrap();
    dir.file("only", b"one");
    list(&dir, "new", &[]);
    let count = records(&fs::read(dir.aside("old")).unwrap(), b'\n').len();
    let run = diff(&dir, "old", "new", &[]).status(1);
    assert_eq!(run.text().lines().count(), count + 1);
    assert!(!run.text().chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'));
    for line in
        ["removed  './back\\\\slash'", "removed  './new\\nline'", "removed  './\\xff'", "removed  ./a b"]
    {
        run.check(run.text().lines().any(|said| said == line), line);
    }
    // JSON preserves every byte.
    let run = diff(&dir, "old", "new", &["--json"]).status(1);
    let paths = run.text().lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let odd = paths.filter(|object| object["path"].is_null()).count();
    assert_eq!(odd, 3);
}

#[test]
fn several_digests_of_a_file() {
    let dir = Dir::new();
    let (a, b) = ("0a".repeat(16), "0b".repeat(16));
    let (c, d) = ("0c".repeat(20), "0d".repeat(20));
    write(&dir, "old", &format!("MD5 (x) = {a}\nSHA1 (x) = {c}\nMD5 (y) = {a}\nSHA1 (z) = {c}\n"));
    // x: one of two digests differs; y: the common one is equal; z: no common algorithm.
    write(
        &dir,
        "new",
        &format!("MD5 (x) = {a}\nSHA1 (x) = {d}\nMD5 (y) = {a}\nSHA1 (y) = {d}\nMD5 (z) = {b}\n"),
    );
    let run = diff(&dir, "old", "new", &[]).status(2).stdout("modified x\n");
    run.stderr_has("ftk: cannot compare 'z': ").stderr_has("1 file the same; 1 modified   (status 2)");
}

#[test]
fn lists_that_cannot_be_compared_are_refused() {
    let dir = changed_tree();
    list(&dir, "md5", &["-a", "md5"]);
    list(&dir, "blake3", &["-a", "blake3", "--tag"]);
    diff(&dir, "new", "md5", &[]).status(2).stdout("").stderr_has("no algorithm in common: sha256 and md5");
    diff(&dir, "blake3", "new", &[]).status(2).stdout("").stderr_has("blake3 and sha256");
    // Two digests of one path are refused, unless they are equal.
    let text = fs::read_to_string(dir.aside("new")).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    write(&dir, "again", &format!("{first}\n{rest}{first}\n"));
    diff(&dir, "again", "new", &[]).status(0);
    let other = if first.starts_with('0') { "1" } else { "0" };
    write(&dir, "conflict", &format!("{text}{other}{}\n", &first[1..]));
    let run = diff(&dir, "old", "conflict", &[]).status(2).stdout("");
    run.stderr_has("'copy' has two different sha256 digests");
}

#[test]
fn problems_of_a_list_are_reported() {
    let dir = changed_tree();
    let text = fs::read_to_string(dir.aside("new")).unwrap();
    write(&dir, "empty", "");
    write(&dir, "comments", "# nothing\n\n");
    write(&dir, "nonsense", "nonsense\nmore\n");
    write(&dir, "almost", &(text.clone() + "nonsense\n"));
    write(&dir, "short", &text.replace("  ./copy", "00  ./copy"));
    fs::write(dir.aside("zipped"), b"\x1f\x8b\x08\0").unwrap();
    for (name, why) in [
        ("empty", ": it is empty"),
        ("comments", ""),
        ("nonsense", "nonsense' contains no digest (line 1: neither "),
        ("zipped", ": it is compressed with gzip"),
    ] {
        for lists in [["old", name], [name, "old"]] {
            let run = diff(&dir, lists[0], lists[1], &[]).status(2).stdout("");
            run.stderr_has("contains no digest").stderr_has(why);
        }
    }
    write(&dir, "dos", &text.replace('\n', "\r\n"));
    let run = diff(&dir, "old", "dos", &[]).status(1).stdout(CHANGES);
    run.stderr_has("dos' has DOS line ends: carriage returns at line ends are not part of the names\n");
    write(&dir, "mixed", &text.replacen('\n', "\r\n", 2));
    let run = diff(&dir, "old", "mixed", &[]).status(2).stdout("");
    run.stderr_has("mixed': line 3 ends without the carriage return that the lines before it have");
    write(&dir, "unsupported", &format!("{text}SHA3-384 (x) = {}\n", "0".repeat(96)));
    let run = diff(&dir, "old", "unsupported", &[]).status(2).stdout(CHANGES);
    run.stderr_has("unsupported', line 8: cannot compare 'x': unsupported algorithm SHA3-384\n");
    let run = diff(&dir, "old", "almost", &[]).status(1).stdout(CHANGES);
    run.stderr_has("WARNING: 1 line is improperly formatted (").stderr_has("line 8: neither");
    write(&dir, "unread", &format!("{text}{},x\n", "0".repeat(64)));
    let run = diff(&dir, "old", "unread", &[]).status(2).stdout(CHANGES);
    run.stderr_has(
        "unread', line 8: cannot compare it: the line has a digest, but not in a form that is known\n",
    );
    let run = diff(&dir, "old", "short", &[]).status(2).stderr_has("line 1: ");
    run.stdout(CHANGES.replace("added    ./copy\n", ""));
    // A last line without a newline counts if it is valid, as for sha256sum.
    write(&dir, "not ended", text.trim_end());
    let run = diff(&dir, "new", "not ended", &[]).status(0);
    run.stderr_has("WARNING: the last line of ").stderr_has("not ended' has no line end");
    write(&dir, "many", &(text.clone() + &format!("{},x\n", "0".repeat(64)).repeat(1000)));
    let run = diff(&dir, "old", "many", &[]).status(2).stderr_has("990 more lines cannot be compared");
    assert!(run.err.lines().count() < 20);
    write(&dir, "many", &(text + &"nonsense\n".repeat(1000)));
    let run =
        diff(&dir, "old", "many", &[]).status(1).stderr_has("WARNING: 1000 lines are improperly formatted");
    assert!(run.err.lines().count() < 20);
}

#[test]
fn invalid_arguments_are_refused() {
    let dir = changed_tree();
    for args in [&["../old"][..], &[], &["../old", "../new", "../new"]] {
        dir.ftk(["hash", "--diff"]).args(args).run().status(2).stdout("").stderr_has("OLD and NEW");
    }
    diff(&dir, "old", "missing", &[]).status(2).stdout("").stderr_has("cannot open ");
    dir.ftk(["hash", "--diff", ".", "../new"]).run().status(2).stderr_has("cannot read '.': is a directory");
    for args in [&["--check"][..], &["--lines"], &["--tag"], &["-e", "jpg"], &["--max-depth", "1"]] {
        diff(&dir, "old", "new", args).status(2).stdout("").stderr_has("cannot be used with");
    }
    diff(&dir, "old", "new", &["--memory", "200"]).status(2).stdout("").stderr_has("--memory");
}

/// Compares lists of a generated tree, before and after every fifth file was renamed and every seventh
/// edited.
#[test]
fn of_many_files() {
    let dir = Dir::new();
    for nth in 0..1000 {
        dir.file(format!("{}/{nth}", nth % 20), &bytes(nth, 100));
    }
    list(&dir, "old", &[]);
    let mut expected = Vec::new();
    for nth in 0..1000_u64 {
        let name = format!("{}/{nth}", nth % 20);
        match (nth % 5, nth % 7) {
            (0, _) => {
                let new = format!("{}/new{nth}", nth % 3);
                fs::rename(dir.path(&name), dir.path(&new)).unwrap();
                expected.push(format!("moved    ./{name} \u{2192} ./{new}\n"));
            }
            (_, 0) => {
                dir.file(&name, &bytes(nth + 5000, 100));
                expected.push(format!("modified ./{name}\n"));
            }
            _ => {}
        }
    }
    list(&dir, "new", &["-j", "8"]);
    expected.sort_by_key(|line| line[9..].split(' ').next().unwrap().trim_end().to_owned());
    diff(&dir, "old", "new", &[]).status(1).stdout(expected.concat());
}

/// Equal CRCs do not show that a file was moved.
#[test]
fn files_with_equal_crcs_have_not_moved() {
    let dir = Dir::new();
    let lists = |tag: &str, digest: &str| {
        write(&dir, "old", &format!("{tag} (a) = {digest}\n{tag} (same) = {digest}\n"));
        write(&dir, "new", &format!("{tag} (b) = {digest}\n{tag} (same) = {digest}\n"));
    };
    lists("MD5", &"0a".repeat(16));
    diff(&dir, "old", "new", &[]).status(1).stdout("moved    a → b\n");
    for tag in ["CRC32", "CRC32C"] {
        lists(tag, "0a0a0a0a");
        diff(&dir, "old", "new", &[]).status(1).stdout("removed  a\nadded    b\n");
    }
}

/// Lists of hashdeep are compared too, and `./` at the start of names makes no difference.
#[test]
fn names_and_formats_may_differ() {
    needs!("hashdeep", "sha256sum", "rhash");
    let dir = Dir::new();
    dir.file("a", b"abc").file("sub/c d", b"c");
    let by = |name: &str, words: &[&str]| {
        let made = dir.ftk([] as [&str; 0]).instead(&dir, words).run().status(0).out;
        fs::write(dir.aside(name), made).unwrap();
    };
    by("dots", &["sha256sum", "./a", "././sub/c d"]);
    by("bare", &["sha256sum", "a", "sub/c d"]);
    by("deep", &["hashdeep", "-l", "-r", "-c", "md5,sha256", "."]);
    by("bsd", &["rhash", "--md5", "--sha256", "--bsd", "a", "sub/c d"]);
    for old in ["dots", "bare", "deep", "bsd"] {
        for new in ["dots", "bare", "deep", "bsd"] {
            diff(&dir, old, new, &[]).status(0).stdout("").stderr_has("  2 files the same\n");
        }
    }
    dir.file("a", b"abd");
    by("changed", &["hashdeep", "-l", "-r", "-c", "sha1,sha256", "."]);
    diff(&dir, "bare", "changed", &[]).status(1).stdout("modified a\n");
    diff(&dir, "dots", "changed", &[]).status(1).stdout("modified ./a\n");
}
