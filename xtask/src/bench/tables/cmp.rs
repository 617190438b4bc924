//! Comparing two files, and two trees.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::commands::{Commands, Lines};
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::machine;
use crate::bench::record::{Group, Section};
use crate::bench::shape::in_words;

/// Identical files. The last command is only for them.
const SAME: &Lines<'_> = &[
    ("ftk", "ftk cmp -q {a} {b}"),
    ("cmp", "cmp -s {a} {b}"),
    ("diff -q", "diff -q {a} {b}"),
    ("b3sum of both", "b3sum {a} {b}"),
];

const SEVERAL: &Lines<'_> = &[("ftk", "ftk cmp -l {a} {b}"), ("cmp", "cmp -l {a} {b}")];

/// Commands that read both files in pieces, as with little memory.
const STREAMED: &Lines<'_> = &[("ftk", "ftk cmp --method stream -q {a} {b}"), ("cmp", "cmp -s {a} {b}")];

const TREES: &Lines<'_> = &[("ftk", "ftk cmp {a} {b}"), ("diff -rq", "diff -rq --no-dereference {a} {b}")];

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let mut sections = vec![files(bench)?];
    let tree = bench.any_tree()?;
    let copy = derived::copy(bench, &tree)?;
    let trees = Commands::new(bench).with("a", &tree.path).with("b", &copy.path);
    let same = bench.clock().group("a tree and its copy", tree.files, trees.cases(TREES))?;
    // One byte in one file differs. A tool that reports it has read the files.
    let files = derived::regular_files(&copy.path)?;
    let altered = files.iter().rfind(|path| path.metadata().is_ok_and(|metadata| metadata.len() > 0));
    let altered = altered.context("the tree has no file to alter")?;
    derived::alter(altered, -1)?;
    let cases = trees.ending_with(1).cases(TREES);
    let differing = bench.clock().group("one byte differs", tree.files, cases);
    derived::alter(altered, -1)?;
    sections.push(Section::new(&tree, Cache::Warm, vec![same, differing?]));
    Ok(sections)
}

/// Measures pairs of files from a few KiB to the size that fits into memory.
fn files(bench: &Context) -> Result<Section> {
    let is_quick = bench.options.common.is_quick;
    let large: u64 = if is_quick { 1_000_000 } else { 640_000_000 };
    let huge = if is_quick { 4 << 20 } else { (2_u64 << 30).min(bench.room()? / 2) };
    let scattered: Vec<u64> = (0..8).map(|nth| large / 9 * (nth + 1)).collect();
    let pairs: [(&str, &str, u64, &[u64]); 8] = [
        ("4k", "the same", 4 << 10, &[]),
        ("1m", "the same", 1 << 20, &[]),
        ("same", "the same", large, &[]),
        ("start", "the first byte differs", large, &[0]),
        ("middle", "a byte in the middle", large, &[large / 2]),
        ("end", "the last byte", large, &[large - 1]),
        ("scattered", "8 bytes scattered", large, &scattered),
        ("huge", "the same", huge, &[]),
    ];
    let mut groups = Vec::new();
    let mut file_system = String::new();
    for (name, title, bytes, places) in pairs {
        let [a, b] = derived::pair(bench, name, bytes, places)?;
        file_system = machine::file_system(&a);
        let title = format!("{}, {title}", in_words(bytes));
        groups.push(pair(bench, &title, &a, &b, places)?);
        if name == "huge" {
            let cases = Commands::new(bench).with("a", &a).with("b", &b).cases(STREAMED);
            groups.push(bench.clock().group(&format!("{title}, streamed"), 2, cases)?);
        }
        if !bench.options.common.keep {
            std::fs::remove_file(&a)?;
            std::fs::remove_file(&b)?;
        }
    }
    Ok(Section { title: "two files".into(), file_system, cache: Cache::Warm.to_string(), groups })
}

fn pair(bench: &Context, title: &str, a: &Path, b: &Path, places: &[u64]) -> Result<Group> {
    // With several differences the result is all positions; otherwise whether the files differ.
    let (lines, format) = match places.len() {
        0 => (SAME, Format::Status),
        1 => (SAME.split_last().context("there are commands")?.1, Format::Status),
        _ => (SEVERAL, Format::Lines),
    };
    let commands = Commands::new(bench).with("a", a).with("b", b).printing(format);
    let cases = commands.ending_with(i32::from(!places.is_empty())).cases(lines);
    bench.clock().group(title, 2, cases)
}
