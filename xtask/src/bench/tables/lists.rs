//! Making, checking and comparing checksum lists.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result, ensure};

use super::Algorithm;
use super::hashers::Task;
use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::Case;
use crate::bench::commands::{Commands, Lines};
use crate::bench::context::Context;
use crate::bench::record::{Group, Section};
use crate::bench::shape::mix;
use crate::bench::tree::Tree;

/// One line of this many differs between two lists.
const CHANGED: u64 = 1_000;

/// Compares two lists without reading the listed files.
const DIFF: &Lines<'_> = &[("ftk", "ftk hash --diff {old} {new}"), ("diff", "diff {old} {new}")];

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.any_tree()?;
    let checks = ["sha256", "md5", "blake3"].map(|name| check(bench, &tree, Algorithm::named(name)?));
    let lines = if bench.options.common.is_quick { 10_000 } else { 1_000_000 };
    let diff = diff(bench, lines)?;
    let file_system = tree.file_system.clone();
    Ok(vec![
        Section::new(&tree, Cache::Warm, checks.into_iter().collect::<Result<_>>()?),
        Section {
            title: format!("two lists of {lines} lines"),
            file_system,
            cache: Cache::Warm.to_string(),
            groups: vec![diff],
        },
    ])
}

/// Checks the list of a tree with one wrong digest. Exit status 1 shows that a tool found it. The time to make the list
/// is measured for comparison.
fn check(bench: &Context, tree: &Tree, algorithm: &Algorithm) -> Result<Group> {
    let list = bench.scratch.path(&format!("list-{}", algorithm.name));
    let task = Task::new(bench, algorithm, &tree.path, tree.files);
    let making = task.ftk(&[]).timed;
    fs::write(&list, with_wrong_line(making.output()?)?)?;
    let name = algorithm.tool.first().context("every algorithm has a tool")?;
    let lines: &Lines<'_> = &[
        ("ftk", "ftk hash --check -a {algorithm} {list}"),
        (name, &format!("{name} --check --quiet {{list}}")),
    ];
    let commands = Commands::new(bench).with("algorithm", algorithm.name).with("list", &list).ending_with(1);
    let mut cases = commands.cases(lines);
    cases.insert(1, Case::new("ftk makes it", Format::Status, making));
    bench.clock().group(&format!("check {}", algorithm.name), tree.files, cases)
}

/// Changes the first digit of `list`, which follows a backslash if the name is escaped.
fn with_wrong_line(mut list: Vec<u8>) -> Result<Vec<u8>> {
    let at = usize::from(list.first() == Some(&b'\\'));
    let first = list.get_mut(at).context("the list is empty")?;
    ensure!(first.is_ascii_hexdigit(), "the list does not begin with a digest");
    *first = if *first == b'0' { b'1' } else { b'0' };
    Ok(list)
}

/// Measures the comparison of two lists.
fn diff(bench: &Context, lines: u64) -> Result<Group> {
    let [old, new] = [("old", 0), ("new", 1)].map(|(name, version)| {
        let path = bench.scratch.path(&format!("list-{name}"));
        fs::write(&path, list(lines, version)).map(|()| path)
    });
    let cases = Commands::new(bench).with("old", old?).with("new", new?).ending_with(1).cases(DIFF);
    bench.clock().group("differences", lines, cases)
}

/// Makes a list in which the digest of one line in [`CHANGED`] depends on `version`.
fn list(lines: u64, version: u64) -> String {
    let mut text = String::new();
    for line in 0..lines {
        let seed = if line % CHANGED == CHANGED / 2 { line ^ (version << 32) } else { line };
        for word in 0..4 {
            let _ = write!(text, "{:016x}", mix((seed << 2) ^ word));
        }
        let _ = writeln!(text, "  tree/dir_{:04}/file_{line:06}.bin", line / 1_000);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_differ_in_some_lines() {
        let (old, new) = (list(2_000, 0), list(2_000, 1));
        let changed: Vec<_> = old.lines().zip(new.lines()).filter(|(old, new)| old != new).collect();
        assert_eq!(changed.len(), 2);
        assert!(changed[1].0.ends_with("  tree/dir_0001/file_001500.bin"));
        assert_eq!(changed[0].0.find("  "), Some(64));
        assert_eq!(old, list(2_000, 0));
    }

    #[test]
    fn only_the_first_digit_is_wrong() {
        assert_eq!(with_wrong_line(b"00ab  x\n".to_vec()).unwrap(), b"10ab  x\n");
        assert_eq!(with_wrong_line(b"f0ab  x\n".to_vec()).unwrap(), b"00ab  x\n");
        assert_eq!(with_wrong_line(b"\\00ab  x\n".to_vec()).unwrap(), b"\\10ab  x\n");
        assert!(with_wrong_line(b"XXH3_00ab  x\n".to_vec()).is_err());
        assert!(with_wrong_line(Vec::new()).is_err());
    }
}
