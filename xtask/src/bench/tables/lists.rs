//! Making, checking and comparing checksum lists.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result, ensure};

use super::hash::{FTK, Task};
use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::Case;
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::record::{Group, Section};
use crate::bench::shape::mix;
use crate::bench::tree::Tree;

/// The list has one wrong digest, and the exit status shows that a tool found it. The time to make the list is measured
/// for comparison.
const CHECK: &str = "
# check {algorithm} [differ]
ftk hash --check -a {algorithm} {list}
@{tool} --check --quiet {list}
";

/// Compares two lists without reading the listed files.
const DIFF: &str = "
# differences [differ]
ftk hash --diff {old} {new}
diff {old} {new}
";

/// One line of this many differs between two lists.
const CHANGED: u64 = 1_000;

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.any_tree()?;
    let checks = ["sha256", "md5", "blake3"].map(|name| check(bench, &tree, name));
    let lines = if bench.options.common.quick { 10_000 } else { 1_000_000 };
    let mut commands = Commands::new(bench);
    for (name, version) in [("old", 0), ("new", 1)] {
        let path = bench.scratch.path(&format!("list-{name}"));
        fs::write(&path, list(lines, version))?;
        commands = commands.with(name, path);
    }
    let groups = commands.measure(bench.clock(), lines, DIFF)?;
    let title = format!("two lists of {lines} lines");
    Ok(vec![
        Section::new(&tree, Cache::Warm, checks.into_iter().collect::<Result<_>>()?),
        Section { title, ..Section::new(&tree, Cache::Warm, groups) },
    ])
}

fn check(bench: &Context, tree: &Tree, algorithm: &str) -> Result<Group> {
    let list = bench.scratch.path(&format!("list-{algorithm}"));
    let task = Task::new(bench, algorithm, vec![tree.path.clone()], tree.files);
    let making = task.cases(FTK, |_| false).swap_remove(0).timed;
    fs::write(&list, with_wrong_line(making.output()?)?)?;
    let commands = Commands::new(bench).with("algorithm", algorithm).with("list", &list);
    let (title, mut cases) = commands.group(&CHECK.replace("@{tool}", task.tool()));
    cases.insert(1, Case::new("ftk makes it", Format::Status, making));
    bench.clock().group(&title, tree.files, cases)
}

/// Changes the first digit of `list`, which follows a backslash if the name is escaped.
fn with_wrong_line(mut list: Vec<u8>) -> Result<Vec<u8>> {
    let at = usize::from(list.first() == Some(&b'\\'));
    let first = list.get_mut(at).context("the list is empty")?;
    ensure!(first.is_ascii_hexdigit(), "the list does not begin with a digest");
    *first = if *first == b'0' { b'1' } else { b'0' };
    Ok(list)
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
