//! Comparing two files, and two trees.

use std::fs;

use anyhow::{Context as _, Result};

use crate::bench::cache::Cache;
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::record::Section;
use crate::bench::shape::in_words;

const SAME: &str = "
# {title}
ftk cmp -s {a} {b}
cmp -s {a} {b}
[diff -q] diff -q {a} {b}
[b3sum of both] b3sum {a} {b}
";

const DIFFERENT: &str = "
# {title} [differ]
ftk cmp -s {a} {b}
cmp -s {a} {b}
[diff -q] diff -q {a} {b}
";

/// The result is all positions.
const SEVERAL: &str = "
# {title} [lines, differ]
ftk cmp -l {a} {b}
cmp -l {a} {b}
";

/// Commands that read both files in pieces, as with little memory.
const STREAMED: &str = "
# {title}, streamed
ftk cmp --method stream -q {a} {b}
cmp -s {a} {b}
";

const TREES: &str = "
# {heading}
ftk cmp {a} {b}
[diff -rq] diff -rq --no-dereference {a} {b}
";

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let mut sections = vec![files(bench)?];
    let tree = bench.any_tree()?;
    let copy = derived::copy(bench, &tree)?;
    let trees = Commands::new(bench).with("a", &tree.path).with("b", &copy.path);
    let measure = |heading| trees.measure(bench.clock(), tree.files, &TREES.replace("{heading}", heading));
    let mut groups = measure("a tree and its copy")?;
    // One byte in one file differs. A tool that reports it has read the files.
    let files = derived::regular_files(&copy.path)?;
    let altered = files.iter().rfind(|path| path.metadata().is_ok_and(|metadata| metadata.len() > 0));
    let altered = altered.context("the tree has no file to alter")?;
    derived::alter(altered, -1)?;
    let differing = measure("one byte differs [differ]");
    derived::alter(altered, -1)?;
    groups.extend(differing?);
    sections.push(Section::new(&tree, Cache::Warm, groups));
    Ok(sections)
}

/// Measures pairs of files from a few KiB to the size that fits into memory.
fn files(bench: &Context) -> Result<Section> {
    let is_quick = bench.options.common.quick;
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
    for (name, title, bytes, places) in pairs {
        let text = match places.len() {
            0 if name == "huge" => &[SAME, STREAMED].concat(),
            0 => SAME,
            1 => DIFFERENT,
            _ => SEVERAL,
        };
        let [a, b] = derived::pair(bench, name, bytes, places)?;
        let commands = Commands::new(bench).with("a", &a).with("b", &b);
        let commands = commands.with("title", format!("{}, {title}", in_words(bytes)));
        groups.extend(commands.measure(bench.clock(), 2, text)?);
        if !bench.options.common.keep {
            fs::remove_file(&a)?;
            fs::remove_file(&b)?;
        }
    }
    Ok(Section::without_tree("two files", &bench.scratch.path(""), groups))
}
