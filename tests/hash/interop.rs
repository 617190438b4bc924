//! Lists of other tools that ftk reads, and lists of ftk that they read. This test checks the table in
//! `docs/interop.md`; `FTK_UPDATE_DOCS=1 cargo test interop` writes it.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use crate::harness::{Dir, needs, sum};

/// Kinds of names, some of which a tool may not support.
const NAMES: [(&str, &[&[u8]]); 5] = [
    ("", &[b"a b", b"caf\xc3\xa9", b"* star", b" lead", b"sub/) = 0", b"#", b"--", b"$(id)"]),
    ("backslash", &[b"back\\slash", b"\\n", b"end\\"]),
    ("newline", &[b"new\nline", b"\n"]),
    ("carriage return", &[b"cr\rx", b"cr\r", b"\r\n"]),
    ("bytes that are not UTF-8", &[b"\xff", b"half \xc3"]),
];

/// A set of kinds, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kinds(u8);

const NONE: Kinds = Kinds(0);
const ALL: Kinds = Kinds(0b11111);
const BUT_CR_AND_BYTES: Kinds = Kinds(0b00111);
/// For tools that escape nothing, and for tools that also treat other text as an escape.
const BUT_ENDS: Kinds = Kinds(0b10011);
const BUT_ESCAPED: Kinds = Kinds(0b10001);

/// A list format, and the names that are known to work with it. A newer tool may support more.
struct Row {
    /// The command that makes the list, and the arguments of `ftk hash` that check it.
    theirs: &'static str,
    we_check: &'static str,
    we_read: Kinds,
    /// The arguments of `ftk hash` that make a list, and the command that checks it.
    ours: &'static str,
    they_check: &'static str,
    they_read: Kinds,
}

const fn row(theirs: &'static str, they_check: &'static str, ours: &'static str) -> Row {
    Row { theirs, we_check: "--check", we_read: ALL, ours, they_check, they_read: ALL }
}

impl Row {
    const fn checked_here(self, we_check: &'static str) -> Self {
        Self { we_check, ..self }
    }

    const fn with(self, we_read: Kinds, they_read: Kinds) -> Self {
        Self { we_read, they_read, ..self }
    }
}

/// The formats of coreutils 9.1, b3sum 1.2.0, xxhsum 0.8.1 and newer.
const ROWS: &[Row] = &[
    row("md5sum", "md5sum -c", "-a md5"),
    row("md5sum --tag", "md5sum -c", "-a md5 --tag"),
    row("sha1sum", "sha1sum -c", "-a sha1"),
    row("sha1sum --tag", "sha1sum -c", "-a sha1 --tag"),
    row("sha256sum", "sha256sum -c", ""),
    row("sha256sum -b", "sha256sum -c", ""),
    row("sha256sum --tag", "sha256sum -c", "--tag"),
    row("sha256sum -z", "sha256sum -c", "-z").checked_here("--check -z").with(ALL, NONE),
    row("sha224sum", "sha224sum -c", "-a sha224"),
    row("sha384sum", "sha384sum -c", "-a sha384"),
    row("sha512sum", "sha512sum -c", "-a sha512"),
    row("sha512sum --tag", "sha512sum -c", "-a sha512 --tag"),
    row("b2sum", "b2sum -c", "-a blake2b").checked_here("--check -a blake2b"),
    row("b2sum --tag", "b2sum -c", "-a blake2b --tag"),
    row("cksum -a md5", "cksum -c", "-a md5 --tag"),
    row("cksum -a sha1", "cksum -c", "-a sha1 --tag"),
    row("cksum -a sha256", "cksum -c", "-a sha256 --tag"),
    row("cksum -a sha224", "cksum -c", "-a sha224 --tag"),
    row("cksum -a sha384", "cksum -c", "-a sha384 --tag"),
    row("cksum -a sha512", "cksum -c", "-a sha512 --tag"),
    row("cksum -a blake2b", "cksum -c", "-a blake2b --tag"),
    row("cksum -a sha256 --untagged", "cksum -a sha256 -c", ""),
    row("cksum -a sha256", "cksum -c", "-a md5,sha256,blake2b"),
    row("b3sum", "b3sum -c", "-a blake3")
        .checked_here("--check -a blake3")
        .with(BUT_CR_AND_BYTES, BUT_CR_AND_BYTES),
    row("xxhsum -H1", "xxhsum -c", "-a xxh64").with(BUT_ENDS, BUT_ESCAPED),
    row("xxhsum -H1 --tag", "xxhsum -c", "-a xxh64 --tag").with(BUT_ENDS, BUT_ESCAPED),
    row("xxhsum -H2", "xxhsum -c", "-a xxh128").checked_here("--check -a xxh128").with(BUT_ENDS, BUT_ESCAPED),
    row("xxhsum -H2 --tag", "xxhsum -c", "-a xxh128 --tag").with(BUT_ENDS, BUT_ESCAPED),
    row("xxhsum -H3", "xxhsum -c", "-a xxh3").with(BUT_ENDS, NONE),
    row("xxhsum -H3 --tag", "xxhsum -c", "-a xxh3 --tag").with(BUT_ENDS, BUT_ESCAPED),
];

#[test]
fn lists_are_read_in_both_directions() {
    needs!(
        "b2sum",
        "b3sum",
        "cksum",
        "find",
        "md5sum",
        "sha1sum",
        "sha224sum",
        "sha256sum",
        "sha384sum",
        "sha512sum",
        "xargs",
        "xxhsum"
    );
    let trees = NAMES.map(|(_, names)| {
        let dir = Dir::new();
        for (nth, name) in names.iter().enumerate() {
            dir.raw_file(&[b"tree/", *name].concat(), format!("content {nth}").as_bytes());
        }
        dir
    });
    for row in ROWS {
        let (mut we_read, mut they_read) = (NONE, NONE);
        for (kind, dir) in trees.iter().enumerate() {
            we_read.0 |= u8::from(we_read_theirs(dir, row)) << kind;
            they_read.0 |= u8::from(they_read_ours(dir, row)) << kind;
        }
        let is_known = we_read.has(row.we_read) && they_read.has(row.they_read);
        assert!(is_known, "{}: we read {we_read:?}, they read {they_read:?}", row.theirs);
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/interop.md");
    let page = fs::read_to_string(path).unwrap();
    let (head, rest) = page.split_once(BEGIN).expect("the page has a place for the table");
    let (said, tail) = rest.split_once(END).expect("the table has an end");
    if std::env::var_os("FTK_UPDATE_DOCS").is_some() {
        fs::write(path, [head, BEGIN, &table(), END, tail].concat()).unwrap();
    } else {
        assert!(said == table(), "docs/interop.md is stale: FTK_UPDATE_DOCS=1 cargo test interop");
    }
}

const BEGIN: &str = "<!-- The table is written by tests/hash/interop.rs. -->\n";
const END: &str = "<!-- The end of the table. -->\n";

/// Returns whether ftk verifies every file of the other tool's list, and detects a changed file.
fn we_read_theirs(dir: &Dir, row: &Row) -> bool {
    let quiet = if row.theirs.starts_with("xxhsum") { " -q" } else { "" };
    let tool = format!("{}{quiet}", row.theirs);
    let list = sum(dir, &words(&tool), &["tree"]);
    fs::write(dir.aside("theirs"), list).unwrap();
    let check = || {
        let run = dir.ftk(["hash", "--strict"]).args(words(row.we_check)).arg(dir.aside("theirs")).run();
        run.code()
    };
    check() == 0 && after_a_change(dir, check) == 1
}

/// Returns whether the other tool verifies every file of ftk's list, and detects a changed file.
fn they_read_ours(dir: &Dir, row: &Row) -> bool {
    let args = words(row.ours);
    dir.ftk(["hash", "tree", "-o"]).arg(dir.aside("ours")).args(args).run().status(0);
    let check = || {
        let mut words = row.they_check.split(' ');
        let mut command = Command::new(words.next().unwrap());
        command.args(words).arg(dir.aside("ours")).current_dir(dir.path("")).env("LC_ALL", "C");
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().code().unwrap()
    };
    check() == 0 && after_a_change(dir, check) == 1
}

/// Returns the status of the check while one file is changed.
fn after_a_change(dir: &Dir, check: impl Fn() -> i32) -> i32 {
    let file = fs::read_dir(dir.path("tree")).unwrap().map(|entry| entry.unwrap().path());
    let file = file.filter(|path| path.is_file()).max().unwrap();
    let content = fs::read(&file).unwrap();
    fs::write(&file, b"changed").unwrap();
    let status = check();
    fs::write(&file, content).unwrap();
    status
}

fn words(line: &str) -> Vec<&str> {
    line.split_ascii_whitespace().collect()
}

fn table() -> String {
    let mut table = "\n| their list | read by | with | our list | read by | with |\n".to_owned();
    table += "|---|---|---|---|---|---|\n";
    for row in ROWS {
        let ours = format!("ftk hash {}", row.ours);
        writeln!(
            table,
            "| `{}` | `ftk hash {}` | {} | `{}` | `{}` | {} |",
            row.theirs,
            row.we_check,
            row.we_read.words(),
            ours.trim_end(),
            row.they_check,
            row.they_read.words(),
        )
        .unwrap();
    }
    table + "\n"
}

impl Kinds {
    fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn words(self) -> String {
        let missing = |(kind, _): &(usize, _)| self.0 >> kind & 1 == 0;
        let missing: Vec<_> = NAMES.iter().enumerate().filter(missing).map(|(_, (name, _))| *name).collect();
        match *missing {
            [] => "every name".to_owned(),
            ["", ..] => "no name".to_owned(),
            _ => format!("names without {}", missing.join(", ")),
        }
    }
}
