//! Messages about files that are not manifests, and about invalid arguments.

use std::fs;

use insta::assert_snapshot;

use super::records::{create, lines, seal};
use crate::harness::Dir;

/// Returns the messages of a command that ends with status 2.
fn said(dir: &Dir, args: &[&str]) -> String {
    let run = dir.ftk(args).run().status(2).stdout("");
    format!("$ ftk {}\n{}", args.join(" "), run.err)
}

#[test]
fn files_that_are_not_manifests_are_named() {
    let dir = Dir::new();
    dir.file("t/a", b"abc");
    let good = fs::read(create(&dir, &[])).unwrap();
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(good.iter().flat_map(|byte| [*byte, 0])).collect();
    let mut all = String::new();
    for (name, content) in [
        ("empty", &b""[..]),
        ("gzip", b"\x1f\x8b\x08\0"),
        ("zstd", b"\x28\xb5\x2f\xfd\0"),
        ("xz", b"\xfd7zXZ\0\0"),
        ("bom", &[b"\xef\xbb\xbf", &*good].concat()),
        ("utf16", &utf16),
        ("sums", b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n"),
        ("program", b"\x7fELF\x02"),
        ("binary", b"\0\x01\x02"),
        ("text", b"hello\n"),
        ("json", b"{\"a\":1}\n"),
        ("report", b"{\"ftk\":\"dup-report\",\"version\":1}\n"),
        ("broken", b"{\"ftk\":\n"),
        ("comma", b"{\"ftk\":\"manifest\",}\n"),
        ("cut", &good[..good.len() - 100]),
    ] {
        dir.file(name, content);
        all += &said(&dir, &["manifest", "verify", "t", name]);
    }
    all += &said(&dir, &["manifest", "verify", "t", "/dev/zero"]);
    assert_snapshot!(all);
}

/// The messages name the bad one of two manifests, and its line.
#[test]
fn the_file_that_is_wrong_is_named() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("z", b"xyz");
    let good = lines(&create(&dir, &[]));
    fs::write(dir.path("good"), seal(&good)).unwrap();
    let bad = |from: &str, to: &str| {
        let mut lines = good.clone();
        assert!(lines[2].contains(from));
        lines[2] = lines[2].replacen(from, to, 1);
        seal(&lines)
    };
    let mut all = String::new();
    for (name, from, to) in [
        ("fraction", "\"uid\":0", "\"uid\":0.5"),
        ("negative", "\"size_bytes\":3", "\"size_bytes\":-3"),
        ("text", "\"nlink\":1", "\"nlink\":\"1\""),
        ("missing", "\"type\":\"file\",", ""),
        ("cut", "]}", "]"),
    ] {
        fs::write(dir.path(name), bad(from, to)).unwrap();
        for args in [["diff", name, "good"], ["diff", "good", name], ["unique", name, "good"]] {
            all += &said(&dir, &[&["manifest"], &args[..]].concat());
        }
    }
    assert_snapshot!(all);
}

/// Options in a hostile manifest that could run a command are refused by every reader.
#[test]
fn hostile_options_in_a_manifest_are_refused() {
    let dir = Dir::new();
    dir.file("a", b"abc");
    let good = lines(&create(&dir, &[]));
    fs::write(dir.path("good"), seal(&good)).unwrap();
    for option in ["--exec=touch pwned", "--follow", "-E=x", "-x", "--size=+1", "--excl=x", "--no-hidden=1"] {
        let mut lines = good.clone();
        lines[0] = lines[0].replace("\"options\":[]", &format!("\"options\":[{{\"option\":\"{option}\"}}]"));
        assert_ne!(lines[0], good[0]);
        fs::write(dir.path("bad"), seal(&lines)).unwrap();
        for args in [
            &["verify", ".", "bad"][..],
            &["update", ".", "bad"],
            &["diff", "bad", "good"],
            &["diff", "good", "bad"],
            &["unique", "bad", "good"],
            &["unique", "good", "bad"],
        ] {
            let said = said(&dir, &[&["manifest"], args].concat());
            let expected = format!("ftk: 'bad': made with an unknown option: '{option}'\n");
            assert!(said.ends_with(&expected), "{said}");
        }
    }
}

#[test]
fn arguments_that_make_no_sense() {
    let dir = Dir::new();
    dir.file("t/a", b"abc").dir("empty");
    dir.ftk(["manifest", "create", "t", "-o", "t.jsonl"]).run().status(0);
    dir.ftk(["manifest", "create", "t", "-n", "*.none", "-o", "none.jsonl"]).run().status(0);
    let mut all = String::new();
    for args in [
        &["verify", "t.jsonl", "t"][..],
        &["update", "t.jsonl", "t"],
        &["verify", "t", "none.jsonl"],
        &["create", "t", "--size", "+1M"],
        &["create", "t", "-S", "-1"],
        &["create", "t", "--changed-within", "1d"],
        &["create", "t", "--empty"],
        &["create", "t", "-L"],
        &["create", "t", "-o", "t.jsonl"],
        &["update", "t", "t.jsonl", "--accept", "b"],
    ] {
        all += &said(&dir, &[&["manifest"], args].concat());
    }
    assert_snapshot!(all);
}

/// A verification that looked at nothing fails, unless the tree is empty.
#[test]
fn verifying_nothing_fails() {
    let dir = Dir::new();
    dir.dir("t").ftk(["manifest", "create", "t", "-t", "f", "-o", "m"]).run().status(0);
    dir.ftk(["manifest", "verify", "t", "m"]).run().status(0).stdout("");
    dir.symlink("nowhere", "t/link");
    dir.ftk(["manifest", "verify", "t", "m"]).run().status(2).stdout("");
    dir.file("t/new", b"abc");
    dir.ftk(["manifest", "verify", "t", "m"]).run().status(1).stdout("new\tnew\n");
    // The root alone counts as nothing.
    dir.ftk(["manifest", "create", "t", "-E", "*", "-o", "root"]).run().status(0);
    dir.ftk(["manifest", "verify", "t", "root"]).run().status(2).stdout("");
    dir.ftk(["manifest", "create", "t", "--no-content", "-o", "metadata"]).run().status(0);
    dir.ftk(["manifest", "verify", "--mode", "content", "t", "metadata"]).run().status(2).stdout("");
}
