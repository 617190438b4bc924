//! Several digests from one read, and lists with tags or NUL.

use serde_json::Value;

use super::algorithms::sizes;
use super::names::hostile_tree;
use super::plans::plans;
use crate::harness::{Dir, needs, records, sum};

const ALL: [&str; 15] = [
    "sha256", "sha1", "sha512", "md5", "blake2b", "blake3", "sha224", "sha384", "sha3-256", "sha3-512",
    "xxh64", "xxh3", "xxh128", "crc32", "crc32c",
];

/// Returns what separate runs print with `--tag`, merged: for each path the lines of all algorithms.
fn together(dir: &Dir, algorithms: &[&str], end: u8, args: &[&str]) -> Vec<u8> {
    let lists: Vec<_> = algorithms
        .iter()
        .map(|algorithm| {
            let run = dir.ftk(["hash", ".", "--tag", "-a", algorithm]).args(args).run().status(0);
            records(&run.out, end)
        })
        .collect();
    let mut all = Vec::new();
    for nth in 0..lists[0].len() {
        for list in &lists {
            all.extend_from_slice(&list[nth]);
            all.push(end);
        }
    }
    all
}

#[test]
fn all_algorithms_together_equal_each_alone() {
    for dir in [sizes(), hostile_tree()] {
        let expected = together(&dir, &ALL, b'\n', &[]);
        assert_eq!(expected.split(|&byte| byte == b'\n').count() % ALL.len(), 1);
        dir.ftk(["hash", "."]).args(ALL.map(|name| format!("-a{name}"))).run().status(0).stdout(&expected);
        dir.ftk(["hash", ".", "-a", &ALL.join(",")]).run().status(0).stdout(&expected);
        let expected = together(&dir, &ALL, 0, &["-z"]);
        dir.ftk(["hash", ".", "-z", "-a", &ALL.join(",")]).run().status(0).stdout(&expected);
    }
}

/// Engines with one, eight and sixteen lanes run together.
#[test]
fn plans_do_not_change_several_digests() {
    let dir = sizes();
    let algorithms = ["blake3", "sha512", "sha256"];
    let expected = together(&dir, &algorithms, b'\n', &[]);
    for plan in plans() {
        dir.ftk(["hash", ".", "-a", &algorithms.join(",")]).args(plan).run().status(0).stdout(&expected);
    }
}

#[test]
fn an_algorithm_given_twice_is_computed_once() {
    let dir = Dir::new();
    dir.file("abc", b"abc");
    let md5 = "900150983cd24fb0d6963f7d28e17f72";
    dir.ftk(["hash", "abc", "-a", "md5,MD5", "-amd5"]).run().status(0).stdout(format!("{md5}  abc\n"));
    let xxh3 = "78af5f94892f3950";
    let both = format!("XXH3 (abc) = {xxh3}\nMD5 (abc) = {md5}\n");
    dir.ftk(["hash", "abc", "-a", "xxh3", "-a", "md5,xxh3"]).run().status(0).stdout(both);
}

#[test]
fn of_standard_input() {
    let dir = Dir::new();
    dir.file("+", b"abc");
    let lines =
        |name| format!("MD5 ({name}) = 900150983cd24fb0d6963f7d28e17f72\nXXH3 ({name}) = 78af5f94892f3950\n");
    let args = ["hash", "-a", "md5,xxh3"];
    dir.ftk(args).stdin(b"abc").run().status(0).stdout(lines("-"));
    dir.ftk(args).args(["-", "+"]).stdin(b"abc").run().status(0).stdout(lines("+") + &lines("-"));
}

#[test]
fn unreadable_files_have_no_digest() {
    let dir = Dir::new();
    dir.file("locked", b"abc").file("open", b"abc").lock("locked");
    let run = dir.ftk(["hash", "-a", "md5,sha1", "locked", "open"]).unprivileged(&dir).run().status(2);
    let expected = "MD5 (open) = 900150983cd24fb0d6963f7d28e17f72\n\
                    SHA1 (open) = a9993e364706816aba3e25717850c26c9cd0d89d\n";
    run.stdout(expected).stderr_has("cannot open 'locked': permission denied");
}

#[test]
fn as_one_object() {
    let dir = hostile_tree();
    let alone = |algorithm| dir.ftk(["hash", ".", "--json", "-a", algorithm]).run().status(0);
    let (md5, sha1) = (alone("md5"), alone("sha1"));
    let both = dir.ftk(["hash", ".", "--json", "-a", "md5,sha1"]).run().status(0);
    let object = |line| serde_json::from_str::<Value>(line).unwrap();
    let lines = both.text().lines().zip(md5.text().lines().zip(sha1.text().lines()));
    let mut count = 0;
    for (both, (md5, sha1)) in lines {
        let (both, md5, sha1) = (object(both), object(md5), object(sha1));
        assert_eq!(both["path"], md5["path"]);
        assert_eq!(both["path_b64"], md5["path_b64"]);
        let digests = serde_json::json!({"md5": md5["digest"], "sha1": sha1["digest"]});
        assert_eq!(both["digests"], digests);
        count += 1;
    }
    assert_eq!(count, both.text().lines().count());
    assert!(count > 40);
}

#[test]
fn tagged_lines_are_those_of_cksum() {
    needs!("cksum", "find", "xargs");
    let dir = hostile_tree();
    for algorithm in ["md5", "sha1", "sha256", "sha512", "blake2b"] {
        let tool = ["cksum", "-a", algorithm, "--tag", "--"];
        dir.ftk(["hash", ".", "--tag", "-a", algorithm]).run().status(0).stdout(sum(&dir, &tool, &["."]));
        let tool = ["cksum", "-a", algorithm, "--tag", "-z", "--"];
        dir.ftk(["hash", ".", "--tag", "-za", algorithm]).run().status(0).stdout(sum(&dir, &tool, &["."]));
    }
}

#[test]
fn tagged_lines_are_those_of_the_other_tools() {
    needs!("b3sum", "find", "xargs", "xxhsum");
    let dir = Dir::new();
    dir.file("a b", b"1").file("d/) = 0", b"2");
    for (algorithm, tool) in [
        ("xxh64", &["xxhsum", "-q", "-H1", "--tag"][..]),
        ("xxh128", &["xxhsum", "-q", "-H2", "--tag"]),
        ("xxh3", &["xxhsum", "-q", "-H3", "--tag"]),
    ] {
        dir.ftk(["hash", ".", "--tag", "-a", algorithm]).run().status(0).stdout(sum(&dir, tool, &["."]));
    }
}

#[test]
fn lines_that_end_with_nul_are_those_of_sha256sum() {
    needs!("find", "sha256sum", "xargs");
    let dir = hostile_tree();
    let expected = sum(&dir, &["sha256sum", "-z", "--"], &["."]);
    for zero in ["-z", "--zero"] {
        dir.ftk(["hash", ".", zero]).run().status(0).stdout(&expected);
    }
    dir.ftk(["hash", ".", "-z", "-o"]).arg(dir.aside("list")).run().status(0).stdout("");
    assert_eq!(std::fs::read(dir.aside("list")).unwrap(), expected);
}

#[test]
fn conflicting_options_are_refused() {
    let dir = Dir::new();
    dir.file("abc", b"abc");
    dir.ftk(["hash", "abc", "--json", "-z"]).run().status(2).stdout("").stderr_has("--zero");
    dir.ftk(["hash", "abc", "--json", "--tag"]).run().status(2).stdout("").stderr_has("--tag");
}

#[test]
fn an_unknown_algorithm_suggests_a_similar_one() {
    let dir = Dir::new();
    for (name, similar) in [("sha265", "sha256"), ("blake2", "blake2b"), ("xxh12", "xxh128")] {
        let run = dir.ftk(["hash", "-a", name]).run().status(2).stdout("");
        run.stderr_has(&format!("invalid value '{name}'")).stderr_has(&format!("'{similar}'"));
    }
    // cksum has these, ftk has not.
    for name in ["crc", "bsd", "sysv", "sm3", "sha2", "crc32b"] {
        dir.ftk(["hash", "-a", name]).run().status(2).stdout("").stderr_has("blake2b");
    }
}
