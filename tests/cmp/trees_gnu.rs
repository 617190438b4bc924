//! Two trees, compared by ftk and by `diff -rq`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::dice::Dice;
use crate::harness::{Dir, needs};

/// A difference: a word and the path below both trees.
type Found = (String, String);

/// The differences that `diff` reports.
fn gnu(dir: &Dir) -> BTreeSet<Found> {
    let mut diff = Command::new("diff");
    diff.args(["-r", "-q", "--no-dereference", "a", "b"]).current_dir(dir.path("")).env("LC_ALL", "C");
    let output = diff.stdin(Stdio::null()).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(i32::from(!lines.is_empty())));
    // `diff` reports two FIFOs of one name, which are no difference.
    let two_fifos = |line: &&str| line.contains(" is a fifo while file ") && line.ends_with(" is a fifo");
    lines.lines().filter(|line| !two_fifos(line)).map(line).collect()
}

fn line(line: &str) -> Found {
    let below = |path: &str| match path {
        "a" | "b" => String::new(),
        path => path.strip_prefix("a/").or(path.strip_prefix("b/")).expect(line).into(),
    };
    if let Some(rest) = line.strip_prefix("Only in ") {
        let (dir, name) = rest.split_once(": ").unwrap();
        let word = if dir.starts_with('a') { "only_a" } else { "only_b" };
        let path = Path::new(&below(dir)).join(name).to_str().unwrap().to_owned();
        return (word.into(), path);
    }
    let between =
        |start: &str, end: &str| line.strip_prefix(start)?.split_once(end).map(|(path, _)| below(path));
    if let Some(path) = between("Symbolic links ", " and ") {
        return ("target".into(), path);
    }
    if let Some(path) = between("Files ", " and ") {
        return ("bytes".into(), path);
    }
    ("type".into(), between("File ", " is a ").expect(line))
}

/// The differences that ftk reports. `diff` does not distinguish size from content.
fn ours(json: &str) -> BTreeSet<Found> {
    let found = |line: &str| {
        let object: Value = serde_json::from_str(line).unwrap();
        // The last object is no difference.
        let word = match object["difference"].as_str()? {
            "size" | "content" => "bytes",
            word => word,
        };
        Some((word.to_owned(), object["path"].as_str().unwrap().to_owned()))
    };
    json.lines().filter_map(found).collect()
}

/// Names that sort around the slash as bytes, and names that are prefixes of others.
const NAMES: [&str; 10] = ["a", "a-b", "a.c", "a b", "a0", "aa", "b", "B", "lib", "z~"];

/// Fills a directory.
fn grow(dir: &Dir, at: &Path, depth: usize, dice: &mut Dice) {
    dir.dir(at);
    for name in NAMES {
        if dice.chance(2) {
            plant(dir, &at.join(name), depth, dice);
        }
    }
}

fn plant(dir: &Dir, at: &Path, depth: usize, dice: &mut Dice) {
    let text = at.to_str().unwrap();
    match dice.below(10) {
        0..=2 if depth > 0 => grow(dir, at, depth - 1, dice),
        3 => _ = dir.symlink(dice.one_of(&["x", "y", "../a", "/"]), text),
        4 if dice.chance(2) => _ = dir.fifo(text),
        _ => {
            let len = dice.one_of(&[0, 1, 3, 4096, 200_000]);
            let mut content = vec![b'x'; len];
            if len > 0 && dice.chance(2) {
                content[dice.below(len)] = b'y';
            }
            dir.file(at, &content);
        }
    }
}

/// Makes the second tree from the first: most of it as it is.
fn copy(dir: &Dir, from: &Path, to: &Path, depth: usize, dice: &mut Dice) {
    dir.dir(to);
    for name in NAMES {
        let (from, to) = (from.join(name), to.join(name));
        let Ok(metadata) = fs::symlink_metadata(dir.path(&from)) else {
            if dice.chance(8) {
                plant(dir, &to, depth, dice);
            }
            continue;
        };
        let is_fifo = !metadata.is_dir() && !metadata.is_file() && !metadata.is_symlink();
        match dice.below(8) {
            0 => {}
            1 => plant(dir, &to, depth, dice),
            _ if metadata.is_dir() => copy(dir, &from, &to, depth.saturating_sub(1), dice),
            _ if metadata.is_symlink() => {
                let target = fs::read_link(dir.path(&from)).unwrap();
                dir.symlink(target.to_str().unwrap(), to.to_str().unwrap());
            }
            _ if is_fifo => _ = dir.fifo(to.to_str().unwrap()),
            _ => _ = dir.file(&to, &fs::read(dir.path(&from)).unwrap()),
        }
    }
}

#[test]
fn what_diff_tells() {
    needs!("diff");
    let mut told = BTreeSet::new();
    for seed in 0..40 {
        let dir = Dir::new();
        let mut dice = Dice::new(8000 + seed);
        grow(&dir, Path::new("a"), 3, &mut dice);
        copy(&dir, Path::new("a"), Path::new("b"), 3, &mut dice);
        let expected = gnu(&dir);
        let first = dir.ftk(["cmp", "--json", "-j", "mono", "a", "b"]).run();
        let found = ours(first.text());
        first.check(found == expected, &format!("tree {seed}: diff says {expected:?}"));
        let paths: Vec<_> = first.text().lines().filter_map(|line| Some(ours(line).pop_first()?.1)).collect();
        first.check(paths.is_sorted(), "by path");
        for threads in 2..=8 {
            let run = dir.ftk(["cmp", "--json", "-j", &threads.to_string(), "a", "b"]).run();
            run.status(i32::from(!expected.is_empty())).stdout(&first.out);
        }
        let quiet = dir.ftk(["cmp", "-s", "a", "b"]).run();
        quiet.status(i32::from(!expected.is_empty())).stdout("").stderr("");
        told.extend(expected.into_iter().map(|(word, _)| word));
    }
    let every: BTreeSet<_> = ["bytes", "only_a", "only_b", "target", "type"].map(String::from).into();
    assert_eq!(told, every, "the trees differ in every way");
}
