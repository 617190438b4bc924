//! 50 random trees and 500 random expressions, with the results of GNU find. `PROPTEST_CASES` changes the number of trees.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::{env, fs};

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

use super::gnu::{NAMES, TIMES, make, make_file, node};
use crate::harness::{Dir, gnu_find, needs, records, sorted};

/// An expression of ftk, and the same for GNU find.
#[derive(Clone, Debug)]
struct Both {
    ours: String,
    theirs: Vec<String>,
}

fn both(ours: impl Into<String>, theirs: &[&str]) -> Both {
    let theirs = theirs.iter().map(|&word| word.to_owned()).collect();
    Both { ours: ours.into(), theirs }
}

/// Writes a value in quotes.
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\x0a"))
}

/// Terms that need only the listing.
fn by_name() -> Vec<Both> {
    let mut terms = Vec::new();
    for glob in
        ["*", "*.c", "*.C", ".*", "a*", "?", "[!a]*", "*.[ch]", "\\[a]", "?.c", "c??", "-n", "a b", "*\n"]
    {
        terms.push(both(format!("name = {}", quoted(glob)), &["-name", glob]));
        terms.push(both(format!("iname={}", quoted(glob)), &["-iname", glob]));
        terms.push(both(format!("Name != {}", quoted(glob)), &["!", "-name", glob]));
    }
    terms.push(both("name = *.c", &["-name", "*.c"]));
    terms.push(both("name in (a, \"b.c\",.h)", &["-name", "a", "-o", "-name", "b.c", "-o", "-name", ".h"]));
    terms.push(both("name not in (a, b.c)", &["!", "(", "-name", "a", "-o", "-name", "b.c", ")"]));
    terms.push(both("name = \"\\xff.c\"", &["-name", "?.c", "!", "-name", "[a-zA-Z].c"]));
    terms.push(both("extension = c", &["-iname", "?*.c"]));
    terms.push(both("extension in (c, .tar.gz)", &["-iname", "?*.c", "-o", "-iname", "?*.tar.gz"]));
    terms.push(both("hidden", &["-name", ".?*"]));
    for (ours, theirs) in [("f", "f"), ("directory", "d"), ("symlink", "l"), ("\"f,l\"", "f,l"), ("p", "p")] {
        terms.push(both(format!("type = {ours}"), &["-type", theirs]));
        terms.push(both(format!("type != {ours}"), &["!", "-type", theirs]));
    }
    terms.push(both("type in (f, d)", &["-type", "f,d"]));
    for glob in ["a/*", "*/a", "b.c", "*.c", "*/*/*"] {
        // The path of the root is its name. `*/` is also the starting point itself.
        let path = if glob.starts_with("*/") { glob.to_owned() } else { format!("./{glob}") };
        let theirs = ["-path", &path, "-o", "-path", ".", "-path", glob];
        terms.push(both(format!("path = \"{glob}\""), &theirs));
    }
    terms.push(both("path ~ \"^a\"", &["-regex", r"\./a.*"]));
    terms.push(both("regex ~ \"/[^/]*c\"", &["-regex", r"\./.*/[^/]*c.*"]));
    terms.push(both("path ~ \"(a|b\\.c)/\"", &["-regex", r"\./.*(a|b[.]c)/.*"]));
    terms.push(both("name ~ \"^[ab]\"", &["-name", "[ab]*"]));
    for depth in 0..4_u32 {
        let least = |least: u32| format!(r"\.(/[^/]*){{{least},}}");
        terms.push(both(format!("depth = {depth}"), &["-regex", &format!(r"\.(/[^/]*){{{depth}}}")]));
        terms.push(both(format!("depth >= {depth}"), &["-regex", &least(depth)]));
        terms.push(both(format!("depth <= {depth}"), &["!", "-regex", &least(depth + 1)]));
    }
    terms
}

/// Terms that need metadata or other system calls.
fn by_metadata() -> Vec<Both> {
    let mut terms = Vec::new();
    for (ours, bytes) in [("0", 0), ("1", 1), ("1k", 1024), ("1025", 1025)] {
        let [exactly, more, less] = ["", "+", "-"].map(|sign| format!("{sign}{bytes}c"));
        terms.push(both(format!("size = {ours}"), &["-size", &exactly]));
        terms.push(both(format!("size > {ours}"), &["-size", &more]));
        terms.push(both(format!("size<={ours}"), &["!", "-size", &more]));
        terms.push(both(format!("size >= {ours}"), &["!", "-size", &less]));
        terms.push(both(format!("size <> {ours}"), &["!", "-size", &exactly]));
    }
    for (op, sign) in [("=", ""), (">", "+"), ("<", "-")] {
        terms.push(both(format!("links {op} 2"), &["-links", &format!("{sign}2")]));
    }
    for (seconds, ns) in TIMES.into_iter().filter(|(seconds, _)| *seconds > 0) {
        let time = format!("@{seconds}.{ns:09}");
        terms.push(both(format!("mtime > {time}"), &["-newermt", &time]));
        terms.push(both(format!("mtime <= {time}"), &["!", "-newermt", &time]));
        // The access time of a directory changes when it is listed, and that of a link when it is read.
        terms.push(both(format!("type = f and atime > {time}"), &["-type", "f", "-newerat", &time]));
    }
    terms.push(both("mtime < @-0.5", &["!", "-newermt", "@-1"]));
    terms.push(both("mtime < 1d", &["-mtime", "-1"]));
    terms.push(both("ctime < 1h", &["-cmin", "-60"]));
    terms.push(both("ctime > 1h", &["-false"]));
    terms.push(both("newer = \"../outside/file\"", &["-newer", "../outside/file"]));
    terms.push(both("owner = root", &["-user", "root"]));
    terms.push(both("not user = 0", &["!", "-uid", "0"]));
    terms.push(both("group != 7", &["!", "-gid", "7"]));
    terms.push(both("group in (root, 7)", &["-gid", "0", "-o", "-gid", "7"]));
    terms.push(both("owner = 7:0", &["-uid", "7", "-gid", "0"]));
    for mode in ["644", "-111", "/6000", "/022", "4755", "-2000"] {
        terms.push(both(format!("perm = {mode}"), &["-perm", mode]));
    }
    for file in ["../outside/file", "."] {
        terms.push(both(format!("samefile = {file}"), &["-samefile", file]));
    }
    terms.push(both("empty", &["-empty"]));
    for mode in [
        "u=rw,go=r",
        "-o+w",
        "/u+s,g+s",
        "/a+x",
        "-g+s",
        "+t",
        "-u+s,u=r",
        "/ug+s,a=s",
        "/u=s",
        "-a=X",
        "u=rwx,g=u,o=g-w",
        "-u+r,+X",
    ] {
        terms.push(both(format!("perm = {}", quoted(mode)), &["-perm", mode]));
    }
    for flag in ["readable", "writable", "executable", "nouser", "nogroup"] {
        terms.push(both(flag, &[&format!("-{flag}")]));
    }
    terms.push(both("broken", &["(", "-type", "l", "-xtype", "l", ")"]));
    for glob in ["*", "*/file", "/*outside/d*", "nowhere"] {
        terms.push(both(format!("target = {}", quoted(glob)), &["-lname", glob]));
        terms.push(both(format!("target != {}", quoted(glob)), &["!", "-lname", glob]));
    }
    terms.push(both("inode > 1", &["-inum", "+1"]));
    terms.push(both("inode = 1", &["-inum", "1"]));
    terms.push(both("fstype = proc", &["-fstype", "proc"]));
    terms
}

fn expression() -> impl Strategy<Value = Both> {
    let term = prop_oneof![select(by_name()), select(by_metadata())];
    term.prop_recursive(4, 12, 3, |inner| {
        let many = |word: &'static str, other: &'static str, parts: Vec<Both>| Both {
            ours: parts.iter().map(|part| format!("({})", part.ours)).collect::<Vec<_>>().join(word),
            theirs: group(parts, other),
        };
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(move |parts| many(" and ", "-a", parts)),
            vec(inner.clone(), 2..4).prop_map(move |parts| many(" OR\n", "-o", parts)),
            inner.prop_map(|part| Both {
                ours: format!("not({})", part.ours),
                theirs: [vec!["!".to_owned()], group(vec![part], "-a")].concat(),
            }),
        ]
    })
}

/// Joins expressions of GNU find, and puts them in parentheses.
fn group(parts: Vec<Both>, operator: &str) -> Vec<String> {
    let mut words = vec!["(".to_owned()];
    for (nth, part) in parts.into_iter().enumerate() {
        words.extend((nth > 0).then(|| operator.to_owned()));
        words.push("(".into());
        words.extend(part.theirs);
        words.push(")".into());
    }
    words.push(")".into());
    words
}

#[test]
fn h40_random_expressions_select_what_find_selects() {
    needs!("find");
    let cases = env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(50);
    let tree = btree_map(select(NAMES.to_vec()), node(), 3..9);
    let search = (expression(), expression(), any::<bool>(), any::<bool>());
    proptest!(ProptestConfig::with_cases(cases), |(tree in tree, searches in vec(search, 10))| {
        let dir = Dir::new();
        fs::create_dir(dir.aside("outside")).unwrap();
        make_file(&dir.aside("outside").join("file"), 1024);
        for (name, node) in &tree {
            make(&dir, &dir.path(OsStr::from_bytes(name)), node);
        }
        for (wanted, unwanted, prunes, follows) in searches {
            let mut theirs: Vec<&str> = Vec::from(if follows { &["-L"][..] } else { &[] });
            theirs.extend([".", "-regextype", "posix-extended"]);
            let pruned = group(vec![unwanted.clone()], "-a");
            if prunes {
                theirs.extend(["!", "-path", "."]);
                theirs.extend(pruned.iter().map(String::as_str));
                theirs.extend(["-prune", "-o"]);
            }
            let matching = group(vec![wanted.clone()], "-a");
            theirs.extend(matching.iter().map(String::as_str));
            let expected = gnu_find(&dir, &theirs);
            let mut ours = vec!["find", "-0", "--where", &wanted.ours];
            ours.extend(prunes.then_some(["--exclude-where", &unwanted.ours]).into_iter().flatten());
            ours.extend(follows.then_some("-L"));
            let run = dir.ftk(ours).run().status(0);
            let what = format!("not what find lists: {theirs:?}: {} entries", expected.len());
            run.check(sorted(records(&run.out, 0)) == expected, &what);
        }
    });
}
