//! What uses the space.

use anyhow::Result;

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::commands::{Commands, Lines};
use crate::bench::context::Context;
use crate::bench::record::Section;
use crate::bench::shape;
use crate::bench::tree::Tree;

/// Sums of allocated space that can be compared.
const ALLOCATED: &Lines<'_> = &[("ftk", "ftk du -s {tree}"), ("du", "du -s --block-size=1 {tree}")];

/// Sums of sizes that can be compared.
const SIZES: &Lines<'_> =
    &[("ftk", "ftk du -s --apparent-size {tree}"), ("du", "du -s --apparent-size --block-size=1 {tree}")];

/// A sum by every tool, each in its own format. All count allocated space; dust, dua and diskus count hard links once.
const ALL: &Lines<'_> = &[
    ("ftk", "ftk du -s {tree}"),
    ("du", "du -s {tree}"),
    ("dust", "dust -P -d 0 {tree}"),
    ("dua", "dua aggregate {tree}"),
    ("gdu", "gdu -n -p -s {tree}"),
    ("pdu", "pdu --quantity=block-size --max-depth=1 {tree}"),
    ("diskus", "diskus {tree}"),
];

/// The largest directories, or all of them.
const LARGEST: &Lines<'_> = &[
    ("ftk", "ftk du {tree}"),
    ("du", "du {tree}"),
    ("dust", "dust -P -n 20 {tree}"),
    ("pdu", "pdu --quantity=block-size {tree}"),
];

/// The whole tree, for ncdu.
const WHOLE: &Lines<'_> = &[
    ("ftk", "ftk du --format ncdu {tree}"),
    ("ncdu", "ncdu -0 -o- {tree}"),
    ("gdu", "gdu -n -p -o- {tree}"),
];

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let trees = bench.trees(&[shape::LARGE, shape::DEEP])?;
    trees.iter().map(|tree| section(bench, tree)).collect()
}

fn section(bench: &Context, tree: &Tree) -> Result<Section> {
    println!(" {}", tree.title);
    let commands = Commands::new(bench).with("tree", &tree.path);
    let group = |title: &str, lines, format| {
        bench.clock().group(title, tree.files, commands.clone().printing(format).cases(lines))
    };
    let groups = vec![
        group("sum, compared", ALLOCATED, Format::Lines)?,
        group("sum of sizes, compared", SIZES, Format::Lines)?,
        group("sum", ALL, Format::Status)?,
        group("the largest directories", LARGEST, Format::Status)?,
        group("the whole tree for ncdu", WHOLE, Format::Status)?,
    ];
    Ok(Section::new(tree, Cache::Warm, groups))
}
