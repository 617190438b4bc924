//! The same lists, checked by ftk and by the tools that made them.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt as _;

use crate::harness::{Dir, needs, records};

/// Names that must be escaped in lists, or that look like parts of a list.
const NAMES: [&[u8]; 16] = [
    b"plain",
    b"d/e/f",
    b"d//x",
    b"./d/y",
    b"a b",
    b"back\\slash",
    b"new\nline",
    b"both\n\\",
    b"cr\rinside",
    b"*star",
    b" lead",
    b"trail ",
    b"SHA256 (x) = 00",
    b"\xff\xfe",
    b"caf\xc3\xa9",
    b"a: OK",
];

/// Creates the files and a list made by `tool`; then one file is changed, one removed, and one replaced by a
/// directory. `raw`: without names that some tools write as two lines.
fn tree(tool: &[&str], raw: bool) -> Dir {
    let dir = Dir::new();
    let mut names: Vec<&[u8]> = NAMES.into_iter().filter(|name| !raw || !name.contains(&b'\n')).collect();
    names.extend([&b"changed"[..], b"gone", b"dir"]);
    for (nth, name) in names.iter().enumerate() {
        dir.raw_file(name, format!("content {nth}").as_bytes());
    }
    let args = names.iter().map(|name| OsString::from_vec(name.to_vec()));
    let made = dir.ftk(["--version"]).instead(&dir, tool).arg("--").args(args).run().status(0);
    std::fs::write(dir.aside("list"), &made.out).unwrap();
    dir.file("changed", b"content !");
    std::fs::remove_file(dir.path("gone")).unwrap();
    std::fs::remove_file(dir.path("dir")).unwrap();
    dir.dir("dir");
    dir
}

/// Returns the result lines of `ftk` and of `tool`, and whether each succeeded.
fn both(dir: &Dir, algorithm: &str, tool: &str) -> [(Vec<u8>, bool); 2] {
    let ours = dir.ftk(["hash", "--check", "-a", algorithm]).arg(dir.aside("list")).run();
    let theirs = dir.ftk(["--version"]).instead(dir, [tool, "-c"]).arg(dir.aside("list")).run();
    [ours, theirs].map(|run| (run.out.clone(), run.code() == 0))
}

/// Checks that ftk prints the same bytes as the coreutils, in the order of the list.
fn same_as_coreutils(algorithm: &str, make: &[&str], check: &str) {
    let dir = tree(make, false);
    let [ours, theirs] = both(&dir, algorithm, check);
    assert_eq!(ours.0.escape_ascii().to_string(), theirs.0.escape_ascii().to_string(), "{make:?}");
    assert_eq!(records(&ours.0, b'\n').len(), NAMES.len() + 3);
    assert!(!ours.1 && !theirs.1);
}

#[test]
fn sha256sum() {
    needs!("sha256sum");
    same_as_coreutils("sha256", &["sha256sum"], "sha256sum");
    same_as_coreutils("sha256", &["sha256sum", "-b"], "sha256sum");
    same_as_coreutils("sha256", &["sha256sum", "--tag"], "sha256sum");
}

#[test]
fn other_coreutils() {
    needs!("md5sum", "sha1sum", "sha224sum", "sha384sum", "sha512sum", "b2sum", "cksum");
    for (algorithm, tool) in [
        ("md5", "md5sum"),
        ("sha1", "sha1sum"),
        ("sha224", "sha224sum"),
        ("sha384", "sha384sum"),
        ("sha512", "sha512sum"),
        ("blake2b", "b2sum"),
    ] {
        same_as_coreutils(algorithm, &[tool], tool);
        same_as_coreutils(algorithm, &[tool, "--tag"], tool);
        same_as_coreutils(algorithm, &["cksum", "--algorithm", algorithm], tool);
    }
}

/// Returns for each name whether it was verified, for tools with other words for failures.
fn verdicts(lines: &[u8]) -> Vec<(Vec<u8>, bool)> {
    let verdict = |line: Vec<u8>| {
        let failed = line.windows(8).rposition(|w| w == b": FAILED");
        let name = failed.unwrap_or_else(|| line.strip_suffix(b": OK").expect("OK or FAILED").len());
        (line[..name].to_vec(), failed.is_none())
    };
    records(lines, b'\n').into_iter().map(verdict).collect()
}

#[test]
fn b3sum() {
    needs!("b3sum");
    let dir = tree(&["b3sum"], true);
    // b3sum does not read names that are not UTF-8, and escapes names with a backslash.
    let list = std::fs::read(dir.aside("list")).unwrap();
    let is_text = |line: &Vec<u8>| {
        !line.starts_with(b"\\") && str::from_utf8(line).is_ok_and(|l| !l.contains('\u{fffd}'))
    };
    let lines: Vec<_> = records(&list, b'\n').into_iter().filter(is_text).collect();
    assert!(lines.len() >= NAMES.len() - 2, "{lines:?}");
    std::fs::write(dir.aside("list"), [lines.join(&b'\n'), b"\n".to_vec()].concat()).unwrap();
    let [ours, theirs] = both(&dir, "blake3", "b3sum");
    assert_eq!(verdicts(&ours.0), verdicts(&theirs.0));
    assert!(!ours.1 && !theirs.1);
}

#[test]
fn xxhsum() {
    needs!("xxhsum");
    for (algorithm, flag) in [("xxh64", "-H1"), ("xxh128", "-H2"), ("xxh3", "-H3")] {
        let dir = tree(&["xxhsum", flag], true);
        let [ours, theirs] = both(&dir, algorithm, "xxhsum");
        // xxhsum prints other lines for unreadable files and for totals.
        let is_verdict = |line: &Vec<u8>| line.ends_with(b": OK") || line.ends_with(b": FAILED");
        let only_verdicts =
            |lines: &[u8]| records(lines, b'\n').into_iter().filter(is_verdict).collect::<Vec<_>>();
        assert_eq!(only_verdicts(&ours.0), only_verdicts(&theirs.0), "{flag}");
        assert_eq!(records(&ours.0, b'\n').len(), only_verdicts(&ours.0).len() + 2);
        assert!(!ours.1 && !theirs.1);
    }
}

/// Lists written by ftk are accepted by the other tools and by ftk.
#[test]
fn our_own_lists() {
    needs!("sha256sum", "md5sum", "b2sum", "b3sum");
    let dir = Dir::new();
    for name in NAMES {
        dir.raw_file(name, name);
    }
    for (algorithm, tool) in [("sha256", "sha256sum"), ("md5", "md5sum"), ("blake2b", "b2sum")] {
        for tag in [&[][..], &["--tag"]] {
            let list = File::create(dir.aside("list")).unwrap();
            dir.ftk(["hash", ".", "-a", algorithm]).args(tag).stdout(list).run().status(0);
            let [ours, theirs] = both(&dir, algorithm, tool);
            assert!(ours.1 && theirs.1);
            assert_eq!(ours.0.escape_ascii().to_string(), theirs.0.escape_ascii().to_string());
        }
    }
    for end in [&[][..], &["-z"]] {
        let run = dir.ftk(["hash", ".", "-a", "md5,xxh3,blake3"]).args(end).run().status(0);
        let check = dir.ftk(["hash", "-c", "-", "--strict"]).args(end).stdin(&run.out).run().status(0);
        let end = if end.is_empty() { b'\n' } else { 0 };
        assert_eq!(records(&check.out, end).len(), 3 * NAMES.len());
        check.stderr_lacks("WARNING").stderr_has(" 48 ok, ");
    }
}

/// Every spelling of a tag that a known tool prints.
#[test]
fn tags_of_other_tools() {
    let dir = Dir::new();
    dir.file("a b", b"abc");
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let md5 = "900150983cd24fb0d6963f7d28e17f72";
    let list = format!(
        "SHA256 (a b) = {sha256}\nSHA256(a b)= {sha256}\nSHA2-256(a b)= {sha256}\nMD5(a b)= {md5}\n\
         md5 (a b) = {}\nSHA-256 (a b) = {sha256}\n",
        md5.to_uppercase()
    );
    let run = dir.ftk(["hash", "-c", "--strict"]).stdin(list.as_bytes()).run().status(0);
    run.stdout("a b: OK\n".repeat(6)).stderr_lacks("assumed");
}
