//! Names that are taken for something else: a separator, a pattern, a second line, a command for the
//! terminal.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::process::Command;

use data_encoding::BASE64;
use proptest::prelude::*;
use serde_json::Value;

use crate::harness::{Dir, has, records, sha256, sorted};

fn name() -> impl Strategy<Value = Vec<u8>> {
    // What matters to a list comes far more often than chance would have it.
    let byte = prop_oneof![3 => 1_u8..=255, 2 => proptest::sample::select(&b"\n\r\\n \t*\x1b\"'-[]{}=()0a\xff\xc3"[..])];
    proptest::collection::vec(byte, 1..32)
        .prop_filter("a name in a directory", |name| !name.contains(&b'/') && name != b"." && name != b"..")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the names are, each file is one record in every format, and the record names that file.
    #[test]
    fn h18_a_name_is_never_a_second_record(names in proptest::collection::hash_set(name(), 1..40)) {
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
    }
}

/// A backslash is a byte of a name like others, also where a path through it would exist.
#[test]
fn h19_a_backslash_is_no_separator() {
    let dir = Dir::new();
    dir.raw_file(b"back\\slash", b"abc").file("back/slash", b"other");
    let line = |escape: &str, content: &[u8], name: &str| format!("{escape}{}  {name}\n", sha256(content));
    dir.ftk(["hash", "back\\slash"]).run().status(0).stdout(line("\\", b"abc", "back\\\\slash"));
    let both = line("", b"other", "./back/slash") + &line("\\", b"abc", "./back\\\\slash");
    dir.ftk(["hash", "."]).run().status(0).stdout(both);
    dir.ftk(["find", "back\\slash"]).run().status(0).stdout("back\\slash\n");
}

/// The bytes come out as they are, JSON is valid all the same, and nothing is replaced by U+FFFD.
#[test]
fn h20_names_that_are_not_utf8() {
    let dir = Dir::new();
    let names =
        [&b"\xff"[..], b"\xc3\x28", b"a\x80b", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"d\xff/\xfe"];
    for name in names {
        dir.raw_file(name, b"x");
    }
    for args in [&["find"][..], &["find", "--sort"], &["hash", "."], &["hash", "--json", "."]] {
        let run = dir.ftk(args).run().status(0);
        let replaced = run.out.windows(3).any(|bytes| bytes == "\u{fffd}".as_bytes());
        run.check(!replaced, "nothing is replaced");
        let is_json = args.contains(&"--json");
        for name in names {
            let shown =
                if is_json { BASE64.encode(&[b"./", name].concat()).into_bytes() } else { name.to_vec() };
            run.check(run.out.windows(shown.len()).any(|bytes| bytes == shown), "every name is there");
        }
        if is_json {
            run.text().lines().for_each(|line| _ = serde_json::from_str::<Value>(line).unwrap());
        }
    }
    let as_arguments = names.map(|name| OsString::from_vec(name.to_vec()));
    dir.ftk(["hash", "-q", "--"]).args(as_arguments).run().status(0).stderr("");
}

/// Messages end up in logs and on terminals, whatever they were written to first.
#[test]
fn h22_messages_hold_nothing_that_acts() {
    let dir = Dir::new();
    let names =
        ["\u{1b}]0;title\u{7}", "\u{9b}31m", "a\rb", "a\nftk: all is well", "\u{202e}cod.exe", "\u{7f}"];
    for name in names {
        dir.fifo(name);
        let missing = format!("missing{name}");
        for command in ["find", "hash"] {
            let run = dir.ftk([command, &missing, name]).run().status(2);
            for line in run.err.lines() {
                let acts = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
                run.check(!line.chars().any(acts), "nothing acts");
                run.check(!line.starts_with("ftk: all is well"), "no line is made up");
            }
        }
    }
}

/// What the shell has left alone is a name and no pattern.
#[test]
fn h50_an_argument_is_no_pattern() {
    let dir = Dir::new();
    for name in ["br[a]ck", "brack", "*", "?", "{a,b}", "~", "$HOME", "a b"] {
        dir.file(name, name.as_bytes());
        dir.ftk(["hash", name]).run().status(0).stdout(format!("{}  {name}\n", sha256(name.as_bytes())));
        dir.ftk(["find", name]).run().status(0).stdout(format!("{name}\n"));
        dir.ftk(["find", &format!("x{name}")]).run().status(2).stdout("");
    }
    dir.dir("d[1]").file("d[1]/x", b"").dir("d1");
    dir.ftk(["find", "--sort", "d[1]"]).run().status(0).stdout("d[1]\nd[1]/x\n");
}
