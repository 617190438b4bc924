//! Names that look like a separator, a pattern, a second line or a control sequence.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::process::Command;

use data_encoding::BASE64;
use proptest::prelude::*;
use serde_json::Value;

use super::commands::{Scene, every};
use crate::harness::{Dir, Run, has, needs, records, sha256, sorted};

fn name() -> impl Strategy<Value = Vec<u8>> {
    // Bytes with a meaning in lists are more frequent than in random names.
    let byte = prop_oneof![3 => 1_u8..=255, 2 => proptest::sample::select(&b"\n\r\\n \t*\x1b\"'-[]{}=()0a\xff\xc3"[..])];
    proptest::collection::vec(byte, 1..32)
        .prop_filter("a name in a directory", |name| !name.contains(&b'/') && name != b"." && name != b"..")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each file is one record in every format, and the record names that file, for all names. A list is checked
    /// completely.
    #[test]
    fn h18_h51_every_name_is_exactly_one_record(names in proptest::collection::hash_set(name(), 1..40)) {
        let dir = Dir::new();
        let mut paths = Vec::new();
        for name in &names {
            dir.raw_file(name, name);
            paths.push([b"./", &name[..]].concat());
        }
        let paths = sorted(paths);

        let run = dir.ftk(["find", "-0", "--sort", "-t", "f"]).run().status(0);
        prop_assert_eq!(records(&run.out, 0), paths.clone());

        let run = dir.ftk(["hash", "--json", "."]).run().status(0);
        let path = |line: &str| {
            let object: Value = serde_json::from_str(line).unwrap();
            let path = match &object["path_b64"] {
                Value::String(base64) => BASE64.decode(base64.as_bytes()).unwrap(),
                _ => object["path"].as_str().unwrap().as_bytes().to_vec(),
            };
            assert_eq!(object["digest"], *sha256(&path[2..]));
            path
        };
        prop_assert_eq!(run.text().lines().map(path).collect::<Vec<_>>(), paths);

        let list = dir.aside("list");
        let run = dir.ftk(["hash", ".", "-o"]).arg(&list).run().status(0);
        run.stderr_has(&format!("  {} file{}, ", names.len(), if names.len() == 1 { "" } else { "s" }));
        prop_assert_eq!(records(&std::fs::read(&list).unwrap(), b'\n').len(), names.len());
        if has("sha256sum") {
            let mut check = Command::new("sha256sum");
            check.args(["-c", "--strict", "--status"]).arg(&list).current_dir(dir.path(""));
            prop_assert!(check.status().unwrap().success());
        }
        for flags in [&[][..], &["--tag"], &["-z"], &["-z", "--tag"]] {
            let end: &[&str] = if flags.contains(&"-z") { &["-z"] } else { &[] };
            let list = dir.ftk(["hash", "."]).args(flags).run().status(0).out;
            let run = dir.ftk(["hash", "-c", "--strict", "--new"]).args(end).stdin(&list).run().status(0);
            prop_assert_eq!(records(&run.out, if end.is_empty() { b'\n' } else { 0 }).len(), names.len());
            let run = dir.ftk(["hash", "-c", "--strict", "--root", "."]).args(end).stdin(&list).run().status(0);
            run.stderr_lacks("ftk: ");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    /// For the other commands and formats: the right number of records, and every name in one of them.
    #[test]
    fn h18_h51_a_name_is_one_record_of_every_command(names in proptest::collection::hash_set(name(), 1..20)) {
        let dir = Dir::new();
        dir.dir("t").dir("empty");
        for name in &names {
            dir.raw_file(&[b"t/", &name[..]].concat(), b"of all the same");
        }
        let n = names.len();
        let names = sorted(names.into_iter().collect());
        let paths: Vec<_> = names.iter().map(|name| [b"t/", &name[..]].concat()).collect();
        dir.ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
        dir.ftk(["manifest", "create", "empty", "-o", "../none"]).run().status(0);
        dir.ftk(["dup", "--json", "-o", "../report", "t"]).run().status(0);
        let at_least_two = if n > 1 { n } else { 0 };
        for (args, end, status, expected) in [
            (&["find", "--json", "-t", "f", "t"][..], b'\n', 0, n),
            (&["hash", "--tag", "t"], b'\n', 0, n),
            (&["hash", "-z", "t"], 0, 0, n),
            (&["hash", "-z", "--tag", "t"], 0, 0, n),
            (&["hash", "-a", "md5,sha1", "t"], b'\n', 0, 2 * n),
            (&["dup", "-0", "t"], 0, 0, at_least_two + at_least_two.min(1)),
            (&["dup", "prune", "--action", "delete", "t"], b'\n', 0, at_least_two),
            (&["dup", "apply", "--action", "delete", "../report"], b'\n', 0, at_least_two),
            (&["dup", "prune", "--action", "delete", "--json", "t"], b'\n', 0, at_least_two + 1),
            (&["manifest", "create", "t"], b'\n', 0, n + 3),
            (&["manifest", "verify", "--all", "t", "../manifest"], b'\n', 0, n + 1),
            (&["manifest", "verify", "empty", "../manifest", "--ignore", "mtime"], b'\n', 1, n),
            (&["manifest", "diff", "../manifest", "../none", "--json"], b'\n', 1, n),
            (&["manifest", "diff", "../none", "../manifest"], b'\n', 1, n),
            (&["manifest", "unique", "-0", "../manifest", "../none"], 0, 1, n),
            (&["cmp", "t", "empty"], b'\n', 1, n),
            (&["cmp", "--json", "t", "empty"], b'\n', 1, n + 1),
        ] {
            let run = dir.ftk(args).run().status(status);
            prop_assert_eq!(records(&run.out, end).len(), expected, "{:?}: {}", args, run.out.escape_ascii());
            if args.contains(&"--json") && args[1] != "prune" || args[1] == "create" {
                let mut found = sorted(strings(&run));
                found.dedup();
                let is_there = |name: &Vec<u8>| found.binary_search(name).is_ok();
                prop_assert!(names.iter().all(is_there) || paths.iter().all(is_there), "{:?}", args);
            }
        }
    }
}

/// Returns all strings in the JSON records, with `_b64` members decoded.
fn strings(run: &Run) -> Vec<Vec<u8>> {
    fn collect(value: &Value, key: &str, found: &mut Vec<Vec<u8>>) {
        match value {
            Value::Object(members) => members.iter().for_each(|(key, value)| collect(value, key, found)),
            Value::Array(values) => values.iter().for_each(|value| collect(value, key, found)),
            Value::String(text) if key.ends_with("_b64") => {
                found.push(BASE64.decode(text.as_bytes()).expect("it is Base64"));
            }
            Value::String(text) => found.push(text.as_bytes().to_vec()),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for line in run.text().lines() {
        collect(&serde_json::from_str(line).expect("every line is JSON"), "", &mut found);
    }
    found
}

/// Every command and every kind of list distinguishes both files.
#[test]
fn h19_a_backslash_is_not_a_separator_for_any_command() {
    let dir = Dir::new();
    for tree in ["t", "u"] {
        dir.raw_file(format!("{tree}/back\\slash").as_bytes(), b"abc")
            .file(format!("{tree}/back/slash"), b"xyz");
    }
    let escaped = format!("\\{}  t/back\\\\slash\n", sha256(b"abc"));
    dir.ftk(["hash", "t/back\\slash"]).run().status(0).stdout(&escaped);
    let both = format!("{}  t/back/slash\n{escaped}", sha256(b"xyz"));
    dir.ftk(["hash", "t"]).run().status(0).stdout(both);
    dir.ftk(["find", "t/back\\slash"]).run().status(0).stdout("t/back\\slash\n");
    dir.ftk(["hash", "t", "-o", "../list"]).run().status(0);
    dir.ftk(["hash", "-c", "../list"]).run().status(0).stdout("t/back/slash: OK\nt/back\\slash: OK\n");
    dir.ftk(["dup"])
        .run()
        .status(0)
        .stdout("./t/back/slash\n./u/back/slash\n\n./t/back\\slash\n./u/back\\slash\n\n");
    dir.ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
    dir.ftk(["manifest", "verify", "t", "../manifest"]).run().status(0).stdout("");
    dir.ftk(["cmp", "t", "u"]).run().status(0).stdout("");
    fs::remove_file(dir.path("t/back\\slash")).unwrap();
    dir.ftk(["hash", "-c", "--status", "../list"]).run().status(1);
    dir.ftk(["manifest", "verify", "t", "../manifest"]).run().status(1).stdout("missing\t'back\\\\slash'\n");
    dir.ftk(["cmp", "t", "u"]).run().status(1).stdout("only in u\t'back\\\\slash'\n");
}

/// Every JSON output is valid and has the bytes of all names, and other output has them unchanged.
#[test]
fn h20_every_command_preserves_names_that_are_not_utf8() {
    let names =
        [&b"\xff"[..], b"\xc3\x28", b"a\x80b", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"d\xff/\xfe"];
    let scene = Scene::new(|dir, tree| {
        for name in names {
            dir.raw_file(&[tree.as_bytes(), b"/", name].concat(), b"x");
        }
    });
    let dir = &scene.dir;
    dir.ftk(["dup", "--json", "-o", "../report"]).run().status(0);
    dir.dir("empty").ftk(["manifest", "create", "empty", "-o", "../none"]).run().status(0);
    dir.ftk(["hash", "-", "-o", "../other"]).run().status(0);
    for args in [
        &["find", "--json", "t"][..],
        &["find", "--json", "--sort", "t"],
        &["hash", "--json", "t"],
        &["hash", "--json", "-a", "md5,sha1", "t"],
        &["hash", "--json", "--check", "../list"],
        &["hash", "--json", "--diff", "../list", "../other"],
        &["dup", "--json", "t"],
        &["dup", "prune", ".", "--json", "--action", "delete"],
        &["dup", "apply", "--json", "--action", "delete", "../report"],
        &["manifest", "create", "t"],
        &["manifest", "update", "t", "../manifest"],
        &["manifest", "verify", "--json", "--all", "t", "../manifest"],
        &["manifest", "verify", "--json", "empty", "../manifest"],
        &["manifest", "diff", "--json", "../manifest", "../none"],
        &["manifest", "unique", "--json", "../manifest", "../none"],
        &["cmp", "--json", "t", "empty"],
    ] {
        let run = dir.ftk(args).run();
        run.check(run.code() < 2, "the command succeeds");
        let found = strings(&run);
        for name in names {
            // For a directory in one tree only, just its own name is reported.
            let name = if args[0] == "cmp" { name.strip_suffix(b"/\xfe").unwrap_or(name) } else { name };
            run.check(
                found.iter().any(|it| it.ends_with(name)),
                &format!("{} is there", name.escape_ascii()),
            );
        }
        run.check(!run.text().contains('\u{fffd}'), "nothing is replaced");
    }
    let paths: Vec<_> = names.iter().map(|name| OsString::from_vec([b"t/", *name].concat())).collect();
    for args in [&["find"][..], &["find", "--sort"], &["hash", "-q", "--"]] {
        let run = dir.ftk(args).args(&paths).run().status(0).stderr("");
        for name in names {
            run.check(run.out.windows(name.len()).any(|bytes| bytes == name), "every name is there");
        }
    }
    // A comparison of two files, and the stats of a run.
    let [a, b] = [b"t/\xff", b"t/\xfe"].map(|name| OsStr::from_bytes(name));
    dir.raw_file(b.as_bytes(), b"y");
    let run = dir.ftk(["cmp", "--json", "--stats", "../stats"]).args([a, b]).run().status(1);
    strings(&run);
    serde_json::from_slice::<Value>(&fs::read(dir.aside("stats")).unwrap()).unwrap();
}

/// Names with control characters and other sequences that affect a terminal.
const CONTROL_NAMES: [&str; 6] =
    ["\u{1b}]0;title\u{7}", "\u{9b}31m", "a\rb", "a\nftk: all is well", "\u{202e}cod.exe", "\u{7f}"];

/// On a terminal, every command escapes names in its results and messages.
#[test]
fn h22_every_command_escapes_names_on_a_terminal() {
    needs!("script");
    let scene = Scene::new(|dir, tree| {
        for name in CONTROL_NAMES {
            dir.file(format!("{tree}/{name}"), b"x").file(format!("{tree}/unlike{name}"), tree.as_bytes());
        }
    });
    let dir = &scene.dir;
    dir.dir("empty").ftk(["manifest", "create", "empty", "-o", "../none"]).run().status(0);
    dir.ftk(["dup", "--json", "-o", "../report", "t"]).run().status(0);
    CONTROL_NAMES
        .iter()
        .for_each(|name| _ = dir.fifo(&format!("fifo{name}")).symlink("nowhere", &format!("link{name}")));
    // A pipe gets the bytes.
    let run = dir.ftk(["hash", "-c", "../list"]).run().status(0);
    let bytes = |name: &&str| run.text().contains(&format!("{name}: OK\n"));
    run.check(CONTROL_NAMES.iter().filter(|name| !name.contains(['\r', '\n'])).all(bytes), "the bytes");
    let more: [&[&str]; 18] = [
        &["hash", "-c", "--json", "../list"],
        &["find", "--json"],
        &["find", "-L", "--format", "{path}"],
        &["hash", "--tag", "t"],
        &["hash", "-a", "md5,sha1", "t"],
        &["hash", "--json", "-v", "."],
        &["hash", "--diff", "../list", "/dev/null"],
        &["dup", "-v", "."],
        &["dup", "--format", "csv"],
        &["dup", "apply", "--action", "hardlink", "../report"],
        &["dup", "prune", ".", "--script", "--action", "hardlink"],
        &["manifest", "verify", "--all", "t", "../manifest"],
        &["manifest", "verify", "u", "../manifest", "--json"],
        &["manifest", "diff", "../manifest", "../none"],
        &["manifest", "unique", "../manifest", "../none"],
        &["cmp", "-v", "t", "empty"],
        &["cmp", "--json", "t", "u"],
        &["find", "--exec", "false", "{}", ";"],
    ];
    let quoted = |arg: &&str| format!("'{arg}'");
    for args in every().chain(more) {
        let line: Vec<_> = [env!("CARGO_BIN_EXE_ftk")].iter().chain(args).map(quoted).collect();
        let line = line.join(" ") + " --color never";
        let run = dir.ftk([""; 0]).instead(dir, ["script", "-qec", &line, "/dev/null"]).run();
        let acts = |c: char| (c.is_control() && !"\r\n".contains(c)) || c == '\u{202e}';
        run.check(!run.text().replace("\t", " ").contains(acts), "no control characters");
        run.check(!run.text().contains("\nftk: all is well"), "no forged line");
        run.check(!run.text().contains("a\rb"), "no line is written over");
        run.check(
            args.contains(&"--script") == run.text().contains("a terminal would interpret"),
            "a script is refused",
        );
    }
}

/// Messages about missing files and special files are escaped by every command.
#[test]
fn h22_messages_of_every_command_are_escaped() {
    let dir = Dir::new();
    dir.dir("t").ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
    for name in CONTROL_NAMES {
        dir.fifo(name).symlink(name, &format!("t/{name}"));
        let missing = format!("missing{name}");
        for args in [
            &["find", &missing][..],
            &["find", "--files-from", &missing],
            &["hash", &missing, name],
            &["hash", "-c", &missing],
            &["hash", "--diff", &missing, "t"],
            &["dup", &missing],
            &["dup", name],
            &["dup", "apply", "--action", "delete", &missing],
            &["dup", "undo", &missing],
            &["dup", "prune", "--action", &format!("move={name}"), "--reference", &missing],
            &["manifest", "create", &missing],
            &["manifest", "create", name],
            &["manifest", "create", "t", "-o", &format!("no/{missing}")],
            &["manifest", "verify", "t", &missing],
            &["manifest", "verify", &missing, "../manifest"],
            &["manifest", "diff", &missing, "../manifest"],
            &["manifest", "unique", "../manifest", &missing],
            &["cmp", &missing, name],
            &["cmp", name, "t"],
            &["find", name, "-n", name, "--stats", &format!("no/{missing}")],
            &["find", "t", "--newer", &missing],
            &["find", "t", "-S", name],
            &["find", "t", &format!("-S{name}")],
            &["hash", &format!("--algorithm={name}")],
            &["hash", "-a", &format!("sha256,{name}")],
            &["find", "t", "--regex", &format!("({name}")],
            &["find", "t", "--owner", name],
            &["manifest", "create", "t", name],
        ] {
            let run = dir.ftk(args).run().status(2);
            for line in run.err.lines() {
                let acts = |c: char| (c.is_control() && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
                run.check(!line.contains(acts), "no control characters");
                run.check(!line.starts_with("ftk: all is well"), "no forged line");
            }
        }
    }
}

/// Help is printed whatever the other arguments are, and a newline in an argument does not change the
/// message.
#[test]
fn h22_control_characters_in_arguments_do_not_change_help_or_messages() {
    let dir = Dir::new();
    let help = dir.ftk(["hash", "-h"]).run().status(0);
    for name in CONTROL_NAMES {
        dir.ftk(["hash", "-h", name]).run().status(0).stdout(help.text()).stderr("");
    }
    let message = dir.ftk(["hash", "--nonsense"]).run().status(2).err;
    dir.ftk(["hash", "--nonsense", "\n"]).run().status(2).stderr(&message);
}

/// A script finds the digest in the same place for every name: first in the line with -z, as a member with
/// --json, and first for standard input, whose name is never escaped.
#[test]
fn h24_the_digest_is_the_first_field() {
    let dir = Dir::new();
    let content = b"abc";
    for name in ["plain", "new\nline", "back\\slash", "c\rr"] {
        dir.file(format!("t/{name}"), content);
    }
    let digest = sha256(content);
    let run = dir.ftk(["hash", "-z", "t"]).run().status(0);
    for record in records(&run.out, 0) {
        run.check(record.starts_with(digest.as_bytes()), "the digest comes first");
    }
    let run = dir.ftk(["hash", "--json", "t"]).run().status(0);
    for line in run.text().lines() {
        run.check(serde_json::from_str::<Value>(line).unwrap()["digest"] == *digest, "the member");
    }
    for args in [&["hash"][..], &["hash", "-"]] {
        dir.ftk(args).stdin(content).run().status(0).stdout(format!("{digest}  -\n"));
    }
    // The leading backslash of the coreutils is kept, and the help mentions it.
    let run = dir.ftk(["hash", "t/new\nline"]).run().status(0).stdout(format!("\\{digest}  t/new\\nline\n"));
    run.stderr_lacks("ftk: ");
    let help = dir.ftk(["hash", "--help"]).run().status(0);
    help.check(help.text().contains("with NUL, unescaped"), "the help says how to do without");
}

/// Arguments are names, not patterns, for every command.
#[test]
fn h50_no_command_treats_an_argument_as_a_pattern() {
    for name in ["br[a]ck", "*", "?", "{a,b}", "~", "$HOME", "a b", "-", "a*"] {
        let dir = Dir::new();
        let there = format!("./{name}");
        dir.file(format!("{there}/x"), b"same")
            .file(format!("{there}/y"), b"same")
            .file("other/a/z", b"same");
        dir.file("brack/z", b"same").file("a/z", b"same").file("b/z", b"same");
        let paths = format!("{there}/x\n{there}/y\n");
        let found = dir.ftk(["find", "--sort", &there]).run().status(0);
        found.stdout(format!("{there}\n{paths}"));
        dir.ftk(["find", &format!("./x{name}")]).run().status(2).stdout("");
        let digest = sha256(b"same");
        let lines = format!("{digest}  {there}/x\n{digest}  {there}/y\n");
        dir.ftk(["hash", &there]).run().status(0).stdout(lines);
        dir.ftk(["dup", &there]).run().status(0).stdout(format!("{paths}\n"));
        let run = dir.ftk(["dup", "prune", "--action", "delete", "--reference", &there, "other"]).run();
        run.check(run.code() == 0 && run.text().contains("delete   other/a/z"), "it is a reference");
        dir.ftk(["manifest", "create", &there, "-o", &format!("./{name}.list")]).run().status(0);
        let run = dir.ftk(["manifest", "verify", &there, &format!("./{name}.list")]).run().status(0);
        run.stderr_has("3 of 3 as recorded");
        dir.ftk(["cmp", &there, &format!("{there}/.")]).run().status(0).stderr_has("equal");
        dir.ftk(["cmp", &format!("{there}/x"), &format!("{there}/y")]).run().status(0);
        fs::write(dir.path("paths"), format!("{there}/x\n")).unwrap();
        for command in ["find", "hash", "dup"] {
            dir.ftk([command, "--files-from", "paths", &format!("{there}/none")]).run().status(2);
        }
        dir.ftk(["find", "--files-from", "paths"]).run().status(0).stdout(format!("{there}/x\n"));
        dir.ftk(["hash", "-o", &format!("{there}/list"), &format!("{there}/x")]).run().status(0);
        assert!(dir.path(format!("{there}/list")).is_file());
    }
}
